// Other items of a subscription: what a preview says, how a dearer change is paid, and what is left as credit.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyUpdate } from '../../../src/app/bank-watch/bank-updates.ts';
import type { Merchant } from '../../support/service/test-service.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { insufficientFunds } from '../../support/worlds/recurring.ts';
import {
  subscriptionsUrl,
  subscriptionWorld,
  type SubscriptionWorld,
} from '../../support/subscriptions/subscription-world.ts';

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
});
afterAll(() => world.close());

const dayMs = 86_400_000;
const items = (price: number) => [{ product: 'Tea', price }];
/** 30 days of whole seconds, so that a third is a third. */
const price = 30_000;

/** Declined for a terminated card, but for the payer approved. */
const expiredAlone = '4000000000549990';
/** Waits for the payer at their bank. */
const challenged = '4012888888881881';

async function pay(by: Merchant, invoiceID: string, card = '4242424242424242'): Promise<void> {
  const { token } = await world.tokenize(card, by.apiKey);
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: token, contactInfo: {} };
  const body = { flow: { type: 'PaymentFlowInstant' }, payer };
  const paid = await subscriptions.call(by, 'POST', `/v2/processing/invoices/${invoiceID}/payments`, body);
  expect(paid.status, paid.text).toBe(201);
  await world.service.jobs.whenIdle();
  await subscriptions.settle();
}

async function started(more: Record<string, unknown> = {}, card?: string) {
  const by = await world.createMerchant();
  const customerId = await subscriptions.readyCustomer(by, card);
  const { body: clock } = await subscriptions.call(by, 'GET', '/sandbox/clock');
  const midnight = (Math.floor(Date.parse(clock.now) / dayMs) + 1) * dayMs;
  const moveTo = (days: number) => subscriptions.moveTo(by, new Date(midnight + days * dayMs).toISOString());
  await moveTo(0);
  const created = await subscriptions.create(by, customerId, {
    items: items(price),
    every: 'P30D',
    timeZone: 'UTC',
    ...more,
  });
  expect(created.status, created.text).toBe(201);
  await subscriptions.settle();
  const { id } = created.body;
  const act = async (verb: string, body?: unknown) => {
    const answer = await subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/${verb}`, body);
    await subscriptions.settle();
    return answer;
  };
  const paymentsOf = async (invoiceID: string) =>
    (await subscriptions.payments(by, invoiceID)).map(({ status }: { status: string }) => status);
  return { by, id, act, moveTo, paymentsOf, get: () => subscriptions.get(by, id) };
}

/** The bank says so later. */
async function takeBack(invoiceID: string): Promise<void> {
  const { database, clock } = world.service;
  const update = { operationId: `${invoiceID}.1.a`, what: 'captureFailed', at: clock.now() } as const;
  const deps = { ...world.service, livemode: false, log: { error: () => {} } };
  const { outcome } = await database.transaction((tx) => applyUpdate(deps, tx, update));
  expect(outcome).toBe('applied');
}

describe('a new period that starts today', () => {
  const dates = async ({ by, id }: { readonly by: Merchant; readonly id: string }) =>
    (await subscriptions.periods(by, id)).map(({ number, startsOn, endsOn, outcome, amount }) => {
      const days = (Date.parse(endsOn) - Date.parse(startsOn)) / dayMs;
      return `${number} ${days} ${outcome} ${amount}`;
    });

  test('costs what its preview said, and is paid by the invoice of the change', async () => {
    const life = await started();
    const { act, get, moveTo, paymentsOf, by, id } = life;
    await moveTo(10);
    const wanted = { items: items(60_000), when: 'anchorNow' };
    const preview = await act('preview', wanted);
    expect(preview.body).toMatchObject({
      takesEffect: 'now',
      charge: 60_000,
      credit: 20_000,
      amount: 40_000,
      next: { number: 3, amount: 60_000 },
    });
    const { pendingChange } = (await act('change', { ...wanted, asOf: preview.body.asOf })).body;
    expect(pendingChange).toMatchObject({ amount: 40_000, isCharging: true });
    expect(await paymentsOf(pendingChange.invoiceID)).toEqual(['captured']);
    expect(await dates(life)).toEqual(['1 10 paid 30000', '2 30 paid 40000']);
    const after = await get();
    const { invoiceID, startsOn, endsOn } = (await subscriptions.periods(by, id))[1];
    expect([invoiceID, startsOn]).toEqual([pendingChange.invoiceID, pendingChange.startsOn]);
    expect(after).toMatchObject({
      status: 'active',
      anchorOn: startsOn,
      paidThrough: `${endsOn}T00:00:00.000000Z`,
    });
    const { body: emails } = await subscriptions.call(by, 'GET', '/sandbox/outbox');
    expect(emails.some(({ kind }: { kind: string }) => kind === 'newDates')).toBe(true);
    await moveTo(41);
    expect(await dates(life)).toEqual(['1 10 paid 30000', '2 30 paid 40000', '3 30 paid 60000']);
  });

  test('without credit costs all of it, with the items as they are', async () => {
    const life = await started();
    await life.moveTo(10);
    await life.act('change', { when: 'anchorNow', credit: 'none' });
    expect(await dates(life)).toEqual(['1 10 paid 30000', '2 30 paid 30000']);
    expect((await life.act('change', { when: 'anchorNow' })).body).toMatchObject({
      code: 'subscriptionChangedToday',
    });
  });

  test('leaves the dates if it is not paid', async () => {
    const life = await started();
    await life.moveTo(15);
    const { body } = await life.act('change', {
      items: items(price / 2 + insufficientFunds),
      when: 'anchorNow',
    });
    expect(body.pendingChange.amount).toBe(insufficientFunds);
    expect(await dates(life)).toEqual(['1 30 paid 30000']);
    await life.moveTo(31);
    expect((await life.get()).pendingChange).toBeUndefined();
    expect(await dates(life)).toEqual(['1 30 paid 30000', '2 30 paid 30000']);
  });

  test('is missed if the bank takes its payment back', async () => {
    const life = await started();
    await life.moveTo(10);
    const { pendingChange } = (await life.act('change', { when: 'anchorNow' })).body;
    await takeBack(pendingChange.invoiceID);
    expect(await dates(life)).toEqual(['1 10 paid 30000', '2 30 missed 10000']);
  });

  test.each([
    ['is dropped', false],
    ['stays, while the payer pays for it,', true],
  ])('%s if the bank takes back the money of its credit', async (_, isPaying) => {
    const life = await started();
    const { act, get, moveTo, by, id } = life;
    const [first] = await subscriptions.periods(by, id);
    await moveTo(15);
    const asked = { items: items(price / 2 + insufficientFunds), when: 'anchorNow' };
    const { invoiceID } = (await act('change', asked)).body.pendingChange;
    if (isPaying) await pay(by, invoiceID, challenged);
    await takeBack(first.invoiceID);
    expect((await get()).pendingChange?.invoiceID).toBe(isPaying ? invoiceID : undefined);
    expect(await dates(life)).toEqual(['1 30 missed 30000']);
    const { status } = await subscriptions.invoice(by, invoiceID);
    expect(status).toBe(isPaying ? 'unpaid' : 'cancelled');
  });

  test.each([
    ['on the first day of the period', 0.5, {}, {}],
    ['in a trial', 3, { trialDays: 14 }, {}],
    ['if the number of charges is agreed', 10, { periods: 6 }, {}],
    ['with another time zone', 10, {}, { timeZone: 'Europe/Moscow' }],
    ['if the charge is rare, so that the payer must know of it before', 10, { every: 'P7M' }, {}],
  ])('is refused %s', async (_, days, terms, more) => {
    const { act, moveTo } = await started(terms);
    await moveTo(days);
    const refused = await act('change', { when: 'anchorNow', ...more });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalidRequest']);
  });
});

describe('a dearer change', () => {
  test('costs what its preview said, is charged once, and applies from then on', async () => {
    const { act, get, moveTo, paymentsOf, by, id } = await started();
    await moveTo(10);
    const preview = await act('preview', { items: items(60_000), when: 'auto' });
    expect(preview.status, preview.text).toBe(200);
    expect(preview.body).toMatchObject({
      takesEffect: 'now',
      charge: 40_000,
      credit: 20_000,
      fromBalance: 0,
      amount: 20_000,
      creditBalance: 0,
      next: { number: 2, amount: 60_000 },
    });
    expect((await get()).items).toMatchObject([{ price }]);
    const changed = await act('change', {
      items: items(60_000),
      when: 'auto',
      asOf: preview.body.asOf,
    });
    expect(changed.status, changed.text).toBe(200);
    const { pendingChange } = changed.body;
    expect(pendingChange).toMatchObject({ amount: 20_000, isCharging: true });
    expect(await paymentsOf(pendingChange.invoiceID)).toEqual(['captured']);
    expect(await subscriptions.invoice(by, pendingChange.invoiceID)).toMatchObject({
      status: 'paid',
      amount: 20_000,
    });
    const after = await get();
    expect([after.items[0].price, after.pendingChange, after.status]).toEqual([60_000, undefined, 'active']);
    const again = await act('change', { items: items(70_000), when: 'now' });
    expect(again.body).toMatchObject({ code: 'subscriptionChangedToday' });
    await moveTo(31);
    expect((await subscriptions.periods(by, id)).map(({ amount }) => amount)).toEqual([price, 60_000]);
  });

  test('that the card does not pay is paid by the payer', async () => {
    const { act, get, moveTo, paymentsOf, by, id } = await started({}, expiredAlone);
    const [first] = await subscriptions.periods(by, id);
    await pay(by, first.invoiceID);
    await moveTo(10);
    const { body } = await act('change', { items: items(60_000), when: 'now' });
    const { invoiceID } = body.pendingChange;
    expect(await get()).toMatchObject({
      status: 'active',
      items: items(price),
      pendingChange: { isCharging: false, failedFor: 'recurrentStopped', amount: 20_000 },
    });
    expect((await act('change', { items: items(1), when: 'nextPeriod' })).body).toMatchObject({
      code: 'subscriptionChangePending',
    });
    await pay(by, invoiceID);
    expect(await paymentsOf(invoiceID)).toEqual(['captured']);
    expect(await get()).toMatchObject({ items: items(60_000) });
    expect((await get()).pendingChange).toBeUndefined();
  });

  test('that is not paid is dropped when its invoice is due', async () => {
    const { act, get, moveTo, by } = await started();
    await moveTo(15);
    const { body } = await act('change', { items: items(price + 2 * insufficientFunds), when: 'now' });
    await moveTo(18.1);
    expect((await get()).pendingChange).toBeUndefined();
    expect((await get()).items).toMatchObject(items(price));
    expect(await subscriptions.invoice(by, body.pendingChange.invoiceID)).toMatchObject({
      status: 'cancelled',
    });
    await moveTo(31);
    expect(await get()).toMatchObject({ status: 'active', openPeriods: [] });
  });

  test('waits for a payment of the payer, which outlasts its due date', async () => {
    const { act, get, moveTo, paymentsOf, by } = await started();
    await moveTo(15);
    const { body } = await act('change', { items: items(price + 2 * insufficientFunds), when: 'now' });
    const { invoiceID, payableUntil } = body.pendingChange;
    const until = Date.parse(payableUntil);
    await subscriptions.moveTo(by, new Date(until - 60_000).toISOString());
    // The payer has to confirm it with their bank, and never does.
    const { token } = await world.tokenize('4012888888881881', by.apiKey);
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: token, contactInfo: {} };
    const asked = { flow: { type: 'PaymentFlowInstant' }, payer };
    const paying = await subscriptions.call(
      by,
      'POST',
      `/v2/processing/invoices/${invoiceID}/payments`,
      asked,
    );
    expect(paying.status, paying.text).toBe(201);
    await world.service.jobs.whenIdle();
    for (const refused of [await act('unchange'), await act('cancel', { when: 'now' })])
      expect(refused.body).toMatchObject({ code: 'subscriptionChargePending' });
    await subscriptions.moveTo(by, new Date(until + 60_000).toISOString());
    expect((await get()).pendingChange).toMatchObject({ invoiceID });
    await subscriptions.moveTo(by, new Date(until + dayMs).toISOString());
    expect(await paymentsOf(invoiceID)).toEqual(['failed', 'failed']);
    expect((await get()).pendingChange).toBeUndefined();
    expect(await get()).toMatchObject({ status: 'active', items: items(price) });
  });

  test('ends with the subscription, and its invoice is cancelled', async () => {
    const { act, moveTo, by } = await started();
    await moveTo(15);
    const { body } = await act('change', { items: items(price + 2 * insufficientFunds), when: 'now' });
    const ended = await act('cancel', { when: 'now' });
    expect(ended.body).toMatchObject({ status: 'ended', items: items(price) });
    expect(ended.body.pendingChange).toBeUndefined();
    const { invoiceID } = body.pendingChange;
    expect(await subscriptions.invoice(by, invoiceID)).toMatchObject({ status: 'cancelled' });
  });

  test('is taken back, and its invoice is cancelled', async () => {
    const { act, get, moveTo, by } = await started();
    await moveTo(15);
    const { body } = await act('change', { items: items(price + 2 * insufficientFunds), when: 'now' });
    expect((await act('unchange')).status).toBe(200);
    expect((await get()).pendingChange).toBeUndefined();
    expect(await subscriptions.invoice(by, body.pendingChange.invoiceID)).toMatchObject({
      status: 'cancelled',
    });
    expect((await act('unchange')).body).toMatchObject({ code: 'invalidSubscriptionStatus' });
  });
});

describe('a cheaper change', () => {
  test('gives credit, which the next invoice and the next change use', async () => {
    const { act, get, moveTo, by, id } = await started();
    await moveTo(20);
    const { body } = await act('change', { items: items(15_000), when: 'now' });
    expect([body.creditBalance, body.items[0].price]).toEqual([5_000, 15_000]);
    await moveTo(21);
    // Nine days of the difference are 4,500.
    const back = await act('change', { items: items(price), when: 'now' });
    expect([back.body.creditBalance, back.body.pendingChange]).toEqual([500, undefined]);
    await moveTo(31);
    const [, second] = await subscriptions.periods(by, id);
    expect([second.amount, second.outcome]).toEqual([price - 500, 'paid']);
    expect((await get()).creditBalance).toBe(0);
  });

  test('that is automatic waits for the next period, and can be taken back', async () => {
    const { act, get, moveTo, by, id } = await started();
    const { body } = await act('change', { items: items(15_000), when: 'auto', timeZone: 'Asia/Tokyo' });
    expect(body).toMatchObject({ items: items(price), scheduledItems: items(15_000), creditBalance: 0 });
    expect((await act('unchange')).body.scheduledItems).toBeUndefined();
    await act('change', { items: items(15_000) });
    await moveTo(31);
    const periods = await subscriptions.periods(by, id);
    expect(periods.map(({ amount }) => amount)).toEqual([price, 15_000]);
    expect((await get()).scheduledItems).toBeUndefined();
    expect((await get()).timeZone).toBe('Asia/Tokyo');
  });
});

test('the money of a change is taken back: no credit is left of it', async () => {
  const { act, get, moveTo } = await started();
  await moveTo(10);
  const { body } = await act('change', { items: items(120_000), when: 'now' });
  expect(body.pendingChange.amount).toBe(60_000);
  await moveTo(20);
  await act('change', { items: items(price), when: 'now' });
  expect((await get()).creditBalance).toBe(30_000);
  await takeBack(body.pendingChange.invoiceID);
  await moveTo(21);
  // 30,000 were paid in all, and are credited already.
  const preview = await act('preview', { items: items(1), when: 'now' });
  expect(preview.body).toMatchObject({ credit: 0, creditBalance: 30_000 });
});

test('what is wrong is refused', async () => {
  const { act } = await started();
  const code = async (body: unknown) => (await act('change', body)).body.code;
  expect(await code({})).toBe('invalidRequest');
  expect(await code({ timeZone: 'Mars' })).toBe('invalidRequest');
  expect(await code({ items: [] })).toBe('invalidInvoiceCart');
  expect(await code({ items: items(1), when: 'now', asOf: '2020-01-01T00:00:00Z' })).toBe('invalidRequest');
  expect((await act('preview', { items: items(1), when: 'then' })).body.code).toBe('invalidRequest');
  await act('pause', {});
  expect(await code({ items: items(1), when: 'now' })).toBe('invalidSubscriptionStatus');
  await act('cancel', { when: 'now' });
  expect(await code({ items: items(1) })).toBe('invalidSubscriptionStatus');
});

test('nothing is changed now while a period is unpaid, and from the next one it is', async () => {
  const { act } = await started({ items: items(insufficientFunds) });
  expect((await act('change', { items: items(1), when: 'now' })).body).toMatchObject({
    code: 'subscriptionPastDue',
  });
  expect((await act('change', { items: items(1) })).body).toMatchObject({ scheduledItems: items(1) });
});

describe('a change of a payer who has agreed to less', () => {
  const agreed = 40_000;
  async function consented() {
    const by = await world.createMerchant();
    const customer = await world.createCustomer({}, by);
    const amountRule = { kind: 'upTo', amount: agreed };
    await world.bind(customer, '4242424242424242', { recurrentTerms: { schedule: 'P1M', amountRule } });
    await world.service.jobs.whenIdle();
    const { body } = await subscriptions.create(by, customer.id, { items: items(price) });
    await subscriptions.settle();
    return { by, id: body.id as string };
  }

  test.each([
    [agreed, undefined],
    [agreed + 1, 'recurrentAmountAboveConsent'],
  ])('of %i is previewed with the refusal %s', async (cost, refusal) => {
    const { by, id } = await consented();
    const wanted = { items: items(cost), when: 'now' };
    const preview = await subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/preview`, wanted);
    expect(preview.body.refusal).toBe(refusal);
  });

  // The difference alone is less than they agreed to.
  test.each([
    ['now', agreed, undefined],
    ['now', agreed + 1, 'recurrentAmountAboveConsent'],
    ['auto', agreed + 1, 'recurrentAmountAboveConsent'],
  ])('is charged as its preview says: %s, %i', async (when, cost, failedFor) => {
    const { by, id } = await consented();
    const wanted = { items: items(cost), when };
    const { pendingChange } = (
      await subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/change`, wanted)
    ).body;
    await subscriptions.settle();
    const tries = (await subscriptions.payments(by, pendingChange.invoiceID)).map(({ status }) => status);
    expect(tries).toEqual(failedFor ? [] : ['captured']);
    const after = await subscriptions.get(by, id);
    expect(after.pendingChange?.failedFor).toBe(failedFor);
    expect(after.items[0].price).toBe(failedFor ? price : cost);
    if (!failedFor) return;
    await pay(by, pendingChange.invoiceID);
    expect((await subscriptions.get(by, id)).items[0].price).toBe(cost);
  });
});
