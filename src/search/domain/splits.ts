// Where the parts of a split begin: minutes and hours, and the days, weeks, months and years of a local calendar.
import { epochMsOf, instantAt, lastInstant, type Instant } from '../../clock.ts';
import { dateText, dayOfDate, monthsLater } from '../../retry-rules/domain/calendar.ts';
import { localDayOf, startOfDay } from '../../retry-rules/domain/time-zones.ts';

export const splitUnits = ['minute', 'hour', 'day', 'week', 'month', 'year'] as const;
export type SplitUnit = (typeof splitUnits)[number];
export type Split = { readonly unit: SplitUnit; readonly timeZone: string };
export type Range = { readonly from: Instant; readonly to: Instant };

export const maxParts = 1_000;
const lastMs = epochMsOf(lastInstant);
const lengthMs = { minute: 60_000, hour: 3_600_000 } as const;

/** The first part begins at the start of the range or before it. Undefined if there are too many parts. */
export function partsOf(split: Split, range: Range): Instant[] | undefined {
  const parts: Instant[] = [];
  for (const start of startsOf(split, range.from)) {
    if (start >= range.to) return parts;
    // Zones have skipped a whole day: it begins with the next one.
    if (start === parts.at(-1)) continue;
    if (parts.length === maxParts) return undefined;
    parts.push(start);
  }
  return parts;
}

/** They end with the last instant. */
function* startsOf({ unit, timeZone }: Split, from: Instant): Generator<Instant> {
  const today = localDayOf(from, timeZone);
  if (unit === 'minute') {
    const first = Math.floor(epochMsOf(from) / lengthMs.minute) * lengthMs.minute;
    for (let ms = first; ms <= lastMs; ms += lengthMs.minute) yield instantAt(ms);
  } else if (unit === 'hour') {
    const passed = Math.floor((epochMsOf(from) - epochMsOf(startOfDay(today, timeZone))) / lengthMs.hour);
    yield* hoursOf(today, timeZone, passed);
    for (let day = today + 1; startOfDay(day, timeZone) < lastInstant; day++)
      yield* hoursOf(day, timeZone, 0);
  } else {
    const first = firstDayOf(unit, today);
    for (let day = first; startOfDay(day, timeZone) < lastInstant; day = dayAfter(unit, day))
      yield startOfDay(day, timeZone);
  }
}

/** Counted from the start of the local day, which may have 23 to 25 of them. */
function* hoursOf(day: number, timeZone: string, first: number): Generator<Instant> {
  const startMs = epochMsOf(startOfDay(day, timeZone));
  const endMs = epochMsOf(startOfDay(day + 1, timeZone));
  for (let ms = startMs + first * lengthMs.hour; ms < endMs; ms += lengthMs.hour) yield instantAt(ms);
}

function firstDayOf(unit: Exclude<SplitUnit, 'minute' | 'hour'>, day: number): number {
  // 1970-01-01 was a Thursday, and weeks begin on Monday.
  if (unit === 'week') return day - ((((day + 3) % 7) + 7) % 7);
  if (unit === 'month') return dayOfDate(`${dateText(day).slice(0, 7)}-01`);
  return unit === 'year' ? dayOfDate(`${dateText(day).slice(0, 4)}-01-01`) : day;
}

function dayAfter(unit: Exclude<SplitUnit, 'minute' | 'hour'>, day: number): number {
  if (unit === 'day') return day + 1;
  return unit === 'week' ? day + 7 : monthsLater(day, unit === 'month' ? 1 : 12);
}
