// What a receiver knows of a subscription from its events alone.
import { expect, test } from 'vitest';
import type { Instant } from '../clock.ts';
import type { Currency } from '../money.ts';
import { written } from '../platform/database/codec.ts';
import { monthlyPolicy } from './domain/dunning/dunning.ts';
import { layOut } from './domain/schedule.ts';
import { decideChargeEnded } from './domain/charge-outcome.ts';
import {
  evolve,
  type Subscription,
  type SubscriptionFact,
  type SubscriptionTerms,
} from './domain/subscription.ts';
import { subscriptionFact } from './store/codec.ts';
import { subscriptionsTopic } from './webhook-events.ts';

const at = '2027-01-31T12:00:00.000000Z' as Instant;
const window = { from: '06:00', until: '06:01' };
const terms: SubscriptionTerms = {
  id: 'S',
  partyId: 'P',
  shopId: 'shop',
  customerId: 'C',
  createdAt: at,
  currency: 'RUB' as Currency,
  startsWith: 'savedCard',
  items: [{ product: 'Tea', quantity: 1n, priceMinor: 1_000n }],
  schedule: { every: { count: 1, unit: 'M' }, zone: 'UTC', chargeAt: window, anchor: 'atStart' },
  catchUp: 'current',
  dunning: monthlyPolicy,
  trialWithoutCard: 'pause',
};
const started: SubscriptionFact[] = [
  { type: 'subscription_created', terms },
  { type: 'subscription_started', schedule: layOut(terms.schedule, '2027-01-31') },
];

function eventsOf(...facts: SubscriptionFact[]) {
  const log = [...started, ...facts].map((fact, index) => ({
    sequence: index + 1,
    createdAt: at,
    facts: [written(subscriptionFact, fact)],
  }));
  const events = subscriptionsTopic.webhookEventsOf(log);
  return events.slice(started.length).map(({ eventType, members }) => ({ eventType, ...members }));
}

test('why charging is stopped, and that it continues', () => {
  const events = eventsOf(
    { type: 'subscription_parked', why: 'periodAhead' },
    { type: 'subscription_unparked' },
  );
  expect(events).toMatchObject([
    { eventType: 'SubscriptionParked', subscription: { parkedFor: 'periodAhead' } },
    { eventType: 'SubscriptionUnparked' },
  ]);
  expect(events[1]).not.toHaveProperty('subscription.parkedFor');
});

const openPeriod: SubscriptionFact = {
  type: 'period_created',
  period: {
    number: 1,
    kind: 'regular',
    startsOn: '2027-01-31',
    endsOn: '2027-02-28',
    startsAt: at,
    endsAt: '2027-02-28T00:00:00.000000Z' as Instant,
    dueAt: at,
    lines: terms.items,
    amountMinor: 1_000n,
    creditMinor: 0n,
    invoiceId: 'I',
    outcome: 'open',
  },
};

test.each(['funds', 'vague', 'issuer', 'technical', 'newCard'] as const)(
  'a decline of class %s says how many tries are left, and so many follow',
  (declineClass) => {
    let subscription: Subscription | undefined;
    const log: { sequence: number; createdAt: Instant; facts: unknown[] }[] = [];
    const happen = (facts: readonly SubscriptionFact[], createdAt: Instant) => {
      log.push({
        sequence: log.length + 1,
        createdAt,
        facts: facts.map((fact) => written(subscriptionFact, fact)),
      });
      for (const fact of facts) subscription = evolve(subscription, fact, createdAt);
    };
    happen([...started, openPeriod], at);
    for (let next: Instant | undefined = at; next && subscription; next = subscription.open[0]?.nextTryAt) {
      const paymentId = `I.${log.length}`;
      happen([{ type: 'charge_started', number: 1, paymentId }], next);
      const ending = { outcome: 'failed', declineClass } as const;
      happen(decideChargeEnded(subscription, { number: 1, paymentId }, ending, next), next);
    }
    const left = subscriptionsTopic
      .webhookEventsOf(log)
      .filter(({ eventType }) => eventType === 'SubscriptionChargeFailed')
      .map(({ members }) => members['triesLeft']);
    const tries = { funds: 6, vague: 3, issuer: 1, technical: 14, newCard: 0 }[declineClass];
    expect(left).toEqual(Array.from({ length: tries + 1 }, (_, index) => tries - index));
  },
);

test.each([
  ['that is tried again', { nextTryAt: at }],
  ['that is not tried again', {}],
])('a decline by a mistake has no count of tries: %s', (_, more) => {
  const failed = { type: 'charge_failed', number: 1, declineClass: 'configuration', ...more } as const;
  expect(eventsOf(openPeriod, failed)[1]).not.toHaveProperty('triesLeft');
});

test('a change is being charged until its charge fails, and not while it waits for the next one', () => {
  const items = [{ product: 'Two teas', quantity: 1n, priceMinor: 2_000n }];
  const money = { creditMinor: 500n, chargeMinor: 1_000n, fromBalanceMinor: 0n };
  const change = { period: 1, items, ...money, invoiceId: 'C', payableUntil: at };
  const events = eventsOf(
    { type: 'change_started', change },
    { type: 'change_charge_started', paymentId: 'C.1' },
    { type: 'change_charge_failed', failedFor: 'payerPresent' },
    { type: 'change_charge_started', paymentId: 'C.2' },
    { type: 'change_charge_failed', failedFor: 'unsent', isUnsent: true, retryAt: at },
  );
  const isCharging = events.map(({ subscription }: any) => subscription.pendingChange.isCharging);
  expect(isCharging).toEqual([true, true, false, true, false]);
  expect(events[4]).toMatchObject({ subscription: { nextActionAt: at } });
});

test('every step of a change, with its amounts and its cause', () => {
  const items = [{ product: 'Two teas', quantity: 1n, priceMinor: 2_000n }];
  const money = { creditMinor: 500n, chargeMinor: 1_000n, fromBalanceMinor: 0n };
  const change = { period: 1, items, ...money, invoiceId: 'C', payableUntil: at };
  const events = eventsOf(
    { type: 'items_scheduled', items },
    { type: 'items_unscheduled' },
    { type: 'change_started', change },
    { type: 'change_charge_started', paymentId: 'C.1' },
    { type: 'change_charge_failed', failedFor: 'funds' },
    { type: 'change_dropped', why: 'unpaid' },
    { type: 'items_changed', change: { ...change, chargeMinor: 100n } },
    { type: 'change_payment_taken_back', ofPeriod: 1, invoiceId: 'C', amountMinor: 500n },
    { type: 'zone_changed', zone: 'Asia/Tokyo' },
  );
  const shown = [{ product: 'Two teas', price: 2_000, quantity: 1 }];
  expect(events).toMatchObject([
    { eventType: 'SubscriptionChangeScheduled', items: shown },
    { eventType: 'SubscriptionChangeTakenBack', items: shown },
    {
      eventType: 'SubscriptionChangeStarted',
      items: shown,
      change: { ofPeriod: 1, charge: 1_000, credit: 500, fromBalance: 0, amount: 500, invoiceID: 'C' },
    },
    { eventType: 'SubscriptionChangeChargeStarted', payment: { invoiceID: 'C', paymentID: '1' } },
    { eventType: 'SubscriptionChangeChargeFailed', invoiceID: 'C', reason: 'funds' },
    { eventType: 'SubscriptionChangeDropped', invoiceID: 'C', items: shown, reason: 'unpaid' },
    { eventType: 'SubscriptionChanged', change: { amount: 0 }, subscription: { creditBalance: 400 } },
    { eventType: 'SubscriptionChangePaymentTakenBack', invoiceID: 'C', amount: 500 },
    { eventType: 'SubscriptionTimeZoneChanged', subscription: { timeZone: 'Asia/Tokyo' } },
  ]);
});

test('a period whose payment was taken back, and what is still paid', () => {
  const [startsAt, endsAt] = [at, '2027-02-28T00:00:00.000000Z' as Instant];
  const dates = { kind: 'regular', startsOn: '2027-01-31', endsOn: '2027-02-28' } as const;
  const money = { lines: terms.items, amountMinor: 1_000n, creditMinor: 0n };
  const period = { number: 1, ...dates, startsAt, endsAt, dueAt: at, ...money, invoiceId: 'I' };
  const events = eventsOf(
    { type: 'period_created', period: { ...period, outcome: 'open' } },
    { type: 'charge_started', number: 1, paymentId: 'I.1' },
    { type: 'period_paid', number: 1, by: 'charge' },
    { type: 'payment_taken_back', period: { ...period, outcome: 'missed' } },
  );
  expect(events.at(-2)).toMatchObject({ subscription: { paidThrough: endsAt } });
  expect(events.at(-1)).toMatchObject({
    eventType: 'SubscriptionPaymentTakenBack',
    period: { number: 1, outcome: 'missed', invoiceID: 'I' },
  });
  expect(events.at(-1)).not.toHaveProperty('subscription.paidThrough');
});

test('a charge that is announced adds no period before it is due, and its announcement moves a held one', () => {
  const endsAt = '2027-02-28T00:00:00.000000Z' as Instant;
  const announcement = {
    number: 1,
    why: 'eachCharge',
    leadMs: 3_600_000,
    priceMinor: 1_000n,
    version: 1,
  } as const;
  const dates = {
    kind: 'regular',
    startsOn: '2027-01-31',
    endsOn: '2027-02-28',
    startsAt: at,
    endsAt,
  } as const;
  const money = { lines: terms.items, amountMinor: 1_000n, creditMinor: 0n };
  const period = { number: 1, ...dates, dueAt: at, ...money, invoiceId: 'I', outcome: 'open' } as const;
  const [coming, ...events] = eventsOf(
    { type: 'charge_announced', announcement: { ...announcement, by: 'email' } },
    { type: 'period_created', period },
    { type: 'charge_postponed', number: 1, why: 'announcementPending', until: at, isUnannounced: true },
    { type: 'announcement_ended', number: 1, as: 'accepted' },
    { type: 'end_scheduled', afterNumber: 1, reason: 'merchant' },
  );
  expect(coming).toMatchObject({ upcoming: { number: 1, amount: 1_000 } });
  expect(coming).not.toHaveProperty('period');
  expect(events.at(-2)).toMatchObject({
    eventType: 'SubscriptionAnnouncementEnded',
    announcement: 'accepted',
    period: { number: 1, outcome: 'open' },
    subscription: { openPeriods: [{ nextTryAt: '2027-01-31T13:00:00.000000Z' }] },
  });
  expect(events.at(-1)).toMatchObject({ eventType: 'SubscriptionEndScheduled', by: 'merchant' });
});

test('who or what has asked for a try', () => {
  const dates = { number: 1, kind: 'regular', startsOn: '2027-01-31', endsOn: '2027-02-28' } as const;
  const times = { startsAt: at, endsAt: at, dueAt: at };
  const money = { lines: [], amountMinor: 1_000n, creditMinor: 0n };
  const events = eventsOf(
    { type: 'period_created', period: { ...dates, ...times, ...money, invoiceId: 'I', outcome: 'open' } },
    { type: 'try_requested', number: 1, by: 'merchant' },
    { type: 'try_requested', number: 1, by: 'newCard' },
    { type: 'try_requested', number: 1, by: 'newCard', isConsent: true },
  );
  const asked = events.filter(({ eventType }) => eventType === 'SubscriptionTryRequested');
  expect(asked).toMatchObject([{ by: 'merchant' }, { by: 'newCard' }, { by: 'newConsent' }]);
});
