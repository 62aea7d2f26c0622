// What a payer compares on the page of a consent link, and what they agree to there. The text is evidence: it has the sentence at
// the box, how to stop, and both sides of the table.
import { decimalsOf, type Currency } from '../../money.ts';
import { asAgreed, type MandateTerms } from '../../receipts/domain/terms.ts';
import type { Locale } from './checkout-request.ts';
import { amountText, howToStopText, printedDate, scheduleText } from './consent-text.ts';
import { consentLinkWords } from './consent-link-words.ts';
import { printMoney } from '../../receipts/domain/format-money.ts';
import { fill, wordsIn } from './translations.ts';

export type TermsRow = {
  readonly name: string;
  readonly before: string;
  readonly after: string;
  readonly isChanged: boolean;
};
export type ConsentLinkText = {
  readonly rows: readonly TermsRow[];
  /** At the box. */
  readonly text: string;
  readonly howToStop: string;
  /** All that the payer saw. */
  readonly evidence: string;
};

export type TermsToCompare = {
  readonly shop: string;
  readonly lastDigits: string;
  readonly currency: Currency;
  readonly before: MandateTerms;
  readonly after: MandateTerms;
  /** Receipts reach the payer, with the link that ends the charges. */
  readonly isMailed: boolean;
};

export function consentLinkText(terms: TermsToCompare, locale: Locale): ConsentLinkText {
  const { shop, lastDigits, currency } = terms;
  const words = consentLinkWords[locale];
  const [before, after] = [terms.before, terms.after].map((side) => printedTerms(side, currency, locale));
  if (!before || !after) throw new Error('Terms have two sides.');
  const names = (['amount', 'schedule', 'until', 'trial'] as const).filter(
    (name) => name !== 'trial' || before.trial !== words.none || after.trial !== words.none,
  );
  const rows = names.map((name) => ({
    name: words[name],
    before: before[name],
    after: after[name],
    isChanged: before[name] !== after[name],
  }));
  const { schedule, amount, until, trial } = after;
  const sentence = fill(words.agree, { shop, digits: lastDigits, schedule, amount, until });
  const whole = trial === words.none ? sentence : `${sentence} ${fill(words.agreeTrial, { trial })}`;
  // A Russian date ends with a full stop of its own.
  const text = whole.replaceAll('..', '.');
  const howToStop = howToStopText(terms, wordsIn(locale).consent);
  const compared = rows.map(
    (row) => `${row.name}: ${words.before} ${row.before}; ${words.after} ${row.after}`,
  );
  return { rows, text, howToStop, evidence: [text, howToStop, ...compared].join('\n') };
}

export function printedTerms(
  { schedule, amountRule, validUntil, trialEnd, amountAfterTrialMinor }: MandateTerms,
  currency: Currency,
  locale: Locale,
) {
  const words = consentLinkWords[locale];
  const { consent } = wordsIn(locale);
  const money = (amountMinor: number) =>
    printMoney({ amountMinor, currency, minorDigits: decimalsOf(currency) }, locale);
  const trialOf = () => {
    if (trialEnd === undefined) return words.none;
    const date = printedDate(trialEnd, locale);
    if (amountAfterTrialMinor === undefined) return fill(words.trialUntil, { date });
    return fill(words.trialThen, { date, amount: money(amountAfterTrialMinor) });
  };
  return {
    amount: amountRule ? amountText(amountRule, money, consent) : consent.asAgreed,
    schedule: scheduleText(schedule ?? asAgreed, locale, consent),
    until:
      validUntil === undefined
        ? consent.until
        : fill(consent.untilDate, { date: printedDate(validUntil, locale) }),
    trial: trialOf(),
  };
}
