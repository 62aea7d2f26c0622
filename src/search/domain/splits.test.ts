// Where parts begin, from tables of zones and calendars and not from the code: clocks that change, and offsets of half an hour.
import { describe, expect, test, vi } from 'vitest';
import type { Instant } from '../../clock.ts';
import { maxParts, partsOf, type SplitUnit } from './splits.ts';

const at = (text: string) => `${text}:00.000000Z` as Instant;
const parts = (unit: SplitUnit, timeZone: string, from: string, to: string) =>
  partsOf({ unit, timeZone }, { from: at(from), to: at(to) });

test.each<[why: string, SplitUnit, zone: string, from: string, to: string, starts: string[]]>([
  [
    'days of Moscow, three hours ahead',
    'day',
    'Europe/Moscow',
    '2026-01-19T10:00',
    '2026-01-21T00:00',
    ['2026-01-18T21:00', '2026-01-19T21:00', '2026-01-20T21:00'],
  ],
  [
    'a day of 23 hours',
    'day',
    'Europe/Berlin',
    '2026-03-28T12:00',
    '2026-03-30T12:00',
    ['2026-03-27T23:00', '2026-03-28T23:00', '2026-03-29T22:00'],
  ],
  [
    'a day of 25 hours',
    'day',
    'Europe/Berlin',
    '2026-10-24T22:00',
    '2026-10-26T00:00',
    ['2026-10-24T22:00', '2026-10-25T23:00'],
  ],
  [
    'a day whose first hour the clocks skip',
    'day',
    'America/Havana',
    '2026-03-07T05:00',
    '2026-03-09T05:00',
    ['2026-03-07T05:00', '2026-03-08T05:00', '2026-03-09T04:00'],
  ],
  [
    'a day that a zone skipped',
    'day',
    'Pacific/Apia',
    '2011-12-29T12:00',
    '2012-01-01T00:00',
    ['2011-12-29T10:00', '2011-12-30T10:00', '2011-12-31T10:00'],
  ],
  [
    'days of half an hour',
    'day',
    'Asia/Kolkata',
    '2026-01-19T10:00',
    '2026-01-19T18:30',
    ['2026-01-18T18:30'],
  ],
  [
    'hours of half an hour',
    'hour',
    'Asia/Kolkata',
    '2026-01-19T10:00',
    '2026-01-19T12:00',
    ['2026-01-19T09:30', '2026-01-19T10:30', '2026-01-19T11:30'],
  ],
  [
    'hours of three quarters',
    'hour',
    'Asia/Kathmandu',
    '2026-01-19T10:00',
    '2026-01-19T11:00',
    ['2026-01-19T09:15', '2026-01-19T10:15'],
  ],
  [
    'a day whose clocks go back by half an hour',
    'day',
    'Australia/Lord_Howe',
    '2026-04-04T13:00',
    '2026-04-06T13:30',
    ['2026-04-04T13:00', '2026-04-05T13:30'],
  ],
  [
    'hours of that day, to its end',
    'hour',
    'Australia/Lord_Howe',
    '2026-04-05T12:10',
    '2026-04-05T14:31',
    ['2026-04-05T12:00', '2026-04-05T13:00', '2026-04-05T13:30', '2026-04-05T14:30'],
  ],
  [
    'weeks from Monday',
    'week',
    'Europe/Moscow',
    '2026-01-21T12:00',
    '2026-02-02T00:00',
    ['2026-01-18T21:00', '2026-01-25T21:00', '2026-02-01T21:00'],
  ],
  ['weeks before 1970', 'week', 'UTC', '1969-12-30T00:00', '1970-01-05T00:00', ['1969-12-29T00:00']],
  [
    'months',
    'month',
    'UTC',
    '2026-01-31T00:00',
    '2026-03-01T00:00',
    ['2026-01-01T00:00', '2026-02-01T00:00'],
  ],
  [
    'years',
    'year',
    'Europe/Moscow',
    '2025-12-31T20:00',
    '2026-02-01T00:00',
    ['2024-12-31T21:00', '2025-12-31T21:00'],
  ],
  [
    'minutes',
    'minute',
    'Asia/Kathmandu',
    '2026-01-19T10:00',
    '2026-01-19T10:02',
    ['2026-01-19T10:00', '2026-01-19T10:01'],
  ],
  ['nothing, of an empty range', 'hour', 'UTC', '2026-01-19T10:00', '2026-01-19T10:00', []],
])('%s', (_, unit, zone, from, to, starts) => {
  expect(parts(unit, zone, from, to)).toEqual(starts.map(at));
});

describe('hours on the days when clocks change', () => {
  test.each([
    ['23', '2026-03-28T23:00', '2026-03-29T22:00'],
    ['24', '2026-03-29T22:00', '2026-03-30T22:00'],
    ['25', '2026-10-24T22:00', '2026-10-25T23:00'],
  ])('are %s', (hours, from, to) => {
    expect(parts('hour', 'Europe/Berlin', from, to)).toHaveLength(Number(hours));
  });
});

test('there are so many parts at most', () => {
  expect(parts('minute', 'UTC', '2026-01-19T00:00', '2026-01-19T16:40')).toHaveLength(maxParts);
  expect(parts('minute', 'UTC', '2026-01-19T00:00', '2026-01-19T16:41')).toBeUndefined();
});

describe.each(['UTC', 'Europe/Moscow', 'America/New_York'])('in %s, at the end of time', (zone) => {
  test.each<[SplitUnit, Instant[]]>([
    ['minute', [at('9999-12-31T23:58'), at('9999-12-31T23:59')]],
    ['hour', [at('9999-12-31T23:00')]],
  ])('the last %s is the last part', (unit, starts) => {
    const { parse } = Date;
    let read = 0;
    // A loop without end has to fail here and not hang: each round of it reads a date.
    const spy = vi.spyOn(Date, 'parse').mockImplementation((text) => {
      if (++read > 10_000) throw new Error('a loop without end');
      return parse(text);
    });
    try {
      const to = '9999-12-31T23:59:59.999999Z' as Instant;
      expect(partsOf({ unit, timeZone: zone }, { from: at('9999-12-31T23:58'), to })).toEqual(starts);
    } finally {
      spy.mockRestore();
    }
  });
});
