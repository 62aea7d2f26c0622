// The periods of a schedule, counted from one anchor in the days of a zone.
import { describe, expect, test } from 'vitest';
import type { Instant } from '../../clock.ts';
import { everyOf, periodAt, type Every } from './periods.ts';
import { startOfDay } from './time-zones.ts';

const at = (text: string) => `${text}.000000Z` as Instant;
/** The period at an instant, with its first instant and the first one after it. */
function instantsOf(terms: Parameters<typeof periodAt>[0], timeZone: string, now: Instant) {
  const { start, end } = periodAt(terms, timeZone, now);
  return { startsAt: startOfDay(start, timeZone), endsAt: startOfDay(end, timeZone) };
}
const every = (schedule: string) => everyOf(schedule) as Every;

function startsFrom(schedule: string, from: string, count: number, timeZone = 'UTC'): string[] {
  const starts: string[] = [];
  for (let now = at(from), left = count; left > 0; left--) {
    const { startsAt, endsAt } = instantsOf({ every: every(schedule), from: at(from) }, timeZone, now);
    starts.push(startsAt.slice(0, 10));
    now = endsAt;
  }
  return starts;
}

describe('the starts of periods', () => {
  test('keep the day of the anchor, or the last of a shorter month', () => {
    expect(startsFrom('P1M', '2027-01-31T10:00:00', 14).map((date) => Number(date.slice(8)))).toEqual([
      31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31, 29,
    ]);
    expect(startsFrom('P1Y', '2028-02-29T10:00:00', 5)).toEqual([
      '2028-02-29',
      '2029-02-28',
      '2030-02-28',
      '2031-02-28',
      '2032-02-29',
    ]);
    expect(startsFrom('P3M', '2026-11-30T10:00:00', 5)).toEqual([
      '2026-11-30',
      '2027-02-28',
      '2027-05-30',
      '2027-08-30',
      '2027-11-30',
    ]);
  });

  test('count days and weeks', () => {
    expect(startsFrom('P2W', '2026-01-19T10:00:00', 3)).toEqual(['2026-01-19', '2026-02-02', '2026-02-16']);
    expect(startsFrom('P10D', '2026-01-19T10:00:00', 3)).toEqual(['2026-01-19', '2026-01-29', '2026-02-08']);
  });

  test('are at midnight in the zone', () => {
    const from = at('2026-01-18T22:30:00');
    const inMoscow = instantsOf({ every: every('P1M'), from }, 'Europe/Moscow', from);
    expect(inMoscow).toEqual({ startsAt: at('2026-01-18T21:00:00'), endsAt: at('2026-02-18T21:00:00') });
    const inUtc = instantsOf({ every: every('P1M'), from }, 'UTC', from);
    expect(inUtc).toEqual({ startsAt: at('2026-01-18T00:00:00'), endsAt: at('2026-02-18T00:00:00') });
  });
});

describe('a trial', () => {
  const terms = { every: every('P1M'), from: at('2026-01-19T10:00:00') };
  const days = (trialEnd: string, now: string) => {
    const { startsAt, endsAt } = instantsOf({ ...terms, trialEnd }, 'UTC', at(now));
    return [startsAt.slice(0, 10), endsAt.slice(0, 10)];
  };

  test('is a period, and the next ones are counted from its end', () => {
    expect(days('2026-01-25', '2026-01-19T10:00:00')).toEqual(['2026-01-19', '2026-01-26']);
    expect(days('2026-01-25', '2026-01-25T23:59:59')).toEqual(['2026-01-19', '2026-01-26']);
    expect(days('2026-01-25', '2026-01-26T00:00:00')).toEqual(['2026-01-26', '2026-02-26']);
    expect(days('2026-01-25', '2026-02-26T00:00:00')).toEqual(['2026-02-26', '2026-03-26']);
  });

  test('may be longer than a period of the schedule', () => {
    expect(days('2026-03-31', '2026-03-15T00:00:00')).toEqual(['2026-01-19', '2026-04-01']);
  });

  test('that ended before the first payment changes nothing', () => {
    expect(days('2026-01-10', '2026-02-20T00:00:00')).toEqual(['2026-02-19', '2026-03-19']);
  });
});

test.each(['as agreed', 'P1', 'P0M', 'P1M2D', 'PT1H', 'P1000D', 'p1m', ' P1M'])(
  '%j has no periods',
  (words) => expect(everyOf(words)).toBeUndefined(),
);
