// Groups the operations a bank did after the point a database was restored to, by their effect on money.
// The restored database has no record of them.
import { laterBy, type Instant } from '../../../clock.ts';
import { clocksApartMs, type Difference } from './difference.ts';

/** Most urgent first. Covers only operations without a record; other differences carry their own advice. */
export const lostOperations = {
  paidOut: {
    means: 'The card has the money, but in Mandate it is still in the wallet or reserved.',
    advice:
      'Record it with "mandate payout recover". Until then the merchant must not pay out: a repeat under another ID pays twice.',
  },
  charged: {
    means: 'The payer was charged, but Mandate has no record of it.',
    advice:
      'If the invoice exists and has no other payment, have the shop create the same payment again. It has the same ID at the bank, ' +
      'so nothing is charged twice. If the hold is recorded, capture or cancel it again. ' +
      'Otherwise, or for a verification charge, ask the shop, or have the bank refund it.',
  },
  givenBack: {
    means: 'The payer has their money back, but in Mandate the shop still has it.',
    advice:
      'Have the shop request the same refund or cancellation again. It has the same ID at the bank, so nothing is refunded twice.',
  },
  undone: {
    means: 'The bank charged and reversed it, or it is the reversal of such a charge.',
    advice: 'Do nothing. Do not repeat the payment: the bank would report the reversed charge as approved.',
  },
  held: {
    means: 'The bank holds or released money on a card, but Mandate has no record of it.',
    advice: 'Proceed as for a charge. A hold that is not captured expires automatically.',
  },
} as const;
export type LostWork = keyof typeof lostOperations;

/** Separates the operations lost in the restore from ordinary differences. */
export function splitByRestore(
  differences: readonly Difference[],
  restoredTo: Instant,
): { readonly lost: ReadonlyMap<LostWork, readonly Difference[]>; readonly others: readonly Difference[] } {
  const lost = new Map<LostWork, Difference[]>();
  const unknown = differences.filter((one) => one.class === 'missing_here');
  const reversed = new Set(unknown.flatMap((one) => (isReversal(one) ? [objectOf(one)] : [])));
  const others: Difference[] = [];
  for (const difference of differences) {
    const work = lostWorkOf(difference, restoredTo, reversed);
    if (work === undefined) others.push(difference);
    else lost.set(work, [...(lost.get(work) ?? []), difference]);
  }
  const inOrder = (Object.keys(lostOperations) as LostWork[]).flatMap((work) => {
    const found = lost.get(work);
    return found ? [[work, found] as const] : [];
  });
  return { lost: new Map(inOrder), others };
}

function lostWorkOf(
  difference: Difference,
  restoredTo: Instant,
  reversed: ReadonlySet<string>,
): LostWork | undefined {
  const { line, class: found } = difference;
  // The bank's clock may differ from the clock that gave the restore time.
  if (!line || found !== 'missing_here' || line.at < laterBy(restoredTo, -clocksApartMs)) return undefined;
  if (line.kind === 'payout') return 'paidOut';
  if (isReversal(difference) || (line.kind === 'authorise' && reversed.has(objectOf(difference))))
    return 'undone';
  if (line.sign === 0) return 'held';
  return line.sign > 0 ? 'charged' : 'givenBack';
}

/** True only for a reversed charge: the release of a hold moves no money. */
function isReversal({ line }: Difference): boolean {
  return line?.kind === 'reverse' && line.sign < 0;
}

/** An operation ID is the object's ID, a dot and a suffix. */
function objectOf({ operationId }: Difference): string {
  return operationId.slice(0, operationId.lastIndexOf('.'));
}
