// Instalments that are still to come, in each state.
import { expect, test } from 'vitest';
import type { Instant } from '../../../clock.ts';
import type { Currency } from '../../../money.ts';
import { decideCancel, decideCreate } from '../commands.ts';
import { monthlyPolicy } from '../dunning/dunning.ts';
import { createDue } from '../period-rows.ts';
import type { ScheduleTerms } from '../schedule.ts';
import { evolve, evolveAll, type Subscription, type SubscriptionTerms } from '../subscription.ts';
import { instalmentsOf } from './instalments.ts';

const at = (text: string) => `${text}:00.000000Z` as Instant;
const start = at('2027-01-15T12:00');
const monthly: ScheduleTerms = {
  every: { count: 1, unit: 'M' },
  zone: 'UTC',
  chargeAt: { from: '06:00', until: '06:01' },
  anchor: 'atStart',
};
const terms: SubscriptionTerms = {
  id: 'S',
  partyId: 'P',
  shopId: 'shop',
  customerId: 'C',
  createdAt: start,
  currency: 'RUB' as Currency,
  startsWith: 'savedCard',
  items: [{ product: 'Sofa', quantity: 1n, priceMinor: 30_000n }],
  schedule: monthly,
  catchUp: 'all',
  dunning: monthlyPolicy,
  trialWithoutCard: 'pause',
};

/** All that is due by then is paid. */
function paidBy(
  now: string,
  more: Partial<ScheduleTerms>,
  of: Partial<SubscriptionTerms> = {},
): Subscription {
  const decision = decideCreate({ ...terms, ...of, schedule: { ...monthly, ...more } }, start);
  if (!decision.ok) throw new Error(decision.refusal.hint);
  const [created, ...others] = decision.value;
  if (!created) throw new Error('A subscription is created by a fact.');
  let subscription = evolveAll(evolve(undefined, created, start), others, start);
  for (;;) {
    const due = createDue(subscription, at(now), 'I');
    if (due.length === 0) return subscription;
    const paid = due.flatMap(({ period }) =>
      period.outcome === 'open'
        ? [{ type: 'period_paid', number: period.number, by: 'charge' } as const]
        : [],
    );
    subscription = evolveAll(subscription, [...due, ...paid], at(now));
  }
}

const three = { ends: { periods: 3 } };

test.each<[string, Partial<ScheduleTerms>, object]>([
  ['2027-01-15T12:00', three, { total: 3, remaining: 2, next: 2 }],
  ['2027-02-16T12:00', three, { total: 3, remaining: 1, next: 3 }],
  ['2027-03-16T12:00', three, { total: 3, remaining: 0 }],
  ['2027-01-16T12:00', { ...three, trialDays: 7 }, { total: 3, remaining: 3, next: 1 }],
  ['2027-01-23T12:00', { ...three, trialDays: 7 }, { total: 3, remaining: 2, next: 2 }],
  [
    '2027-01-16T12:00',
    { ...three, anchor: { day: 1, firstPeriod: 'full' } },
    { total: 3, remaining: 3, next: 1 },
  ],
])('at %s, of %j', (now, more, instalments) => {
  expect(instalmentsOf(paidBy(now, more))).toEqual(instalments);
});

test('none follow after an end, or a scheduled one', () => {
  for (const when of ['periodEnd', 'now'] as const) {
    const subscription = paidBy('2027-01-15T12:00', three);
    const ended = decideCancel(subscription, { when, by: 'payer' });
    const after = evolveAll(subscription, ended.ok ? ended.value : [], start);
    expect(instalmentsOf(after)).toEqual({ total: 3, remaining: 0 });
  }
});

test('there are none without an agreed number, or before the start', () => {
  expect(instalmentsOf(paidBy('2027-01-15T12:00', {}))).toBeUndefined();
  expect(instalmentsOf(paidBy('2027-01-15T12:00', { ends: { before: '2027-04-01' } }))).toBeUndefined();
  const incomplete = { startsWith: 'firstPayment', firstInvoice: { id: 'F', amountMinor: 1n } } as const;
  expect(instalmentsOf(paidBy('2027-01-01T12:00', three, incomplete))).toBeUndefined();
});
