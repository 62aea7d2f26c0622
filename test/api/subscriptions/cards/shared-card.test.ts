// Subscriptions that share a card with each other, and with charges of the merchant. The charge of a period lets the one at the bank
// end first.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { laterBy } from '../../../../src/clock.ts';
import { startNode } from '../../../support/service/nodes.ts';
import type { Merchant } from '../../../support/service/test-service.ts';
import { order } from '../../../support/worlds/invoices.ts';
import { waylay, type FaultyBank } from '../../../support/bank/faulty-bank.ts';
import {
  subscriptionWorld,
  type SubscriptionWorld,
} from '../../../support/subscriptions/subscription-world.ts';
import { startCustomerWorld, type CustomerWorld } from '../../../support/worlds/customer-world.ts';
import { connectionBreaks } from '../../../support/worlds/recurring.ts';

const minute = 60_000;
const month = 32 * 24 * 60 * minute;

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
  world.service.clock.advance(month);
  await subscriptions.settle();
  for (const id of ids) expect(await outcomes(id)).toEqual(['paid', 'paid']);
  expect(await chargesInOrder(by)).toEqual(oneByOne(4));
});

test('another node sends no second message meanwhile, and the end of the first wakes the other', async () => {
  const { by, ids, outcomes } = await subscribed(2);
  const [one = '', other = ''] = ids;
  const { clock, jobs } = world.service;
  const second = await startNode(world.service);
  clock.advance(month);
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
  const { by, customerId, outcomes } = await subscribed(1);
  const { clock } = world.service;
  clock.advance(month);
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
