// How long somebody has to wait, as people say it: "in 40 seconds", "через 3 часа". Pure. Rounded up, so that nobody who comes
// back when he was told to is sent away again.
import type { Locale } from '../../src/checkout/domain/checkout-request.ts';

const secondsMost = 60;
const minutesMost = 60;

export function waitInWords(seconds: number, locale: Locale): string {
  const inWords = new Intl.RelativeTimeFormat(locale);
  if (seconds <= secondsMost) return inWords.format(seconds, 'second');
  const minutes = Math.ceil(seconds / 60);
  if (minutes <= minutesMost) return inWords.format(minutes, 'minute');
  return inWords.format(Math.ceil(seconds / 3_600), 'hour');
}
