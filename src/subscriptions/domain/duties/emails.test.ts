// What the emails of single steps are about.
import { expect, test } from 'vitest';
import type { Instant } from '../../../clock.ts';
import type { Currency } from '../../../money.ts';
import { decideChargeEnded } from '../charge-outcome.ts';
import { decideCreate, decideFirstPaymentCaptured, decidePaid, decideWake } from '../commands.ts';
import { monthlyPolicy } from '../dunning/dunning.ts';
import { Life } from '../../../../test/models/subscriptions/lived.ts';
import { decideDuty, nextDuty } from './duties.ts';
import { nextChargeOf } from './next-charge.ts';
import { evolve, evolveAll, type SubscriptionTerms } from '../subscription.ts';
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

test.each([
  ['a running one', [], true],
  ['one that ends after it', [{ type: 'end_scheduled', afterNumber: 1, reason: 'payer' }], false],
  [
    'a paused one',
    [{ type: 'subscription_paused', by: 'payer', resumesAt: '2027-06-01T00:00:00.000000Z' as Instant }],
    false,
  ],
] as const)('the recovery of %s', (_, facts, continues) => {
  const created = decideCreate({ ...terms, customerId: 'C', startsWith: 'savedCard' }, start);
  if (!created.ok || !created.value[0]) throw new Error('Nothing was created.');
  const running = evolveAll(evolve(undefined, created.value[0], start), created.value.slice(1), start);
  const ids = { invoiceId: 'I', paymentId: 'I.1' };
  const charging = evolveAll(running, decideWake(running, start, ids), start);
  const failing = { outcome: 'failed', declineClass: 'funds' } as const;
  const failed = decideChargeEnded(charging, { number: 1, paymentId: 'I.1' }, failing, start);
  const unpaid = evolveAll(charging, [...failed, ...facts], start);
  const [email] = emailsFor(unpaid, decidePaid(unpaid, 1, 'payer', start), start);
  expect([email?.kind, email?.chargeAt !== undefined]).toEqual(['recovered', continues]);
});

// From 18 February, 11 days are left of a period of 28.
test.each([
  ['proRata', 393n, '2027-02-18'],
  ['full', 1_000n, '2027-02-18'],
  ['free', 1_000n, '2027-03-01'],
] as const)(
  'the short period after a trial that is %s is announced with what it costs',
  (firstPeriod, cost, day) => {
    const { firstInvoice: _, ...saved } = terms;
    const createdAt = '2027-02-04T12:00:00.000000Z' as Instant;
    const schedule = { ...terms.schedule, anchor: { day: 1, firstPeriod }, trialDays: 14 } as const;
    const life = new Life({ ...saved, customerId: 'C', createdAt, startsWith: 'savedCard', schedule }).until(
      createdAt,
    );
    const duty = nextDuty(life.subscription);
    if (!duty) throw new Error('Nothing is announced.');
    const facts = decideDuty(life.subscription, duty, duty.at, { by: 'email', version: 1 });
    const about = { kind: 'announced', why: 'trialEnding', amountMinor: cost, period: { startsOn: day } };
    expect(emailsFor(life.subscription, facts, duty.at)).toMatchObject([{ ...about, priceMinor: 1_000n }]);
    expect(nextChargeOf(life.subscription, createdAt)).toMatchObject({ amountMinor: cost });
  },
);
