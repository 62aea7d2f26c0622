// A new period that waits for its payment: what else may happen meanwhile.
import { describe, expect, test } from 'vitest';
import { Life } from '../../../../test/models/subscriptions/lived.ts';
import { keptOf, problemsOf } from '../../../../test/models/subscriptions/logs.ts';
import { planFrom } from '../../../../test/models/subscriptions/plan.ts';
import { laterBy, type Instant } from '../../../clock.ts';
import type { Currency } from '../../../money.ts';
import { decideCancel, decideChargeMissed, decidePaid, decidePause, decideTakenBack } from '../commands.ts';
import { monthlyPolicy } from '../dunning/dunning.ts';
import { nextAction, type SubscriptionFact, type SubscriptionTerms } from '../subscription.ts';
import { decideChange, decideChangeChargeEnded, decideChangeEnded, type WantedChange } from './change.ts';

const at = (text: string) => `${text}:00.000000Z` as Instant;
const asked = at('2027-02-11T12:00');
const window = { from: '06:00', until: '06:01' };
const terms: SubscriptionTerms = {
  id: 'S',
  partyId: 'P',
  shopId: 'shop',
  customerId: 'C',
  createdAt: at('2027-01-31T12:00'),
  currency: 'RUB' as Currency,
  startsWith: 'savedCard',
  items: [{ product: 'Tea', quantity: 1n, priceMinor: 30_000n }],
  schedule: { every: { count: 1, unit: 'M' }, zone: 'UTC', chargeAt: window, anchor: 'atStart' },
  catchUp: 'current',
  dunning: { ...monthlyPolicy, byClass: {}, tries: [3], at: window },
  trialWithoutCard: 'pause',
};

function valueOf<Value>(outcome: { ok: true; value: Value } | { ok: false }): Value {
  if (!outcome.ok) throw new Error(`refused: ${JSON.stringify(outcome)}`);
  return outcome.value;
}
const typesOf = (facts: readonly SubscriptionFact[]) => facts.map(({ type }) => type);

function asking(wanted: Partial<WantedChange> = {}, of = terms): Life {
  const life = new Life(of).until(asked);
  const change = { when: 'anchorNow', credit: 'none', ...wanted } as const;
  life.take(valueOf(decideChange(life.subscription, change, 'C', asked)), asked);
  return life;
}

/** The charge of the saved card is at the bank, or has failed. */
function waiting(isAtBank: boolean, wanted?: Partial<WantedChange>): Life {
  const life = asking(wanted).wakeAt(asked);
  const { charging = '' } = life.subscription.change ?? {};
  const failed = { outcome: 'failed', declineClass: 'funds' } as const;
  if (!isAtBank) life.take(decideChangeChargeEnded(life.subscription, charging, failed, asked), asked);
  return life;
}
function lose(life: Life, number: number, now = asked): void {
  const others = [...life.rows.values()].filter((row) => row.outcome === 'paid' && row.number !== number);
  life.take(decideTakenBack(life.subscription, life.rows.get(number)!, others.at(-1)?.endsAt), now);
}
const cheaper = [{ product: 'Tea', quantity: 1n, priceMinor: 5_000n }];
const pay = (life: Life, now: Instant) => life.take(decideChangeEnded(life.subscription, 'C', true), now);

test('a pause takes it back, unless its charge is at the bank', () => {
  const pause = ({ subscription }: Life) =>
    decidePause(subscription, { by: 'merchant', openPeriods: 'keepTrying', invoiceId: 'I' }, asked);
  expect(typesOf(valueOf(pause(waiting(false))))).toEqual(['change_dropped', 'subscription_paused']);
  expect(pause(waiting(true))).toMatchObject({ refusal: { code: 'subscriptionChargePending' } });
});

test('the next period waits for the bank, and else takes its place', () => {
  const due = at('2027-02-28T06:01');
  const atBank = waiting(true).until(due);
  expect([atBank.outcomes(), nextAction(atBank.subscription)]).toEqual([['1 paid'], undefined]);
  pay(atBank, due);
  expect(atBank.rows.get(2)).toMatchObject({ startsOn: '2027-02-11', endsOn: '2027-03-11', outcome: 'paid' });
  const failed = waiting(false).until(due);
  expect(typesOf(failed.facts).slice(-4)).toEqual([
    'change_dropped',
    'period_created',
    'charge_started',
    'period_paid',
  ]);
  expect(failed.rows.get(2)).toMatchObject({ startsOn: '2027-02-28', outcome: 'paid' });
});

test('an end that is scheduled takes it back, or comes after the new period if its charge is at the bank', () => {
  const end = valueOf(decideCancel(waiting(false).subscription, { when: 'periodEnd', by: 'payer' }));
  expect(typesOf(end)).toEqual(['change_dropped', 'end_scheduled']);
  const life = waiting(true);
  life.take(valueOf(decideCancel(life.subscription, { when: 'periodEnd', by: 'payer' })), asked);
  pay(life, laterBy(asked, 3_600_000));
  expect(life.subscription.endsAfter).toEqual({ number: 2, reason: 'payer' });
  life.until(at('2027-06-01T00:00'));
  expect([life.outcomes(), life.subscription.endedFor]).toEqual([['1 paid', '2 paid'], 'payer']);
});

test('an end that is scheduled waits for the bank, and comes without the new period if that fails', () => {
  const life = waiting(true);
  life.take(valueOf(decideCancel(life.subscription, { when: 'periodEnd', by: 'payer' })), asked);
  const late = at('2027-03-02T00:00');
  life.until(late);
  expect([life.outcomes(), life.subscription.phase]).toEqual([['1 paid'], 'running']);
  const { charging = '' } = life.subscription.change ?? {};
  const failed = { outcome: 'failed', declineClass: 'funds' } as const;
  life.take(decideChangeChargeEnded(life.subscription, charging, failed, late), late);
  life.until(late);
  expect([life.outcomes(), life.subscription.endedFor]).toEqual([['1 paid'], 'payer']);
});

test('a card that is charged tomorrow is not charged after an end', () => {
  const life = asking();
  expect(life.next).toMatchObject({ does: 'chargeChange' });
  life.take(valueOf(decideCancel(life.subscription, { when: 'periodEnd', by: 'payer' })), asked);
  life.until(at('2027-06-01T00:00'));
  expect([life.outcomes(), life.changeCharges]).toEqual([['1 paid'], []]);
});

test('what the bank captures after the end is a paid period', () => {
  const life = waiting(true);
  life.take(valueOf(decideCancel(life.subscription, { when: 'now', by: 'merchant' })), asked);
  pay(life, laterBy(asked, 60_000));
  expect([life.outcomes(), life.subscription.paidThrough]).toEqual([
    ['1 paid', '2 paid'],
    '2027-03-11T00:00:00.000000Z',
  ]);
});

test('no missed period is charged meanwhile', () => {
  expect(decideChargeMissed(waiting(false).subscription, 1, { invoiceId: 'I' })).toMatchObject({
    refusal: { code: 'invalidSubscriptionStatus' },
  });
});

// At noon of the 12th of its 28 days, 16.5 of them are unused.
const unused = 17_679n;

test('it is taken back with the money of the period that pays a part of it', () => {
  const life = waiting(false, { credit: 'unused' });
  expect(life.subscription.change).toMatchObject({ creditMinor: unused });
  lose(life, 1);
  expect(typesOf(life.facts).slice(-2)).toEqual(['change_dropped', 'payment_taken_back']);
  expect(life.subscription).toMatchObject({ paidMinor: 0n, creditMinor: 0n });
  expect(life.subscription.change).toBeUndefined();
});

test.each(['before', 'after'])('credit is gone if its money is taken back %s the bank decides', (when) => {
  const life = waiting(true, { credit: 'unused' });
  if (when === 'before') lose(life, 1);
  expect(life.subscription.change?.newPeriod).toBeDefined();
  pay(life, asked);
  if (when === 'after') lose(life, 1);
  expect(life.rows.get(2)).toMatchObject({ amountMinor: 30_000n - unused, outcome: 'paid' });
  expect(life.subscription).toMatchObject({
    paidMinor: 30_000n - unused,
    creditMinor: 0n,
    cutShort: [{ number: 1, paidMinor: 0n }],
  });
});

test('credit that is left of a cheaper new period is gone with its money', () => {
  const life = asking({ credit: 'unused', items: cheaper });
  expect(life.subscription).toMatchObject({ creditMinor: unused - 5_000n, paidMinor: 5_000n });
  lose(life, 1);
  expect(life.subscription).toMatchObject({ creditMinor: 0n, paidMinor: 0n, latest: { outcome: 'paid' } });
});

test('a period that is charged again pays for its own time, and for what its credit has paid', () => {
  const life = asking({ credit: 'unused', items: cheaper });
  lose(life, 1);
  life.take(valueOf(decideChargeMissed(life.subscription, 1, { invoiceId: 'I' })), asked);
  life.take(decidePaid(life.subscription, 1, 'payer', asked), asked);
  expect(life.subscription).toMatchObject({
    creditMinor: unused - 5_000n,
    paidMinor: 5_000n,
    cutShort: [{ number: 1, paidMinor: 30_000n - unused }],
  });
});

test('a period that has given credit is charged in full again after the next has begun, and its credit comes back', () => {
  const life = new Life(terms).until(asked);
  const change = { when: 'now', credit: 'unused', items: cheaper } as const;
  life.take(valueOf(decideChange(life.subscription, change, 'C', asked)), asked);
  const given = life.subscription.creditMinor;
  const next = at('2027-02-28T07:00');
  life.until(next);
  expect(life.rows.get(2)).toMatchObject({ amountMinor: 0n, creditMinor: 5_000n, outcome: 'paid' });
  lose(life, 1, next);
  expect(life.subscription.creditMinor).toBe(0n);
  life.take(valueOf(decideChargeMissed(life.subscription, 1, { invoiceId: 'I' })), next);
  life.take(decidePaid(life.subscription, 1, 'payer', next), next);
  // What they have paid is what the first period has cost, the second one, and the credit that is left.
  expect(life.rows.get(1)).toMatchObject({ amountMinor: 30_000n, outcome: 'paid' });
  expect(30_000n - given + 5_000n + life.subscription.creditMinor).toBe(30_000n);
});

test('it costs what its dates say, also where the dates before have another last period', () => {
  const items = [{ product: 'Tea', quantity: 1n, priceMinor: 30_000n, lastPriceMinor: 100n }];
  const schedule = { ...terms.schedule, ends: { before: '2027-03-20' } };
  const life = asking({}, { ...terms, items, schedule });
  expect(life.subscription.change?.chargeMinor).toBe(30_000n);
  pay(life, asked);
  life.until(at('2027-06-01T00:00'));
  const costs = [...life.rows.values()].map(({ startsOn, amountMinor }) => [startsOn, amountMinor]);
  expect(costs.slice(1)).toEqual([
    ['2027-02-11', 30_000n],
    ['2027-03-11', 100n],
  ]);
});

describe('of a new period that credit has paid in part, and whose payment is taken back', () => {
  const dearer = [{ product: 'Tea', quantity: 1n, priceMinor: 40_000n }];
  const lost = () => {
    const life = asking({ credit: 'unused', items: dearer });
    pay(life, asked);
    lose(life, 2);
    expect(life.rows.get(2)).toMatchObject({ creditMinor: unused, outcome: 'missed' });
    expect(life.subscription).toMatchObject({ creditMinor: 0n, paidMinor: unused });
    return life;
  };
  const close = (life: Life, outcome: 'forgiven' | 'unpaid', now: Instant) =>
    life.take([{ type: 'period_closed', number: 2, outcome }], now);
  const agrees = (life: Life) => expect(problemsOf(keptOf(planFrom(1), life))).toEqual([]);
  const renewed = at('2027-03-12T12:00');

  test.each([false, true])(
    'the credit comes back when it is closed, after it was charged again: %s',
    (isAgain) => {
      const life = lost();
      if (isAgain) life.take(valueOf(decideChargeMissed(life.subscription, 2, { invoiceId: 'I' })), asked);
      close(life, isAgain ? 'unpaid' : 'forgiven', asked);
      expect(life.subscription).toMatchObject({ creditMinor: unused, paidMinor: 0n });
      life.until(renewed);
      expect(life.rows.get(3)).toMatchObject({ creditMinor: unused, amountMinor: 40_000n - unused });
    },
  );

  test('the credit comes back once the next period has started, and goes with its money', () => {
    const life = lost().until(renewed);
    expect(life.rows.get(3)).toMatchObject({ creditMinor: 0n, amountMinor: 40_000n });
    close(life, 'forgiven', renewed);
    expect(life.subscription).toMatchObject({ creditMinor: unused, paidMinor: 40_000n });
    lose(life, 1, renewed);
    expect(life.subscription).toMatchObject({ creditMinor: 0n, paidMinor: 40_000n });
    agrees(life);
  });

  test('no credit comes back that the next period has had already', () => {
    const life = asking({ credit: 'unused', items: dearer });
    pay(life, asked);
    const tomorrow = at('2027-02-12T00:00');
    life.take(
      valueOf(
        decideChange(life.subscription, { when: 'now', credit: 'unused', items: cheaper }, 'D', tomorrow),
      ),
      tomorrow,
    );
    const given = life.subscription.creditMinor;
    expect(given > 0n).toBe(true);
    life.until(renewed);
    lose(life, 2, renewed);
    const { creditMinor } = life.subscription;
    close(life, 'forgiven', renewed);
    const back = life.subscription.creditMinor - creditMinor;
    // Of the 30,000 that the bank has left, the first 11.5 days are used.
    expect(back + creditMinor + life.subscription.paidMinor).toBe(unused);
    agrees(life);
  });
});
