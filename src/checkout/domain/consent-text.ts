// The text a payer agrees to when their card is saved: the sentence at the box, with amount, schedule, lifetime and how to stop.
// The exact text is evidence, so only this file composes it, for the server and for the page's script.
import { scheduleInWords } from '../../receipts/domain/schedule-words.ts';
import { asAgreed, type AmountRule, type MandateTerms } from '../../receipts/domain/terms.ts';
import type { CheckoutRequest, Locale } from './checkout-request.ts';
import { printMoney } from '../../receipts/domain/format-money.ts';
import { fill } from './translations.ts';
import type { Translations } from './translations.en.ts';

export type ConsentText = {
  readonly text: string;
  readonly howToStop: string;
  /** How much, how often and until when, as the page's receipt tells the payer. */
  readonly terms: string;
};

type Asked = {
  readonly kind: CheckoutRequest['kind'];
  readonly locale: Locale;
  readonly shop: string;
  readonly terms: MandateTerms;
  readonly currency: string;
  readonly minorDigits: number;
  /** What is paid now. */
  readonly amountMinor?: number;
  /** Receipts reach the payer, with the link that ends the charges. */
  readonly isMailed: boolean;
};
type Words = Translations['consent'];

/** Whether the card is saved. */
export function needsConsent({ kind, recurring }: Pick<CheckoutRequest, 'kind' | 'recurring'>): boolean {
  return kind === 'customer' || recurring;
}

export function consentTextOf(asked: Asked, words: Words): ConsentText {
  const { kind, locale, shop, terms, amountMinor: paid } = asked;
  const { amountRule, schedule: agreed = asAgreed, firstChargeOn } = terms;
  const money = (amountMinor: number) => printMoney({ ...asked, amountMinor }, locale);
  const schedule = scheduleText(agreed, locale, words);
  const amount = amountRule && amountText(amountRule, money, words);
  // An amount and a period are one phrase: RUB 299.00 every month.
  const isPhrase = amountRule?.kind !== 'variable' && agreed !== asAgreed && agreed !== schedule;
  const often = amount === undefined ? schedule : `${amount}${isPhrase ? '' : ','} ${schedule}`;
  const lasts = (untilCancelled: string) => lastsText(terms, untilCancelled, locale, words);
  const isNowSaid = paid !== undefined && (amount === undefined || firstChargeOn !== undefined);
  // A schedule charges the card automatically: a payer who agrees to one does not buy again.
  const isForPurchases = kind === 'customer' && agreed === asAgreed;
  const sentences = [
    fill(isForPurchases ? words.bind : words.recurring, {
      shop,
      terms: `${often}, ${lasts(words.until)}`,
    }),
    ...(isNowSaid ? [fill(words.now, { amount: money(paid) })] : []),
    ...(amount === undefined ? [isNowSaid ? words.afterNow : words.later] : []),
    ...trialText(terms, money, locale, words),
  ];
  return {
    // A Russian date ends with a full stop of its own.
    text: sentences.map((sentence) => (sentence.endsWith('.') ? sentence : `${sentence}.`)).join(' '),
    howToStop: howToStopText(asked, words),
    terms: `${often}, ${lasts(words.untilYou)}`,
  };
}

/** Without receipts by email there is no link, so the shop is the only way. */
export function howToStopText(
  { shop, isMailed }: Pick<Asked, 'shop' | 'isMailed'>,
  { stop, stopByShop }: Pick<Words, 'stop' | 'stopByShop'>,
): string {
  return fill(isMailed ? stop : stopByShop, { shop });
}

export function scheduleText(
  schedule: string,
  locale: Locale,
  { asAgreed: said }: Pick<Words, 'asAgreed'>,
): string {
  return schedule === asAgreed ? said : scheduleInWords(schedule, locale);
}

export function amountText(
  rule: AmountRule,
  money: (amountMinor: number) => string,
  { upTo }: Pick<Words, 'upTo'>,
): string {
  if (rule.kind === 'variable') return rule.text;
  const amount = money(rule.amountMinor);
  return rule.kind === 'fixed' ? amount : fill(upTo, { amount });
}

/** Terms with an end need no “until I cancel”: the next sentence says how to stop. */
function lastsText(
  { validUntil, charges }: MandateTerms,
  untilCancelled: string,
  locale: Locale,
  { untilDate, further }: Words,
): string {
  const ends = [
    ...(charges === undefined ? [] : [fill(further, { count: String(charges) })]),
    ...(validUntil === undefined ? [] : [fill(untilDate, { date: printedDate(validUntil, locale) })]),
  ];
  return ends.length > 0 ? ends.join(', ') : untilCancelled;
}

/** The end of a trial, and the next charge. The amount after the trial is said once. */
function trialText(
  { trialEnd, amountAfterTrialMinor, firstChargeOn, amountRule }: MandateTerms,
  money: (amountMinor: number) => string,
  locale: Locale,
  words: Words,
): string[] {
  const isOver = trialEnd === undefined || (firstChargeOn !== undefined && firstChargeOn > trialEnd);
  const after = amountAfterTrialMinor === undefined ? undefined : money(amountAfterTrialMinor);
  const agreed =
    amountRule && amountRule.kind !== 'variable' ? amountText(amountRule, money, words) : undefined;
  const sentences: string[] = [];
  if (trialEnd !== undefined) {
    const date = printedDate(trialEnd, locale);
    sentences.push(
      after === undefined || isOver
        ? fill(words.trialEnds, { date })
        : fill(words.trialThen, { date, amount: after }),
    );
  }
  if (firstChargeOn !== undefined) {
    const amount = isOver ? (after ?? agreed) : agreed;
    const when = [printedDate(firstChargeOn, locale), amount].filter(Boolean).join(', ');
    sentences.push(fill(words.next, { when }));
  }
  return sentences;
}

export function printedDate(day: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(Date.parse(day));
}
