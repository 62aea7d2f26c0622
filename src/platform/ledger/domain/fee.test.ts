import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { largestAmountMinor } from '../../../money.ts';
import { feeOf, noFee } from './fee.ts';

const amount = fc.bigInt({ min: 1n, max: largestAmountMinor });
const basisPoints = fc.bigInt({ min: 0n, max: 10_000n });
const minor = fc.bigInt({ min: 0n, max: 1_000_000n });

describe('a fee', () => {
  test.each([
    ['2.5 % of 900.00', 90_000n, { basisPoints: 250n, fixedMinor: 0n }, 2_250n],
    ['rounds exactly half a kopeck up', 50n, { basisPoints: 100n, fixedMinor: 0n }, 1n],
    ['rounds less than half a kopeck down', 49n, { basisPoints: 100n, fixedMinor: 0n }, 0n],
    ['adds the fixed part', 10_000n, { basisPoints: 100n, fixedMinor: 30n }, 130n],
    ['is never below the minimum', 100n, { basisPoints: 100n, fixedMinor: 0n, leastMinor: 20n }, 20n],
    ['is never above the maximum', 1_000_000n, { basisPoints: 100n, fixedMinor: 0n, mostMinor: 500n }, 500n],
    ['may be zero', 1_000n, noFee, 0n],
    [
      'is exact for the largest amount',
      largestAmountMinor,
      { basisPoints: 1n, fixedMinor: 0n },
      100_000_000n,
    ],
  ])('%s', (_, paid, schedule, expected) => expect(feeOf(paid, schedule)).toBe(expected));

  test('is within half a minor unit of the exact share', () => {
    fc.assert(
      fc.property(amount, basisPoints, (paid, share) => {
        const error = 10_000n * feeOf(paid, { basisPoints: share, fixedMinor: 0n }) - paid * share;
        expect(error > -5_000n && error <= 5_000n).toBe(true);
      }),
    );
  });

  test('never falls when the amount rises, and stays between minimum and maximum', () => {
    fc.assert(
      fc.property(amount, amount, basisPoints, minor, minor, minor, (a, b, share, fixedMinor, c, d) => {
        const [leastMinor, mostMinor] = c < d ? [c, d] : [d, c];
        const schedule = { basisPoints: share, fixedMinor, leastMinor, mostMinor };
        const [smaller, larger] = a < b ? [a, b] : [b, a];
        const [low, high] = [feeOf(smaller, schedule), feeOf(larger, schedule)];
        expect(leastMinor <= low && low <= high && high <= mostMinor).toBe(true);
      }),
    );
  });
});
