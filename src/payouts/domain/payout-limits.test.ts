import { expect, test } from 'vitest';
import { parseInstant } from '../../clock.ts';
import { largestAmountMinor, type Currency } from '../../money.ts';
import {
  countsTurnover,
  periodsOf,
  requirePerPayout,
  requireTurnover,
  usualLimitsOf,
} from './payout-limits.ts';
import { levels } from '../../identities/domain/provider.ts';

const now = parseInstant('2026-12-31T23:59:59Z')!;
const codeOf = (outcome: { ok: boolean; refusal?: { code: string } }) =>
  outcome.ok ? 'within' : outcome.refusal?.code;

test.each([
  [0n, 'invalidCashAmount'],
  [99n, 'invalidCashAmount'],
  [100n, 'within'],
  [500n, 'within'],
  [501n, 'payoutLimitPerPayout'],
])('a payout of %i with a limit of 500: %s', (minor, code) => {
  expect(codeOf(requirePerPayout({ perPayoutMinor: 500n }, minor))).toBe(code);
});

test.each(['perDayMinor', 'perMonthMinor'] as const)(
  'a single payout above %s is refused without retryAfter',
  (limit) => {
    expect(codeOf(requirePerPayout({ [limit]: 500n }, 500n))).toBe('within');
    expect(requirePerPayout({ [limit]: 500n }, 501n)).toEqual({
      ok: false,
      refusal: { code: 'payoutLimitPerPayout' },
    });
  },
);

test('without limits only the largest amount applies', () => {
  const turnover = { dayMinor: 10n ** 15n, dayPayouts: 10n ** 9n, monthMinor: 10n ** 16n };
  expect(requireTurnover({}, turnover, now).ok).toBe(true);
  expect(requirePerPayout({}, largestAmountMinor).ok).toBe(true);
  expect(codeOf(requirePerPayout({}, largestAmountMinor + 1n))).toBe('invalidCashAmount');
  expect(countsTurnover({ perPayoutMinor: 1n })).toBe(false);
});

test.each([
  [{ perDayMinor: 10n }, 'payoutLimitPerDay', '2027-01-01T00:00:00.000000Z'],
  [{ payoutsPerDay: 2n }, 'payoutLimitNumberPerDay', '2027-01-01T00:00:00.000000Z'],
  [{ perMonthMinor: 10n }, 'payoutLimitPerMonth', '2027-01-01T00:00:00.000000Z'],
  // The month ends later than the day, so it is named.
  [
    { perMonthMinor: 10n, perDayMinor: 10n, payoutsPerDay: 2n },
    'payoutLimitPerMonth',
    '2027-01-01T00:00:00.000000Z',
  ],
])('a payout beyond %o is refused until the period ends', (limits, code, retryAfter) => {
  const at = { dayMinor: 10n, dayPayouts: 2n, monthMinor: 10n };
  expect(requireTurnover(limits, at, now).ok).toBe(true);
  const over = requireTurnover(limits, { dayMinor: 11n, dayPayouts: 3n, monthMinor: 11n }, now);
  expect(over).toEqual({ ok: false, refusal: { code, details: { retryAfter } } });
  expect(countsTurnover(limits)).toBe(true);
});

test('a limit of 0 payouts a day refuses without retryAfter', () => {
  const turnover = { dayMinor: 500n, dayPayouts: 1n, monthMinor: 500n };
  const none = { ok: false, refusal: { code: 'payoutLimitNumberPerDay' } };
  expect(requireTurnover({ payoutsPerDay: 0n }, turnover, now)).toEqual(none);
  expect(requireTurnover({ payoutsPerDay: 0n, perMonthMinor: 100n }, turnover, now)).toEqual(none);
});

test('a monthly limit is lifted on the first of the next month', () => {
  const over = requireTurnover(
    { perMonthMinor: 1n },
    { dayMinor: 2n, dayPayouts: 1n, monthMinor: 2n },
    parseInstant('2028-02-28T12:00:00Z')!,
  );
  expect(over).toMatchObject({ refusal: { details: { retryAfter: '2028-03-01T00:00:00.000000Z' } } });
});

test('the name of a month sorts before the names of its days', () => {
  const { day, month } = periodsOf(now);
  expect([day, month]).toEqual(['2026-12-31', '2026-12']);
  expect(month < day).toBe(true);
});

test('usual limits rise with the level in live mode and are high in the sandbox', () => {
  const perPayout = levels.map((level) => usualLimitsOf(true, level, 'RUB' as Currency).perPayoutMinor!);
  expect(perPayout).toEqual(perPayout.toSorted((a, b) => Number(a - b)));
  expect(usualLimitsOf(false, 'anonymous', 'RUB' as Currency)).toEqual({ perPayoutMinor: 60_000_000n });
});

test.each([
  ['JPY', 1n],
  ['RUB', 100n],
  ['KWD', 1_000n],
])('the usual limits are whole units of %s', (currency, unitMinor) => {
  expect(usualLimitsOf(true, 'partial', currency as Currency)).toEqual({
    perPayoutMinor: 60_000n * unitMinor,
    perDayMinor: 200_000n * unitMinor,
    perMonthMinor: 600_000n * unitMinor,
    payoutsPerDay: 100n,
  });
});
