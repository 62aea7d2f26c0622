import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  epochMsOf,
  instantAt,
  instantFromDatabase,
  lastInstant,
  laterBy,
  latest,
  parseInstant,
  runningFrom,
} from './clock.ts';

describe('reading a date-time', () => {
  test.each([
    ['2026-01-19T10:00:00Z', '2026-01-19T10:00:00.000000Z'],
    ['2026-01-19T10:00:00.5Z', '2026-01-19T10:00:00.500000Z'],
    ['2026-01-19T10:00:00.123456Z', '2026-01-19T10:00:00.123456Z'],
    ['2026-01-19T10:00:00.123456789Z', '2026-01-19T10:00:00.123456Z'],
    ['2026-01-19T10:00:00+03:00', '2026-01-19T07:00:00.000000Z'],
    ['2026-01-01T00:30:00+05:45', '2025-12-31T18:45:00.000000Z'],
    ['2026-12-31T23:30:00-01:00', '2027-01-01T00:30:00.000000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000000Z'],
    ['2026-06-30T23:59:60Z', '2026-07-01T00:00:00.000000Z'],
    ['2026-01-19t10:00:00z', '2026-01-19T10:00:00.000000Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000Z'],
  ])('reads %s as %s', (text, instant) => expect(parseInstant(text)).toBe(instant));

  test.each([
    '',
    'tomorrow',
    '2026-01-19',
    '2026-01-19T10:00:00',
    '2026-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-19T24:00:00Z',
    '2026-01-19T10:60:00Z',
    '2026-01-19T10:00:61Z',
    '2026-01-19T10:00:00+25:00',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '12026-01-19T10:00:00Z',
    '2026-01-19T10:00:00.Z',
    ' 2026-01-19T10:00:00Z',
  ])('%j is not one', (text) => expect(parseInstant(text)).toBeUndefined());
});

test('instants compare as text in the order of time', () => {
  const epochMs = fc.integer({ min: Date.UTC(1, 0, 1), max: Date.UTC(9999, 0, 1) });
  fc.assert(
    fc.property(epochMs, epochMs, (a, b) => {
      expect(instantAt(a) < instantAt(b)).toBe(a < b);
      expect(latest(instantAt(a), instantAt(b))).toBe(instantAt(Math.max(a, b)));
      expect(epochMsOf(instantAt(a))).toBe(a);
      expect(parseInstant(instantAt(a))).toBe(instantAt(a));
    }),
  );
});

test('a day has the same text however many other days were used', () => {
  for (let round = 0; round < 2; round++) {
    for (let day = -200; day < 15_000; day++) {
      const epochMs = day * 86_400_000 + 1;
      expect(instantAt(epochMs)).toBe(new Date(epochMs).toISOString().replace('Z', '000Z'));
    }
  }
});

test('moving an instant keeps its microseconds', () => {
  const instant = parseInstant('2026-01-31T23:59:59.999456Z')!;
  expect(laterBy(instant, 1)).toBe('2026-02-01T00:00:00.000456Z');
  expect(laterBy(instant, -1)).toBe('2026-01-31T23:59:59.998456Z');
});

test('an instant outside the years 0001 to 9999 is refused, because its text would not compare', () => {
  const [first, last] = [parseInstant('0001-01-01T00:00:00Z')!, lastInstant];
  expect(instantAt(epochMsOf(first))).toBe(first);
  expect(instantAt(epochMsOf(last)).slice(0, 23)).toBe(last.slice(0, 23));
  for (const [instant, durationMs] of [
    [first, -1],
    [last, 1],
    [last, 366_000 * 86_400_000],
  ] as const) {
    expect(() => laterBy(instant, durationMs)).toThrow('is not an instant');
    expect(() => instantAt(epochMsOf(instant) + durationMs)).toThrow('is not an instant');
  }
});

test.each([
  ['2026-01-19 10:00:00.123+00', '2026-01-19T10:00:00.123000Z'],
  ['2026-01-19 10:00:00+00', '2026-01-19T10:00:00.000000Z'],
  ['2026-01-19 10:00:00.123456+00', '2026-01-19T10:00:00.123456Z'],
])('PostgreSQL’s %s is read as %s', (text, instant) => expect(instantFromDatabase(text)).toBe(instant));

test('a clock that runs from an instant advances with another clock, and never goes back', () => {
  let ownMs = Date.UTC(2030, 0, 1);
  const start = parseInstant('2026-01-19T10:00:00.123456Z')!;
  const clock = runningFrom(start, { now: () => instantAt(ownMs) });
  expect(clock.now()).toBe(start);
  ownMs += 1_500;
  expect(clock.now()).toBe('2026-01-19T10:00:01.623456Z');
  ownMs -= 1_000;
  expect(clock.now()).toBe('2026-01-19T10:00:01.623456Z');
  ownMs -= 3_600_000;
  expect(clock.now()).toBe('2026-01-19T10:00:01.623456Z');
  ownMs += 3_603_000;
  expect(clock.now()).toBe('2026-01-19T10:00:03.623456Z');
});
