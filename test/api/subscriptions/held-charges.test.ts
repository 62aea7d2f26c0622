// A bank at which too many charges fail gets none of subscriptions for a time. Payers who are present are not held.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startNode } from '../../support/service/nodes.ts';
import { subscriptionWorld, type SubscriptionWorld } from '../../support/subscriptions/subscription-world.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { declinedWith } from '../../support/worlds/recurring.ts';

const minute = 60_000;
/** One card may be declined nine times a day. */
const cards = ['4242424242424242', '5555555555554444', '4000000000005704'];
/** 91: the issuer cannot be reached. */
const failing = [{ product: 'Tea', price: declinedWith(91) }];

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
});
afterAll(() => world.close());

async function chargesCounted(): Promise<string[]> {
  const { text } = await world.service.call('GET', '/metrics');
  return text.split('\n').filter((line) => line.startsWith('mandate_subscription_charges_total{'));
}

async function heldBanks(): Promise<string[]> {
  const { text } = await world.service.call('GET', '/metrics');
  return text.split('\n').filter((line) => line.startsWith('mandate_bank_charges_held_seconds{'));
}

test('charges wait while a bank fails, and are made when the hold is over', async () => {
  const { clock, database } = world.service;
  const by = await world.createMerchant();
  const waiting = await subscriptions.readyCustomer(by);
  for (let number = 0; number < 20; number++) {
    const customerId = await subscriptions.readyCustomer(by, cards[number % cards.length]);
    await subscriptions.create(by, customerId, { items: failing });
  }
  await subscriptions.settle();
  expect(await heldBanks()).toEqual(['mandate_bank_charges_held_seconds{bank="BANK"} 0']);

  const { id } = (await subscriptions.create(by, waiting)).body;
  await subscriptions.settle();
  const second = await startNode(world.service);
  const wakeAt = async () => {
    const text = `select wake_at, version, attempts from subscription where subscription_id = $1`;
    return (await database.withClient((client) => client.query(text, [id]))).rows[0];
  };
  const putOff = await wakeAt();
  const inMs = Date.parse(putOff.wake_at) - Date.parse(clock.now());
  expect([inMs >= 5 * minute, inMs < 15 * minute]).toEqual([true, true]);
  // It is no attempt and no event, and the payer gets no email.
  expect(putOff).toMatchObject({ version: 1, attempts: 0 });
  expect(await subscriptions.periods(by, id)).toEqual([]);

  // Another node knows, also of a row that is due again before the hold is over.
  await database.withClient((client) =>
    client.query('update subscription set wake_at = $2 where subscription_id = $1', [id, clock.now()]),
  );
  second.jobs.wake();
  await second.jobs.whenIdle();
  await second.stop();
  expect(await wakeAt()).toMatchObject({ version: 1, attempts: 0 });

  const unpaid = (await subscriptions.createUnpaid(by)).body;
  await subscriptions.pay(by, unpaid.firstInvoiceID);
  await subscriptions.settle();
  expect((await subscriptions.get(by, unpaid.id)).status).toBe('active');

  clock.advance(15 * minute);
  await subscriptions.settle();
  expect((await subscriptions.get(by, id)).status).toBe('active');
  expect(await heldBanks()).toEqual([]);
  const counted = (labels: string, count: number) => `mandate_subscription_charges_total{${labels}} ${count}`;
  expect((await chargesCounted()).toSorted()).toEqual([
    counted('outcome="failed",because="technical"', 20),
    counted('outcome="paid",because=""', 1),
    counted('outcome="postponed",because="held"', 1),
  ]);
});
