// Prints a waiting time in words: "in 40 seconds", "через 3 часа". Rounded up, so that a payer who returns then
// is not refused again.
import type { Locale } from '../../../src/checkout/domain/checkout-request.ts';

const maxSeconds = 60;
const maxMinutes = 60;

export function waitInWords(seconds: number, locale: Locale): string {
  const inWords = new Intl.RelativeTimeFormat(locale);
  if (seconds <= maxSeconds) return inWords.format(seconds, 'second');
  const minutes = Math.ceil(seconds / 60);
  if (minutes <= maxMinutes) return inWords.format(minutes, 'minute');
  return inWords.format(Math.ceil(seconds / 3_600), 'hour');
}
