// What a comparison of a bank's report with everything in a database finds.
import type { BookEntry } from '../../../src/acquiring/adapters/http/messages.ts';
import { reconcile } from '../../../src/acquiring/reconciliation/reconcile.ts';
import { reconciliationSources } from '../../../src/app/sources/reconciliation-sources.ts';
import type { TestService } from '../service/test-service.ts';

/** With the class and the operation ID of each. */
export async function differencesFrom({ database: db, clock }: TestService, entries: readonly BookEntry[]) {
  const { differences } = await reconcile({
    db,
    clock,
    comparison: reconciliationSources,
    book: {
      grows: true,
      async *entriesAfter(sequence) {
        yield entries.filter((entry) => entry.sequence > sequence);
      },
    },
    bankId: 'BANK',
    period: {},
    pendingHours: 0,
    maxList: 100,
    rowsOfPage: 10,
    report: () => {},
  });
  return differences;
}
