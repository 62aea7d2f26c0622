// What a bank did after the moment a database was restored to, which that database therefore does not know: by what it means for
// somebody's money, with what to do. Pure.
import type { Instant } from '../clock.ts';
import type { Difference } from './difference.ts';

/** The most urgent first. */
export const lostWork = {
  paidOut: {
    means: 'The card has the money, and here it is still in the wallet or set aside.',
    advice:
      'Let the merchant pay nothing out until his wallet is lowered by it: it would be paid a second time, under another id.',
  },
  charged: {
    means: 'The payer was charged, and here he was not.',
    advice:
      'Where the invoice is known, let the shop make the same payment again: it has the same id at the bank, which answers as it did and ' +
      'charges nobody twice. Where nobody knows it, ask the shop, or have the bank give it back.',
  },
  givenBack: {
    means: 'The payer has his money back, and here the shop still has it.',
    advice:
      'Let the shop ask for the same refund or cancellation again: it has the same id at the bank, which gives back nothing twice.',
  },
  held: {
    means: 'Money is held on a card for us, or was let go, and here nobody knows.',
    advice: 'As if it were charged. A hold nobody captures ends by itself.',
  },
} as const;
export type LostWork = keyof typeof lostWork;

/** What of the differences was lost with the restoring; the others are differences as they always were. */
export function apartByRestore(
  differences: readonly Difference[],
  restoredTo: Instant,
): { readonly lost: ReadonlyMap<LostWork, readonly Difference[]>; readonly others: readonly Difference[] } {
  const lost = new Map<LostWork, Difference[]>();
  const others: Difference[] = [];
  for (const difference of differences) {
    const work = lostWorkOf(difference, restoredTo);
    if (work === undefined) others.push(difference);
    else lost.set(work, [...(lost.get(work) ?? []), difference]);
  }
  const inOrder = (Object.keys(lostWork) as LostWork[]).flatMap((work) => {
    const found = lost.get(work);
    return found ? [[work, found] as const] : [];
  });
  return { lost: new Map(inOrder), others };
}

/** A second line of one operation was no better before: it is the bank's mistake. */
function lostWorkOf({ line, class: found }: Difference, restoredTo: Instant): LostWork | undefined {
  if (!line || line.at < restoredTo || found === 'duplicate') return undefined;
  if (line.kind === 'payout') return 'paidOut';
  if (line.sign === 0) return 'held';
  return line.sign > 0 ? 'charged' : 'givenBack';
}
