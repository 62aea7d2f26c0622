// A bank takes the money of a period back, days after it was paid.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyUpdate } from '../../../src/app/bank-watch/bank-updates.ts';
import type { OperationUpdate } from '../../../src/acquiring/domain/bank-updates.ts';
import { findPaidBy } from '../../../src/subscriptions/store/subscriptions.ts';
import { insufficientFunds } from '../../support/worlds/recurring.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
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

async function takeBack(operationId: string): Promise<string> {
  const { database, clock } = world.service;
  const update: OperationUpdate = { operationId, what: 'captureFailed', at: clock.now() };
  const deps = { ...world.service, livemode: false, log: { error: () => {} } };
  const { outcome } = await database.transaction((tx) => applyUpdate(deps, tx, update));
  await subscriptions.settle();
  return outcome;
}

async function paidTwice(more: Record<string, unknown> = {}) {
  const by = await world.createMerchant();
  const customerId = await subscriptions.readyCustomer(by);
  const { body } = await subscriptions.create(by, customerId, { every: 'P1W', ...more });
  await subscriptions.settle();
  const id: string = body.id;
  const { body: clock } = await subscriptions.call(by, 'GET', '/sandbox/clock');
  await subscriptions.moveTo(by, new Date(Date.parse(clock.now) + 8 * 86_400_000).toISOString());
  const act = async (path: string, asked: object) => {
    const answer = await subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/${path}`, asked);
    await subscriptions.settle();
    return answer;
  };
  const get = () => subscriptions.get(by, id);
  const outcomes = async () => (await subscriptions.periods(by, id)).map(({ outcome }) => outcome);
  const [first, second] = await subscriptions.periods(by, id);
  expect(await outcomes()).toEqual(['paid', 'paid']);
  return { by, act, get, outcomes, first, second };
}

test('the period is missed again, is charged by a new invoice, and is paid', async () => {
  const { by, act, get, outcomes, first, second } = await paidTwice();
  const before = (await get()).paidThrough;
  expect(await takeBack(`${second.invoiceID}.1.a`)).toBe('applied');
  expect(await outcomes()).toEqual(['paid', 'missed']);
  const { status, paidThrough } = await get();
  expect(status).toBe('active');
  expect(Date.parse(paidThrough)).toBeLessThan(Date.parse(before));
  expect(await takeBack(`${second.invoiceID}.1.a`)).toBe('nothing');
  const charged = await act('periods/2/charge', {});
  expect([charged.status, await outcomes()]).toEqual([200, ['paid', 'paid']]);
  const [, again] = await subscriptions.periods(by, charged.body.id);
  expect(again.invoiceID).not.toBe(second.invoiceID);
  expect((await get()).paidThrough).toBe(before);
  // An older one leaves what was paid later.
  expect(await takeBack(`${first.invoiceID}.1.a`)).toBe('applied');
  expect(await outcomes()).toEqual(['missed', 'paid']);
  expect((await get()).paidThrough).toBe(before);
});

test('the period is forgiven, or stays unpaid after the end', async () => {
  const { act, get, outcomes, first, second } = await paidTwice();
  await takeBack(`${second.invoiceID}.1.a`);
  const closed = await act('periods/2/close', { as: 'forgiven' });
  expect([closed.status, await outcomes()]).toEqual([200, ['paid', 'forgiven']]);
  await act('cancel', { when: 'now' });
  await takeBack(`${first.invoiceID}.1.a`);
  expect(await outcomes()).toEqual(['unpaid', 'forgiven']);
  const { status, paidThrough } = await get();
  expect([status, paidThrough]).toEqual(['ended', undefined]);
});

describe('of a new period that has ended one early', () => {
  const midnight = (date: string) => `${date}T00:00:00.000000Z`;

  /** The second period is cut on the day after its start, and the bank takes back the payment of the third. */
  async function lost(credit: 'unused' | 'none') {
    const life = await paidTwice({ timeZone: 'UTC' });
    const { body } = await life.act('change', { when: 'anchorNow', credit });
    const { invoiceID, startsOn, amount } = body.pendingChange;
    const rows = async () => subscriptions.periods(life.by, body.id);
    expect((await rows()).map(({ outcome }) => outcome)).toEqual(['paid', 'paid', 'paid']);
    const before = (await life.get()).paidThrough;
    expect(await takeBack(`${invoiceID}.1.a`)).toBe('applied');
    return { ...life, startsOn, amount, rows, before };
  }

  test.each(['unused', 'none'] as const)(
    'it is paid through the end that it was given, with credit %s',
    async (credit) => {
      const { get, rows, startsOn, amount, act, before } = await lost(credit);
      const [, second, third] = await rows();
      expect([second, third]).toMatchObject([{ endsOn: startsOn }, { startsOn, outcome: 'missed', amount }]);
      expect((await get()).paidThrough).toBe(midnight(startsOn));
      expect(before > midnight(startsOn)).toBe(true);
      // What the old one has paid of it is not asked for again.
      await act('periods/3/charge', {});
      const [, , again] = await rows();
      expect(again).toMatchObject({ startsOn, outcome: 'paid', amount });
      expect(again.invoiceID).not.toBe(third.invoiceID);
      expect((await get()).paidThrough).toBe(before);
    },
  );

  test('what the old one has paid of it is credit again when it is forgiven', async () => {
    const { get, rows, act, amount } = await lost('unused');
    const [first] = await rows();
    await act('periods/3/close', { as: 'forgiven' });
    expect((await rows()).map(({ outcome }) => outcome)).toEqual(['paid', 'paid', 'forgiven']);
    expect((await get()).creditBalance).toBe(first.amount - amount);
    // The last period that is paid is the one before.
    const { body } = await act('cancel', { when: 'now', refund: 'last' });
    const { refunds } = (await get()).endRefund ?? body.endRefund;
    expect(refunds).toMatchObject([{ amount: first.amount, refundID: expect.any(String) }]);
  });

  test('each further loss moves it back to the period before', async () => {
    const { get, rows, act, first, second } = await lost('unused');
    await takeBack(`${second.invoiceID}.1.a`);
    expect((await get()).paidThrough).toBe(midnight(second.startsOn));
    await act('cancel', { when: 'now' });
    await takeBack(`${first.invoiceID}.1.a`);
    expect((await get()).paidThrough).toBeUndefined();
    expect((await rows()).map(({ outcome }) => outcome)).toEqual(['unpaid', 'missed', 'missed']);
  });
});

test.each([{}, { trialDays: 7 }])(
  'a first payment of its own amount is charged again, with %j',
  async (more) => {
    const by = await world.createMerchant();
    const made = await subscriptions.createUnpaid(by, { ...more, firstAmount: 100 });
    const { id, firstInvoiceID } = made.body;
    await subscriptions.pay(by, firstInvoiceID);
    await subscriptions.settle();
    expect(await takeBack(`${firstInvoiceID}.1.a`)).toBe('applied');
    const charged = await subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/periods/1/charge`, {});
    expect(charged.status, charged.text).toBe(200);
    await subscriptions.settle();
    const [{ invoiceID }] = await subscriptions.periods(by, id);
    expect(invoiceID).not.toBe(firstInvoiceID);
    expect(await subscriptions.invoice(by, invoiceID)).toMatchObject({ amount: 100, product: 'Tea' });
  },
);

test('the invoice of an open period is no payment of a change', async () => {
  const by = await world.createMerchant();
  const customerId = await subscriptions.readyCustomer(by);
  const items = [{ product: 'Tea', price: insufficientFunds }];
  const { body } = await subscriptions.create(by, customerId, { items });
  await subscriptions.settle();
  const [{ invoiceID, outcome }] = await subscriptions.periods(by, body.id);
  expect(outcome).toBe('open');
  expect(await findPaidBy(world.service.database, invoiceID)).toBeUndefined();
});
