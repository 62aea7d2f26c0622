// A receiver's events of one subscription, right and with one thing wrong.
import { expect, test } from 'vitest';
import type { Seen } from '../check.ts';
import type { Delivery } from '../world.ts';
import { misinformed } from './told.ts';

const endsAt = '2027-02-28T00:00:00.000000Z';
const shown = { id: 'S', status: 'active', paidThrough: endsAt };
const period = { number: 1, outcome: 'paid', amount: 100, invoiceID: 'I' };
const types = ['subscription_created', 'period_created', 'charge_started', 'period_paid'];

const event = (eventID: number, eventType: string, more: object = {}): Delivery => ({
  webhookID: 'W',
  eventID,
  body: { eventType, subscription: { ...shown, status: 'active' }, ...more },
});
const right = [
  event(1, 'SubscriptionCreated', { subscription: { id: 'S', status: 'active' } }),
  event(2, 'SubscriptionPeriodCreated', { period: { ...period, outcome: 'open' } }),
  event(3, 'SubscriptionChargeStarted', { period: { ...period, outcome: 'open' } }),
  event(4, 'SubscriptionPeriodPaid', { period }),
];

async function problemsIn(received: readonly Delivery[]): Promise<string[]> {
  const row = { subscription_id: 'S', phase: 'running', state: { open: [], paidThrough: endsAt } };
  const kept = {
    subscription_id: 'S',
    number: 1,
    outcome: 'paid',
    amount_minor: 100,
    invoice_id: 'I',
  };
  const seen = {
    books: { subscriptions: [row], periods: [kept] },
    histories: new Map([['S', { facts: types.map((type) => ({ type })) }]]),
    received,
  };
  const query = () => Promise.resolve([{ webhook_id: 'W', subscription_id: 'S' }]);
  return (await misinformed(query, seen as unknown as Seen)).map(([, problem]) => problem);
}

test('nothing is found in what is right, also if an event came twice', async () => {
  expect(await problemsIn(right)).toEqual([]);
  expect(await problemsIn([...right.slice(0, 3), ...right])).toEqual([]);
});

test.each<[string, readonly Delivery[], RegExp]>([
  ['an event that never came', right.toSpliced(2, 1), /^it received/],
  ['the last one that never came', right.slice(0, 3), /period 1 is open, and it is paid/],
  [
    'another status',
    right.with(
      3,
      event(4, 'SubscriptionPeriodPaid', { period, subscription: { ...shown, status: 'paused' } }),
    ),
    /status is paused/,
  ],
  [
    'a stop of charging that its row does not have',
    right.with(
      3,
      event(4, 'SubscriptionPeriodPaid', { period, subscription: { ...shown, parkedFor: 'periodAhead' } }),
    ),
    /parkedFor is periodAhead/,
  ],
  [
    'another time',
    right.with(
      3,
      event(4, 'SubscriptionPeriodPaid', {
        period,
        subscription: { ...shown, paidThrough: '2027-01-31T00:00:00Z' },
      }),
    ),
    /paidThrough is/,
  ],
  [
    'another amount',
    right.with(3, event(4, 'SubscriptionPeriodPaid', { period: { ...period, amount: 1 } })),
    /by its events period 1/,
  ],
])('%s is found', async (_, received, problem) => {
  expect((await problemsIn(received)).join('\n')).toMatch(problem);
});
