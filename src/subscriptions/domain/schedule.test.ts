// Dates and times of periods: the table of hard cases, and what holds for any schedule.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Instant } from '../../clock.ts';
import { dateText, dayOfDate } from '../../retry-rules/domain/calendar.ts';
import type { Every } from '../../retry-rules/domain/periods.ts';
import { localDayOf } from '../../retry-rules/domain/time-zones.ts';
import {
  checkSchedule,
  firstNumberOf,
  instalmentOf,
  isLast,
  layOut,
  periodDates,
  periodTimes,
  shareOfFirst,
  type PeriodDates,
  type Schedule,
  type ScheduleTerms,
} from './schedule.ts';

const monthly: ScheduleTerms = {
  every: { count: 1, unit: 'M' },
  zone: 'Europe/Berlin',
  chargeAt: { from: '06:00', until: '10:00' },
  anchor: 'atStart',
};
const every = (count: number, unit: Every['unit']) => ({ ...monthly, every: { count, unit } });

function periodsOf(schedule: Schedule, count: number): PeriodDates[] {
  const first = firstNumberOf(schedule);
  return Array.from({ length: count }, (_, n) => periodDates(schedule, first + n)).filter((one) => !!one);
}
const starts = (terms: ScheduleTerms, startsOn: string, count: number) =>
  periodsOf(layOut(terms, startsOn), count).map((period) => period.startsOn);

describe('dates', () => {
  test('an anchor on the 31st uses the last day of shorter months, and returns to the 31st', () => {
    const days = starts(monthly, '2027-01-31', 14).map((date) => date.slice(8));
    expect(days.join(' ')).toBe('31 28 31 30 31 30 31 31 30 31 30 31 31 29');
  });

  test('29 February returns in leap years', () => {
    expect(starts(every(1, 'Y'), '2028-02-29', 5)).toEqual([
      '2028-02-29',
      '2029-02-28',
      '2030-02-28',
      '2031-02-28',
      '2032-02-29',
    ]);
  });

  test('every three months from 30 November', () => {
    expect(starts(every(3, 'M'), '2026-11-30', 6).map((date) => date.slice(2))).toEqual([
      '26-11-30',
      '27-02-28',
      '27-05-30',
      '27-08-30',
      '27-11-30',
      '28-02-29',
    ]);
  });

  test('weeks and days', () => {
    expect(starts(every(2, 'W'), '2026-12-24', 3)).toEqual(['2026-12-24', '2027-01-07', '2027-01-21']);
    expect(starts(every(10, 'D'), '2028-02-25', 3)).toEqual(['2028-02-25', '2028-03-06', '2028-03-16']);
  });
});

describe('the anchor', () => {
  const on = (day: number, month?: number) =>
    ({ day, firstPeriod: 'proRata', ...(month === undefined ? {} : { month }) }) as const;
  const dates = (terms: ScheduleTerms, startsOn: string, count = 3) =>
    periodsOf(layOut(terms, startsOn), count).map((one) => `${one.number} ${one.kind} ${one.startsOn}`);

  test('a fixed day makes a short first period, which has a number', () => {
    expect(dates({ ...monthly, anchor: on(1) }, '2027-01-15')).toEqual([
      '1 first 2027-01-15',
      '2 regular 2027-02-01',
      '3 regular 2027-03-01',
    ]);
  });

  test('none on the day itself', () => {
    expect(dates({ ...monthly, anchor: on(15) }, '2027-01-15', 1)).toEqual(['1 regular 2027-01-15']);
  });

  test('the 31st stays the 31st, also when the first month is short', () => {
    expect(dates({ ...monthly, anchor: on(31) }, '2027-02-10')).toEqual([
      '1 first 2027-02-10',
      '2 regular 2027-02-28',
      '3 regular 2027-03-31',
    ]);
  });

  test('a month fixes the day of the year, and the quarters', () => {
    expect(dates({ ...every(1, 'Y'), anchor: on(29, 2) }, '2027-03-01', 2)).toEqual([
      '1 first 2027-03-01',
      '2 regular 2028-02-29',
    ]);
    expect(dates({ ...every(3, 'M'), anchor: on(1, 1) }, '2027-05-20', 2)).toEqual([
      '1 first 2027-05-20',
      '2 regular 2027-07-01',
    ]);
  });

  test('a trial comes first', () => {
    expect(dates({ ...monthly, trialDays: 14, anchor: on(1) }, '2027-01-10')).toEqual([
      '1 trial 2027-01-10',
      '2 first 2027-01-24',
      '3 regular 2027-02-01',
    ]);
    expect(dates({ ...monthly, trialDays: 14 }, '2027-01-17')).toEqual([
      '1 trial 2027-01-17',
      '2 regular 2027-01-31',
      '3 regular 2027-02-28',
    ]);
  });

  test('the share of a short first period is of the period that would end with it', () => {
    const schedule = layOut({ ...monthly, anchor: on(1) }, '2027-03-15');
    expect(shareOfFirst(schedule, periodDates(schedule, 1)!)).toEqual({ days: 17, ofDays: 31 });
  });
});

describe('the end', () => {
  test('after a count of regular periods', () => {
    const schedule = layOut({ ...monthly, trialDays: 7, ends: { periods: 12 } }, '2027-01-31');
    expect(periodsOf(schedule, 20).map(({ number }) => number)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
    ]);
    expect([12, 13].map((number) => isLast(schedule, number))).toEqual([false, true]);
  });

  test('with the last period that starts before the date', () => {
    const until = (before: string) => starts({ ...monthly, ends: { before } }, '2027-01-31', 20).length;
    expect([until('2027-03-31'), until('2027-04-01')]).toEqual([2, 3]);
  });
});

test('numbers of an import continue from the first one', () => {
  const schedule = layOut(monthly, '2027-01-31', 7);
  expect(periodDates(schedule, 6)).toBeUndefined();
  expect(periodDates(schedule, 8)).toEqual({
    number: 8,
    kind: 'regular',
    startsOn: '2027-02-28',
    endsOn: '2027-03-31',
  });
});

describe('times', () => {
  const times = (terms: ScheduleTerms, startsOn: string, previous?: string) => {
    const schedule = layOut(terms, startsOn);
    return periodTimes(schedule, periodDates(schedule, 1)!, 'S', previous as Instant | undefined);
  };

  test('a period starts and ends with the days of its zone', () => {
    const { startsAt, endsAt } = times(monthly, '2027-03-28');
    expect([startsAt, endsAt]).toEqual(['2027-03-27T23:00:00.000000Z', '2027-04-27T22:00:00.000000Z']);
  });

  test('across the day that Apia left out, one is a day shorter, and none is lost', () => {
    const schedule = layOut({ ...every(1, 'W'), zone: 'Pacific/Apia' }, '2011-12-25');
    const { startsAt, endsAt } = periodTimes(schedule, periodDates(schedule, 1)!, 'S');
    expect(Date.parse(endsAt) - Date.parse(startsAt)).toBe(6 * 86_400_000);
    expect(periodDates(schedule, 2)?.startsOn).toBe('2012-01-01');
  });

  test('after a change of zone the next period starts where the one before ended', () => {
    const moscow = layOut({ ...monthly, zone: 'Europe/Moscow' }, '2027-01-31');
    const before = periodTimes(moscow, periodDates(moscow, 1)!, 'S');
    const vladivostok = { ...moscow, zone: 'Asia/Vladivostok' };
    const next = periodDates(vladivostok, 2)!;
    const after = periodTimes(vladivostok, next, 'S', before.endsAt);
    expect([next.number, next.startsOn, after.startsAt]).toEqual([2, '2027-02-28', before.endsAt]);
    expect(after.endsAt).toBe('2027-03-30T14:00:00.000000Z');
  });

  test('a day that ends before it starts, after a flight over the date line, is empty', () => {
    const west = layOut({ ...every(1, 'D'), zone: 'Pacific/Niue' }, '2027-01-31');
    const { endsAt } = periodTimes(west, periodDates(west, 1)!, 'S');
    const east = { ...west, zone: 'Pacific/Kiritimati' };
    const after = periodTimes(east, periodDates(east, 2)!, 'S', endsAt);
    expect([after.startsAt, after.endsAt, after.dueAt]).toEqual([endsAt, endsAt, endsAt]);
  });

  test('it is due in the local window, at the same minute in summer and winter', () => {
    const local = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin', timeStyle: 'medium' });
    const minutes = ['2027-01-31', '2027-03-28', '2027-10-31'].map((date) =>
      local.format(Date.parse(times(monthly, date).dueAt)),
    );
    expect(new Set(minutes).size).toBe(1);
    expect(minutes[0]! >= '06:00:00' && minutes[0]! < '10:00:00').toBe(true);
  });

  test('subscriptions are spread over the window', () => {
    const schedule = layOut(monthly, '2027-01-31');
    const quarters = [0, 0, 0, 0];
    for (let n = 0; n < 4_000; n++) {
      const { dueAt } = periodTimes(schedule, periodDates(schedule, 1)!, `subscription${n}`);
      quarters[Number(dueAt.slice(11, 13)) - 5]! += 1;
    }
    for (const count of quarters) expect(Math.abs(count - 1_000)).toBeLessThan(100);
  });
});

test.each<[string, Partial<ScheduleTerms>, string]>([
  ['no interval', { every: { count: 0, unit: 'M' } }, '`every` must be 1 to 120 of its unit.'],
  ['a long one', { every: { count: 11, unit: 'Y' } }, '`every` must be 1 to 10 of its unit.'],
  ['half a month', { every: { count: 0.5, unit: 'M' } }, '`every` must be 1 to 120 of its unit.'],
  ['no zone', { zone: '+03:00' }, '`zone` "+03:00" is unknown. Use an IANA name such as Europe/Moscow.'],
  ['no time', { chargeAt: { from: '6', until: '10:00' } }, '`chargeAt` must have times such as 06:00.'],
  [
    'an empty window',
    { chargeAt: { from: '06:00', until: '06:00' } },
    '`chargeAt` must end after it starts, on the same day.',
  ],
  ['an endless trial', { trialDays: 731 }, '`trialDays` must be 1 to 730.'],
  ['no period', { ends: { periods: 0 } }, '`ends.periods` must be 1 to 1000.'],
  ['a false date', { ends: { before: '2027-02-30' } }, '`endsOn` must be a date.'],
  ['a false day', { anchor: { day: 32, firstPeriod: 'free' } }, '`anchor.day` must be 1 to 31.'],
  [
    'a false month',
    { anchor: { day: 1, month: 13, firstPeriod: 'free' } },
    '`anchor.month` must be 1 to 12.',
  ],
  ['30 February', { anchor: { day: 30, month: 2, firstPeriod: 'free' } }, 'No year has the day of `anchor`.'],
  [
    'a year without a month',
    { every: { count: 1, unit: 'Y' }, anchor: { day: 1, firstPeriod: 'free' } },
    '`anchor.month` is needed with a period of years.',
  ],
  [
    'five months in a year',
    { every: { count: 5, unit: 'M' }, anchor: { day: 1, month: 1, firstPeriod: 'free' } },
    '`anchor.month` needs a period that divides a year.',
  ],
  [
    'a week with an anchor',
    { every: { count: 1, unit: 'W' }, anchor: { day: 1, firstPeriod: 'free' } },
    '`anchor` needs a period of months or years. Use `atStart`.',
  ],
])('%s is refused', (_, terms, hint) => {
  expect(checkSchedule({ ...monthly, ...terms })).toEqual({
    ok: false,
    refusal: { code: 'invalidRequest', hint },
  });
});

test('a schedule that can be kept is accepted', () => {
  expect(checkSchedule(monthly)).toEqual({ ok: true, value: monthly });
});

describe('400 periods of any schedule', () => {
  const zones = ['UTC', 'Europe/Berlin', 'Africa/Cairo', 'Australia/Lord_Howe', 'America/Havana'];
  const drawn = fc.record({
    interval: fc.constantFrom<Every>(
      { count: 1, unit: 'D' },
      { count: 2, unit: 'W' },
      { count: 1, unit: 'M' },
      { count: 3, unit: 'M' },
      { count: 1, unit: 'Y' },
    ),
    zone: fc.constantFrom(...zones),
    day: fc.constantFrom(undefined, 15, 29, 31),
    trial: fc.constantFrom(undefined, 7, 30),
    start: fc.integer({ min: dayOfDate('2026-01-01'), max: dayOfDate('2029-01-01') }),
  });

  test('rise, follow each other without a hole, and each day belongs to one', () => {
    fc.assert(
      fc.property(drawn, ({ interval, zone, day, trial, start }) => {
        const anchor = day && interval.unit === 'M' ? ({ day, firstPeriod: 'free' } as const) : 'atStart';
        const trialDays = trial === undefined ? {} : { trialDays: trial };
        const schedule = layOut({ ...monthly, every: interval, zone, anchor, ...trialDays }, dateText(start));
        expect(faultsIn(schedule, start)).toEqual([]);
      }),
      { numRuns: 60, seed: 27 },
    );
  });

  function faultsIn(schedule: Schedule, start: number): string[] {
    const periods = periodsOf(schedule, 400);
    const faults = periods.length === 400 ? [] : ['a period is missing'];
    let day = start;
    let endOfPrevious: Instant | undefined;
    for (const [index, period] of periods.entries()) {
      const { startsAt, endsAt, dueAt } = periodTimes(schedule, period, 'S', endOfPrevious);
      const holds = {
        number: period.number === index + 1,
        'no hole': dayOfDate(period.startsOn) === day,
        rising: period.endsOn > period.startsOn && startsAt < endsAt,
        'the day of its start': localDayOf(startsAt, schedule.zone) === day,
        'start of the day': periodTimes(schedule, period, 'S').startsAt === startsAt,
        'due inside': startsAt <= dueAt && dueAt < endsAt,
      };
      for (const [name, is] of Object.entries(holds)) if (!is) faults.push(`${period.number}: ${name}`);
      endOfPrevious = endsAt;
      day = dayOfDate(period.endsOn);
    }
    return faults;
  }
});

test('the instalments of a number of periods are counted without the trial and the short first period', () => {
  const anchor = { day: 15, firstPeriod: 'free' } as const;
  const schedule = layOut({ ...monthly, anchor, trialDays: 3, ends: { periods: 3 } }, '2026-01-10');
  const numbers = [1, 2, 3, 4, 5];
  expect(numbers.map((number) => periodDates(schedule, number)?.kind)).toEqual([
    'trial',
    'first',
    'regular',
    'regular',
    'regular',
  ]);
  expect(numbers.map((number) => instalmentOf(schedule, number))).toEqual([
    undefined,
    undefined,
    { number: 1, of: 3 },
    { number: 2, of: 3 },
    { number: 3, of: 3 },
  ]);
  expect(instalmentOf(layOut(monthly, '2026-01-10'), 1)).toBeUndefined();
});
