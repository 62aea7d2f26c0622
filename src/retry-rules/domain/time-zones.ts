// Days of a local calendar, by the time zone data of Node. A day is a number: the days since 1970-01-01.
import { type Instant, dayMs, epochMsOf, instantAt, lastInstant } from '../../clock.ts';

/** Farther than any zone has ever been from UTC. */
const farthestMs = 16 * 3_600_000;
const lastMs = epochMsOf(lastInstant);

/** The starts of days used so far, because asking Intl costs more than deciding about a charge. */
type Zone = { readonly format: Intl.DateTimeFormat; readonly starts: Map<number, number> };
const zones = new Map<string, Zone>();
/** A name may be spelt in any case, so callers can send more of them than there are zones. */
export const maxZones = 100;
const maxStarts = 10_000;
const daysOf400Years = 146_097;

/** Whether Node knows the zone by this name. Offsets such as `+03:00` are no names. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    zoneNamed(name);
    return true;
  } catch {
    return false;
  }
}

/** The day that the calendar of the zone shows at an instant. */
export function localDayOf(instant: Instant, timeZone: string): number {
  const ms = epochMsOf(instant);
  let day = Math.floor(ms / dayMs);
  if (timeZone === 'UTC') return day;
  if (startMsOf(day, timeZone) > ms) day -= 1;
  while (startMsOf(day + 1, timeZone) <= ms) day += 1;
  return day;
}

/** The first instant of a day, or the last instant if the day comes after it. */
export function startOfDay(day: number, timeZone: string): Instant {
  const ms = startMsOf(day, timeZone);
  return ms > lastMs ? lastInstant : instantAt(ms);
}

/**
 * When the clocks of the zone show a time of a day. A time that they skip is as much later, and one that they show twice is the
 * first of both.
 */
export function instantOnDay(day: number, secondOfDay: number, timeZone: string): Instant {
  const start = startMsOf(day, timeZone);
  const wallMs = day * dayMs + secondOfDay * 1_000;
  if (startMsOf(day + 1, timeZone) - start === dayMs) return instantAt(start + secondOfDay * 1_000);
  const zone = zoneNamed(timeZone);
  const offsets = [wallMs - farthestMs, wallMs + farthestMs].map((ms) => offsetAt(ms, zone));
  const shown = offsets.map((offset) => wallMs - offset).filter((ms) => ms + offsetAt(ms, zone) === wallMs);
  return instantAt(shown.length > 0 ? Math.min(...shown) : wallMs - (offsets[0] ?? 0));
}

/** What the clocks of the zone are ahead of UTC at an instant. */
export function offsetMsAt(instant: Instant, timeZone: string): number {
  return timeZone === 'UTC' ? 0 : offsetAt(epochMsOf(instant), zoneNamed(timeZone));
}

function startMsOf(day: number, timeZone: string): number {
  if (timeZone === 'UTC') return day * dayMs;
  const zone = zoneNamed(timeZone);
  const known = zone.starts.get(day);
  if (known !== undefined) return known;
  const start = findStart(day, zone);
  if (zone.starts.size === maxStarts) zone.starts.clear();
  zone.starts.set(day, start);
  return start;
}

/** The clocks may skip midnight, show it twice, or skip the whole day. */
function findStart(day: number, zone: Zone): number {
  const midnight = day * dayMs;
  let before = midnight - farthestMs;
  let from = midnight + farthestMs;
  const offset = offsetAt(before, zone);
  if (offset === offsetAt(from, zone)) return midnight - offset;
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    if (middle + offsetAt(middle, zone) >= midnight) from = middle;
    else before = middle;
  }
  return from;
}

/** What the zone's clocks are ahead of UTC. */
function offsetAt(epochMs: number, { format }: Zone): number {
  const shown: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of format.formatToParts(epochMs)) shown[type] = Number(value);
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = shown;
  // Date.UTC takes the years 0 to 99 for 1900 to 1999. The calendar repeats every 400 years.
  const shownMs = Date.UTC(year + 400, month - 1, day, hour, minute, second) - daysOf400Years * dayMs;
  return shownMs - Math.floor(epochMs / 1_000) * 1_000;
}

function zoneNamed(name: string): Zone {
  const known = zones.get(name);
  if (known) return known;
  // Every build of Node with Intl has this locale, also those with small ICU data.
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const zone = { format, starts: new Map<number, number>() };
  if (zones.size === maxZones) zones.clear();
  zones.set(name, zone);
  return zone;
}
