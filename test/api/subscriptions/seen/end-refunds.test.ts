// What an end gives back. Each refund is an ordinary one of its payment, or the reason for none is shown.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyUpdate } from '../../../../src/app/bank-watch/bank-updates.ts';
import { setShopFees } from '../../../../src/merchants/store/parties.ts';
import type { Merchant } from '../../../support/service/test-service.ts';
import { setTradingFlag } from '../../../support/worlds/block-merchant.ts';
import { startReceiver, type Receiver } from '../../../support/receivers/receiver.ts';
import { webhooksUrl } from '../../../support/receivers/webhooks.ts';
import { startCustomerWorld, type CustomerWorld } from '../../../support/worlds/customer-world.ts';
import { connectionBreaks, insufficientFunds } from '../../../support/worlds/recurring.ts';
import {
  subscriptionsUrl,
  subscriptionWorld,
  type SubscriptionWorld,
} from '../../../support/subscriptions/subscription-world.ts';

const dayMs = 86_400_000;
const price = 30_000;
const items = (cost: number) => [{ product: 'Tea', price: cost }];

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;
let receiver: Receiver;

beforeAll(async () => {
  world = await startCustomerWorld({ WEBHOOK_ALLOW_HTTP: 'true' });
  subscriptions = subscriptionWorld(world);
  receiver = await startReceiver();
});
afterAll(async () => {
  await world.close();
  await receiver.stop();
});

/** Its periods start at midnight. `day` is counted from the start of the first one. */
async function started(
  more: Record<string, unknown> = {},
  prepare: (by: Merchant) => Promise<void> = async () => {},
) {
  const by = await world.createMerchant();
  await prepare(by);
  const customerId = await subscriptions.readyCustomer(by);
  const { body: clock } = await subscriptions.call(by, 'GET', '/sandbox/clock');
  const midnight = (Math.floor(Date.parse(clock.now) / dayMs) + 1) * dayMs;
  const moveTo = (day: number) => subscriptions.moveTo(by, new Date(midnight + day * dayMs).toISOString());
  await moveTo(0);
  const agreed = { items: items(price), every: 'P30D', timeZone: 'UTC', ...more };
  const created = await subscriptions.create(by, customerId, agreed);
  expect(created.status, created.text).toBe(201);
  await subscriptions.settle();
  const { id } = created.body;
  const call = async (path: string, body: unknown) => {
    const answer = await subscriptions.call(by, 'POST', path, body);
    await subscriptions.settle();
    return answer;
  };
  const refundsOf = async (invoiceID: string) =>
    (await subscriptions.call(by, 'GET', `/v2/processing/invoices/${invoiceID}/payments/1/refunds`)).body;
  return {
    by,
    id,
    moveTo,
    call,
    refundsOf,
    act: (verb: string, body: unknown) => call(`${subscriptionsUrl}/${id}/${verb}`, body),
    endRefund: async () => (await subscriptions.get(by, id)).endRefund,
    invoices: async () => (await subscriptions.periods(by, id)).map(({ invoiceID }) => invoiceID as string),
  };
}
const paymentOf = (invoiceID: string) => ({ invoiceID, paymentID: '1' });

test('the last paid period is given back in full, once, by a refund of its payment', async () => {
  const { by, id, moveTo, act, invoices, refundsOf, endRefund } = await started();
  await subscriptions.call(by, 'POST', webhooksUrl, {
    scope: {
      topic: 'SubscriptionsTopic',
      shopID: 'TEST',
      eventTypes: ['SubscriptionEnded', 'SubscriptionRefundStarted'],
    },
    url: receiver.url,
  });
  await moveTo(40);
  const ended = await act('cancel', { when: 'now', refund: 'last' });
  expect(ended.body).toMatchObject({
    status: 'ended',
    endReason: 'merchant',
    endRefund: { refund: 'last', isPending: true, refunds: [] },
  });
  expect(ended.body.nextActionAt).toBeUndefined();
  const [first = '', second = ''] = await invoices();
  const refund = { amount: price, ...paymentOf(second), refundID: '100' };
  expect(await endRefund()).toEqual({ refund: 'last', isPending: false, refunds: [refund] });
  expect(await refundsOf(first)).toEqual([]);
  expect(await refundsOf(second)).toMatchObject([
    { id: '100', amount: price, status: 'succeeded', reason: `Subscription ${id} ended` },
  ]);
  expect((await subscriptions.periods(by, id)).map(({ outcome }) => outcome)).toEqual(['paid', 'paid']);
  await world.later(7_200_000);
  await subscriptions.settle();
  expect(await refundsOf(second)).toHaveLength(1);
  await world.service.webhooks.whenIdle();
  const told = receiver.deliveries
    .map(({ body }) => body)
    .filter(({ eventType }) => eventType === 'SubscriptionRefundStarted');
  expect(told).toMatchObject([
    { amount: price, payment: paymentOf(second), subscription: { id, endRefund: { refunds: [refund] } } },
  ]);
});

describe('the unused time', () => {
  test('is given back of the period and of its change', async () => {
    const { moveTo, act, invoices, endRefund } = await started();
    await moveTo(40);
    const changed = await act('change', { items: items(2 * price), when: 'now' });
    const { invoiceID: change, amount } = changed.body.pendingChange;
    expect(amount).toBe(20_000);
    await moveTo(45);
    await act('cancel', { when: 'now', refund: 'unused' });
    const [, second = ''] = await invoices();
    expect(await endRefund()).toMatchObject({
      isPending: false,
      refunds: [{ amount: 30_000, ...paymentOf(second) }],
    });
    expect(change).not.toBe(second);
  });

  test('is not given back twice: what the merchant has refunded is gone, and a refund in progress ends first', async () => {
    const { moveTo, act, call, by, invoices, refundsOf, endRefund } = await started();
    await moveTo(40);
    const [, second = ''] = await invoices();
    world.bank.faults.order({ kind: 'error-before-booking', operationKind: 'refund', next: 1 });
    await call(`/v2/processing/invoices/${second}/payments/1/refunds`, { amount: 25_000 });
    expect(await refundsOf(second)).toMatchObject([{ status: 'pending' }]);
    await act('cancel', { when: 'now', refund: 'unused' });
    expect(await endRefund()).toEqual({ refund: 'unused', isPending: true, refunds: [] });
    await world.later(3_700_000);
    await subscriptions.settle();
    await world.later(3_700_000);
    await subscriptions.settle();
    expect(await endRefund()).toMatchObject({
      isPending: false,
      refunds: [{ amount: 5_000, refundID: '101' }],
    });
    expect((await subscriptions.payments(by, second))[0].status).toBe('refunded');
  });

  test('of a trial is nothing', async () => {
    const { act, endRefund } = await started({ trialDays: 7 });
    await act('cancel', { when: 'now', refund: 'unused' });
    expect(await endRefund()).toEqual({
      refund: 'unused',
      isPending: false,
      refunds: [{ amount: 0, refusedFor: 'nothingToRefund' }],
    });
  });
});

describe('a refund that is refused', () => {
  test('is shown where the shop has too little money', async () => {
    const { act, invoices, endRefund, refundsOf } = await started({}, async ({ partyId }) => {
      const free = { basisPoints: 0n, fixedMinor: 0n };
      const fees = { processing: free, refund: { ...free, fixedMinor: 5n } };
      await world.service.database.run(setShopFees, { party_id: partyId, shop_id: 'TEST', fees });
    });
    await act('cancel', { when: 'now', refund: 'last' });
    const [first = ''] = await invoices();
    const refused = { amount: price, ...paymentOf(first), refusedFor: 'insufficentAccountBalance' };
    expect(await endRefund()).toEqual({ refund: 'last', isPending: false, refunds: [refused] });
    expect(await refundsOf(first)).toEqual([]);
  });

  test('is shown where the shop may not trade', async () => {
    const { act, by, moveTo, endRefund } = await started();
    await moveTo(40);
    await setTradingFlag(world.service, by, { of: 'shop', flag: 'is_blocked' }, true);
    await act('cancel', { when: 'now', refund: 'last' });
    expect((await endRefund()).refunds).toMatchObject([{ amount: price, refusedFor: 'invalidShopStatus' }]);
  });

  test('is not asked of an end that comes later', async () => {
    const { act, endRefund } = await started();
    const refused = await act('cancel', { when: 'periodEnd', refund: 'last' });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalidRequest']);
    const unknown = await act('cancel', { when: 'now', refund: 'all' });
    expect([unknown.status, unknown.body.code]).toEqual([400, 'invalidRequest']);
    expect((await act('cancel', { when: 'now', refund: 'none' })).body.status).toBe('ended');
    expect(await endRefund()).toBeUndefined();
  });
});

test('a charge at the bank is finished first, and is given back', async () => {
  const { act, by, id, endRefund } = await started({ items: items(connectionBreaks) });
  await act('cancel', { when: 'now', refund: 'last' });
  expect(await endRefund()).toMatchObject({ isPending: true, refunds: [] });
  await world.later(3 * 60_000);
  await subscriptions.settle();
  await world.later(3_700_000);
  await subscriptions.settle();
  const [{ outcome, invoiceID }] = await subscriptions.periods(by, id);
  expect(outcome).toBe('paid');
  const refunds = [{ amount: connectionBreaks, ...paymentOf(invoiceID), refundID: '100' }];
  expect(await endRefund()).toEqual({ refund: 'last', isPending: false, refunds });
});

describe('a refund that fails after it was started', () => {
  /** Half of a period is given back, so twice the amount is charged. */
  async function halfGivenBack(amount: number) {
    const life = await started({ items: items(2 * amount) });
    await subscriptions.call(life.by, 'POST', webhooksUrl, {
      scope: { topic: 'SubscriptionsTopic', shopID: 'TEST', eventTypes: ['SubscriptionRefundFailed'] },
      url: receiver.url,
    });
    await life.moveTo(15);
    await life.act('cancel', { when: 'now', refund: 'unused' });
    const [first = ''] = await life.invoices();
    const refund = { amount, ...paymentOf(first), refundID: '100' };
    const shown = (failedFor?: string) => ({
      refund: 'unused',
      isPending: false,
      refunds: [{ ...refund, ...(failedFor === undefined ? {} : { failedFor }) }],
    });
    const told = async () => {
      await world.service.webhooks.whenIdle();
      return receiver.deliveries
        .map(({ body }) => body)
        .filter(({ subscription }) => subscription?.id === life.id);
    };
    return { ...life, first, shown, told };
  }
  const stays = async () => {
    await world.later(7_200_000);
    await subscriptions.settle();
  };

  test('because the bank declines it is shown as failed, once', async () => {
    const { endRefund, refundsOf, first, shown, told } = await halfGivenBack(insufficientFunds);
    expect(await endRefund()).toEqual(shown('insufficient_funds'));
    expect(await refundsOf(first)).toMatchObject([{ id: '100', status: 'failed' }]);
    await stays();
    expect(await refundsOf(first)).toHaveLength(1);
    expect(await told()).toMatchObject([
      {
        eventType: 'SubscriptionRefundFailed',
        amount: insufficientFunds,
        payment: paymentOf(first),
        reason: 'insufficient_funds',
        subscription: { endRefund: shown('insufficient_funds') },
      },
    ]);
  });

  test('is waited for while the bank has not decided, and then no more', async () => {
    world.bank.faults.order({ kind: 'error-before-booking', operationKind: 'refund', next: 1 });
    const { id, endRefund, shown } = await halfGivenBack(insufficientFunds);
    expect(await endRefund()).toEqual(shown());
    const read = 'select wake_at is not null as looks from subscription where subscription_id = $1';
    const { database } = world.service.testDatabase;
    const looks = async () =>
      (await database.withClient((client) => client.query(read, [id]))).rows[0]?.['looks'];
    expect(await looks()).toBe(true);
    await stays();
    await stays();
    expect(await endRefund()).toEqual(shown('insufficient_funds'));
    expect(await looks()).toBe(false);
  });

  test('after it had succeeded is shown as failed', async () => {
    const { endRefund, shown, told, first } = await halfGivenBack(20_000);
    await stays();
    expect(await endRefund()).toEqual(shown());
    expect(await told()).toEqual([]);
    const { database, clock } = world.service;
    const update = { operationId: `${first}.1.100`, what: 'refundFailed', at: clock.now() } as const;
    const deps = { ...world.service, livemode: false, log: { error: () => {} } };
    const returned = () => database.transaction((tx) => applyUpdate(deps, tx, update));
    expect(await returned()).toEqual({ outcome: 'applied' });
    expect(await endRefund()).toEqual(shown('unknown'));
    expect(await returned()).toEqual({ outcome: 'nothing' });
    expect(await told()).toMatchObject([
      { reason: 'unknown', subscription: { endRefund: shown('unknown') } },
    ]);
  });
});

test('only a key that may refund payments ends a subscription with a refund', async () => {
  const { by, id } = await started();
  const { apiKeys } = world.service;
  const scopes = ['subscriptions:write', 'subscriptions:read'];
  const apiKey = await apiKeys.create({ partyId: by.partyId, name: 'subscriptions', scopes });
  const cancel = (body: object) =>
    subscriptions.call({ ...by, apiKey }, 'POST', `${subscriptionsUrl}/${id}/cancel`, body);
  const refused = await cancel({ when: 'now', refund: 'last' });
  expect([refused.status, refused.headers['www-authenticate']]).toEqual([
    401,
    'Bearer error="insufficient_scope", scope="payments:write"',
  ]);
  expect((await subscriptions.get(by, id)).status).toBe('active');
  expect((await cancel({ when: 'now', refund: 'none' })).body).toMatchObject({ status: 'ended' });
});
