// A month that stays unpaid, and the tries of the next one.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Merchant } from '../../support/service/test-service.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { countWaiting } from '../../support/database/waiting.ts';
import { declinedWith } from '../../support/worlds/recurring.ts';
import {
  subscriptionsUrl,
  subscriptionWorld,
  type SubscriptionWorld,
} from '../../support/subscriptions/subscription-world.ts';

/** Declined with R0. */
const stopsOneCharge = 199_108;

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
});
afterAll(() => world.close());

async function started(price: number, ifUnpaid = 'pause') {
  const by = await world.createMerchant();
  const customerId = await subscriptions.readyCustomer(by);
  const items = [{ product: 'Tea', price }];
  const created = await subscriptions.create(by, customerId, { items, ifUnpaid });
  expect(created.status, created.text).toBe(201);
  await subscriptions.settle();
  return { by, customerId, id: created.body.id as string };
}

const resume = async (by: Merchant, id: string) =>
  expect((await subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/resume`)).body).toMatchObject({
    status: 'active',
  });

async function daysLater(by: Merchant, days: number): Promise<void> {
  const { body } = await subscriptions.call(by, 'GET', '/sandbox/clock');
  await subscriptions.moveTo(by, new Date(Date.parse(body.now) + days * 86_400_000).toISOString());
}

/** Of the log of their card's consent. */
async function endedObligations(by: Merchant, customerId: string): Promise<unknown[]> {
  const bindings = `/v2/processing/customers/${customerId}/bindings`;
  const [binding] = (await subscriptions.call(by, 'GET', bindings)).body;
  const { status, body, text } = await subscriptions.call(by, 'GET', `${bindings}/${binding.id}/consent`);
  expect(status, text).toBe(200);
  return body.entries
    .flatMap(({ facts }: { facts: { type: string; invoiceId: string }[] }) => facts)
    .filter(({ type }: { type: string }) => type === 'obligation_ended')
    .map(({ invoiceId }: { invoiceId: string }) => invoiceId);
}

test('a month that is given up leaves the next one all of its tries', async () => {
  const { by, customerId, id } = await started(declinedWith(5));
  await daysLater(by, 27);
  expect(await subscriptions.get(by, id)).toMatchObject({ status: 'paused', pausedBy: 'dunning' });
  await resume(by, id);
  await daysLater(by, 32);
  expect(await subscriptions.get(by, id)).toMatchObject({ status: 'paused' });
  const periods = await subscriptions.periods(by, id);
  expect(periods.map(({ outcome }) => outcome)).toEqual(['unpaid', 'unpaid']);
  const tries = await Promise.all(
    periods.map(async ({ invoiceID }) => (await subscriptions.payments(by, invoiceID)).length),
  );
  expect(tries).toEqual([4, 4]);
  expect(await endedObligations(by, customerId)).toEqual(periods.map(({ invoiceID }) => invoiceID));
});

test('what a network stops for one invoice is closed at once, and that day stays used', async () => {
  const { by, customerId, id } = await started(stopsOneCharge);
  expect((await subscriptions.periods(by, id)).map(({ outcome }) => outcome)).toEqual(['unpaid']);
  const other = await subscriptions.create(by, customerId, { items: [{ product: 'Coffee', price: 20_000 }] });
  await subscriptions.settle();
  expect((await subscriptions.get(by, other.body.id)).openPeriods).toMatchObject([
    { number: 1, isCharging: false, nextTryAt: expect.any(String) },
  ]);
  await daysLater(by, 1);
  expect((await subscriptions.periods(by, other.body.id)).map(({ outcome }) => outcome)).toEqual(['paid']);
});

test('what can be paid no more ends what waited for it, and the card is not charged again', async () => {
  const { by, id } = await started(declinedWith(5), 'unpaid');
  await daysLater(by, 27);
  expect(await subscriptions.get(by, id)).toMatchObject({ status: 'unpaid' });
  const [{ invoiceID }] = await subscriptions.periods(by, id);
  const tries = await subscriptions.payments(by, invoiceID);
  await daysLater(by, 420);
  expect(await subscriptions.invoice(by, invoiceID)).toMatchObject({ status: 'cancelled' });
  expect(await subscriptions.get(by, id)).toMatchObject({ status: 'ended', endReason: 'unpaid' });
  expect((await subscriptions.periods(by, id)).map(({ outcome }) => outcome)).toEqual(['unpaid']);
  expect(await subscriptions.payments(by, invoiceID)).toHaveLength(tries.length);
});

test('a merchant who rescinds the invoice of an unpaid month forgives it, whatever the reason says', async () => {
  const { by, id } = await started(declinedWith(5), 'unpaid');
  await daysLater(by, 27);
  const [{ invoiceID }] = await subscriptions.periods(by, id);
  const rescinded = await subscriptions.call(by, 'POST', `/v2/processing/invoices/${invoiceID}/rescind`, {
    reason: 'overdue',
  });
  expect(rescinded.status).toBe(204);
  await daysLater(by, 8);
  expect(await subscriptions.get(by, id)).toMatchObject({ status: 'active' });
});

test('a period that is closed waits for the series of its card before it holds its invoice, as payments do', async () => {
  const { by, id } = await started(declinedWith(5));
  const [{ invoiceID }] = await subscriptions.periods(by, id);
  const path = `${subscriptionsUrl}/${id}/periods/1/close`;
  const [closed] = await world.service.database.withClient(async (client) => {
    await client.query('begin');
    const seriesOf = 'select series_id from series_attempt where invoice_id = $1';
    const { rowCount } = await client.query(
      `select from series where series_id in (${seriesOf}) for update`,
      [invoiceID],
    );
    expect(rowCount).toBe(1);
    const closing = subscriptions.call(by, 'POST', path, { as: 'forgiven' });
    while ((await client.query(countWaiting)).rows[0].count < 1) await new Promise(setImmediate);
    await client.query('select from invoice where invoice_id = $1 for update nowait', [invoiceID]);
    await client.query('commit');
    return [closing];
  });
  expect((await closed)?.status).toBe(200);
});
