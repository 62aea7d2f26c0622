// Two nodes at one subscription, and a node that cannot write what it does.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { laterBy } from '../../../src/clock.ts';
import { wakeToRun } from '../../../src/subscriptions/store/subscriptions.ts';
import { startNode, type Node } from '../../support/service/nodes.ts';
import { subscriptionWorld, type SubscriptionWorld } from '../../support/subscriptions/subscription-world.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { insufficientFunds } from '../../support/worlds/recurring.ts';

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
});
afterAll(() => world.close());

type Run = CustomerWorld['service']['database']['run'];

/** A node that runs its statements outside transactions so. */
function nodeThatRuns(wrapped: (run: Run) => Run): Promise<Node> {
  const { database } = world.service;
  return startNode({ ...world.service, database: { ...database, run: wrapped(database.run) } });
}

/** Whose job has read the subscription before the other one's writes. */
function nodeThatMeets(meet: () => Promise<void>): Promise<Node> {
  return nodeThatRuns((run) => async (statement, parameters) => {
    const rows = await run(statement, parameters);
    if (statement.name === 'read_subscription') await meet();
    return rows;
  });
}

async function declinedSubscription() {
  const merchant = await world.createMerchant();
  const customerId = await subscriptions.readyCustomer(merchant);
  const items = [{ product: 'Tea', price: insufficientFunds }];
  const { id } = (await subscriptions.create(merchant, customerId, { items })).body;
  await subscriptions.settle();
  return { merchant, id };
}

const query = (sql: string) => world.service.testDatabase.database.withClient((client) => client.query(sql));

test('two nodes that read one subscription at once charge it once', async () => {
  const merchant = await world.createMerchant();
  const { testDatabase, clock } = world.service;
  const customerId = await subscriptions.readyCustomer(merchant);
  const items = [{ product: 'Tea', price: insufficientFunds }];
  const { id } = (await subscriptions.create(merchant, customerId, { items })).body;
  await subscriptions.settle();
  const events = async () => {
    const { rows } = await testDatabase.database.withClient((client) =>
      client.query(`select version from subscription where subscription_id = '${id}'`),
    );
    return rows[0].version;
  };
  const before = await events();
  const { openPeriods } = await subscriptions.get(merchant, id);
  clock.advance(Date.parse(openPeriods[0].nextTryAt) - Date.parse(clock.now()) + 1);
  let here = 0;
  let resolve = () => {};
  const met = new Promise<void>((resolved) => (resolve = resolved));
  const meet = () => {
    here += 1;
    if (here === 2) resolve();
    return met;
  };
  const nodes = await Promise.all([nodeThatMeets(meet), nodeThatMeets(meet)]);
  for (const node of nodes) node.jobs.run('subscription', [id], clock.now());
  await Promise.all(nodes.map((node) => node.jobs.whenIdle()));
  await Promise.all(nodes.map((node) => node.stop()));
  await subscriptions.settle();
  const [{ invoiceID }, ...others] = await subscriptions.periods(merchant, id);
  expect(others).toEqual([]);
  expect((await subscriptions.payments(merchant, invoiceID)).map(({ status }) => status)).toEqual([
    'failed',
    'failed',
  ]);
  // The charge started, and it failed: the other node has written nothing.
  expect([here >= 2, await events()]).toEqual([true, before + 2]);
});

test('a retry that cannot be written backs off, and is made when it can be', async () => {
  const merchant = await world.createMerchant();
  const { testDatabase, clock } = world.service;
  const customerId = await subscriptions.readyCustomer(merchant);
  const items = [{ product: 'Tea', price: insufficientFunds }];
  const { id } = (await subscriptions.create(merchant, customerId, { items })).body;
  await subscriptions.settle();
  const query = (sql: string) => testDatabase.database.withClient((client) => client.query(sql));
  await query(`create function refuse_write() returns trigger language plpgsql as $$ begin
    raise exception 'the disk is full'; end $$`);
  await query(`create trigger no_writes before update on subscription for each row
    when (new.subscription_id = '${id}' and new.version > old.version) execute function refuse_write()`);
  const { openPeriods } = await subscriptions.get(merchant, id);
  clock.advance(Date.parse(openPeriods[0].nextTryAt) - Date.parse(clock.now()) + 1);
  await subscriptions.settle();
  const { rows } = await query(
    `select attempts, wake_at > '${clock.now()}' as waits from subscription where subscription_id = '${id}'`,
  );
  expect(rows).toEqual([{ attempts: 1, waits: true }]);
  await query('drop trigger no_writes on subscription');
  clock.advance(60_000);
  await subscriptions.settle();
  const [{ invoiceID }] = await subscriptions.periods(merchant, id);
  expect(await subscriptions.payments(merchant, invoiceID)).toHaveLength(2);
});

test('a node that dies as a payment ends leaves the subscription due within a minute', async () => {
  const { clock } = world.service;
  const { merchant, id } = await declinedSubscription();
  const nextTry = async () => (await subscriptions.get(merchant, id)).openPeriods[0].nextTryAt;
  const before = await nextTry();
  clock.advance(Date.parse(before) - Date.parse(clock.now()) + 1);
  const node = await nodeThatRuns((run) => async (statement, parameters) => {
    if (statement.name === 'wake_subscription') throw new Error('the node died');
    return run(statement, parameters);
  });
  node.jobs.run('subscription', [id], clock.now());
  await node.jobs.whenIdle();
  await node.stop();
  const [{ invoiceID }] = await subscriptions.periods(merchant, id);
  expect(await subscriptions.payments(merchant, invoiceID)).toHaveLength(2);
  clock.advance(60_000);
  await subscriptions.settle();
  expect(Date.parse(await nextTry())).toBeGreaterThan(Date.parse(before));
});

test('so does one whose job has first written how the last charge ended', async () => {
  const { clock } = world.service;
  const merchant = await world.createMerchant();
  const { id } = (await subscriptions.create(merchant, await subscriptions.readyCustomer(merchant))).body;
  await subscriptions.settle();
  const node = await nodeThatRuns((run) => async (statement, parameters) => {
    if (statement.name === 'wake_subscription') throw new Error('the node died');
    return run(statement, parameters);
  });
  for (const periods of [2, 3]) {
    clock.advance(32 * 24 * 3_600_000);
    node.jobs.run('subscription', [id], clock.now());
    await node.jobs.whenIdle();
    expect(await subscriptions.periods(merchant, id)).toHaveLength(periods);
  }
  await node.stop();
  const open = async () => (await subscriptions.get(merchant, id)).openPeriods;
  expect(await open()).toHaveLength(1);
  clock.advance(60_000);
  await subscriptions.settle();
  expect(await open()).toEqual([]);
});

test('a wake-up claims the row, unless it is due within a lease and held by no job', async () => {
  const { clock, database } = world.service;
  const { id } = await declinedSubscription();
  const now = clock.now();
  const woken = async (wakeInMs: number | null, attempts: number) => {
    const wakeAt = wakeInMs === null ? 'null' : `'${laterBy(now, wakeInMs)}'`;
    await query(
      `update subscription set wake_at = ${wakeAt}, attempts = ${attempts} where subscription_id = '${id}'`,
    );
    const mayRun = await wakeToRun(database, id, now);
    const { rows } =
      await query(`select attempts, (extract(epoch from wake_at - '${now}') * 1000)::int as in_ms
      from subscription where subscription_id = '${id}'`);
    return [mayRun, rows[0].in_ms, rows[0].attempts];
  };
  expect(await woken(30_000, 0)).toEqual([true, 30_000, 0]);
  expect(await woken(60_000, 0)).toEqual([true, 60_000, 0]);
  expect(await woken(60_001, 0)).toEqual([true, 60_000, 1]);
  expect(await woken(30_000, 1)).toEqual([true, 60_000, 1]);
  expect(await woken(null, 0)).toEqual([false, null, 0]);
});
