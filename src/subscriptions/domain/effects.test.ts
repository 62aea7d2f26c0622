// What follows from facts outside the rows of a subscription.
import { expect, test } from 'vitest';
import { effectsOf } from './effects.ts';
import type { Period, Subscription, SubscriptionFact } from './subscription.ts';

const open = { number: 2, invoiceId: 'I2', outcome: 'open' } as unknown as Period;
const missed = { number: 1, invoiceId: 'I1', outcome: 'missed' } as unknown as Period;
const running = {
  phase: 'running',
  terms: { firstInvoice: { id: 'I0' } },
  open: [open],
  missed: [missed],
} as unknown as Subscription;
const given = (facts: readonly unknown[], before = running, after = before) =>
  effectsOf(before, facts as SubscriptionFact[], after);
const rescinded = (invoiceId: string, because: string) => ({ do: 'rescindInvoice', invoiceId, because });

test('the obligation of a failed charge ends before its invoice is rescinded', () => {
  expect(
    given([
      { type: 'charge_failed', number: 2 },
      { type: 'period_closed', number: 2, outcome: 'unpaid' },
    ]),
  ).toEqual([{ do: 'endObligation', invoiceId: 'I2' }, rescinded('I2', 'unpaid')]);
});

test('a period that is paid elsewhere loses its invoice, and one that its payer pays keeps it', () => {
  expect(given([{ type: 'period_paid', number: 2, by: 'elsewhere' }])).toEqual([
    rescinded('I2', 'paid elsewhere'),
  ]);
  expect(given([{ type: 'period_paid', number: 2, by: 'payer' }])).toEqual([]);
});

test('the paid invoice of a missed period stays, and a new one is made when it is charged', () => {
  expect(given([{ type: 'period_closed', number: 1, outcome: 'forgiven' }])).toEqual([]);
  expect(given([{ type: 'missed_period_charged', number: 1, invoiceId: 'I3' }])).toEqual([
    { do: 'invoicePeriod', period: { ...missed, invoiceId: 'I3' } },
  ]);
});

test('an open period is invoiced when it is created, and closed in the same step without its invoice', () => {
  const period = { ...open, number: 3, invoiceId: 'I4' };
  const created = { type: 'period_created', period };
  expect(given([created])).toEqual([{ do: 'invoicePeriod', period }]);
  expect(given([{ type: 'period_created', period: { ...period, outcome: 'paid' } }])).toEqual([]);
  expect(given([created, { type: 'period_closed', number: 3, outcome: 'unpaid' }])).toEqual([
    { do: 'invoicePeriod', period },
    rescinded('I4', 'unpaid'),
  ]);
});

test('a change has an invoice until it is dropped', () => {
  const change = { invoiceId: 'I5' };
  expect(given([{ type: 'change_started', change }])).toEqual([{ do: 'invoiceChange', change }]);
  const changing = { ...running, change } as unknown as Subscription;
  expect(given([{ type: 'change_dropped' }], changing)).toEqual([rescinded('I5', 'change dropped')]);
  expect(given([{ type: 'change_dropped' }])).toEqual([]);
});

test('the first invoice is rescinded only if the subscription ends before it starts', () => {
  const ended = { ...running, phase: 'ended' } as Subscription;
  const incomplete = { ...running, phase: 'incomplete' } as Subscription;
  const facts = [{ type: 'subscription_ended', reason: 'payer' }];
  expect(given(facts, incomplete, ended)).toEqual([rescinded('I0', 'subscription ended')]);
  expect(given(facts, running, ended)).toEqual([]);
});
