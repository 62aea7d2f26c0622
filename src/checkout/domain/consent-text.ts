// What a payer agrees to when his card is kept: the sentence beside the box, with its schedule, its lifetime and how to stop it.
// Pure. The very words are the evidence, so they are made in one place.
import type { MandateTerms } from '../../receipts/domain/terms.ts';
import { scheduleInWords } from '../../receipts/domain/receipt.ts';
import type { CheckoutRequest } from './checkout-request.ts';
import { fill, wordsIn } from './translations.ts';
import { defined } from '../../defined.ts';

export type ConsentText = {
  readonly text: string;
  readonly howToStop: string;
  /** The parts of it that stand on receipts. */
  readonly schedule: string;
  readonly until: string;
};

/** Whether a card is kept. */
export function needsConsent({ kind, recurring }: Pick<CheckoutRequest, 'kind' | 'recurring'>): boolean {
  return kind === 'customer' || recurring;
}

/** Whose address says neither how often nor for how long is agreed to what the shop agrees with everybody: all of it, or nothing. */
export function withShopTerms(request: CheckoutRequest, terms: MandateTerms = {}): CheckoutRequest {
  if (request.schedule !== undefined || request.until !== undefined) return request;
  const { schedule, validUntil: until } = terms;
  return {
    ...request,
    ...defined({ schedule, until }),
  };
}

/** Undefined where no card is kept. */
export function consentTextOf(request: CheckoutRequest, shop: string): ConsentText | undefined {
  if (!needsConsent(request)) return undefined;
  const { consent } = wordsIn(request.locale);
  // In the words of the receipts.
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

function printedDate(day: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(Date.parse(day));
}
