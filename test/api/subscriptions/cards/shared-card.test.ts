// Subscriptions that share a card with each other, and with charges of the merchant. The charge of a period lets the one at the bank
// end first.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { laterBy } from '../../../../src/clock.ts';
import { startNode } from '../../../support/service/nodes.ts';
import type { Merchant } from '../../../support/service/test-service.ts';
import { order } from '../../../support/worlds/invoices.ts';
import { waylay, type FaultyBank } from '../../../support/bank/faulty-bank.ts';
import {
  subscriptionsUrl,
  subscriptionWorld,
  type SubscriptionWorld,
} from '../../../support/subscriptions/subscription-world.ts';
import { startCustomerWorld, type CustomerWorld } from '../../../support/worlds/customer-world.ts';
import { connectionBreaks } from '../../../support/worlds/recurring.ts';

const minute = 60_000;

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;
let bank: FaultyBank;

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
  bank = waylay(world.service.banks);
});
afterAll(() => world.close());
/** Nothing of one test is charged in another. */
afterEach(() => rows("update subscription set phase = 'ended', wake_at = null", []));

/** Of one customer. Each has paid its first period. */
async function subscribed(count: number) {
  const by = await world.createMerchant();
  const customerId = await subscriptions.readyCustomer(by);
  const ids: string[] = [];
  for (let number = 0; number < count; number++) {
    ids.push((await subscriptions.create(by, customerId)).body.id);
    await subscriptions.settle();
  }
  const outcomes = async (id = ids[0] as string) =>
    (await subscriptions.periods(by, id)).map(({ outcome }) => outcome);
  return { by, customerId, ids, outcomes };
}

/** The next period of all. */
async function fallDue(by: Merchant, ids: readonly string[]): Promise<void> {
  const times = ids.map(async (id) => {
    const { body } = await subscriptions.call(by, 'GET', `${subscriptionsUrl}/${id}/upcoming?count=1`);
    return Date.parse(body[0].dueAt);
  });
  world.service.clock.set(Math.max(...(await Promise.all(times))) + minute);
}

async function rows(text: string, values: readonly unknown[]): Promise<any[]> {
  const { database } = world.service.testDatabase;
  return (await database.withClient((client) => client.query(text, [...values]))).rows;
}

/** What has happened to the series of a merchant, in order. */
async function chargesInOrder({ partyId }: Merchant): Promise<string[]> {
  const facts = await rows(
    `select fact->>'type' as type from event, json_array_elements(facts) as fact
     where aggregate = 'series' and party_id = $1 order by aggregate_id, sequence`,
    [partyId],
  );
  return facts.map(({ type }) => type).filter((type) => type.startsWith('recurring_charge_'));
}

const oneByOne = (count: number) =>
  Array.from({ length: count }, () => ['recurring_charge_started', 'recurring_charge_succeeded']).flat();

async function countedAsWaiting(): Promise<number> {
  const { text } = await world.service.call('GET', '/metrics');
  const line = text.split('\n').find((one) => one.includes('outcome="postponed",because="attemptPending"'));
  return Number(line?.split(' ').at(-1) ?? 0);
}

test('two that fall due in the same second are charged one after the other', async () => {
  const { by, ids, outcomes } = await subscribed(2);
  await fallDue(by, ids);
  await subscriptions.settle();
  for (const id of ids) expect(await outcomes(id)).toEqual(['paid', 'paid']);
  expect(await chargesInOrder(by)).toEqual(oneByOne(4));
});

test('another node sends no second message meanwhile, and the end of the first wakes the other', async () => {
  const { by, ids, outcomes } = await subscribed(2);
  const [one = '', other = ''] = ids;
  const { clock, jobs } = world.service;
  const second = await startNode(world.service);
  await fallDue(by, ids);
  const dueAt = (at: string) =>
    rows('update subscription set wake_at = $2 where subscription_id = $1', [other, at]);
  await dueAt(laterBy(clock.now(), minute));
  const sent = bank.sent.length;
  const [{ version: before }] = await rows('select version from subscription where subscription_id = $1', [
    other,
  ]);
  let seen: unknown;
  bank.meanwhile('authorise', async () => {
    await dueAt(clock.now());
    second.jobs.wake();
    await second.jobs.whenIdle();
    const wait = 'extract(epoch from wake_at - $2)::int / 60';
    const text = `select version, ${wait} as minutes from subscription where subscription_id = $1`;
    const [{ version, minutes }] = await rows(text, [other, clock.now()]);
    seen = [bank.sent.length - sent, await outcomes(other), version - before, minutes];
  });
  jobs.wake();
  await jobs.whenIdle();
  // It has no event, and looks in an hour if nothing wakes it.
  expect(seen).toEqual([1, ['paid'], 0, 60]);
  expect(await outcomes(one)).toEqual(['paid', 'paid']);
  await subscriptions.settle();
  expect(await outcomes(other)).toEqual(['paid', 'paid']);
  expect(await chargesInOrder(by)).toEqual(oneByOne(4));
  await second.stop();
});

test('one waits for what the merchant charges, and looks after an hour if no end is heard', async () => {
  const { by, customerId, ids, outcomes } = await subscribed(1);
  const { clock } = world.service;
  await fallDue(by, ids);
  const payment = { payer: { payerType: 'CustomerPayer', customerID: customerId } };
  const charge = async (amount: number) => {
    const invoice = { ...order, amount, externalID: `charge of ${amount}` };
    return (await subscriptions.call(by, 'POST', '/v2/processing/charges', { invoice, payment })).text;
  };
  const isAccepted = expect.stringContaining('"payment"');
  expect(await charge(connectionBreaks)).toEqual(isAccepted);
  const counted = await countedAsWaiting();
  bank.always('inquire', 'message lost');
  await subscriptions.settle();
  expect([await outcomes(), await countedAsWaiting()]).toEqual([['paid'], counted + 1]);
  // A charge of the merchant's does not wait.
  expect(await charge(20_000)).toEqual(isAccepted);
  await subscriptions.settle();
  bank.always('inquire', undefined);
  await rows('update series set awaited_by = null', []);
  clock.advance(30 * minute);
  await subscriptions.settle();
  expect(await outcomes()).toEqual(['paid']);
  clock.advance(31 * minute);
  await subscriptions.settle();
  expect(await outcomes()).toEqual(['paid', 'paid']);
});

test('a charge whose outcome stays unknown holds up a period for a day', async () => {
  const { by, customerId, ids, outcomes } = await subscribed(1);
  const { clock } = world.service;
  await fallDue(by, ids);
  bank.always('inquire', 'message lost');
  const invoice = { ...order, amount: connectionBreaks, externalID: 'unknown' };
  const payment = { payer: { payerType: 'CustomerPayer', customerID: customerId } };
  await subscriptions.call(by, 'POST', '/v2/processing/charges', { invoice, payment });
  await subscriptions.settle();
  // Its job is stuck.
  await rows('update payment set wake_at = null, stuck_at = $2 where party_id = $1 and wake_at is not null', [
    by.partyId,
    clock.now(),
  ]);
  const hour = 60 * minute;
  clock.advance(23 * hour);
  await subscriptions.settle();
  expect(await outcomes()).toEqual(['paid']);
  clock.advance(2 * hour);
  await subscriptions.settle();
  expect(await outcomes()).toEqual(['paid', 'paid']);
  bank.always('inquire', undefined);
});

test('the end of a charge locks no row that it does not wake', async () => {
  const { by, ids } = await subscribed(3);
  const [ended = '', due = '', waiting = ''] = ids;
  const { clock, testDatabase } = world.service;
  const now = clock.now();
  const wakeAt = 'update subscription set wake_at = $2 where subscription_id = $1';
  await rows("update subscription set phase = 'ended' where subscription_id = $1", [ended]);
  await rows(wakeAt, [ended, laterBy(now, minute)]);
  await rows(wakeAt, [due, laterBy(now, -minute)]);
  await rows(wakeAt, [waiting, laterBy(now, minute)]);
  const free = 'select subscription_id as id from subscription where party_id = $1 for update skip locked';
  await testDatabase.database.withClient(async (client) => {
    await client.query('begin');
    await client.query('update series set awaited_by = $2 where party_id = $1', [by.partyId, ids]);
    const change = 'update series set version = version + 1, changed_at = $2 where party_id = $1';
    await client.query(change, [by.partyId, now]);
    const others = await rows(free, [by.partyId]);
    expect(others.map(({ id }) => id).toSorted()).toEqual([ended, due].toSorted());
    await client.query('rollback');
  });
});
