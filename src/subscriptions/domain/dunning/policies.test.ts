// Which policy a subscription and its unpaid periods have.
import { expect, test } from 'vitest';
import type { Instant } from '../../../clock.ts';
import type { Currency } from '../../../money.ts';
import { Life } from '../../../../test/models/subscriptions/lived.ts';
import type { ChargeEnding } from '../charge-outcome.ts';
import type { DunningPolicy } from './dunning.ts';
import { decideFollow, decideMove, isInTrial } from './policies.ts';
import { policyOf, statusOf, type Subscription, type SubscriptionTerms } from '../subscription.ts';

const at = (text: string) => `${text}:00.000000Z` as Instant;
const start = at('2027-01-31T05:00');
const hours = { from: '06:00', until: '06:01' };
const quick: DunningPolicy = {
  name: 'quick',
  version: 1,
  tries: [1, 3],
  at: hours,
  windowDays: 20,
  finally: 'unpaid',
};
const newer = { ...quick, version: 2, tries: [5], windowDays: 9 };
const slow: DunningPolicy = { ...quick, name: 'slow', tries: [2, 8, 12], windowDays: 15, finally: 'end' };
const terms: SubscriptionTerms = {
  id: 'S',
  partyId: 'P',
  shopId: 'shop',
  customerId: 'C',
  createdAt: start,
  currency: 'RUB' as Currency,
  startsWith: 'savedCard',
  items: [{ product: 'Tea', quantity: 1n, priceMinor: 3_000n }],
  schedule: { every: { count: 1, unit: 'M' }, zone: 'UTC', chargeAt: hours, anchor: 'atStart' },
  catchUp: 'current',
  dunning: quick,
  dunningPolicy: 'quick',
  trialWithoutCard: 'end',
};
const declined = { outcome: 'failed', declineClass: 'funds' } as const;

/** Declined so many times, then captured. */
function lifeWith(failures: number, answer: ChargeEnding = declined) {
  return new Life(terms, (charge) => (charge <= failures ? answer : { outcome: 'captured' }));
}

/** The facts of a move that is allowed. */
function moving(subscription: Subscription, to: Parameters<typeof decideMove>[1], now: Instant) {
  const moved = decideMove(subscription, to, now);
  if (!moved.ok) throw new Error(moved.refusal.hint);
  return moved.value;
}

const daysOf = ({ charges }: Life) => charges.map((charge) => charge.at.slice(5, 10));

test('a newer version is for the periods that fail from then on', () => {
  const life = lifeWith(Infinity).until(at('2027-02-01T12:00'));
  life.take(decideFollow(life.subscription, newer), at('2027-02-01T12:00'));
  expect(policyOf(life.subscription)).toEqual(newer);
  expect(life.subscription.open).toMatchObject([{ number: 1, dunning: quick }]);
  life.until(at('2027-02-27T00:00'));
  expect(daysOf(life)).toEqual(['01-31', '02-01', '02-03']);
  expect(statusOf(life.subscription)).toBe('unpaid');
});

test('the next period has the newer version', () => {
  const life = new Life(terms, (_, number) => (number === 1 ? { outcome: 'captured' } : declined));
  life.until(at('2027-02-01T00:00'));
  life.take(decideFollow(life.subscription, newer), at('2027-02-01T12:00'));
  life.until(at('2027-03-20T00:00'));
  expect(daysOf(life)).toEqual(['01-31', '02-28', '03-05']);
  expect(life.subscription.open).toMatchObject([{ number: 2, outcome: 'unpaid', dunning: newer }]);
});

test('the version that it has already changes nothing', () => {
  const { subscription } = lifeWith(1).until(start);
  expect(decideFollow(subscription, quick)).toEqual([]);
  expect(moving(subscription, { name: 'quick', policy: quick }, start)).toEqual([]);
});

test('a move takes the period that is unpaid along, with its tries and its end', () => {
  const life = lifeWith(Infinity).until(at('2027-02-01T12:00'));
  life.take(moving(life.subscription, { name: 'slow', policy: slow }, life.now), at('2027-02-01T12:00'));
  expect(life.subscription.open).toMatchObject([
    {
      dunning: slow,
      nextTryAt: expect.stringMatching('2027-02-02T06:00'),
      givesUpAt: at('2027-02-15T05:00'),
    },
  ]);
  life.until(at('2027-02-20T00:00'));
  expect(daysOf(life)).toEqual(['01-31', '02-01', '02-02', '02-08', '02-12']);
  expect(life.subscription.endedFor).toBe('unpaid');
});

test.each([
  ['before the hours of a day of the new policy', '2027-02-02T05:00', '2027-02-02'],
  ['after them', '2027-02-02T07:00', '2027-02-08'],
] as const)('a move %s', (_, text, next) => {
  const life = lifeWith(1, { ...declined, declineClass: 'funds' })
    .until(start)
    .until(at('2027-01-31T12:00'));
  const moved = moving(life.subscription, { name: 'slow', policy: slow }, at(text));
  expect(moved).toMatchObject([{ moved: [{ number: 1, nextTryAt: expect.stringMatching(next) }] }]);
});

test('a move to later hours makes no second try on the day of a charge', () => {
  const life = lifeWith(Infinity).until(at('2027-02-01T12:00'));
  const evening = { ...slow, tries: [1, 5], at: { from: '20:00', until: '20:01' } };
  const moved = moving(life.subscription, { name: 'slow', policy: evening }, life.now);
  expect(moved).toMatchObject([{ moved: [{ nextTryAt: expect.stringMatching('2027-02-05T20:00') }] }]);
});

test.each<[string, ChargeEnding, object]>([
  [
    'a card that is stopped',
    { outcome: 'failed', declineClass: 'newCard' },
    { givesUpAt: at('2027-02-15T05:00') },
  ],
  [
    'an issuer who had its try',
    { outcome: 'failed', declineClass: 'issuer' },
    { givesUpAt: at('2027-02-15T05:00') },
  ],
])('a move makes no try of %s', (_, ending, times) => {
  const life = lifeWith(Infinity, ending).until(at('2027-02-10T00:00'));
  const [fact] = moving(life.subscription, { name: 'slow', policy: slow }, life.now);
  expect(fact).toMatchObject({ moved: [{ number: 1, ...times }] });
  expect(fact).not.toHaveProperty('moved.0.nextTryAt');
});

test('a mistake of the merchant is tried as before a move, and ends nothing', () => {
  const life = lifeWith(Infinity, { outcome: 'failed', declineClass: 'configuration' }).until(start);
  life.until(at('2027-02-02T00:00'));
  const before = life.subscription.open[0]?.nextTryAt;
  life.take(moving(life.subscription, { name: 'slow', policy: slow }, life.now), life.now);
  expect(life.subscription.open).toMatchObject([{ nextTryAt: before }]);
  life.until(at('2027-03-20T00:00'));
  expect(statusOf(life.subscription)).toBe('pastDue');
});

test('a mistake after failures of the payer stays without an end', () => {
  const mistake = { outcome: 'failed', declineClass: 'configuration' } as const;
  const life = new Life(terms, (charge) => (charge === 1 ? declined : mistake)).until(at('2027-02-01T12:00'));
  const [open] = life.subscription.open;
  expect([open?.firstFailedAt, open?.givesUpAt]).toEqual([start, undefined]);
  expect(moving(life.subscription, { name: 'slow', policy: slow }, life.now)).toMatchObject([
    { moved: [{ number: 1, nextTryAt: open?.nextTryAt }] },
  ]);
});

test('a period at the bank has its next try by the new policy', () => {
  const life = new Life(terms, () => undefined).until(start).until(at('2027-01-31T07:00'));
  const [open] = life.subscription.open;
  life.take(moving(life.subscription, { name: 'slow', policy: slow }, life.now), life.now);
  expect([life.subscription.open[0]?.charging, policyOf(life.subscription).name]).toEqual([
    open?.charging,
    'slow',
  ]);
});

test('an unpaid subscription is moved without a new end of its unpaid period', () => {
  const life = lifeWith(Infinity).until(at('2027-02-25T00:00'));
  expect(life.subscription.phase).toBe('unpaid');
  life.take(moving(life.subscription, { name: 'slow', policy: slow }, life.now), life.now);
  life.until(at('2027-06-01T00:00'));
  expect([life.subscription.phase, life.subscription.open[0]?.givesUpAt]).toEqual(['unpaid', undefined]);
});

test('a trial takes its share of the subscriptions, always the same, and more as it grows', () => {
  const ids = Array.from({ length: 2_000 }, (_, n) => `1Ek5pFY${n.toString(36)}`);
  const inTrial = (percent: number, name = 'default') =>
    ids.filter((id) => isInTrial({ ...quick, name, trial: { policy: 'slow', percent } }, id));
  const tenth = inTrial(10);
  expect(tenth.length).toBeGreaterThan(150);
  expect(tenth.length).toBeLessThan(250);
  expect(inTrial(10)).toEqual(tenth);
  expect(inTrial(30)).toEqual(expect.arrayContaining(tenth));
  expect(inTrial(10, 'other')).not.toEqual(tenth);
  expect(ids.some((id) => isInTrial(quick, id))).toBe(false);
});
