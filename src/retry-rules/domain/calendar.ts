// Calendar arithmetic for recurring charges. Other rules count hours.
import { instantAt, lastInstant, parseInstant, type Instant } from '../../clock.ts';

/** The same day and time in a later month, or that month's last day if it is shorter. */
export function monthsAfter(instant: Instant, months: number): Instant {
  const [year = 0, month = 0, day = 0] = instant.slice(0, 10).split('-').map(Number);
  const wanted = month - 1 + months;
  const lastDay = dayOf(Date.UTC(year, wanted + 1, 0));
  const date = instantAt(Date.UTC(year, wanted, Math.min(day, lastDay))).slice(0, 10);
  return (date + instant.slice(10)) as Instant;
}

/** The first instant after the card's expiry month in the last time zone. `expiry` is `2030-12`. */
export function endOfCard(expiry: string): Instant {
  const [year = 0, month = 0] = expiry.split('-').map(Number);
  return instantAt(Date.UTC(year, month, 1, 12));
}

/** The first instant after a day in UTC. `date` is `2030-12-31`; for the last representable day it is the last instant. */
export function endOfDay(date: string): Instant {
  if (date === lastInstant.slice(0, 10)) return lastInstant;
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  return instantAt(Date.UTC(year, month - 1, day + 1));
}

/** Whether the calendar has the day: there is no 31 February. */
export function isDate(date: string): boolean {
  return parseInstant(`${date}T00:00:00Z`) !== undefined && date >= '1000';
}

function dayOf(epochMs: number): number {
  return Number(instantAt(epochMs).slice(8, 10));
}
