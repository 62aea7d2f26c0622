// Time: instants are values that come in from outside and are never read in the middle. One text form serves for comparing, storing
// and printing, so no conversion can lose a digit.

/**
 * A moment in UTC as fixed-width text, `2026-01-19T10:00:00.123456Z`, from year 0001 to 9999. Instants compare correctly with `<`,
 * and PostgreSQL and the API use the same text.
 */
export type Instant = string & { readonly brand: 'Instant' };

/** The port to real time. Tests and the sandbox's test clock replace it. */
export type Clock = { now(): Instant };

export const systemClock: Clock = { now: () => instantAt(Date.now()) };

/** The last instant: the text of a later one would not compare. */
export const lastInstant = '9999-12-31T23:59:59.999999Z' as Instant;

export const dayMs = 86_400_000;
/** The dates of days used so far: they lie within a few years, so there are not many. */
const days = new Map<number, string>();
const maxDays = 10_000;
let lastSecond = { number: Number.NaN, text: '' };

/** Caches the second, as most instants are now, and days, because a charge calls this dozens of times. */
export function instantAt(epochMs: number): Instant {
  const wholeMs = Math.trunc(epochMs);
  const number = Math.floor(wholeMs / 1_000);
  if (number !== lastSecond.number) lastSecond = { number, text: secondAt(number * 1_000) };
  return `${lastSecond.text}.${String(wholeMs - number * 1_000).padStart(3, '0')}000Z` as Instant;
}

function secondAt(wholeMs: number): string {
  const number = Math.floor(wholeMs / dayMs);
  const ms = wholeMs - number * dayMs;
  const seconds = Math.trunc(ms / 1_000);
  const minutes = Math.trunc(seconds / 60);
  return `${dateOfDay(number)}T${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

/** Such as `2026-01-19`, by the days since 1970-01-01. Throws outside the years that can be written: a caller that adds to a given instant must check the sum. */
export function dateOfDay(number: number): string {
  const known = days.get(number);
  if (known !== undefined) return known;
  const text = new Date(number * dayMs).toISOString();
  if (text.length !== lastInstant.length - 3 || text.startsWith('0000'))
    throw new Error(`${text} is not an instant. Its year must be 0001 to 9999.`);
  if (days.size === maxDays) days.clear();
  const date = text.slice(0, 10);
  days.set(number, date);
  return date;
}

function two(number: number): string {
  return number < 10 ? `0${number}` : String(number);
}

export function epochMsOf(instant: Instant): number {
  return Date.parse(instant);
}

export function laterBy(instant: Instant, durationMs: number): Instant {
  if (durationMs === 0) return instant;
  const moved = instantAt(epochMsOf(instant) + durationMs);
  return (moved.slice(0, 23) + instant.slice(23, 26) + 'Z') as Instant;
}

/** A clock that shows the given instant now and advances with another one. When that one is set back, it waits. */
export function runningFrom(start: Instant, clock: Clock): Clock {
  const startedMs = epochMsOf(clock.now());
  let shown = start;
  return {
    now() {
      shown = latest(shown, laterBy(start, epochMsOf(clock.now()) - startedMs));
      return shown;
    },
  };
}

export function latest(a: Instant, b: Instant): Instant {
  return a > b ? a : b;
}

export function earliest(a: Instant, b: Instant): Instant {
  return a < b ? a : b;
}

const rfc3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ]([01]\d|2[0-3]):(\d{2}):(\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})$/;

/** Reads any RFC 3339 date-time; undefined for other text, or outside the years 0001 to 9999. */
export function parseInstant(text: string): Instant | undefined {
  const match = rfc3339.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', zone] = match;
  // A leap second is read as the following second, because Date cannot represent it.
  const leap = second === '60';
  const wallClock = `${year}-${month}-${day}T${hour}:${minute}:${leap ? '59' : second}`;
  const offset = zone === 'Z' || zone === 'z' ? 'Z' : zone;
  const epochMs = Date.parse(wallClock + offset) + (leap ? 1000 : 0);
  if (Number.isNaN(epochMs)) return undefined;
  // Date.parse turns 31 February into 3 March, so the calendar day must survive a round trip.
  const calendarDay = new Date(`${year}-${month}-${day}T00:00:00Z`);
  if (Number.isNaN(calendarDay.getTime()) || calendarDay.getUTCDate() !== Number(day)) return undefined;
  const seconds = new Date(epochMs).toISOString();
  if (seconds.length !== 24 || seconds.startsWith('0000')) return undefined;
  return (seconds.slice(0, 19) + '.' + fraction.slice(0, 6).padEnd(6, '0') + 'Z') as Instant;
}

export function isInstant(value: unknown): value is Instant {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(value);
}

/** What PostgreSQL prints for a timestamptz in a UTC session: `2026-01-19 10:00:00.123+00`. */
export function instantFromDatabase(text: string): Instant {
  const fraction = text.slice(20, text.indexOf('+', 19));
  return (text.slice(0, 10) + 'T' + text.slice(11, 19) + '.' + fraction.padEnd(6, '0') + 'Z') as Instant;
}
