// Days of a shop's calendar for the checks, as dates such as 2026-01-19.

const formats = new Map<string, Intl.DateTimeFormat>();

export function dateIn(timeZone: string, epochMs: number): string {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone });
  formats.set(timeZone, format);
  return format.format(epochMs);
}

function dayAfter(date: string): string {
  return new Date(Date.parse(date) + 24 * 3_600_000).toISOString().slice(0, 10);
}

/** The start of the period in which a date lies, found by going from one period to the next. */
export function periodStart(
  { schedule, anchor, trialEnd }: { schedule: string; anchor: string; trialEnd?: string },
  date: string,
): string | undefined {
  const [, count, unit] = /^P(\d+)([DWMY])$/.exec(schedule) ?? [];
  if (count === undefined || Number(count) === 0) return undefined;
  const from = trialEnd !== undefined && trialEnd >= anchor ? dayAfter(trialEnd) : anchor;
  if (date < from) return anchor;
  let start = from;
  for (let number = 1; ; number++) {
    const next = later(from, number * Number(count), unit as string);
    if (next > date) return start;
    start = next;
  }
}

function later(date: string, count: number, unit: string): string {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number];
  if (unit === 'D' || unit === 'W')
    return dateText(Date.UTC(year, month - 1, day + count * (unit === 'W' ? 7 : 1)));
  const months = month - 1 + count * (unit === 'Y' ? 12 : 1);
  const lastDay = new Date(Date.UTC(year, months + 1, 0)).getUTCDate();
  return dateText(Date.UTC(year, months, Math.min(day, lastDay)));
}

function dateText(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10);
}
