// The sentence below a button of the payer's page: what really happens after a click, in this state of the subscription.
import type { PayerAct, PayerView } from '../../../subscriptions/domain/payer-acts.ts';
import { outlookOf, type EndOutlook, type TryOutlook } from '../../../subscriptions/domain/payer-outlook.ts';
import { fill } from '../translations.ts';
import { sentence, type Printed } from './subscription-words.ts';

type Shown = PayerView & { readonly shop: string };
type Hints = { readonly [Act in PayerAct]?: string };

export function hintsOf(shown: Shown, printed: Printed): Hints {
  const { subscription, acts, may, now } = shown;
  const { end, newCard, agree, ...charges } = outlookOf(subscription, acts, may, now);
  const { words, date, money } = printed;
  const hints: { [Act in PayerAct]?: string } = {};
  for (const act of ['pause', 'resume', 'takeBack'] as const) {
    const charge = charges[act];
    if (charge)
      hints[act] = sentence(words.thenCharged, { date: date(charge.at), amount: money(charge.amountMinor) });
  }
  if (newCard) hints.newCard = newCardHint(newCard, shown, printed);
  if (agree) hints.agree = agreeHint(agree, printed);
  if (end) hints.end = endHint(end, shown, printed);
  return hints;
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
