// How long somebody has to wait, as people say it: "in 40 seconds", "через 3 часа". Pure. Rounded up, so that nobody who comes
// back when he was told to is sent away again.
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
