// The guide's example: a year of monthly charges and 31 days of retries, with the test clock and the public API only.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import {
  insufficientFunds,
  mastercard,
  recurringWorld,
  type RecurringWorld,
} from '../../support/worlds/recurring.ts';
import type { Merchant } from '../../support/service/test-service.ts';

let world: PaymentWorld;
let recurring: RecurringWorld;

beforeAll(async () => {
  // They are about payers who are present, so nothing here may meet them.
  world = await startPaymentWorld({ CARD_TESTING_LIMITS: 'on' });
  recurring = recurringWorld(world);
});
afterAll(() => world.close());

const clock = '/sandbox/clock';

async function nowOf({ apiKey: token }: Merchant): Promise<number> {
  return Date.parse((await world.service.call('GET', clock, { token })).body.now);
}

async function moveTo({ apiKey: token }: Merchant, epochMs: number): Promise<void> {
  const body = { now: new Date(epochMs).toISOString() };
  const moved = await world.service.call('POST', clock, { token, body });
  if (moved.status !== 200) throw new Error(`The test clock did not move: ${moved.text}`);
}

test('a year of monthly charges succeeds, each with the previous one as its parent', async () => {
  const merchant = await world.createMerchant();
  let parent = await recurring.parent(undefined, {}, merchant);
  const start = new Date(await nowOf(merchant));
  for (let month = 1; month <= 12; month++) {
    await moveTo(
      merchant,
      Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + month, start.getUTCDate(), 12),
    );
    const made = await recurring.charge(parent, 49_900, { by: merchant, body: { makeRecurrent: true } });
    expect(made.status, `month ${month}`).toBe(201);
    expect(made.body.warnings).toBeUndefined();
    await world.service.jobs.whenIdle();
    parent = { invoiceID: made.body.invoiceID, paymentID: '1' };
  }
  const url = `/v2/processing/invoices/${parent.invoiceID}/payments/1/recurring`;
  const { body } = await world.service.call('GET', url, { token: merchant.apiKey });
  expect(body).toMatchObject({ mayCharge: true, chargesMade: 12, latestParent: parent });
});

test('a failed charge can be retried once a day for 31 days', async () => {
  const merchant = await world.createMerchant();
  const parent = await recurring.parent(mastercard, {}, merchant);
  const invoice = await recurring.invoice(insufficientFunds, {}, merchant);
  const start = await nowOf(merchant);
  const outcomes: string[] = [];
  for (let halfDay = 0; halfDay <= 63; halfDay++) {
    await moveTo(merchant, start + halfDay * 12 * 3_600_000);
    outcomes.push(await recurring.charged(parent, invoice, { by: merchant }));
  }
  expect(outcomes.filter((outcome) => outcome === 'failed')).toHaveLength(32);
  expect(outcomes.slice(0, 62).filter((_, place) => place % 2 === 1)).toEqual(
    // From the thirtieth decline on, the network's limit lasts longer than the day.
    [...Array(29).fill('recurrentRetryTooEarly'), ...Array(2).fill('recurrentRetryLimitReached')],
  );
  expect(outcomes.slice(-2)).toEqual(['failed', 'recurrentRetryWindowExpired']);

  // None of them was an attempt of the payer, who has ten of their own.
  const { token: paymentToolToken } = await world.tokenize(mastercard, merchant.apiKey);
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
  const paid = await world.service.call('POST', `/v2/processing/invoices/${invoice.id}/payments`, {
    token: merchant.apiKey,
    body: { flow: { type: 'PaymentFlowInstant' }, payer },
  });
  expect(paid.status, paid.text).toBe(201);
});
