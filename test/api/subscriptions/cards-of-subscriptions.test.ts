// What a subscription does when the card of its customer changes, or is gone.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Merchant } from '../../support/service/test-service.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { consentLinkWorld } from '../../support/worlds/consent-links.ts';
import { connectionBreaks, insufficientFunds } from '../../support/worlds/recurring.ts';
import {
  subscriptionsUrl,
  subscriptionWorld,
  type SubscriptionWorld,
} from '../../support/subscriptions/subscription-world.ts';

const good = '4242424242424242';
/** Approved for the payer, and declined as expired without them. */
const expired = '4000000000549990';

const tooDear = [{ product: 'Tea', price: insufficientFunds }];

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
});
afterAll(() => world.close());

async function started(card: string, more: Record<string, unknown> = {}) {
  const by = await world.createMerchant();
  const customer = await world.createCustomer({}, by);
  const binding = await world.bound(customer, card);
  const { body } = await subscriptions.create(by, customer.id, more);
  await subscriptions.settle();
  const id: string = body.id;
  const get = () => subscriptions.get(by, id);
  const bind = async (other: string) => {
    const bound = await world.bound(customer, other);
    await subscriptions.settle();
    return bound;
  };
  const triesOf = async (number: number) => {
    const { invoiceID } = (await subscriptions.periods(by, id))[number - 1];
    return (await subscriptions.payments(by, invoiceID)).map(({ status }) => status);
  };
  return { by, customer, binding, id, get, bind, triesOf };
}

async function daysLater(by: Merchant, days: number): Promise<void> {
  const { body } = await subscriptions.call(by, 'GET', '/sandbox/clock');
  await subscriptions.moveTo(by, new Date(Date.parse(body.now) + days * 86_400_000).toISOString());
}

describe('a new card', () => {
  test('pays at once what no time could heal', async () => {
    const { by, get, bind, triesOf } = await started(expired);
    expect(await get()).toMatchObject({ status: 'pastDue', openPeriods: [{ declineClass: 'newCard' }] });
    await bind(good);
    expect(await get()).toMatchObject({ status: 'active', openPeriods: [] });
    expect(await triesOf(1)).toEqual(['failed', 'captured']);
    await daysLater(by, 32);
    expect(await triesOf(2)).toEqual(['captured']);
  });

  test('that is declined too makes one try, and the plan continues', async () => {
    const { by, get, bind, triesOf } = await started(good, { items: tooDear });
    await bind('5555555555554444');
    expect(await triesOf(1)).toHaveLength(2);
    const { openPeriods } = await get();
    expect(openPeriods).toMatchObject([{ isCharging: false, nextTryAt: expect.any(String) }]);
    await subscriptions.settle();
    expect(await triesOf(1)).toHaveLength(2);
    await daysLater(by, 2);
    expect((await triesOf(1)).length).toBeGreaterThan(2);
  });

  test('waits for the next day when two were tried on this one', async () => {
    const { by, get, bind, triesOf } = await started(good, { items: tooDear });
    const [{ dueAt }] = await subscriptions.periods(by, (await get()).id);
    await bind('5555555555554444');
    await bind('2201382000000013');
    expect(await triesOf(1)).toEqual(['failed', 'failed']);
    const { status, openPeriods, parkedFor } = await get();
    expect([status, parkedFor]).toEqual(['pastDue', undefined]);
    const waitsMs = Date.parse(openPeriods[0].nextTryAt) - Date.parse(dueAt);
    expect(waitsMs).toBe(86_400_000);
    await daysLater(by, 1);
    expect(await triesOf(1)).toHaveLength(3);
  });

  test('that comes while a try is at the bank charges nothing twice, and the next period', async () => {
    const { by, get, bind, triesOf } = await started(good, {
      items: [{ product: 'Tea', price: connectionBreaks }],
    });
    expect(await get()).toMatchObject({ openPeriods: [{ isCharging: true }] });
    await bind('5555555555554444');
    expect(await get()).toMatchObject({ openPeriods: [{ isCharging: true }] });
    expect(await triesOf(1)).toEqual(['pending']);
    await daysLater(by, 3);
    expect(await triesOf(1)).toEqual(['captured']);
    expect(await get()).toMatchObject({ status: 'active', openPeriods: [] });
    await daysLater(by, 30);
    expect(await triesOf(2)).toEqual(['captured']);
  });

  test('that came while charging was stopped is tried as soon as that ends', async () => {
    const { by, id, get, bind, triesOf } = await started(expired);
    await world.service.database.withClient((client) =>
      client.query(
        `update subscription set state = (state::jsonb || '{"parkedFor": "moreThanTwoChargesADay"}')::json
         where subscription_id = $1`,
        [id],
      ),
    );
    await bind(good);
    expect(await triesOf(1)).toEqual(['failed']);
    const resumed = await subscriptions.call(by, 'POST', `/v2/processing/subscriptions/${id}/resume`);
    expect(resumed.status, resumed.text).toBe(200);
    await subscriptions.settle();
    expect(await get()).toMatchObject({ status: 'active', openPeriods: [] });
    expect(await triesOf(1)).toEqual(['failed', 'captured']);
  });

  test('changes nothing while nothing is unpaid, and is charged from the next period on', async () => {
    const { by, get, bind, triesOf } = await started(good);
    await bind('5555555555554444');
    expect(await triesOf(1)).toEqual(['captured']);
    expect(await get()).toMatchObject({ status: 'active' });
    await daysLater(by, 32);
    expect(await triesOf(2)).toEqual(['captured']);
  });
});

describe('a new consent for the same card', () => {
  /** Approved for the payer. Without them their bank asks for them, again and again. */
  const asksForPayer = '4000000000119992';

  async function agrees({ by, customer }: Awaited<ReturnType<typeof started>>) {
    const path = `/v2/processing/customers/${customer.id}/recurring`;
    const { seriesID } = (await subscriptions.call(by, 'GET', path)).body;
    const consent = consentLinkWorld({ ...world, merchant: by });
    expect((await consent.agree(await consent.made(seriesID))).status).toBe(200);
    await subscriptions.settle();
  }

  test('starts one try on the first day that the rules allow', async () => {
    const subscription = await started(asksForPayer);
    const { by, get, triesOf } = subscription;
    expect(await get()).toMatchObject({ status: 'pastDue', openPeriods: [{ declineClass: 'payerPresent' }] });
    await daysLater(by, 3);
    expect(await triesOf(1)).toEqual(['failed']);
    await agrees(subscription);
    expect(await triesOf(1)).toEqual(['failed', 'failed']);
    await daysLater(by, 10);
    expect(await triesOf(1)).toEqual(['failed', 'failed']);
    const [{ declineClass, nextTryAt }] = (await get()).openPeriods;
    expect([declineClass, nextTryAt]).toEqual(['payerPresent', undefined]);
  });

  test('and a binding of that card are one try', async () => {
    const subscription = await started(asksForPayer);
    const { by, bind, triesOf } = subscription;
    await daysLater(by, 3);
    await bind(asksForPayer);
    expect(await triesOf(1)).toEqual(['failed', 'failed']);
    await daysLater(by, 10);
    expect(await triesOf(1)).toEqual(['failed', 'failed']);
  });
});

describe('without a card, it ends at once', () => {
  const remove = (by: Merchant, path: string) =>
    world.service.call('DELETE', `/v2/processing/customers/${path}`, { token: by.apiKey });

  test('when the payer or the merchant revokes the last one, and stays paid through', async () => {
    const { by, customer, binding, get, bind } = await started(good, { every: 'P1Y' });
    const { paidThrough } = await get();
    const other = await bind('5555555555554444');
    await world.withdraw(binding, by.apiKey);
    await subscriptions.settle();
    expect(await get()).toMatchObject({ status: 'active' });
    await world.withdraw(other, customer.token);
    await subscriptions.settle();
    expect(await get()).toMatchObject({ status: 'ended', endReason: 'payer', paidThrough });
  });

  test('also when it is paused, and what is unpaid is tried no more', async () => {
    const { by, binding, id, get, triesOf } = await started(good, { items: tooDear });
    await subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/pause`, {});
    await world.withdraw(binding, by.apiKey);
    await subscriptions.settle();
    expect(await get()).toMatchObject({ status: 'ended', openPeriods: [] });
    await daysLater(by, 10);
    expect(await triesOf(1)).toEqual(['failed']);
    const [period] = await subscriptions.periods(by, id);
    expect(period).toMatchObject({ outcome: 'unpaid' });
    expect(await subscriptions.invoice(by, period.invoiceID)).toMatchObject({ status: 'cancelled' });
  });

  test('when the customer is deleted', async () => {
    const { by, customer, get } = await started(good, { trialDays: 30 });
    expect(await get()).toMatchObject({ status: 'trialing' });
    expect((await remove(by, customer.id)).status).toBe(204);
    await subscriptions.settle();
    expect(await get()).toMatchObject({ status: 'ended', endReason: 'merchant' });
  });

  test('when the customer is deleted while the bank has a charge, which is finished', async () => {
    const { by, customer, id, get } = await started(good, {
      items: [{ product: 'Tea', price: connectionBreaks }],
    });
    expect((await get()).openPeriods).toMatchObject([{ isCharging: true }]);
    await remove(by, customer.id);
    await subscriptions.settle();
    expect(await get()).toMatchObject({ status: 'ended' });
    await daysLater(by, 2);
    expect(await get()).toMatchObject({ status: 'ended', openPeriods: [] });
    expect((await subscriptions.periods(by, id)).map(({ outcome }) => outcome)).not.toContain('open');
  });
});
