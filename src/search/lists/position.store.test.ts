// The copies of customers, bindings and series follow the log, on any node, after a crash and after a rebuild.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startNode } from '../../../test/support/service/nodes.ts';
import { startCustomerWorld, type CustomerWorld } from '../../../test/support/worlds/customer-world.ts';
import { recurringWorld, type RecurringWorld } from '../../../test/support/worlds/recurring.ts';
import type { Database } from '../../platform/database/database.ts';
import { beginListRebuild, listFreshness, readListChanges, rebuildListPortion } from './position.store.ts';

let world: CustomerWorld;
let recurring: RecurringWorld;
beforeAll(async () => {
  world = await startCustomerWorld();
  recurring = recurringWorld(world);
  for (const card of ['4242424242424242', '4000000000000002'])
    await world.bound(await world.createCustomer(), card);
  await recurring.parent();
  await world.service.jobs.whenIdle();
  await world.service.search.whenIdle();
});
afterAll(() => world.close());

const query = async (text: string, values?: unknown[]): Promise<Record<string, any>[]> =>
  (await world.service.testDatabase.database.withClient((client) => client.query(text, values))).rows;
const listed = (id: string) => query('select status from search_customer where customer_id = $1', [id]);
const rows = async () => [
  await query('select * from search_customer order by customer_id'),
  await query('select * from search_binding order by customer_id, binding_id'),
  await query('select * from search_series order by series_id'),
];

/** It fails at that statement, as if the node had been killed. */
function dying(database: Database, at: string): Database {
  return {
    ...database,
    run(statement, parameters) {
      if (statement.name === at) throw new Error(`died at ${at}`);
      return database.run(statement, parameters);
    },
    transaction: (work) => database.transaction((tx) => work(dying(tx, at))),
  };
}

test('a rebuild corrects wrong rows and copies the same, and nodes finish one that a killed command left', async () => {
  const before = await rows();
  for (const some of before) expect(some.length).toBeGreaterThan(0);
  await query(
    `update search_customer set email = 'wrong@example.com'; delete from search_binding; delete from search_series`,
  );
  await beginListRebuild(world.service.database);
  const { clock, database } = world.service;
  const fresh = () => listFreshness(database, world.merchant.partyId, clock.now());
  expect(await fresh()).toMatchObject({ isRebuilding: true });
  await world.service.search.whenIdle();
  expect(await rows()).toEqual(before);
  expect(await fresh()).toEqual({ asOf: clock.now(), isRebuilding: false });
});

test('a rebuild works in portions, and loses nothing that is made meanwhile', async () => {
  const { database } = world.service;
  await query(
    `insert into customer (customer_id, party_id, shop_id, version, status, created_at, contact_info, metadata)
     select 'M' || n, party_id, shop_id, 1, 'unready', created_at, '{}', '{}'
     from customer as one cross join generate_series(1, 1200) as n
     where customer_id = (select min(customer_id) from customer)`,
  );
  await beginListRebuild(database);
  expect(await rebuildListPortion(database)).toMatchObject({ isRebuilding: true, rebuilt: 500n });
  await expect(rebuildListPortion(dying(database, 'move_search_list_rebuild'))).rejects.toThrow('died at');
  const made = await world.createCustomer();
  while ((await rebuildListPortion(database)).isRebuilding);
  await world.service.search.whenIdle();
  expect(await listed(made.id)).toEqual([{ status: 'unready' }]);
  const [{ n } = {}] = await query(`select count(*)::int as n from search_customer where customer_id ~ '^M'`);
  expect(n).toBe(1_200);
});

test('a rebuild leaves to itself what was written before it began, however old the position', async () => {
  const { database } = world.service;
  const seen = async () => (await query('select seen from search_list_position'))[0]?.['seen'];
  const unread = dying(database, 'read_changed_for_lists');
  // As a migration begins it, before nodes without lists have written for long.
  await query(`update search_list_position set seen = '3:3:', rebuild_after = '', rebuilt = 0`);
  await readListChanges(unread);
  expect(await seen()).not.toBe('3:3:');
  await query(`update search_list_position set seen = '3:3:'`);
  await beginListRebuild(database);
  expect(await seen()).not.toBe('3:3:');
  while ((await rebuildListPortion(database)).isRebuilding);
  expect(await readListChanges(database)).toEqual({ more: false });
});

test('a long log is read in parts, whatever few events of it are listed', async () => {
  const { database } = world.service;
  await world.service.search.whenIdle();
  const made: string[] = [];
  for (let n = 0; n < 3; n++) {
    made.push((await world.createCustomer()).id);
    for (let other = 0; other < 5; other++)
      await query(
        `insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
         values ($1, $2, 'invoice', 'P', now(), '[]')`,
        [`LONG${n}`, other + 1],
      );
  }
  const found: number[] = [];
  for (let isMore = true; isMore && found.length < 100;) {
    isMore = (await readListChanges(database, 4n))?.more === true;
    found.push((await Promise.all(made.map(listed))).flat().length);
  }
  expect(found.length).toBeGreaterThan(3);
  expect(found[0]).toBeLessThan(3);
  expect(found.at(-1)).toBe(3);
});

test('until an event is read, asOf is its time', async () => {
  const { clock, database } = world.service;
  await world.service.search.whenIdle();
  clock.advance(5_000);
  const written = clock.now();
  const asOf = async (party = world.merchant.partyId) =>
    (await listFreshness(database, party, clock.now())).asOf;
  await world.createCustomer();
  clock.advance(5_000);
  expect(await asOf()).toBe(written);
  expect(await asOf('ANOTHER')).toBe(clock.now());
  expect(await world.metric('mandate_search_age_seconds')).toBe(5);
  await world.service.search.whenIdle();
  expect(await asOf()).toBe(clock.now());
  expect(await world.metric('mandate_search_age_seconds')).toBe(0);
});

test('a node that dies between two copies leaves all to the next', async () => {
  const { id } = await world.createCustomer();
  const { database } = world.service;
  for (const dyingAt of ['copy_to_search_customer', 'copy_to_search_binding', 'move_search_list_position']) {
    await expect(readListChanges(dying(database, dyingAt))).rejects.toThrow(`died at ${dyingAt}`);
    expect(await listed(id)).toEqual([]);
  }
  expect(await readListChanges(database)).toEqual({ more: false });
  expect(await listed(id)).toHaveLength(1);
});

test('a charge of a series is not copied, and the end of its consent is', async () => {
  const parent = await recurring.parent();
  await world.service.search.whenIdle();
  const { database } = world.service;
  await recurring.charged(parent);
  const dead = dying(database, 'copy_to_search_series');
  expect(await readListChanges(dead)).toEqual({ more: false });
  const path = `/v2/processing/invoices/${parent.invoiceID}/payments/${parent.paymentID}/recurring/withdraw`;
  const { status, text } = await world.service.call('POST', path, {
    token: world.merchant.apiKey,
    body: { reason: 'asked' },
  });
  expect(status, text).toBeLessThan(300);
  await expect(readListChanges(dead)).rejects.toThrow('died at');
  await readListChanges(database);
  expect(await query('select status from search_series where root_of = $1', [parent.invoiceID])).toEqual([
    { status: 'withdrawn' },
  ]);
});

test('one node reads at a time, and together they miss nothing', async () => {
  const other = await startNode(world.service);
  try {
    await world.service.testDatabase.database.withClient(async (client) => {
      await client.query('begin; select from search_list_position for update');
      expect(await readListChanges(world.service.database)).toBeUndefined();
      await client.query('rollback');
    });
    const made: string[] = [];
    for (let n = 0; n < 10; n++) {
      const { id } = await world.createCustomer();
      made.push(id);
      await Promise.all([world.service.search.whenIdle(), other.search.whenIdle()]);
    }
    await world.service.search.whenIdle();
    await other.search.whenIdle();
    for (const id of made) expect(await listed(id)).toHaveLength(1);
  } finally {
    await other.stop();
  }
});

test('nothing is read while the log is from another cluster', async () => {
  const { id } = await world.createCustomer();
  await query('update webhook_feed set mismatch_since = now()');
  expect(await readListChanges(world.service.database)).toBeUndefined();
  await query('update webhook_feed set mismatch_since = null');
  await query(`update search_list_position set seen = '1000000000:1000000000:'`);
  expect(await readListChanges(world.service.database)).toBeUndefined();
  await beginListRebuild(world.service.database);
  await world.service.search.whenIdle();
  expect(await listed(id)).toHaveLength(1);
});
