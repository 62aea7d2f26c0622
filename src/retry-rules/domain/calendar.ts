// Calendar arithmetic for recurring charges. Other rules count hours.
import { type Instant, dateOfDay, dayMs, epochMsOf, instantAt, parseInstant } from '../../clock.ts';
import { startOfDay } from './time-zones.ts';

/** The same time of the same day in a later month, or of that month's last day if it is shorter. */
export function monthsAfter(instant: Instant, months: number): Instant {
  const day = monthsLater(Math.floor(epochMsOf(instant) / dayMs), months);
  return (dateOfDay(day) + instant.slice(10)) as Instant;
}

/** The first instant after the card's expiry month in the last time zone. `expiry` is `2030-12`. */
export function endOfCard(expiry: string): Instant {
  const [year = 0, month = 0] = expiry.split('-').map(Number);
  return instantAt(Date.UTC(year, month, 1, 12));
}

/** The first instant after a day of the zone. `date` is `2030-12-31`; for the last representable day it is the last instant. */
export function endOfDay(date: string, timeZone: string): Instant {
  return startOfDay(dayOfDate(date) + 1, timeZone);
}

/** The days from 1970-01-01 to the date. */
export function dayOfDate(date: string): number {
  return Date.UTC(Number(date.slice(0, 4)), Number(date.slice(5, 7)) - 1, Number(date.slice(8))) / dayMs;
}

export const dateText = dateOfDay;

/** The same day of a later month, or that month's last day if it is shorter. `date` replaces the day of the month. */
export function monthsLater(day: number, months: number, date?: number): number {
  const text = dateText(day);
  const year = Number(text.slice(0, 4));
  const month = Number(text.slice(5, 7)) + months;
  const first = Date.UTC(year, month - 1) / dayMs;
  const next = Date.UTC(year, month) / dayMs;
  return Math.min(first + (date ?? Number(text.slice(8))), next) - 1;
}

/** Months from year 0, to subtract one from another. */
export function monthNumberOf(day: number): number {
  const text = dateText(day);
  return 12 * Number(text.slice(0, 4)) + Number(text.slice(5, 7));
}

/** Whether the calendar has the day: there is no 31 February. */
export function isDate(date: string): boolean {
  return parseInstant(`${date}T00:00:00Z`) !== undefined && date >= '1000';
}
