// Writes a journal that belongs to no row, for tests and the benchmark of the ledger.
import type { Instant } from '../../../src/clock.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { statement } from '../../../src/platform/database/statement.ts';
import type { FundsCheckedJournal, Journal } from '../../../src/platform/ledger/domain/ledger.ts';
import {
  conflictOr,
  entriesToJson,
  LedgerConflict,
  openAccountsOf,
} from '../../../src/platform/ledger/store/journals.ts';

const writeJournal = statement({
  name: 'test_post_journal',
  parameters: { aggregate_id: 'text', operation_id: 'text', happened_at: 'timestamptz', entries: 'json' },
  row: { outcome: 'text' },
  text: `select post_journal(:aggregate_id, :operation_id, :happened_at, :entries) as outcome`,
});

/** The last step of a transaction. A journal refused for lack of funds has changed nothing, and the transaction can continue. */
export async function postJournal(
  tx: Database,
  journal: Journal | FundsCheckedJournal,
  happenedAt: Instant,
): Promise<'posted' | 'insufficient'> {
  const write = async () => {
    const [row] = await tx.run(writeJournal, {
      aggregate_id: journal.aggregateId,
      operation_id: journal.operationId,
      happened_at: happenedAt,
      entries: entriesToJson(journal),
    });
    return row?.outcome;
  };
  try {
    let outcome = await write();
    if (outcome === 'accountMissing') {
      await openAccountsOf(tx, journal);
      outcome = await write();
    }
    if (outcome === 'posted' || outcome === 'repeated') return 'posted';
    if (outcome === 'insufficient' && 'checksFunds' in journal) return outcome;
    throw new LedgerConflict(`ledger: ${journal.operationId} of ${journal.aggregateId} is ${outcome}`);
  } catch (error) {
    throw conflictOr(error);
  }
}
