// The three calendar questions of recurring charges. Everything else counts hours.
import { instantAt, lastInstant, parseInstant, type Instant } from '../../clock.ts';

/** The same day of a later month, or that month's last day where it has no such day; the same time of day. */
export function monthsAfter(instant: Instant, months: number): Instant {
  const [year = 0, month = 0, day = 0] = instant.slice(0, 10).split('-').map(Number);
  const wanted = month - 1 + months;
  const lastDay = dayOf(Date.UTC(year, wanted + 1, 0));
  const date = instantAt(Date.UTC(year, wanted, Math.min(day, lastDay))).slice(0, 10);
  return (date + instant.slice(10)) as Instant;
}

/** The first moment a card is no good: its month is over everywhere on earth. `expiry` is `2030-12`. */
export function endOfCard(expiry: string): Instant {
  const [year = 0, month = 0] = expiry.split('-').map(Number);
  return instantAt(Date.UTC(year, month, 1, 12));
}

/** The first moment after a day, in UTC. `date` is `2030-12-31`; the last day of all, which people write for ever, ends with time. */
export function endOfDay(date: string): Instant {
  if (date === lastInstant.slice(0, 10)) return lastInstant;
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  return instantAt(Date.UTC(year, month - 1, day + 1));
}

/** Whether there is such a day: a calendar has no 31 February. */
export function isDate(date: string): boolean {
  return parseInstant(`${date}T00:00:00Z`) !== undefined && date >= '1000';
}

function dayOf(epochMs: number): number {
  return Number(instantAt(epochMs).slice(8, 10));
}
