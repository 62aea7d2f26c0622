// What a bank did after the moment a database was restored to, which that database therefore does not know: by what it means for
// somebody's money, with what to do. Pure.
import { laterBy, type Instant } from '../../../clock.ts';
import { clocksApartMs, type Difference } from './difference.ts';

/** The most urgent first. Only of what is not known here at all: what is known and differs says itself what to do. */
export const lostOperations = {
  paidOut: {
    means: 'The card has the money, and here it is still in the wallet or set aside.',
    advice:
      'Let the merchant pay nothing out until it is written down (mandate payout recover): he would pay it a second time, under another id.',
  },
  charged: {
    means: 'The payer was charged, and here he was not.',
    advice:
      'Where the invoice is known and has no other payment, let the shop make the same payment again: it has the same id at the bank, ' +
      'which answers as it did and charges nobody twice. What belongs to a hold that is known here is captured or cancelled again. ' +
      'Where nobody knows it, a test charge of a binding among them, ask the shop, or have the bank give it back.',
  },
  givenBack: {
    means: 'The payer has his money back, and here the shop still has it.',
    advice:
      'Let the shop ask for the same refund or cancellation again: it has the same id at the bank, which gives back nothing twice.',
  },
  undone: {
    means: 'It was taken and given back at the bank, or is the other half of such a pair.',
    advice: 'Nothing is to be done. Do not make it again: the bank would answer that it was taken.',
  },
  held: {
    means: 'Money is held on a card for us, or was let go, and here nobody knows.',
    advice: 'As if it were charged. A hold nobody captures ends by itself.',
  },
} as const;
export type LostWork = keyof typeof lostOperations;

/** What of the differences was lost with the restoring; the others are differences as they always were. */
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
  // The bank's clock is another than that of whoever says when that was.
  if (!line || found !== 'missing_here' || line.at < laterBy(restoredTo, -clocksApartMs)) return undefined;
  if (line.kind === 'payout') return 'paidOut';
  if (isReversal(difference) || (line.kind === 'authorise' && reversed.has(objectOf(difference))))
    return 'undone';
  if (line.sign === 0) return 'held';
  return line.sign > 0 ? 'charged' : 'givenBack';
}

/** Of money that had been taken; a hold that is let go moved none. */
function isReversal({ line }: Difference): boolean {
  return line?.kind === 'reverse' && line.sign < 0;
}

/** An operation's id is that of its object, and then what is done with it. */
function objectOf({ operationId }: Difference): string {
  return operationId.slice(0, operationId.lastIndexOf('.'));
}
