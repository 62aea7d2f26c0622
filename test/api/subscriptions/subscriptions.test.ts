// What a merchant does with a subscription, and what is refused.
import { setTradingFlag } from '../../support/worlds/block-merchant.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Merchant } from '../../support/service/test-service.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { connectionBreaks, declinedWith, insufficientFunds } from '../../support/worlds/recurring.ts';
import {
  subscriptionsUrl,
  subscriptionWorld,
  type SubscriptionWorld,
} from '../../support/subscriptions/subscription-world.ts';

/** Expired, unless the payer is present. */
const expiredAlone = '4000000000549990';

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;
let merchant: Merchant;

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
  ({ merchant } = world);
});
afterAll(() => world.close());

async function started(more: Record<string, unknown> = {}, by = merchant) {
  const customerId = await subscriptions.readyCustomer(by);
  const created = await subscriptions.create(by, customerId, more);
  expect(created.status, created.text).toBe(201);
  await subscriptions.settle();
  return { id: created.body.id as string, customerId, created: created.body };
}

const act = (id: string, verb: string, body?: unknown, by = merchant) =>
  subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/${verb}`, body);
const daysLater = async (days: number, by: Merchant) => {
  const { body } = await subscriptions.call(by, 'GET', '/sandbox/clock');
  await subscriptions.moveTo(by, new Date(Date.parse(body.now) + days * 86_400_000).toISOString());
};

describe('a new subscription', () => {
  test('charges its first period at once, and shows what follows', async () => {
    const { id, customerId, created } = await started({ externalID: 'S-1', metadata: { plan: 'tea' } });
    expect(created).toMatchObject({
      status: 'active',
      openPeriods: [],
      every: 'P1M',
      metadata: { plan: 'tea' },
    });
    const [period, ...others] = await subscriptions.periods(merchant, id);
    expect(others).toEqual([]);
    expect(period).toMatchObject({ number: 1, kind: 'regular', outcome: 'paid', amount: 49_900 });
    expect(await subscriptions.invoice(merchant, period.invoiceID)).toMatchObject({
      status: 'paid',
      amount: 49_900,
      cart: [{ product: 'Tea', price: 49_900, quantity: 1 }],
    });
    const got = await subscriptions.get(merchant, id);
    expect(got).toMatchObject({ id, customerID: customerId, externalID: 'S-1', status: 'active' });
    expect(Date.parse(got.paidThrough)).toBeGreaterThan(Date.parse(period.dueAt));
    const upcoming = await subscriptions.call(merchant, 'GET', `${subscriptionsUrl}/${id}/upcoming?count=12`);
    expect(upcoming.body.map(({ number }: { number: number }) => number)).toEqual(
      Array.from({ length: 12 }, (_, index) => index + 2),
    );
    expect(upcoming.body[0]).toMatchObject({ startsOn: period.endsOn, amount: 49_900 });
    const found = await subscriptions.call(merchant, 'GET', `${subscriptionsUrl}?externalID=S-1`);
    expect(found.body).toEqual(got);
    const list = await subscriptions.call(
      merchant,
      'GET',
      `/v2/processing/customers/${customerId}/subscriptions`,
    );
    expect(list.body).toEqual([got]);
  });

  test('is the same one if the request is repeated, and a conflict if it differs', async () => {
    const customerId = await subscriptions.readyCustomer(merchant);
    const first = await subscriptions.create(merchant, customerId, { externalID: 'S-2' });
    const repeat = await subscriptions.create(merchant, customerId, { externalID: 'S-2' });
    expect([repeat.status, repeat.body.id]).toEqual([201, first.body.id]);
    const other = await subscriptions.create(merchant, customerId, { externalID: 'S-2', every: 'P1Y' });
    expect([other.status, other.body.code ?? other.body.message]).toEqual([
      409,
      expect.stringMatching(/external/i),
    ]);
  });

  test('is charged if the name of its product is long, and has an emoji where it is cut', async () => {
    const product = `${'a'.repeat(99)}🍵🍵`;
    const { id } = await started({ items: [{ product, price: 49_900 }] });
    const [{ outcome, invoiceID }] = await subscriptions.periods(merchant, id);
    const { product: shown } = await subscriptions.invoice(merchant, invoiceID);
    expect([outcome, shown]).toEqual(['paid', `${'a'.repeat(99)}🍵`]);
  });

  test('waits for the end of its trial', async () => {
    const by = await world.createMerchant();
    const { id } = await started({ trialDays: 7 }, by);
    expect(await subscriptions.get(by, id)).toMatchObject({ status: 'trialing' });
    await daysLater(8, by);
    const periods = await subscriptions.periods(by, id);
    expect(periods.map(({ kind, outcome, amount }) => [kind, outcome, amount])).toEqual([
      ['trial', 'paid', 0],
      ['regular', 'paid', 49_900],
    ]);
  });

  test('ends after the last of its periods', async () => {
    const by = await world.createMerchant();
    const { id } = await started({ every: 'P1W', periods: 3 }, by);
    expect(await subscriptions.get(by, id)).toMatchObject({
      instalments: { total: 3, remaining: 2, next: 2 },
    });
    await daysLater(40, by);
    expect((await subscriptions.periods(by, id)).map(({ outcome }) => outcome)).toEqual([
      'paid',
      'paid',
      'paid',
    ]);
    expect(await subscriptions.get(by, id)).toMatchObject({ status: 'ended', endReason: 'finished' });
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['no period', { every: 'P0M' }, /every/],
    ['a period too short for a retry', { every: 'P2D' }, /three days/],
    ['a period too long', { every: 'P999M' }, /every/],
    ['an unknown time zone', { timeZone: 'Mars/Base' }, /zone/],
    ['a window that ends before it starts', { chargeFrom: '10:00', chargeUntil: '06:00' }, /chargeAt/],
    ['a time that does not exist', { chargeFrom: '29:00' }, /chargeAt/],
    ['a day for weeks', { every: 'P1W', anchorDay: 3 }, /anchor/],
    ['a month without a day', { anchorMonth: 3 }, /anchorDay/],
    ['lines that cost nothing', { items: [] }, /cart|basket|lines/i],
  ])('is refused with %s', async (_, more, message) => {
    const customerId = await subscriptions.readyCustomer(merchant);
    const refused = await subscriptions.create(merchant, customerId, more);
    expect(refused.status, refused.text).toBe(400);
    expect(refused.text).toMatch(message);
  });

  test('is refused for a customer without a card, and for an unknown one', async () => {
    const { id } = await world.createCustomer();
    expect((await subscriptions.create(merchant, id)).body).toMatchObject({ code: 'customerNotReady' });
    expect(await subscriptions.create(merchant, 'unknown')).toMatchObject({ status: 404 });
  });

  test('is refused if the payer agreed to less', async () => {
    const customer = await world.createCustomer();
    const card = await world.tokenize('4242424242424242', customer.token);
    const bound = await subscriptions.call(
      merchant,
      'POST',
      `/v2/processing/customers/${customer.id}/bindings`,
      {
        paymentResource: { paymentToolToken: card.token, paymentSession: card.session },
        recurrentTerms: { amountRule: { kind: 'upTo', amount: 10_000 }, schedule: 'P1M' },
      },
    );
    expect(bound.status, bound.text).toBe(201);
    await world.service.jobs.whenIdle();
    const refused = await subscriptions.create(merchant, customer.id);
    expect(refused.body).toMatchObject({ code: 'recurrentAmountAboveConsent' });
    const cheaper = await subscriptions.create(merchant, customer.id, {
      items: [{ product: 'Tea', price: 9_900 }],
    });
    expect(cheaper.status, cheaper.text).toBe(201);
  });
});

describe('an end', () => {
  test('now is final, and refunds nothing', async () => {
    const { id } = await started();
    const ended = await act(id, 'cancel', { when: 'now' });
    expect(ended.body).toMatchObject({ status: 'ended', endReason: 'merchant' });
    expect(await act(id, 'cancel', { when: 'now' })).toMatchObject({
      status: 400,
      body: { code: 'invalidSubscriptionStatus' },
    });
    expect((await act(id, 'resume')).body).toMatchObject({ code: 'invalidSubscriptionStatus' });
    expect((await subscriptions.periods(merchant, id)).map(({ outcome }) => outcome)).toEqual(['paid']);
  });

  test('at the end of the period charges no other', async () => {
    const by = await world.createMerchant();
    const { id } = await started({}, by);
    const scheduled = await act(id, 'cancel', { when: 'periodEnd', by: 'payer' }, by);
    expect(scheduled.body).toMatchObject({ status: 'active', endsAfterPeriod: 1 });
    await daysLater(60, by);
    expect(await subscriptions.get(by, id)).toMatchObject({ status: 'ended', endReason: 'payer' });
    expect(await subscriptions.periods(by, id)).toHaveLength(1);
  });

  test('cancels the invoice of what is unpaid', async () => {
    const { id } = await started({ items: [{ product: 'Tea', price: insufficientFunds }] });
    const got = await subscriptions.get(merchant, id);
    expect(got).toMatchObject({
      status: 'pastDue',
      openPeriods: [{ number: 1, isCharging: false, declineClass: 'funds', nextTryAt: expect.any(String) }],
    });
    await act(id, 'cancel', { when: 'now' });
    const [period] = await subscriptions.periods(merchant, id);
    expect(period).toMatchObject({ outcome: 'unpaid' });
    expect(await subscriptions.invoice(merchant, period.invoiceID)).toMatchObject({ status: 'cancelled' });
  });
});

describe('a pause', () => {
  test('is not charged, and numbers and dates continue', async () => {
    const by = await world.createMerchant();
    const { id } = await started({ every: 'P1W' }, by);
    const paused = await act(id, 'pause', {}, by);
    expect(paused.body).toMatchObject({ status: 'paused', pausedBy: 'merchant' });
    expect((await act(id, 'pause', {}, by)).body).toMatchObject({ code: 'invalidSubscriptionStatus' });
    await daysLater(17, by);
    expect(await subscriptions.periods(by, id)).toHaveLength(1);
    expect((await act(id, 'resume', undefined, by)).body).toMatchObject({ status: 'active' });
    await daysLater(7, by);
    const periods = await subscriptions.periods(by, id);
    expect(periods.map(({ outcome }) => outcome)).toEqual(['paid', 'skipped', 'paid', 'paid']);
    // The third one continues after the pause, and is charged for the rest.
    expect(periods[2].amount).toBeLessThan(49_900);
    expect(periods[2].amount).toBeGreaterThan(0);
    expect(periods[3].amount).toBe(49_900);
  });

  test('cannot last for centuries', async () => {
    const { id } = await started({ every: 'P1M' });
    const far = await act(id, 'pause', { resumesAt: '9999-12-31T00:00:00Z' });
    expect([far.status, far.body]).toEqual([
      400,
      expect.objectContaining({ code: 'invalidRequest', hint: '`resumesAt` must be within 731 days.' }),
    ]);
    expect(await subscriptions.get(merchant, id)).toMatchObject({ status: 'active' });
  });

  test('cannot end in the past, and forgives what is open on request', async () => {
    const { id } = await started({ items: [{ product: 'Tea', price: insufficientFunds }] });
    const past = await act(id, 'pause', { resumesAt: '2020-01-01T00:00:00Z' });
    expect([past.status, past.body.code]).toEqual([400, 'invalidRequest']);
    const paused = await act(id, 'pause', { openPeriods: 'forgive' });
    expect(paused.body).toMatchObject({ status: 'paused', openPeriods: [] });
    expect((await subscriptions.periods(merchant, id)).map(({ outcome }) => outcome)).toEqual(['forgiven']);
  });
});

describe('in a shop that may not trade', () => {
  test('it pauses and is cancelled, and does not resume', async () => {
    const by = await world.createMerchant();
    const customer = await world.createCustomer({}, by);
    await world.bound(customer, '4242424242424242');
    const { id } = (await subscriptions.create(by, customer.id, { every: 'P1W' })).body;
    await subscriptions.settle();
    await setTradingFlag(world.service, by, { of: 'shop', flag: 'is_blocked' }, true);
    expect((await act(id, 'pause', {}, by)).body).toMatchObject({ status: 'paused' });
    expect((await act(id, 'resume', {}, by)).body).toMatchObject({ code: 'invalidShopStatus' });
    expect((await act(id, 'cancel', { when: 'now' }, by)).body).toMatchObject({ status: 'ended' });
  });
});

describe('a charge at the bank', () => {
  test('cannot be forgiven meanwhile, and closes its period after the end', async () => {
    const { id } = await started({ items: [{ product: 'Tea', price: connectionBreaks }] });
    expect((await subscriptions.get(merchant, id)).openPeriods).toMatchObject([
      { number: 1, isCharging: true },
    ]);
    expect((await act(id, 'pause', { openPeriods: 'forgive' })).body).toMatchObject({
      code: 'subscriptionChargePending',
    });
    expect((await act(id, 'cancel', { when: 'now' })).body).toMatchObject({ status: 'ended' });
    await world.later(3 * 60_000);
    await subscriptions.settle();
    await world.later(3_700_000);
    await subscriptions.settle();
    const got = await subscriptions.get(merchant, id);
    expect([got.status, got.openPeriods]).toEqual(['ended', []]);
    const [period] = await subscriptions.periods(merchant, id);
    const [payment] = await subscriptions.payments(merchant, period.invoiceID);
    expect(period.outcome).toBe(payment.status === 'captured' ? 'paid' : 'unpaid');
  });
});

describe("a payer's own payment", () => {
  test('keeps its period from being closed until it is over', async () => {
    const by = await world.createMerchant();
    const customerId = await subscriptions.readyCustomer(by, expiredAlone);
    const more = { every: 'P1W', trialDays: 7, ifUnpaid: 'end' };
    const { id } = (await subscriptions.create(by, customerId, more)).body;
    await subscriptions.settle();
    await daysLater(8, by);
    const [{ invoiceID, graceUntil }] = (await subscriptions.get(by, id)).openPeriods;
    const after = (ms: number) => new Date(Date.parse(graceUntil) + ms).toISOString();
    await subscriptions.moveTo(by, after(-60_000));
    const { token } = await world.tokenize('4012888888881881', by.apiKey);
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: token, contactInfo: {} };
    const body = { flow: { type: 'PaymentFlowInstant' }, payer };
    const paid = await subscriptions.call(by, 'POST', `/v2/processing/invoices/${invoiceID}/payments`, body);
    expect(paid.status, paid.text).toBe(201);
    await world.service.jobs.whenIdle();
    for (const refused of [
      await act(id, 'cancel', { when: 'now' }, by),
      await act(id, 'pause', { openPeriods: 'forgive' }, by),
    ])
      expect(refused).toMatchObject({ status: 400, body: { code: 'subscriptionChargePending' } });
    await subscriptions.moveTo(by, after(60_000));
    expect(await subscriptions.get(by, id)).toMatchObject({ status: 'pastDue' });
    await daysLater(1, by);
    const statuses = (await subscriptions.payments(by, invoiceID)).map(({ status }) => status);
    expect(statuses).toEqual(['failed', 'failed']);
    expect(await subscriptions.get(by, id)).toMatchObject({ status: 'ended', endReason: 'unpaid' });
  });
});

describe('what fails', () => {
  test('waits for a new card if no time can heal it', async () => {
    const { id } = await started({ items: [{ product: 'Tea', price: declinedWith(54) }] });
    const { status, openPeriods } = await subscriptions.get(merchant, id);
    expect(status).toBe('pastDue');
    expect(openPeriods[0]).toMatchObject({ declineClass: 'newCard', graceUntil: expect.any(String) });
    expect(openPeriods[0].nextTryAt).toBeUndefined();
  });

  test('is healed by a payment of the payer, also after the retries, and not charged again', async () => {
    const by = await world.createMerchant();
    const customerId = await subscriptions.readyCustomer(by, expiredAlone);
    const { id } = (await subscriptions.create(by, customerId, { every: 'P1W', trialDays: 7 })).body;
    await subscriptions.settle();
    await daysLater(8, by);
    expect(await subscriptions.get(by, id)).toMatchObject({
      status: 'pastDue',
      openPeriods: [{ number: 2, declineClass: 'newCard' }],
    });
    await daysLater(10, by);
    expect(await subscriptions.get(by, id)).toMatchObject({ status: 'unpaid' });
    const [, { invoiceID }] = await subscriptions.periods(by, id);
    const { token } = await world.tokenize('4242424242424242', by.apiKey);
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: token, contactInfo: {} };
    const body = { flow: { type: 'PaymentFlowInstant' }, payer };
    const paid = await subscriptions.call(by, 'POST', `/v2/processing/invoices/${invoiceID}/payments`, body);
    expect(paid.status, paid.text).toBe(201);
    await world.service.jobs.whenIdle();
    await subscriptions.settle();
    expect(await subscriptions.get(by, id)).toMatchObject({ status: 'active', openPeriods: [] });
    expect((await subscriptions.periods(by, id)).map(({ outcome }) => outcome)).toEqual([
      'paid',
      'paid',
      'skipped',
    ]);
    expect((await subscriptions.payments(by, invoiceID)).map(({ status }) => status)).toEqual([
      'failed',
      'captured',
    ]);
  });

  test('of one subscription makes another of the same card wait its turn', async () => {
    const by = await world.createMerchant();
    const { id, customerId } = await started({ items: [{ product: 'Tea', price: insufficientFunds }] }, by);
    const other = await subscriptions.create(by, customerId, {
      items: [{ product: 'Coffee', price: 20_000 }],
    });
    await subscriptions.settle();
    expect(await subscriptions.get(by, other.body.id)).toMatchObject({
      status: 'active',
      openPeriods: [{ number: 1, isCharging: false, nextTryAt: expect.any(String) }],
    });
    await daysLater(2, by);
    expect((await subscriptions.periods(by, other.body.id)).map(({ outcome }) => outcome)).toEqual(['paid']);
    expect(await subscriptions.get(by, id)).toMatchObject({ status: 'pastDue' });
  });

  test.each([
    ['also if the first is declined', insufficientFunds, ['open', 'paid']],
    ['if both are captured', 30_000, ['paid', 'paid']],
  ])('leaves two that are due at the same moment one charge each, %s', async (_, price, outcomes) => {
    const by = await world.createMerchant();
    const terms = { every: 'P1W', trialDays: 1, timeZone: 'UTC' };
    const customerId = await subscriptions.readyCustomer(by);
    const ids: string[] = [];
    for (const cost of [price, 20_000]) {
      const items = [{ product: 'Tea', price: cost }];
      ids.push((await subscriptions.create(by, customerId, { ...terms, items })).body.id);
    }
    await subscriptions.settle();
    // One poll finds both: a node that was away through the hours of their charges.
    world.service.clock.advance(2 * 86_400_000);
    await subscriptions.settle();
    // What waits for the other has its turn on the next day.
    world.service.clock.advance(86_400_000);
    await subscriptions.settle();
    const charged = await Promise.all(
      ids.map(async (id) => {
        const [, period] = await subscriptions.periods(by, id);
        const payments = await subscriptions.payments(by, period.invoiceID);
        const captured = payments.filter(({ status }) => status === 'captured');
        return [period.number, period.outcome, captured.length];
      }),
    );
    expect(charged).toEqual(outcomes.map((outcome) => [2, outcome, outcome === 'paid' ? 1 : 0]));
  });
});
