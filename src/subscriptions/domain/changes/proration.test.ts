// Parts of amounts, to the last minor unit.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { laterBy, type Instant } from '../../../clock.ts';
import { instalmentsOf, partOfLines, prorate, shareOf, sumOf } from './proration.ts';

const period = {
  startsAt: '2027-01-01T00:00:00.000000Z' as Instant,
  endsAt: '2027-01-31T00:00:00.000000Z' as Instant,
};
const line = (priceMinor: bigint, quantity = 1n) => ({ product: 'Tea', priceMinor, quantity });
const after = (days: number) => laterBy(period.startsAt, days * 86_400_000);

test.each<[bigint, bigint, bigint, bigint]>([
  [100n, 1n, 3n, 33n],
  [100n, 2n, 3n, 67n],
  // A double makes 1,816.4999… of it.
  [2_595n, 21n, 30n, 1_817n],
  [5n, 1n, 2n, 3n],
  [1n, 1n, 3n, 0n],
  [0n, 1n, 3n, 0n],
  [999_999_999_999n, 2_678_399n, 2_678_400n, 999_999_626_642n],
])('%i × %i / %i is %i', (amount, part, whole, expected) => {
  expect(shareOf(amount, part, whole)).toBe(expected);
});

test('each line is rounded once, for its whole quantity', () => {
  expect(partOfLines([line(5n, 3n), line(1n)], 1, 2)).toEqual([line(8n), line(1n)]);
});

test('the last instalment takes the rest', () => {
  expect(instalmentsOf(1_000n, 3)).toEqual({ eachMinor: 333n, lastMinor: 334n });
  expect(instalmentsOf(1_000n, 1)).toEqual({ eachMinor: 1_000n, lastMinor: 1_000n });
  expect(instalmentsOf(2n, 3)).toEqual({ eachMinor: 0n, lastMinor: 2n });
});

test('a change in the middle of a period', () => {
  const up = { from: [line(1_000n)], to: [line(3_000n)], at: after(15) };
  expect(prorate(period, 1_000n, up)).toEqual({ creditMinor: 500n, chargeMinor: 1_500n });
  expect(prorate(period, 1_000n, { ...up, from: up.to, to: up.from })).toEqual({
    creditMinor: 1_000n,
    chargeMinor: 500n,
  });
});

test('what was free gives no credit', () => {
  const change = { from: [line(1_000n)], to: [line(3_000n)], at: after(10) };
  expect(prorate(period, 0n, change)).toEqual({ creditMinor: 0n, chargeMinor: 2_000n });
});

test('microseconds do not count, seconds do', () => {
  const at = (text: string) => `2027-01-30T23:59:${text}Z` as Instant;
  const credit = (text: string) =>
    prorate(period, 9_000_000n, { from: [line(2_592_000n)], to: [], at: at(text) }).creditMinor;
  expect([credit('59.000000'), credit('59.999999'), credit('58.000001')]).toEqual([1n, 1n, 2n]);
});

test('up, down and up in one day never give more credit than was paid', () => {
  const price = fc.bigInt({ min: 0n, max: 10_000n });
  const changes = fc.array(fc.tuple(price, fc.integer({ min: 0, max: 86_400 })), { maxLength: 12 });
  fc.assert(
    fc.property(
      price,
      fc.boolean(),
      fc.integer({ min: 0, max: 28 }),
      changes,
      (first, isFree, day, drawn) => {
        let lines = [line(first)];
        let paid = isFree ? 0n : first;
        let [moneyIn, creditOut] = [paid, 0n];
        for (const [to, second] of drawn.toSorted((a, b) => a[1] - b[1])) {
          const at = laterBy(after(day), second * 1_000);
          const { creditMinor, chargeMinor } = prorate(period, paid, { from: lines, to: [line(to)], at });
          const due = chargeMinor - creditMinor;
          paid += due;
          if (due > 0n) moneyIn += due;
          else creditOut -= due;
          lines = [line(to)];
          expect(paid >= 0n && creditOut <= moneyIn && sumOf(lines) >= 0n).toBe(true);
        }
      },
    ),
    { numRuns: 500, seed: 51 },
  );
});
