import { describe, expect, test } from 'vitest';
import { parseInstant } from '../../clock.ts';
import { largestAmountMinor } from '../../money.ts';
import {
  any,
  countersOf,
  countsCards,
  limitsIn,
  periodsOf,
  requireOneTurnover,
  requirePerPayout,
  requireTurnover,
  transferLimitsIn,
  type LimitRule,
  type TurnoverLimits,
} from './payout-limits.ts';

const now = parseInstant('2026-12-31T23:59:59Z')!;
const codeOf = (outcome: { ok: boolean; refusal?: { code: string } }) =>
  outcome.ok ? 'within' : outcome.refusal?.code;

test.each([
  [0n, 'invalidCashAmount'],
  [99n, 'invalidCashAmount'],
  [100n, 'within'],
  [500n, 'within'],
  [501n, 'payoutLimitPerPayout'],
])('a payout of %i with limits from 100 to 500: %s', (minor, code) => {
  expect(codeOf(requirePerPayout({ minMinor: 100n, perPayoutMinor: 500n }, minor))).toBe(code);
});

test.each([
  ['perDayMinor', 'a day'],
  ['perMonthMinor', 'a month'],
] as const)(
  'a single payout above %s is refused without retryAfter, of an identity or a card',
  (limit, period) => {
    expect(codeOf(requirePerPayout({ [limit]: 500n }, 500n))).toBe('within');
    const hint = `The limit is 500 minor units for ${period}.`;
    const refusal = { ok: false, refusal: { code: 'payoutLimitPerPayout', hint } };
    expect(requirePerPayout({ [limit]: 500n }, 501n)).toEqual(refusal);
    expect(requirePerPayout({ [limit]: 900n, card: { [limit]: 500n } }, 501n)).toEqual(refusal);
    expect(requireOneTurnover({ [limit]: 500n }, 501n)).toEqual(refusal);
  },
);

test('without limits only the largest amount applies', () => {
  expect(requirePerPayout({}, 1n).ok).toBe(true);
  expect(codeOf(requirePerPayout({}, 0n))).toBe('invalidCashAmount');
  expect(requirePerPayout({}, largestAmountMinor).ok).toBe(true);
  expect(codeOf(requirePerPayout({}, largestAmountMinor + 1n))).toBe('invalidCashAmount');
  expect(countersOf({ perPayoutMinor: 1n }, { identityId: 'I', cardHash: Buffer.alloc(1) })).toEqual([]);
});

describe('turnover', () => {
  const subject = 'identity:I';
  const over = (limits: TurnoverLimits, at: { dayMinor: bigint; dayPayouts: bigint; monthMinor: bigint }) =>
    requireTurnover([{ subject, limits }], [{ subject, ...at }], now);

  test.each([
    [{ perDayMinor: 10n }, 'payoutLimitPerDay', '10 minor units for a day'],
    [{ payoutsPerDay: 2n }, 'payoutLimitNumberPerDay', '2 payouts a day'],
    [{ perMonthMinor: 10n }, 'payoutLimitPerMonth', '10 minor units for a month'],
    // The month ends later than the day, so it is named.
    [
      { perMonthMinor: 10n, perDayMinor: 10n, payoutsPerDay: 2n },
      'payoutLimitPerMonth',
      '10 minor units for a month',
    ],
  ])('beyond %o refuses a payout until the period ends', (limits, code, limit) => {
    expect(over(limits, { dayMinor: 10n, dayPayouts: 2n, monthMinor: 10n }).ok).toBe(true);
    const refused = over(limits, { dayMinor: 11n, dayPayouts: 3n, monthMinor: 11n });
    const details = { retryAfter: '2027-01-01T00:00:00.000000Z' };
    expect(refused).toEqual({ ok: false, refusal: { code, hint: `The limit is ${limit}.`, details } });
  });

  test('of no payouts a day refuses without retryAfter', () => {
    const none = { ok: false, refusal: { code: 'payoutLimitNumberPerDay' } };
    const turnover = { dayMinor: 500n, dayPayouts: 1n, monthMinor: 500n };
    expect(over({ payoutsPerDay: 0n }, turnover)).toEqual(none);
    expect(over({ payoutsPerDay: 0n, perMonthMinor: 100n }, turnover)).toEqual(none);
  });

  test('beyond a month is allowed again on the first of the next one', () => {
    const leapDay = parseInstant('2028-02-28T12:00:00Z')!;
    const limits = { perMonthMinor: 1n };
    const turnover = { subject, dayMinor: 2n, dayPayouts: 1n, monthMinor: 2n };
    expect(requireTurnover([{ subject, limits }], [turnover], leapDay)).toMatchObject({
      refusal: { details: { retryAfter: '2028-03-01T00:00:00.000000Z' } },
    });
  });

  test('of an identity and a card that are both exceeded names the later time', () => {
    const counters = [
      { subject, limits: { perDayMinor: 1n } },
      { subject: 'card:C', limits: { perMonthMinor: 1n } },
    ];
    const middle = parseInstant('2026-05-03T12:00:00Z')!;
    const both = counters.map((one) => ({
      subject: one.subject,
      dayMinor: 2n,
      dayPayouts: 1n,
      monthMinor: 2n,
    }));
    for (const turnovers of [both, both.toReversed()]) {
      expect(requireTurnover(counters, turnovers, middle)).toMatchObject({
        refusal: { code: 'payoutLimitPerMonth', details: { retryAfter: '2026-06-01T00:00:00.000000Z' } },
      });
    }
  });
});

test('an identity and a card are counted alike, unless the row has limits of its own for a card', () => {
  const owner = { identityId: 'I', cardHash: Buffer.from('0a', 'hex') };
  expect(countersOf({ perDayMinor: 9n }, owner)).toEqual([
    { subject: 'identity:I', limits: { perDayMinor: 9n } },
    { subject: 'card:0a', limits: { perDayMinor: 9n } },
  ]);
  const row = { perDayMinor: 9n, perMonthMinor: 20n, card: { perDayMinor: 3n } };
  expect(countersOf(row, owner)[1]).toEqual({
    subject: 'card:0a',
    limits: { perDayMinor: 3n, perMonthMinor: 20n },
  });
  expect(countersOf({ card: { payoutsPerDay: 1n } }, owner).map((one) => one.subject)).toEqual(['card:0a']);
  expect(countersOf({ perDayMinor: 9n }, { identityId: 'I' }).map((one) => one.subject)).toEqual([
    'identity:I',
  ]);
  expect([countsCards({ perPayoutMinor: 1n }), countsCards({ card: { perDayMinor: 1n } })]).toEqual([
    false,
    true,
  ]);
});

describe('the row that applies', () => {
  const source = { setBy: 'a', setAt: now, reason: 'b' };
  const rule = (minor: bigint, key: Partial<LimitRule>): LimitRule => ({
    partyId: any,
    network: any,
    currency: 'JPY',
    level: any,
    ...key,
    limits: { perPayoutMinor: minor },
    source,
  });
  const rules = [
    rule(1n, {}),
    rule(2n, { level: 'partial' }),
    rule(3n, { network: 'visa' }),
    rule(4n, { partyId: 'P' }),
    rule(5n, { currency: 'KWD' }),
  ];
  const applies = (level: 'anonymous' | 'partial', currency: string, network?: string) =>
    limitsIn(rules, { level, currency, ...(network === undefined ? {} : { network }) })?.perPayoutMinor;

  test('is the most specific: the party before the network before the level', () => {
    expect(applies('partial', 'JPY', 'visa')).toBe(4n);
    const ofAll = rules.filter(({ partyId }) => partyId === any);
    expect(limitsIn(ofAll, { level: 'partial', currency: 'JPY', network: 'visa' })).toEqual({
      perPayoutMinor: 3n,
    });
    expect(limitsIn(ofAll, { level: 'partial', currency: 'JPY', network: 'jcb' })).toEqual({
      perPayoutMinor: 2n,
    });
    expect(limitsIn(ofAll, { level: 'anonymous', currency: 'JPY' })).toEqual({ perPayoutMinor: 1n });
  });

  test('is of the same currency, in its own minor units', () => {
    expect(applies('anonymous', 'KWD')).toBe(5n);
    expect(applies('anonymous', 'RUB')).toBeUndefined();
  });
});

test('the name of a month sorts before the names of its days', () => {
  const { day, month } = periodsOf(now);
  expect([day, month]).toEqual(['2026-12-31', '2026-12']);
  expect(month < day).toBe(true);
});

test('a transfer has the limits for all networks, or the least of those of single ones', () => {
  const row = (network: string, limits: LimitRule['limits']): LimitRule => ({
    partyId: any,
    network,
    currency: 'RUB',
    level: any,
    limits,
    source: { setBy: 'test', setAt: now, reason: 'a test' },
  });
  const of = (...rules: LimitRule[]) => transferLimitsIn(rules, { level: 'partial', currency: 'RUB' });
  const visa = row('visa', { perDayMinor: 9n, payoutsPerDay: 2n });
  const mastercard = row('mastercard', { perDayMinor: 5n, perMonthMinor: 7n });
  expect(of()).toBeUndefined();
  expect(of(visa, mastercard)).toEqual({ perDayMinor: 5n, perMonthMinor: 7n, payoutsPerDay: 2n });
  expect(of(mastercard, visa)).toEqual({ perDayMinor: 5n, perMonthMinor: 7n, payoutsPerDay: 2n });
  expect(of(visa, row(any, { perDayMinor: 50n }))).toEqual({ perDayMinor: 50n });
});
