// Local dates of a zone, from a table of its offsets. The table is found once by bisection, so no question asks the platform's
// calendar, and every date is a plain number of days.

/** Microseconds since 1970 in UTC. */
export type Micros = number;
/** Days since 1970-01-01 of a local date. */
export type Day = number;

export const second = 1_000_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const dayLong = 24 * hour;

interface Offset {
  from: Micros;
  by: Micros;
}

const known = new Map<string, Offset[]>();
const starts = new Map<string, Micros>();
const tableBegins = Date.UTC(2010, 0, 1) * 1000;
const tableEnds = Date.UTC(2040, 0, 1) * 1000;

/** The local date that a clock in the zone shows. */
export function localDay(zone: string, at: Micros): Day {
  return Math.floor((at + offsetAt(zone, at)) / dayLong);
}

/** The first instant at which the local date is this one or a later one. */
export function startOf(zone: string, day: Day): Micros {
  const key = `${zone} ${day}`;
  const at = starts.get(key) ?? findStart(zone, day);
  starts.set(key, at);
  return at;
}

function findStart(zone: string, day: Day): Micros {
  const candidates = offsets(zone).flatMap(({ from, by }) => [from, day * dayLong - by]);
  return Math.min(...candidates.filter((at) => localDay(zone, at) >= day && localDay(zone, at - 1) < day));
}

export function dayOf(text: string): Day {
  const [year = 0, month = 0, date = 0] = text.split('-').map(Number);
  return daysSince1970(year, month, date);
}

export function textOf(day: Day): string {
  const { year, month, date } = partsOf(day);
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(date).padStart(2, '0')}`;
}

/** The same day so many months later, or the last day of a month that has no such day. */
export function addMonths(day: Day, months: number): Day {
  const { year, month, date } = partsOf(day);
  const count = year * 12 + (month - 1) + months;
  const [toYear, toMonth] = [Math.floor(count / 12), (count % 12) + 1];
  return daysSince1970(toYear, toMonth, Math.min(date, monthLength(toYear, toMonth)));
}

/** An ISO 8601 period in months and days. Words are no schedule. */
export function periodOf(text: string | undefined): { months: number; days: number } | undefined {
  const found = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?$/.exec(text ?? '');
  if (!found) return undefined;
  const [years = 0, months = 0, weeks = 0, days = 0] = found.slice(1).map((each) => Number(each ?? 0));
  const period = { months: years * 12 + months, days: weeks * 7 + days };
  return period.months + period.days > 0 ? period : undefined;
}

function offsetAt(zone: string, at: Micros): Micros {
  return offsets(zone).findLast(({ from }) => from <= at)?.by ?? offsets(zone)[0]!.by;
}

function offsets(zone: string): Offset[] {
  const table = known.get(zone) ?? findOffsets(zone);
  known.set(zone, table);
  return table;
}

function findOffsets(zone: string): Offset[] {
  const clock = clockOf(zone);
  const table = [{ from: tableBegins, by: clock(tableBegins) }];
  // Clocks of no zone here change twice in two weeks.
  for (let at = tableBegins; at < tableEnds; at += 14 * dayLong) {
    const before = clock(at);
    const after = clock(at + 14 * dayLong);
    if (before === after) continue;
    let [low, high] = [at, at + 14 * dayLong];
    while (high - low > second) {
      const middle = low + Math.floor((high - low) / second / 2) * second;
      if (clock(middle) === before) low = middle;
      else high = middle;
    }
    table.push({ from: high, by: after });
  }
  return table;
}

function clockOf(zone: string): (at: Micros) => Micros {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (at) => {
    const part = Object.fromEntries(
      format.formatToParts(at / 1000).map(({ type, value }) => [type, Number(value)]),
    );
    const shown = Date.UTC(
      part['year']!,
      part['month']! - 1,
      part['day'],
      part['hour'],
      part['minute'],
      part['second'],
    );
    return shown * 1000 - at;
  };
}

function monthLength(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]!;
}

function daysSince1970(year: number, month: number, date: number): Day {
  let days = date - 1;
  for (let each = 1; each < month; each += 1) days += monthLength(year, each);
  const before = year - 1;
  const leaps = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400);
  return days + before * 365 + leaps - 719_162;
}

function partsOf(day: Day): { year: number; month: number; date: number } {
  let year = 1969 + Math.floor(day / 365.25);
  while (daysSince1970(year + 1, 1, 1) <= day) year += 1;
  let month = 1;
  while (month < 12 && daysSince1970(year, month + 1, 1) <= day) month += 1;
  return { year, month, date: day - daysSince1970(year, month, 1) + 1 };
}
