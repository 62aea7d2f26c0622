// A pending transfer ends at most once and posts no more than was pending (I3).
// No transfer leaves its currency or its mode (I5).
import { groupedBy, type LedgerRow } from '../rows.ts';
import type { Check } from '../check.ts';

export const transfers: Check = {
  name: 'transfers',
  says: 'a transfer stays in one currency and mode; a pending one is completed once, in full, between the same accounts',
  find: ({ books }) =>
    [
      ...groupedBy(
        books.ledger,
        ({ aggregate_id: id, operation_id, step }) => `${id} ${operation_id} ${step}`,
      ),
    ]
      .map(([about, legs]) => [about, wrongWith(legs)] as const)
      .filter((problem): problem is readonly [string, string] => problem[1] !== undefined),
};

function wrongWith(legs: readonly LedgerRow[]): string | undefined {
  const kindOf = (account: string) => account.split(':').slice(0, 2).join(':');
  if (legs.some((leg) => kindOf(leg.debit_account) !== kindOf(leg.credit_account)))
    return 'it leaves its currency or mode';
  const begun = legs.filter(({ phase }) => phase === 'pending');
  const singles = legs.filter(({ phase }) => phase === 'single');
  const ends = legs.filter(({ phase }) => phase === 'post' || phase === 'void');
  if (begun.length + singles.length !== 1) return `it is created ${begun.length + singles.length} times`;
  if (singles.length === 1) return ends.length > 0 ? 'a single transfer is completed again' : undefined;
  if (ends.length > 1) return `it is completed ${ends.length} times`;
  const [held, end] = [begun[0]!, ends[0]];
  if (!end) return undefined;
  if (end.debit_account !== held.debit_account || end.credit_account !== held.credit_account)
    return 'it ends between other accounts';
  if (end.pending_minor !== -held.pending_minor) return 'it is not completed in full';
  if (end.phase === 'post' && end.posted_minor > held.pending_minor) return 'more is posted than was pending';
  return end.phase === 'void' && end.posted_minor !== 0 ? 'it is voided, and something is posted' : undefined;
}
