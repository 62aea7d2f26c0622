// The final view: the outcome and a receipt.
import type { CheckoutFacts } from '../../../src/checkout/domain/checkout-page.ts';
import { printMoney } from '../../../src/receipts/domain/format-money.ts';
import { fill } from '../../../src/checkout/domain/translations.ts';
import { existing, h } from '../../docs/elements.ts';
import { printedCard } from '../../../src/cards/domain/printed-card.ts';
import { agreementOf } from '../agreement.ts';
import type { Progress } from '../progress.ts';
import type { Ending } from '../view-of.ts';

/** A narrow line breaks between the day and the hour alone. */
function printedTime(time: string, locale: string): string {
  const printed = new Date(time).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' });
  return printed.replaceAll(/(?<!г\.,|\d{4},) /g, '\u00a0');
}

export function showReceipt(facts: CheckoutFacts, { order, attempt }: Progress, ending: Ending): void {
  const { done } = facts.words;
  existing('done-head', HTMLElement).textContent = done[ending];
  const money = (amountMinor: number | undefined) =>
    amountMinor === undefined ? undefined : printMoney({ ...facts, amountMinor }, facts.locale);
  const lead = fill(done[`${ending}Lead`], { amount: money(facts.verificationMinor) ?? '' });
  existing('done-lead', HTMLElement).textContent = lead;
  const { consent } = agreementOf(facts, order) ?? {};
  const time = attempt?.endedAt ?? attempt?.startedAt;
  const rows: [string, string | undefined][] = [
    [done.amount, money(attempt?.amountMinor ?? order?.amountMinor)],
    [done.shop, facts.shop],
    [done.product, order?.product],
    [done.card, attempt?.card && printedCard(attempt.card)],
    [done.time, time && printedTime(time, facts.locale)],
    [done.kind, attempt?.isRecurring && consent ? fill(done.kindRecurring, consent) : undefined],
    [done.reference, attempt && facts.kind === 'invoice' ? `${facts.id}/${attempt.id}` : undefined],
  ];
  existing('receipt', HTMLElement).replaceChildren(
    ...rows.flatMap(([name, value]) =>
      value ? [h('dt', {}, name), h('dd', name === done.reference ? { class: 'reference' } : {}, value)] : [],
    ),
  );
}
