// The hard cases of dates, by an arithmetic that shares nothing with the service's.
import { expect, test } from 'vitest';
import { datesOf, startOfDate, timeIn, type Agreed } from './dates.ts';

const monthly: Agreed = {
  every: { count: 1, unit: 'M' },
  zone: 'Europe/Berlin',
  chargeAt: { from: '06:00', until: '10:00' },
  anchor: 'atStart',
};
const starts = (agreed: Partial<Agreed>, start: string, count: number) =>
  Array.from({ length: count }, (_, place) => datesOf({ ...monthly, ...agreed }, start, place)?.startsOn);

test('the 31st and 29 February come back', () => {
  const days = starts({}, '2027-01-31', 14).map((date) => date?.slice(8));
  expect(days.join(' ')).toBe('31 28 31 30 31 30 31 31 30 31 30 31 31 29');
  expect(starts({ every: { count: 1, unit: 'Y' } }, '2028-02-29', 5).at(-1)).toBe('2032-02-29');
  expect(starts({ every: { count: 3, unit: 'M' } }, '2026-11-30', 3)).toEqual([
    '2026-11-30',
    '2027-02-28',
    '2027-05-30',
  ]);
});

test('trial, short first period and the last one', () => {
  const agreed = { ...monthly, anchor: { day: 31 }, trialDays: 7, ends: { periods: 2 } };
  const dates = [0, 1, 2, 3, 4].map((place) => datesOf(agreed, '2027-02-01', place));
  expect(dates.map((one) => one && `${one.kind} ${one.startsOn}`)).toEqual([
    'trial 2027-02-01',
    'first 2027-02-08',
    'regular 2027-02-28',
    'regular 2027-03-31',
    undefined,
  ]);
  expect(datesOf({ ...monthly, ends: { before: '2027-03-31' } }, '2027-01-31', 2)).toBeUndefined();
});

test('an anchor with a month, also for quarters', () => {
  const yearly = { every: { count: 1, unit: 'Y' }, anchor: { day: 29, month: 2 } };
  expect(starts(yearly, '2027-03-01', 2)).toEqual(['2027-03-01', '2028-02-29']);
  const quarterly = { every: { count: 3, unit: 'M' }, anchor: { day: 1, month: 1 } };
  expect(starts(quarterly, '2027-05-20', 2)).toEqual(['2027-05-20', '2027-07-01']);
});

test('days start at the midnight of their zone', () => {
  const at = (text: string) => Date.parse(text);
  expect(startOfDate('Europe/Berlin', '2027-03-29')).toBe(at('2027-03-28T22:00:00Z'));
  expect(startOfDate('Pacific/Kiritimati', '2027-01-01')).toBe(at('2026-12-31T10:00:00Z'));
  expect(startOfDate('Pacific/Apia', '2011-12-30')).toBe(startOfDate('Pacific/Apia', '2011-12-31'));
  expect(timeIn('Pacific/Honolulu', at('2027-01-01T16:05:00Z'))).toBe('06:05');
});
