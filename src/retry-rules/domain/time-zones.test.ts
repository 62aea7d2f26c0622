// Local days in zones whose clocks skip midnight, show it twice, or skip a whole day.
import { expect, test, vi } from 'vitest';
import type { Instant } from '../../clock.ts';
import { endOfDay } from './calendar.ts';
import { instantOnDay, isTimeZone, localDayOf, maxZones, startOfDay } from './time-zones.ts';

const instant = (text: string) => `${text}Z` as Instant;
const dayOf = (date: string) => Date.parse(date) / 86_400_000;

test.each([
  ['UTC', '2026-01-19', '2026-01-19T00:00:00.000000'],
  ['Europe/Moscow', '2026-01-19', '2026-01-18T21:00:00.000000'],
  ['Pacific/Kiritimati', '2026-01-19', '2026-01-18T10:00:00.000000'],
  ['Etc/GMT-14', '2026-01-19', '2026-01-18T10:00:00.000000'],
  ['Etc/GMT+12', '2026-01-19', '2026-01-19T12:00:00.000000'],
  ['Asia/Kathmandu', '2026-01-19', '2026-01-18T18:15:00.000000'],
  // The clocks go forward and back at night.
  ['Europe/Berlin', '2027-03-28', '2027-03-27T23:00:00.000000'],
  ['Europe/Berlin', '2027-03-29', '2027-03-28T22:00:00.000000'],
  ['Europe/Berlin', '2027-10-31', '2027-10-30T22:00:00.000000'],
  ['Europe/Berlin', '2027-11-01', '2027-10-31T23:00:00.000000'],
  // The clocks went from 00:00 to 01:00, and from 00:00 back to 23:00.
  ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00.000000'],
  ['America/Sao_Paulo', '2019-02-17', '2019-02-17T03:00:00.000000'],
  // The clocks go from 01:00 back to 00:00: the day starts with the first of both.
  ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000000'],
  // There was no such day, so it starts with the next one.
  ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000000'],
  ['Pacific/Apia', '2011-12-31', '2011-12-30T10:00:00.000000'],
  ['Pacific/Apia', '2011-12-29', '2011-12-29T10:00:00.000000'],
])('in %s, %s starts at %s', (zone, date, start) => {
  const at = instant(start);
  expect(startOfDay(dayOf(date), zone)).toBe(at);
  const before = instant(new Date(Date.parse(at) - 1).toISOString().slice(0, 23) + '999');
  expect(localDayOf(at, zone)).toBeGreaterThanOrEqual(dayOf(date));
  expect(localDayOf(before, zone)).toBeLessThan(dayOf(date));
});

test.each([
  ['UTC', '2027-01-31', '06:00', '2027-01-31T06:00:00.000000'],
  ['Europe/Moscow', '2027-01-31', '06:00', '2027-01-31T03:00:00.000000'],
  // Skipped: it is 03:30 local.
  ['Europe/Berlin', '2027-03-28', '02:30', '2027-03-28T01:30:00.000000'],
  ['Europe/Berlin', '2027-03-28', '06:00', '2027-03-28T04:00:00.000000'],
  // Shown twice: the first, at +02:00.
  ['Europe/Berlin', '2027-10-31', '02:30', '2027-10-31T00:30:00.000000'],
  ['Europe/Berlin', '2027-10-31', '06:00', '2027-10-31T05:00:00.000000'],
  // Half an hour is skipped and shown twice.
  ['Australia/Lord_Howe', '2026-10-04', '02:15', '2026-10-03T15:45:00.000000'],
  ['Australia/Lord_Howe', '2027-04-04', '01:45', '2027-04-03T14:45:00.000000'],
  // Midnight is skipped, and so is a whole day.
  ['America/Sao_Paulo', '2018-11-04', '00:00', '2018-11-04T03:00:00.000000'],
  ['Pacific/Apia', '2011-12-30', '06:00', '2011-12-30T16:00:00.000000'],
  ['Pacific/Apia', '2011-12-31', '06:00', '2011-12-30T16:00:00.000000'],
])('in %s, %s %s is %s', (zone, date, time, at) => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  expect(instantOnDay(dayOf(date), 3_600 * hours + 60 * minutes, zone)).toBe(instant(at));
});

test('a local day is the one that the calendar of the zone shows', () => {
  for (const zone of ['Europe/Berlin', 'America/Havana', 'Pacific/Chatham', 'Africa/Casablanca']) {
    const shown = new Intl.DateTimeFormat('sv-SE', { timeZone: zone });
    for (let ms = Date.UTC(2026, 9, 1); ms < Date.UTC(2027, 4, 1); ms += 1_800_000) {
      const day = localDayOf(new Date(ms).toISOString().replace('Z', '000Z') as Instant, zone);
      expect(new Date(day * 86_400_000).toISOString().slice(0, 10)).toBe(shown.format(ms));
    }
  }
});

test('the first century is that, and not the twentieth', () => {
  expect(localDayOf(instant('0050-06-01T12:00:00.000000'), 'Europe/Moscow')).toBe(dayOf('0050-06-01'));
  expect(startOfDay(dayOf('0050-06-01'), 'Europe/Moscow')).toBe(instant('0050-05-31T21:29:43.000000'));
});

test('the last day that can be written ends with the last instant, in every zone', () => {
  expect(endOfDay('9999-12-31', 'UTC')).toBe('9999-12-31T23:59:59.999999Z');
  expect(endOfDay('9999-12-31', 'Etc/GMT+12')).toBe('9999-12-31T23:59:59.999999Z');
  expect(endOfDay('9999-12-31', 'Europe/Moscow')).toBe('9999-12-31T21:00:00.000000Z');
});

test.each([
  ['Europe/Moscow', true],
  ['UTC', true],
  ['Asia/Ho_Chi_Minh', true],
  ['America/Argentina/Buenos_Aires', true],
  ['', false],
  ['+03:00', false],
  ['Europe/Nowhere', false],
  ['Moscow', false],
  ['Europe/Moscow ', false],
])('%j is a time zone: %s', (name, isOne) => expect(isTimeZone(name)).toBe(isOne));

test('so many zones are kept at most, though callers may spell one in thousands of ways', () => {
  const { DateTimeFormat } = Intl;
  // Real ones: they are kept for the tests that follow.
  const made = vi.spyOn(Intl, 'DateTimeFormat').mockImplementation(function (...how) {
    return new DateTimeFormat(...how);
  });
  const spellings = Array.from({ length: maxZones }, (_, n) =>
    'australia/sydney'
      .split('')
      .map((one, at) => ((n >> at) & 1 ? one.toUpperCase() : one))
      .join(''),
  );
  expect(new Set(spellings).size).toBe(maxZones);
  expect(isTimeZone('Europe/Berlin')).toBe(true);
  expect(spellings.every(isTimeZone)).toBe(true);
  made.mockClear();
  expect(isTimeZone('Europe/Berlin')).toBe(true);
  expect(made).toHaveBeenCalledOnce();
  expect(isTimeZone('Europe/Berlin')).toBe(true);
  expect(made).toHaveBeenCalledOnce();
  made.mockRestore();
});
