// The text a payer agrees to when their card is saved: the sentence at the box, with schedule, lifetime and how to stop.
// The exact text is evidence, so only this file composes it.
import type { MandateTerms } from '../../receipts/domain/terms.ts';
import { scheduleInWords } from '../../receipts/domain/schedule-words.ts';
import type { CheckoutRequest } from './checkout-request.ts';
import { fill, wordsIn } from './translations.ts';
import { defined } from '../../defined.ts';

export type ConsentText = {
  readonly text: string;
  readonly howToStop: string;
  /** The parts that receipts repeat. */
  readonly schedule: string;
  readonly until: string;
};

/** Whether the card is saved. */
export function needsConsent({ kind, recurring }: Pick<CheckoutRequest, 'kind' | 'recurring'>): boolean {
  return kind === 'customer' || recurring;
}

/** A link without schedule and end date gets the shop's standard terms, both of them. */
export function withShopTerms(request: CheckoutRequest, terms: MandateTerms = {}): CheckoutRequest {
  if (request.schedule !== undefined || request.until !== undefined) return request;
  const { schedule, validUntil: until } = terms;
  return {
    ...request,
    ...defined({ schedule, until }),
  };
}

/** Undefined where no card is saved. */
export function consentTextOf(request: CheckoutRequest, shop: string): ConsentText | undefined {
  if (!needsConsent(request)) return undefined;
  const { consent } = wordsIn(request.locale);
  // Worded as on receipts.
  const schedule =
    request.schedule === undefined ? consent.schedule : scheduleInWords(request.schedule, request.locale);
  const until =
    request.until === undefined
      ? consent.until
      : fill(consent.untilDate, { date: printedDate(request.until, request.locale) });
  const sentence = request.kind === 'customer' ? consent.bind : consent.recurring;
  return {
    text: fill(sentence, { shop, schedule, until }),
    howToStop: fill(consent.stop, { shop }),
    schedule,
    until,
  };
}

export function printedDate(day: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(Date.parse(day));
}
