import { expect, test } from 'vitest';
import type { AttemptRow } from '../rows.ts';
import type { Seen } from '../check.ts';
import { retries } from './retries.ts';

const minute = (number: number) => new Date(Date.UTC(2026, 0, 19, 10, number)).toISOString();

const attempt = (invoice: string) =>
  ({
    series_id: 'S',
    invoice_id: invoice,
    payment_id: '1',
    created_at: minute(0),
    ended_at: minute(1),
    outcome: 'approved',
    network: null,
    amount_minor: 100,
    currency: 'RUB',
    invoice_created_at: minute(0),
    card_key: 'card',
    shop: 'shop',
    payment_system: 'visa',
    time_zone: 'UTC',
  }) as unknown as AttemptRow;

/** The log of the series in this order, and the charges that a subscription has made for its periods. */
function found(
  log: readonly [invoice: string, type: 'started' | 'succeeded'][],
  ofPeriods: readonly string[],
  dueAt = minute(0),
) {
  const facts = log.map(([invoiceId, type]) => ({
    type: `recurring_charge_${type}`,
    invoiceId,
    paymentId: '1',
    at: minute(0),
  }));
  const charges = ofPeriods.map((invoice) => ({
    type: 'charge_started',
    number: 1,
    paymentId: `${invoice}.1`,
  }));
  const created = { type: 'period_created', period: { number: 1, dueAt } };
  const events = [{ aggregate: 'subscription', aggregate_id: 'A', facts: [created, ...charges] }];
  const books = { attempts: [attempt('I'), attempt('J')], events };
  const seen = { books, histories: new Map([['S', { facts }]]) };
  return retries.find(seen as unknown as Seen);
}

const meeting = [
  ['I', 'started'],
  ['J', 'started'],
  ['I', 'succeeded'],
  ['J', 'succeeded'],
] as const;
const oneByOne = [meeting[0], meeting[2], meeting[1], meeting[3]] as const;

test.each([
  ['of a period', meeting, ['J'], ['it charges a period while payment I.1 is in progress']],
  ['of a period, after the other', oneByOne, ['I', 'J'], []],
  ['of a period before one that the merchant makes', meeting, ['I'], []],
  ['of a period, more than a day late', meeting, ['J'], [], minute(-24 * 60)],
] as const)('a charge meets no other of its series: %s', (_, log, ofPeriods, expected, dueAt?: string) => {
  expect(
    found(
      log.map(([invoice, type]) => [invoice, type]),
      ofPeriods,
      dueAt,
    ).map(([, problem]) => problem),
  ).toEqual(expected);
});
