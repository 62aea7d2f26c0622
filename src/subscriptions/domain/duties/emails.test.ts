// What the emails of single steps are about.
import { expect, test } from 'vitest';
import type { Instant } from '../../../clock.ts';
import type { Currency } from '../../../money.ts';
import { decideCreate, decideFirstPaymentCaptured } from '../commands.ts';
import { monthlyPolicy } from '../dunning/dunning.ts';
import { evolve, type SubscriptionTerms } from '../subscription.ts';
import { emailsFor } from './emails.ts';

const start = '2027-01-31T12:00:00.000000Z' as Instant;
const window = { from: '06:00', until: '06:01' };
const terms: SubscriptionTerms = {
  id: 'S',
  partyId: 'P',
  shopId: 'shop',
  createdAt: start,
  currency: 'RUB' as Currency,
  startsWith: 'firstPayment',
  firstInvoice: { id: 'I', amountMinor: 100n },
  items: [{ product: 'Tea', quantity: 1n, priceMinor: 1_000n }],
  schedule: { every: { count: 1, unit: 'M' }, zone: 'UTC', chargeAt: window, anchor: 'atStart' },
  catchUp: 'current',
  dunning: { ...monthlyPolicy, at: window },
  trialWithoutCard: 'pause',
};

function confirmation(trialDays?: number) {
  const schedule = { ...terms.schedule, ...(trialDays === undefined ? {} : { trialDays }) };
  const created = decideCreate({ ...terms, schedule }, start);
  if (!created.ok || !created.value[0]) throw new Error('Nothing was created.');
  const waiting = evolve(undefined, created.value[0], start);
  const paid = decideFirstPaymentCaptured(waiting, { invoiceId: 'I', amountMinor: 100n }, start);
  if (!paid.ok) throw new Error(paid.refusal.hint);
  return emailsFor(waiting, paid.value, start);
}

test('the confirmation of a start with a payment names the charge after it', () => {
  expect(confirmation()).toMatchObject([
    { kind: 'started', amountMinor: 1_000n, period: { startsOn: '2027-02-28', endsOn: '2027-03-31' } },
  ]);
  expect(confirmation(7)).toMatchObject([
    { kind: 'started', trialUntil: '2027-02-07', period: { startsOn: '2027-02-07' } },
  ]);
});
