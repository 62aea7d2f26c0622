// The sentence below a button of the payer's page: what really happens after a click, in this state of the subscription.
import type { NextCharge } from '../../../subscriptions/domain/duties/next-charge.ts';
import type { PayerAct } from '../../../subscriptions/domain/payer-acts.ts';
import type { PayerView } from '../../../subscriptions/domain/payer-view.ts';
import type { EndOutlook, TryOutlook } from '../../../subscriptions/domain/payer-outlook.ts';
import { fill } from '../translations.ts';
import { dateAndAmount, sentence, type Printed } from './subscription-words.ts';

type Shown = PayerView & { readonly shop: string };
type Hints = { readonly [Act in PayerAct]?: string };

export function hintsOf(shown: Shown, printed: Printed): Hints {
  const { end, newCard, agree, ...charges } = shown.outlook;
  const hints: { [Act in PayerAct]?: string } = {};
  for (const act of ['pause', 'resume', 'takeBack'] as const) {
    const charge = charges[act];
    if (charge) hints[act] = thenHint(charge, printed);
  }
  const pay = payHint(shown, printed);
  if (pay !== undefined) hints.pay = pay;
  if (newCard) hints.newCard = newCardHint(newCard, shown, printed);
  if (agree) hints.agree = agreeHint(agree, printed);
  if (end) hints.end = endHint(end, shown, printed);
  return hints;
}

function thenHint(charge: NextCharge, printed: Printed): string {
  const { words } = printed;
  if (charge.waitsFor === undefined) return chargeInWords(charge, printed, words.thenCharged);
  return sentence(words.thenWaits, { charge: chargeInWords(charge, printed, dateAndAmount) });
}

/** In these words, if it waits for nothing. */
export function chargeInWords(
  { at, amountMinor, waitsFor }: NextCharge,
  { words, date, money }: Printed,
  planned: string,
): string {
  const waiting = { announcement: words.nextAnnounced, consent: words.nextAgreed, card: words.nextWithCard };
  return sentence(waitsFor ? waiting[waitsFor] : planned, { date: date(at), amount: money(amountMinor) });
}

/** Without a customer, the card that pays is charged from then on. With one, only a saved card is. */
function payHint({ acts, card, subscription }: Shown, { words }: Printed): string | undefined {
  if (!acts.includes('pay') || !card || subscription.terms.customerId === undefined) return undefined;
  return acts.includes('newCard') ? words.payOrReplace : words.payKeepsCard;
}

function newCardHint({ waitsFor, at }: TryOutlook, { shop }: Shown, { words, date }: Printed): string {
  if (waitsFor === 'payer') return words.newCardUnpaid;
  if (waitsFor === 'hold') return fill(words.newCardOnHold, { shop });
  return at === undefined ? words.newCardHint : sentence(words.newCardLater, { date: date(at) });
}

function agreeHint({ waitsFor, at }: TryOutlook, { words, date }: Printed): string {
  if (waitsFor === 'payer') return words.agreeUnpaid;
  return at === undefined ? words.agreeHint : sentence(words.agreeLater, { date: date(at) });
}

function endHint({ waitsFor, at }: EndOutlook, { shop }: Shown, { words, date }: Printed): string {
  if (at === undefined) {
    if (waitsFor === 'hold') return fill(words.endAfterHold, { shop });
    return waitsFor === 'settled' ? words.endAfterTries : words.endNowHint;
  }
  if (waitsFor === 'hold') return sentence(words.endOnHold, { date: date(at) });
  const ends = sentence(words.endHint, { date: date(at) });
  return waitsFor === 'settled' ? `${ends} ${words.stillDue}` : ends;
}
