// What a payer agrees to when his card is kept: the sentence beside the box, with its schedule, its lifetime and how to stop it.
// Pure. The very words are the evidence, so they are made in one place.
import type { CheckoutRequest } from './checkout-request.ts';
import { fill, wordsIn, type Words } from './words.ts';

export type ConsentText = {
  readonly text: string;
  readonly howToStop: string;
  /** The parts of it that stand on receipts. */
  readonly schedule: string;
  readonly until: string;
};

/** Undefined where no card is kept. */
export function consentTextOf(request: CheckoutRequest, shop: string): ConsentText | undefined {
  if (request.kind === 'invoice' && !request.recurring) return undefined;
  const { consent, periods } = wordsIn(request.locale);
  const schedule = scheduleIn(periods, request.schedule) ?? consent.schedule;
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

/** The usual periods of ISO 8601 in words; whatever else a shop writes stands as it is. */
function scheduleIn(periods: Words['periods'], schedule: string | undefined): string | undefined {
  const known: Readonly<Record<string, string>> = periods;
  return schedule === undefined ? undefined : (known[schedule] ?? schedule);
}

function printedDate(day: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(Date.parse(day));
}
