// A node dies after each write and around each bank message of a charge that the service makes automatically. Another node continues: one
// period, one invoice, one payment, one operation at the bank.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { notFinal } from '../../support/checks/ledger-check.ts';
import { openFuse, startNode, type Node } from '../../support/service/nodes.ts';
import { subscriptionWorld, type SubscriptionWorld } from '../../support/subscriptions/subscription-world.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { insufficientFunds } from '../../support/worlds/recurring.ts';

const pastTheLeaseMs = 61_000;
/** Longer than a subscription waits for the end of a payment before it looks. */
const pastTheLookMs = 3_700_000;
const dayMs = 86_400_000;
const maxMoments = 30;

const fuse = openFuse();
let world: CustomerWorld;
let subscriptions: SubscriptionWorld;
let mortal: Node;

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
  mortal = await startNode(world.service, { fuse });
});
afterAll(async () => {
  fuse.set(0);
  await mortal.stop();
  await world.close();
});

async function run(node: Pick<Node, 'jobs'>): Promise<void> {
  for (let turn = 0; turn < 4; turn++) {
    node.jobs.wake();
    await node.jobs.whenIdle();
  }
}

async function takeOver(): Promise<void> {
  for (const ms of [pastTheLeaseMs, pastTheLeaseMs, pastTheLookMs]) {
    world.service.clock.advance(ms);
    await run(world.service);
  }
}

async function operationsOf(invoiceId: string): Promise<number> {
  return (await world.book()).filter(({ operationId }) => operationId.startsWith(`${invoiceId}.`)).length;
}

const captured = 'after approve_charge';
const declined = 'after a commit';

test.each([
  ['a charge that is captured', 49_900, { outcome: 'paid' }, ['captured'], 1, captured],
  ['a charge that is declined', insufficientFunds, { outcome: 'open' }, ['failed'], 0, declined],
] as const)('%s survives a crash at every step', async (_, price, period, payments, booked, written) => {
  const { merchant } = world;
  const died: string[] = [];
  // Of the run that reached its end: e-mails to the payer come in between at no fixed moment.
  let passed: readonly string[] = [];
  for (;;) {
    // A card of its own, so that no failure of another charge makes this one wait.
    const customerId = await subscriptions.readyCustomer(merchant);
    const items = [{ product: 'Tea', price }];
    const { id } = (await subscriptions.create(merchant, customerId, { items, every: 'P1W', trialDays: 1 }))
      .body;
    await run(world.service);
    world.service.clock.advance(1.5 * dayMs);
    fuse.set(died.length + 1);
    await run(mortal);
    const death = fuse.blownAt();
    passed = fuse.passed;
    await takeOver();
    const where = `crashed ${death ?? 'nowhere'}`;
    const [, charged, ...others] = await subscriptions.periods(merchant, id);
    expect([charged, others], where).toEqual([expect.objectContaining(period), []]);
    const made = await subscriptions.payments(merchant, charged.invoiceID);
    expect(
      made.map(({ status }) => status),
      where,
    ).toEqual(payments);
    expect(await operationsOf(charged.invoiceID), where).toBe(booked);
    const { openPeriods } = await subscriptions.get(merchant, id);
    expect(
      openPeriods.filter(({ isCharging }: { isCharging: boolean }) => isCharging),
      where,
    ).toEqual([]);
    await subscriptions.call(merchant, 'POST', `/v2/processing/subscriptions/${id}/cancel`, { when: 'now' });
    if (death === undefined) break;
    died.push(death);
    expect(died.length, died.join(', ')).toBeLessThan(maxMoments);
  }
  for (const moment of [
    'after claim_due_subscription',
    'after a commit',
    'before authorise',
    'after wake_subscription',
  ])
    expect(passed).toContain(moment);
  expect(passed).toContain(written);
  expect(await notFinal(world.service.database)).toEqual([]);
  expect(await world.differences()).toEqual([]);
});

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
  const { merchant } = world;
  fuse.set(0);
  const { testDatabase, clock } = world.service;
  const customerId = await subscriptions.readyCustomer(merchant);
  const items = [{ product: 'Tea', price: insufficientFunds }];
  const { id } = (await subscriptions.create(merchant, customerId, { items })).body;
  await run(world.service);
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
  await run(world.service);
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
  const { merchant } = world;
  fuse.set(0);
  const { testDatabase, clock } = world.service;
  const customerId = await subscriptions.readyCustomer(merchant);
  const items = [{ product: 'Tea', price: insufficientFunds }];
  const { id } = (await subscriptions.create(merchant, customerId, { items })).body;
  await run(world.service);
  const query = (sql: string) => testDatabase.database.withClient((client) => client.query(sql));
  await query(`create function refuse_write() returns trigger language plpgsql as $$ begin
    raise exception 'the disk is full'; end $$`);
  await query(`create trigger no_writes before update on subscription for each row
    when (new.subscription_id = '${id}' and new.version > old.version) execute function refuse_write()`);
  const { openPeriods } = await subscriptions.get(merchant, id);
  clock.advance(Date.parse(openPeriods[0].nextTryAt) - Date.parse(clock.now()) + 1);
  await run(world.service);
  const { rows } = await query(
    `select attempts, wake_at > '${clock.now()}' as waits from subscription where subscription_id = '${id}'`,
  );
  expect(rows).toEqual([{ attempts: 1, waits: true }]);
  await query('drop trigger no_writes on subscription');
  clock.advance(pastTheLeaseMs);
  await run(world.service);
  const [{ invoiceID }] = await subscriptions.periods(merchant, id);
  expect(await subscriptions.payments(merchant, invoiceID)).toHaveLength(2);
});
