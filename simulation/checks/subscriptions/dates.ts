// When periods start and end, counted day by day from what was agreed. Dates are texts such as 2027-01-31.
import { dateIn } from '../states/local-days.ts';

const dayMs = 24 * 3_600_000;

export type Every = { readonly count: number; readonly unit: string };
export type Agreed = {
  readonly every: Every;
  readonly zone: string;
  readonly chargeAt: { readonly from: string; readonly until: string };
  readonly anchor: 'atStart' | { readonly day: number; readonly month?: number };
  readonly trialDays?: number;
  readonly ends?: { readonly periods?: number; readonly before?: string };
};
export type Dates = { readonly kind: string; readonly startsOn: string; readonly endsOn: string };

/** The period with this place, counted from 0; undefined after the last one. */
export function datesOf(agreed: Agreed, start: string, place: number): Dates | undefined {
  const { trialDays = 0, ends = {} } = agreed;
  const afterTrial = plusDays(start, trialDays);
  const anchor = anchorFrom(agreed, afterTrial);
  const leading = [
    { kind: 'trial', startsOn: start, endsOn: afterTrial },
    { kind: 'first', startsOn: afterTrial, endsOn: anchor },
  ].filter(({ startsOn, endsOn }) => startsOn < endsOn);
  const before = leading[place];
  if (before) return before;
  const turn = place - leading.length;
  const startsOn = turnAfter(agreed, anchor, turn);
  if (ends.periods !== undefined && turn >= ends.periods) return undefined;
  if (ends.before !== undefined && startsOn >= ends.before) return undefined;
  return { kind: 'regular', startsOn, endsOn: turnAfter(agreed, anchor, turn + 1) };
}

/** The first day from then on that is what was agreed. */
function anchorFrom({ anchor, every }: Agreed, from: string): string {
  if (anchor === 'atStart') return from;
  const step = every.unit === 'M' ? every.count : 12;
  for (let date = from; ; date = plusDays(date, 1)) {
    const [year, month, day] = partsOf(date);
    const isDay = day === Math.min(anchor.day, lengthOf(year, month));
    const isMonth = anchor.month === undefined || (month - anchor.month + 120) % step === 0;
    if (isDay && isMonth) return date;
  }
}

function turnAfter({ anchor, every }: Agreed, from: string, turns: number): string {
  const { count, unit } = every;
  if (unit === 'D' || unit === 'W') return plusDays(from, turns * count * (unit === 'W' ? 7 : 1));
  const [firstYear, firstMonth, day] = partsOf(from);
  let [year, month] = [firstYear, firstMonth + turns * count * (unit === 'Y' ? 12 : 1)];
  for (; month > 12; month -= 12) year += 1;
  const wanted = anchor === 'atStart' ? day : anchor.day;
  return textOf(year, month, Math.min(wanted, lengthOf(year, month)));
}

function plusDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * dayMs).toISOString().slice(0, 10);
}

function partsOf(date: string): [year: number, month: number, day: number] {
  return date.split('-').map(Number) as [number, number, number];
}

function lengthOf(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function textOf(year: number, month: number, day: number): string {
  return [year, String(month).padStart(2, '0'), String(day).padStart(2, '0')].join('-');
}

const starts = new Map<string, number>();

/** The first moment at which a calendar in the zone shows this date or a later one, found by halves. */
export function startOfDate(zone: string, date: string): number {
  const name = `${zone} ${date}`;
  const known = starts.get(name);
  if (known !== undefined) return known;
  let [early, late] = [Date.parse(date) - 2 * dayMs, Date.parse(date) + 2 * dayMs];
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2);
    if (dateIn(zone, middle) >= date) late = middle;
    else early = middle;
  }
  starts.set(name, late);
  return late;
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/** The time that a clock in the zone shows, such as 06:30. */
export function timeIn(zone: string, epochMs: number): string {
  const clock = clocks.get(zone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone: zone, timeStyle: 'short' });
  clocks.set(zone, clock);
  return clock.format(epochMs);
}
