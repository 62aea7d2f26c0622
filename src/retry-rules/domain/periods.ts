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

/** Always counted from the anchor: counted from the period before, the 31st would become the 28th for good. */
function periodFrom(anchor: number, { count, unit }: Every, today: number): Period {
  if (unit === 'D' || unit === 'W') {
    const days = unit === 'W' ? 7 * count : count;
    const start = anchor + Math.floor((today - anchor) / days) * days;
    return { start, end: start + days };
  }
  const months = unit === 'Y' ? 12 * count : count;
  const number = Math.floor((monthNumberOf(today) - monthNumberOf(anchor)) / months);
  const start = monthsLater(anchor, number * months);
  return start > today
    ? { start: monthsLater(anchor, (number - 1) * months), end: start }
    : { start, end: monthsLater(anchor, (number + 1) * months) };
}
