// Single transfers of the ledger: what is pending ends once at most and with no more than it was (I3), and nothing leaves its
// currency or its mode (I5).
import { groupedBy, type LedgerRow } from '../books.ts';
import type { Check } from '../check.ts';

export const transfers: Check = {
  name: 'transfers',
  says: 'a transfer stays in one currency and mode; what is pending is resolved once, whole, between the same accounts',
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
    return 'it leaves its currency';
  const begun = legs.filter(({ phase }) => phase === 'pending');
  const singles = legs.filter(({ phase }) => phase === 'single');
  const ends = legs.filter(({ phase }) => phase === 'post' || phase === 'void');
  if (begun.length + singles.length !== 1) return `it is made ${begun.length + singles.length} times`;
  if (singles.length === 1) return ends.length > 0 ? 'what was made for good is resolved' : undefined;
  if (ends.length > 1) return `it is resolved ${ends.length} times`;
  const [held, end] = [begun[0]!, ends[0]];
  if (!end) return undefined;
  if (end.debit_account !== held.debit_account || end.credit_account !== held.credit_account)
    return 'it ends between other accounts';
  if (end.pending_minor !== -held.pending_minor) return 'it is not resolved whole';
  if (end.phase === 'post' && end.posted_minor > held.pending_minor) return 'more is posted than was pending';
  return end.phase === 'void' && end.posted_minor !== 0 ? 'it is voided, and something is posted' : undefined;
}
