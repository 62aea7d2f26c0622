// Which days Today shows: whole days of the shop's zone, the last one chosen or else the day that it is there. Pure.
import { epochMsOf, type Instant } from '../../../src/clock.ts';
import { dateText, dayOfDate, isDate } from '../../../src/retry-rules/domain/calendar.ts';
import { localDayOf, startOfDay } from '../../../src/retry-rules/domain/time-zones.ts';

export const periods = ['1', '7', '30', '90', '365'] as const;
type Period = (typeof periods)[number];
/** What sums take. */
const [firstDate, lastDate] = ['2001-01-01', '2199-12-30'];

export type Asked = { readonly days: string | undefined; readonly until: string | undefined };
export type Place = { readonly asOf: Instant; readonly timeZone: string };
export type Range = {
  readonly from: Instant;
  readonly to: Instant;
  readonly unit: 'hour' | 'day' | 'week';
  readonly days: Period;
  /** The last day. */
  readonly until: string;
};

export function periodOf(days: string | undefined): Period {
  return periods.find((one) => one === days) ?? '7';
}

export function rangeOf({ days, until }: Asked, { asOf, timeZone }: Place): Range {
  const period = periodOf(days);
  const isKnown = until !== undefined && isDate(until) && until >= firstDate && until <= lastDate;
  const last = isKnown ? dayOfDate(until) : localDayOf(asOf, timeZone);
  return {
    from: startOfDay(last - Number(period) + 1, timeZone),
    to: startOfDay(last + 1, timeZone),
    unit: period === '1' ? 'hour' : period === '365' ? 'week' : 'day',
    days: period,
    until: dateText(last),
  };
}

/** A part is open while payments can still be created in it. */
export function isOpen(startMs: number, nextMs: number | undefined, asOf: Instant): boolean {
  const now = epochMsOf(asOf);
  return startMs <= now && (nextMs === undefined || now < nextMs);
}

/** When each part begins, as short as it is clear. An hour that clocks repeat has its offset. */
export function labelsOf(
  starts: readonly number[],
  { unit, timeZone, locale }: Pick<Range, 'unit'> & { readonly timeZone: string; readonly locale: string },
): readonly string[] {
  const text = (startMs: number, shown: Intl.DateTimeFormatOptions) =>
    new Date(startMs).toLocaleString(locale, { ...shown, timeZone });
  if (unit !== 'hour') return starts.map((start) => text(start, { day: 'numeric', month: 'short' }));
  const short = starts.map((start) => text(start, { timeStyle: 'short' }));
  const exact = { hour: 'numeric', minute: '2-digit', timeZoneName: 'shortOffset' } as const;
  return short.map((label, index) =>
    short.indexOf(label) === short.lastIndexOf(label) ? label : text(starts[index] ?? 0, exact),
  );
}
