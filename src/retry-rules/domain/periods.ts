// The periods of a schedule: from the first payment on, in days of the shop's calendar. A trial is a period of its own.
import type { Instant } from '../../clock.ts';
import { dayOfDate, monthNumberOf, monthsLater } from './calendar.ts';
import { localDayOf } from './time-zones.ts';

export type Every = { readonly count: number; readonly unit: 'D' | 'W' | 'M' | 'Y' };
/** Local days, from `start` on and before `end`. */
export type Period = { readonly start: number; readonly end: number };

/** Undefined for a schedule in words, which has no periods. */
export function everyOf(schedule: string): Every | undefined {
  const [, digits, unit] = /^P(\d{1,3})([DWMY])$/.exec(schedule) ?? [];
  const count = Number(digits ?? 0);
  return count === 0 ? undefined : { count, unit: unit as Every['unit'] };
}

/** The period at an instant. After a trial, periods are counted from the day after its last one. */
export function periodAt(
  { every, from, trialEnd }: { readonly every: Every; readonly from: Instant; readonly trialEnd?: string },
  timeZone: string,
  now: Instant,
): Period {
  const today = localDayOf(now, timeZone);
  const first = localDayOf(from, timeZone);
  const afterTrial = trialEnd === undefined ? first : dayOfDate(trialEnd) + 1;
  return today < afterTrial
    ? { start: first, end: afterTrial }
    : periodFrom(Math.max(first, afterTrial), every, today);
}

/**
 * Always counted from the anchor: counted from the period before, the 31st would become the 28th for good. `date` is the day of
 * the month, if that of the anchor is too short for it.
 */
export function startOfPeriod(anchor: number, every: Every, number: number, date?: number): number {
  const months = monthsIn(every);
  return months === undefined ? anchor + number * daysIn(every) : monthsLater(anchor, number * months, date);
}

function periodFrom(anchor: number, every: Every, today: number): Period {
  const months = monthsIn(every);
  const latest =
    months === undefined
      ? Math.floor((today - anchor) / daysIn(every))
      : Math.floor((monthNumberOf(today) - monthNumberOf(anchor)) / months);
  const number = startOfPeriod(anchor, every, latest) > today ? latest - 1 : latest;
  return { start: startOfPeriod(anchor, every, number), end: startOfPeriod(anchor, every, number + 1) };
}

function daysIn({ count, unit }: Every): number {
  return unit === 'W' ? 7 * count : count;
}

/** Undefined for days and weeks. */
function monthsIn({ count, unit }: Every): number | undefined {
  if (unit === 'Y') return 12 * count;
  return unit === 'M' ? count : undefined;
}
