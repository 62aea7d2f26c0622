// Two nodes at one subscription, and a node that cannot write what it does.
import { afterAll, beforeAll, expect, test } from 'vitest';
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

/** A node whose job has read the subscription before the other one's writes. */
function nodeThatMeets(meet: () => Promise<void>): Promise<Node> {
  const { database } = world.service;
  const run: typeof database.run = async (statement, parameters) => {
    const rows = await database.run(statement, parameters);
    if (statement.name === 'read_subscription') await meet();
    return rows;
  };
  return startNode({ ...world.service, database: { ...database, run } });
}

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
