// The figures of Today and the days they are of, worked out in the browser.
import { describe, expect, test } from 'vitest';
import {
  amountOf,
  approvalOf,
  classesOf,
  partsOf,
  recoveredOf,
  retriesOf,
  shareOf,
  totalOf,
} from '../../../pages/console/today/figures.ts';
import { isOpen, labelsOf, rangeOf } from '../../../pages/console/today/range.ts';
import type { Instant } from '../../../src/clock.ts';

const moscow = { asOf: '2026-11-27T21:30:00.000000Z' as Instant, timeZone: 'Europe/Moscow' };

describe('the days', () => {
  test('end with the day that it is in the zone, unless another is chosen', () => {
    expect(rangeOf({ days: undefined, until: undefined }, moscow)).toEqual({
      from: '2026-11-21T21:00:00.000000Z',
      to: '2026-11-28T21:00:00.000000Z',
      unit: 'day',
      days: '7',
      until: '2026-11-28',
    });
    expect(rangeOf({ days: '1', until: '2026-11-01' }, moscow)).toMatchObject({
      from: '2026-10-31T21:00:00.000000Z',
      to: '2026-11-01T21:00:00.000000Z',
      unit: 'hour',
    });
    expect(rangeOf({ days: '365', until: '2026-11-01' }, moscow).unit).toBe('week');
  });

  test('are as long as the clocks of the zone make them', () => {
    const berlin = { ...moscow, timeZone: 'Europe/Berlin' };
    const { from, to } = rangeOf({ days: '1', until: '2026-10-25' }, berlin);
    expect(Date.parse(to) - Date.parse(from)).toBe(25 * 3_600_000);
  });

  test.each(['x', '2026-02-30', '0001-01-01', '9999-12-31', '<b>'])('are those of now with %j', (until) => {
    expect(rangeOf({ days: 'x', until }, moscow)).toMatchObject({ days: '7', until: '2026-11-28' });
  });

  test('name an hour that clocks repeat by its offset', () => {
    const midnight = Date.parse('2026-10-24T22:00:00Z');
    const starts = [1, 2, 3, 4].map((hour) => midnight + hour * 3_600_000);
    const berlin = { timeZone: 'Europe/Berlin', locale: 'en-GB' };
    expect(labelsOf(starts, { ...berlin, unit: 'hour' })).toEqual([
      '01:00',
      '02:00 GMT+2',
      '02:00 GMT+1',
      '03:00',
    ]);
    expect(labelsOf(starts.slice(0, 1), { ...berlin, unit: 'day' })).toEqual(['25 Oct']);
  });

  test('are open from their start to the next', () => {
    const now = Date.parse(moscow.asOf);
    expect([isOpen(now, now + 1, moscow.asOf), isOpen(now - 1, now, moscow.asOf)]).toEqual([true, false]);
    expect(isOpen(now + 1, now + 2, moscow.asOf)).toBe(false);
  });
});

describe('the figures', () => {
  const counted = (status: string, ...counts: number[]) => ({
    status,
    offsetCount: counts.map((count, offset) => ({ offset, count })),
  });
  const counts = {
    result: [
      {
        currency: 'USD',
        statusOffsetCounts: [counted('captured', 9, 9)],
        declinedOffsetCount: counted('failed', 0, 0).offsetCount,
      },
      {
        currency: 'RUB',
        statusOffsetCounts: [
          counted('captured', 3, 0),
          counted('refunded', 1, 0),
          counted('pending', 0, 2),
          counted('processed', 1, 0),
          counted('cancelled', 1, 0),
          counted('failed', 2, 0),
        ],
        // The payer of the other left 3-D Secure.
        declinedOffsetCount: counted('failed', 1, 0).offsetCount,
      },
    ],
  };
  const amounts = { result: [{ currency: 'RUB', offsetAmounts: [{ offset: 0, amount: 400 }] }] };

  test('are of one currency, by part and by what payments are', () => {
    const parts = partsOf(counts, amounts, 'RUB');
    expect(parts).toEqual([
      {
        startMs: 0,
        captured: 4,
        open: 1,
        cancelled: 1,
        failed: 2,
        all: 8,
        approved: 6,
        declined: 1,
        amount: 400n,
      },
      {
        startMs: 1,
        captured: 0,
        open: 2,
        cancelled: 0,
        failed: 0,
        all: 2,
        approved: 0,
        declined: 0,
        amount: 0n,
      },
    ]);
    expect(totalOf(parts, 'all')).toBe(10);
    expect(partsOf(counts, amounts, 'EUR')).toEqual([]);
  });

  test('add up amounts of more digits than a number has', () => {
    const result = [{ currency: 'RUB', offsetAmounts: [{ offset: 0, amount: '9007199254740993' }] }];
    expect(amountOf(partsOf(counts, { result }, 'RUB'))).toBe(9_007_199_254_740_993n);
  });

  test('have no rate of fewer than 30, and the interval of Wilson', () => {
    expect(shareOf(29, 29).rate).toBeUndefined();
    expect(shareOf(0, 0)).toMatchObject({ rate: undefined, low: 0, high: 1 });
    const { rate, low, high } = shareOf(81, 263);
    // An example of Newcombe, Two-sided confidence intervals for the single proportion (1998).
    expect([rate, low, high].map((one) => one?.toFixed(3))).toEqual(['0.308', '0.255', '0.366']);
  });

  const attempt = (number: number, approved: number, declined: number) => ({
    attempt: number,
    currency: 'RUB',
    approved,
    declined,
  });
  const attempts = [attempt(0, 10, 5), attempt(1, 60, 40), attempt(2, 10, 30), attempt(3, 5, 20)];

  test('tell the payer present from first charges and retries', () => {
    const of = (charge: 'present' | 'first' | 'retries') => {
      const { part, of: all } = approvalOf(attempts, charge);
      return [part, all];
    };
    expect([of('present'), of('first'), of('retries')]).toEqual([
      [10, 15],
      [60, 100],
      [15, 65],
    ]);
  });

  test('count the retries that are approved among those that are tried', () => {
    expect(retriesOf(attempts).map(({ retry, part, of }) => [retry, part, of])).toEqual([
      [1, 10, 40],
      [2, 5, 25],
    ]);
    // What they retry was declined before these days: more are approved than first charges are declined.
    const [retry] = retriesOf([attempt(1, 0, 10), attempt(2, 40, 60)]);
    expect(retry).toMatchObject({ part: 40, of: 100, rate: 0.4 });
  });

  test('have every day since the failure, by its number and not by its text', () => {
    const of = (value: string, recovered: number, count: number) => ({ value, recovered, count });
    const days = recoveredOf([of('1', 30, 60), of('3', 2, 4), of('10', 0, 1)]);
    expect(days).toHaveLength(11);
    expect(days.slice(0, 4).map(({ day, share }) => [day, share.part, share.of, share.rate])).toEqual([
      [0, 0, 0, undefined],
      [1, 30, 60, 0.5],
      [2, 0, 0, undefined],
      [3, 2, 4, undefined],
    ]);
    expect(days.at(-1)).toMatchObject({ day: 10, share: { of: 1 } });
    expect(recoveredOf([])).toEqual([]);
  });

  test('put the most frequent class first', () => {
    const decline = (declineClass: string | undefined, count: number) => ({
      ...(declineClass === undefined ? {} : { declineClass }),
      currency: 'RUB',
      count,
      amount: count * 2,
    });
    expect(classesOf([decline('funds', 1), decline(undefined, 3), decline('funds', 4)])).toEqual([
      { declineClass: 'funds', count: 5 },
      { declineClass: '', count: 3 },
    ]);
  });
});
