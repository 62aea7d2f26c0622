// What searches find is what the API says of each object, on any node, after a crash and after a rebuild.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readBooks } from '../../simulation/checks/rows.ts';
import { searchDifferences, searchRows } from '../../test/support/checks/search-check.ts';
import { startNode } from '../../test/support/service/nodes.ts';
import { invoicesUrl, makeInvoice } from '../../test/support/worlds/invoices.ts';
import { startSmallWorld, type SmallWorld } from '../../test/support/worlds/small-world.ts';
import type { Database } from '../platform/database/database.ts';
import { statement } from '../platform/database/statement.ts';
import { openLog } from '../platform/log.ts';
import { beginListRebuild } from './lists/position.store.ts';
import { beginRebuild, freshness, oldestUnseen, readChanges, rebuildPortion } from './position.store.ts';
import { openSearchReader } from './reader.ts';
import { resumStart, sumNextDay, type ResumFrom } from './sums/resum.store.ts';

let world: SmallWorld;
beforeAll(async () => {
  world = await startSmallWorld();
  const { id } = await make();
  await world.service.call('POST', `${invoicesUrl}/${id}/payments`, {
    token: world.merchant.apiKey,
    body: { payer: { payerType: 'CustomerPayer', customerID: world.customer } },
  });
  await world.service.jobs.whenIdle();
  await world.service.search.whenIdle();
});
afterAll(() => world.close());

const query = async (text: string, values?: unknown[]) =>
  (await world.service.testDatabase.database.withClient((client) => client.query(text, values))).rows;
const check = () => searchDifferences(query, world.service, { token: world.merchant.apiKey });
const rows = () => searchRows(query);
const wrongSums = async () => (await readBooks(query)).wrongSums;
const summedPayments = async () =>
  Number((await query(`select sum(n) as n from search_sum where what = 'payment'`))[0]?.n);
const make = () => makeInvoice(world.service, world.merchant);
const rescind = (id: string) =>
  world.service.call('PUT', `${invoicesUrl}/${id}/rescind`, {
    token: world.merchant.apiKey,
    body: { reason: 'no' },
  });
const searched = (id: string) => query('select status from search_invoice where invoice_id = $1', [id]);

test('every invoice, payment and refund is found as the API returns it', async () => {
  const { checked, differences } = await check();
  expect(differences).toEqual([]);
  expect(checked).toBeGreaterThan(12);
  const [kinds] = await query(`select
    (select count(*) from search_refund)::int as refunds,
    count(*) filter (where customer_id is not null)::int as of_customers,
    count(*) filter (where rrn is not null)::int as approved,
    count(*) filter (where last4 is null)::int as without_card from search_payment`);
  expect(kinds).toEqual({
    refunds: expect.toSatisfy((n: number) => n > 0),
    of_customers: expect.toSatisfy((n: number) => n > 0),
    approved: expect.toSatisfy((n: number) => n > 3),
    without_card: 0,
  });
});

test('a rebuild copies the same, and nodes finish one that a killed command left', async () => {
  const before = await rows();
  await query(
    `delete from search_invoice; delete from search_payment; delete from search_refund; delete from search_payout;
     delete from search_sum`,
  );
  await beginRebuild(world.service.database);
  const { partyId } = world.merchant;
  const { clock, database } = world.service;
  expect(await freshness(database, partyId, clock.now())).toMatchObject({ isRebuilding: true });
  await world.service.search.whenIdle();
  expect(await rows()).toEqual(before);
  expect(await wrongSums()).toEqual([]);
  expect(await freshness(database, partyId, clock.now())).toEqual({
    asOf: clock.now(),
    isRebuilding: false,
  });
});

test('a rebuild corrects wrong rows while invoices are made', async () => {
  await query(`update search_payment set status = 'failed', email = 'wrong@example.com'`);
  await beginRebuild(world.service.database);
  const { id } = await make();
  const rebuilt = async () => (await rebuildPortion(world.service.database)).isRebuilding;
  while (await rebuilt());
  await world.service.search.whenIdle();
  expect(await searched(id)).toHaveLength(1);
  expect((await check()).differences).toEqual([]);
});

test('sums follow each change of status, and a rebuild corrects them while they are moved', async () => {
  const { apiKey: token } = world.merchant;
  const held = await world.paid('4242424242424242', { flow: { type: 'PaymentFlowHold' } });
  await world.service.search.whenIdle();
  const cancel = `${invoicesUrl}/${held.id}/payments/1/cancel`;
  expect((await world.service.call('POST', cancel, { token, body: { reason: 'r' } })).status).toBe(202);
  await world.service.jobs.whenIdle();
  await world.service.search.whenIdle();
  expect(await wrongSums()).toEqual([]);
  const before = await summedPayments();
  expect(before).toBeGreaterThan(5);
  await query(`update search_sum set n = n + 7, amount_minor = 1 where status = 'captured'`);
  await query(`insert into search_sum select party_id, 'GONE', quarter - interval '3 days', what, currency, status, attempt,
    payment_system, decline_class, failure, bank_code, 1, 1 from search_sum limit 1`);
  expect(await wrongSums()).not.toEqual([]);
  await beginRebuild(world.service.database);
  await rebuildPortion(world.service.database);
  await world.paid('4242424242424242');
  await world.service.search.whenIdle();
  expect(await wrongSums()).toEqual([]);
  expect(await summedPayments()).toBe(before + 1);
});

test('a rebuild sums a day at a time, and one that ends between two days is finished', async () => {
  const { clock, database } = world.service;
  for (let day = 0; day < 3; day++) {
    clock.advance(24 * 3_600_000);
    await world.paid('4242424242424242');
  }
  await world.service.search.whenIdle();
  const days = () => query('select * from search_day_sum where n <> 0 order by search_day_sum');
  const before = await days();
  await query('update search_day_sum set amount_minor = -1; update search_hour_sum set n = n + 7');
  await query(`insert into search_hour_sum
    select party_id, 'GONE', hour, what, currency, status, decline_class, 1, 1 from search_hour_sum limit 1`);
  const wrongDays = async () =>
    Number(
      (
        await query(
          `select count(distinct (party_id, shop_id, day)) as n from search_day_sum where amount_minor = -1`,
        )
      )[0]?.n,
    );
  await beginRebuild(database);
  await rebuildPortion(database);
  const left = [await wrongDays()];
  expect(left[0]).toBeGreaterThan(3);
  while (left.at(-1) !== 0) {
    await expect(rebuildPortion(dying(database, 'make_day_sums'))).rejects.toThrow('died at make_day_sums');
    expect(await wrongDays()).toBe(left.at(-1));
    await rebuildPortion(database);
    left.push(await wrongDays());
  }
  const oneByOne = Array.from({ length: (left[0] ?? 0) + 1 }, (_, index) => index).toReversed();
  expect([...new Set(left)]).toEqual(oneByOne);
  while ((await rebuildPortion(database)).isRebuilding);
  expect(await wrongSums()).toEqual([]);
  expect(await days()).toEqual(before);
});

test('a day with too many payments is summed in parts', async () => {
  const { clock, database } = world.service;
  for (let n = 0; n < 3; n++) {
    await world.paid('4242424242424242');
    clock.advance(20 * 60_000);
  }
  await world.service.search.whenIdle();
  const steps = async (most?: number) => {
    await query('update search_sum set n = n + 7');
    const places: ResumFrom[] = [];
    for (let at: ResumFrom | null = resumStart; at !== null;) {
      const from: ResumFrom = at;
      places.push(from);
      at = await database.transaction((tx) => sumNextDay(tx, from, most));
    }
    expect(await wrongSums()).toEqual([]);
    return places.length;
  };
  expect(await steps(0)).toBeGreaterThan(await steps());
});

test('until an event is read, asOf is its time', async () => {
  const { clock, database } = world.service;
  const { partyId } = world.merchant;
  await world.service.search.whenIdle();
  clock.advance(5_000);
  const written = clock.now();
  await make();
  clock.advance(5_000);
  const asOf = async (party = partyId) => (await freshness(database, party, clock.now())).asOf;
  const age = async () =>
    /^mandate_search_age_seconds (.*)$/m.exec((await world.service.call('GET', '/metrics')).text)?.[1];
  expect(await asOf()).toBe(written);
  expect(await asOf('ANOTHER')).toBe(clock.now());
  expect(await age()).toBe('5');
  await world.service.search.whenIdle();
  expect(await asOf()).toBe(clock.now());
  expect(await age()).toBe('0');
});

test('a transaction that commits after a later one was read is not missed', async () => {
  const { id } = await make();
  await world.service.search.whenIdle();
  await world.service.testDatabase.database.withClient(async (client) => {
    await client.query('begin');
    await client.query('select pg_current_xact_id()');
    await rescind((await make()).id);
    await world.service.search.whenIdle();
    await client.query(
      `update invoice set status = 'cancelled', reason = 'no', version = version + 1 where invoice_id = $1`,
      [id],
    );
    await client.query(
      `insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
       select invoice_id, version, 'invoice', party_id, now(), '[]' from invoice where invoice_id = $1`,
      [id],
    );
    await client.query('commit');
  });
  await world.service.search.whenIdle();
  expect(await searched(id)).toEqual([{ status: 'cancelled' }]);
});

test('a node that dies between two copies leaves all to the next', async () => {
  const { id } = await make();
  const { database } = world.service;
  for (const dyingAt of ['copy_to_search_payment', 'copy_to_search_refund', 'move_search_position']) {
    await expect(readChanges(dying(database, dyingAt))).rejects.toThrow(`died at ${dyingAt}`);
    expect(await searched(id)).toEqual([]);
  }
  expect(await readChanges(database)).toMatchObject({ more: false });
  expect(await searched(id)).toHaveLength(1);
});

describe('a payment at the bank', () => {
  let id: string;
  let before: string | undefined;
  beforeEach(async () => {
    before = await copyAll();
    ({ id } = await world.paid('4242424242424242'));
  });
  afterEach(async () => {
    await become('captured');
    await world.service.search.whenIdle();
  });

  /** In a transaction of its own, with its event. */
  const become = (status: string, events = 1) =>
    query(
      `with written as (
         update payment set status = $2, captured_minor = case when $2 in ('captured', 'capturing') then amount_minor end
         where invoice_id = $1 returning invoice_id, party_id
       )
       insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
       select invoice_id, (select max(sequence) from event where aggregate_id = $1) + n, 'invoice', party_id, $3, '[]'
       from written cross join generate_series(1, $4) as n`,
      [id, status, world.service.clock.now(), events],
    );
  const found = async () =>
    (await query('select status, xmin from search_payment where invoice_id = $1', [id]))[0];
  const read = (settled?: string, db: Database = world.service.database) => readChanges(db, settled);
  /** What a turn saw that copied everything. */
  const copyAll = async () => (await read())?.snapshot;

  test('is copied with its outcome, once', async () => {
    await become('authorising');
    const { id: neighbour } = await make();
    const turn = await read(before);
    expect(await found()).toBeUndefined();
    expect(await searched(neighbour)).toHaveLength(1);
    await become('captured');
    const next = await read(turn?.snapshot);
    const copied = await found();
    expect(copied).toMatchObject({ status: 'captured' });
    await read(next?.snapshot);
    expect(await found()).toEqual(copied);
    expect(await wrongSums()).toEqual([]);
  });

  test('is copied at the next turn if the bank is silent, and asOf is its time until then', async () => {
    const { clock, database } = world.service;
    before = await copyAll();
    const { partyId } = world.merchant;
    clock.advance(5_000);
    const written = clock.now();
    await become('authorising');
    clock.advance(5_000);
    const turn = await read(before);
    expect(await found()).toMatchObject({ status: 'captured' });
    expect((await freshness(database, partyId, clock.now())).asOf).toBe(written);
    expect(await wrongSums()).toEqual([]);
    await read(turn?.snapshot);
    expect(await found()).toMatchObject({ status: 'authorising' });
    expect((await freshness(database, partyId, clock.now())).asOf).toBe(clock.now());
  });

  test('waits for one turn, whatever changes meanwhile', async () => {
    await become('authorising');
    const turn = await read(before);
    expect(await found()).toBeUndefined();
    await become('capturing');
    await read(turn?.snapshot);
    expect(await found()).toMatchObject({ status: 'capturing' });
  });

  test('is not lost when its node dies while it waits', async () => {
    await become('authorising');
    await expect(read(before, dying(world.service.database, 'move_search_position'))).rejects.toThrow('died');
    await read(before);
    expect(await found()).toBeUndefined();
    await copyAll();
    expect(await found()).toMatchObject({ status: 'authorising' });
  });

  test('is copied at once when a turn has more to read than it can', async () => {
    await become('authorising', 2_000);
    expect(await read(before)).toMatchObject({ more: true });
    expect(await found()).toMatchObject({ status: 'authorising' });
  });

  test('waits for the next turn of its node', async () => {
    const turns: unknown[] = [];
    const db = watched(world.service.database, ({ settled }) => void turns.push(settled));
    const reader = openSearchReader({ db, log: openLog({ level: 'silent', human: false }) });
    await become('authorising');
    await reader.whenIdle();
    expect(turns).toEqual([null, expect.stringMatching(/^\d+:\d+:/)]);
    await become('capturing');
    await reader.whenIdle();
    expect(await found()).toMatchObject({ status: 'capturing' });
    await reader.stop();
  });

  test('waits no shorter while lists are rebuilt', async () => {
    const { database } = world.service;
    await query(
      `insert into customer (customer_id, party_id, shop_id, version, status, created_at, contact_info, metadata)
       select 'M' || n, party_id, shop_id, 1, 'unready', created_at, '{}', '{}'
       from customer as one cross join generate_series(1, 1200) as n
       where customer_id = (select min(customer_id) from customer)`,
    );
    await beginListRebuild(database);
    const turns: unknown[] = [];
    const db = watched(database, ({ settled }) => void turns.push(settled));
    const reader = openSearchReader({ db, log: openLog({ level: 'silent', human: false }) });
    await reader.whenIdle();
    expect(await query(`select from search_customer where customer_id ~ '^M'`)).toHaveLength(1_200);
    expect(turns).toHaveLength(2);
    await reader.stop();
  });

  test('is copied, with all that was written before, while lists cannot be', async () => {
    const { database } = world.service;
    for (let n = 0; n < 4; n++) await become('authorising', 2_000);
    const db = dying(database, 'lock_search_list_position');
    const reader = openSearchReader({ db, log: openLog({ level: 'silent', human: false }) });
    await reader.whenIdle();
    expect(await oldestUnseen(database)).toBeUndefined();
    await reader.stop();
  });
});

test('a portion of a rebuild that fails takes back no copy', async () => {
  const { database } = world.service;
  for (const dyingAt of ['read_portion_to_search', 'sum_day']) {
    await beginRebuild(database);
    if (dyingAt === 'sum_day') await rebuildPortion(database);
    const { id } = await make();
    await expect(readChanges(dying(database, dyingAt))).rejects.toThrow(`died at ${dyingAt}`);
    expect(await searched(id)).toHaveLength(1);
    await world.service.search.whenIdle();
  }
  expect(await wrongSums()).toEqual([]);
});

test('rows are copied by their keys, also with a plan made when there were none', async () => {
  const { database } = world.service;
  await make();
  const plans: string[] = [];
  const watching = (tx: Database): Database => ({
    ...tx,
    async run(one, parameters) {
      if (one.name === 'copy_to_search_payment')
        plans.push(...(await tx.run(readScans, {})).map(({ scans }) => scans));
      return tx.run(one, parameters);
    },
    transaction: (work) => tx.transaction((inner) => work(watching(inner))),
  });
  await readChanges(watching(database));
  await beginRebuild(database);
  await rebuildPortion(watching(database));
  expect(plans).toEqual(['off', 'off']);
  await world.service.search.whenIdle();
});

const readScans = statement({
  name: 'read_enable_seqscan',
  parameters: {},
  row: { scans: 'text' },
  text: `select current_setting('enable_seqscan') as scans`,
});

/** Says what is read of the log with. */
function watched(database: Database, hear: (parameters: { readonly settled?: unknown }) => void): Database {
  return {
    ...database,
    run(statement, parameters) {
      if (statement.name === 'read_changed_for_searches') hear(parameters);
      return database.run(statement, parameters);
    },
    transaction: (work) => database.transaction((tx) => work(watched(tx, hear))),
  };
}

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

test('one node reads at a time, and together they miss nothing', async () => {
  const other = await startNode(world.service);
  try {
    await world.service.testDatabase.database.withClient(async (client) => {
      await client.query('begin; select from search_position for update');
      expect(await readChanges(world.service.database)).toBeUndefined();
      await client.query('rollback');
    });
    const made: string[] = [];
    for (let n = 0; n < 30; n++) {
      const { id } = await make();
      made.push(id);
      await Promise.all([rescind(id), world.service.search.whenIdle(), other.search.whenIdle()]);
    }
    await Promise.all([world.service.search.whenIdle(), other.search.whenIdle()]);
    await other.search.whenIdle();
    expect((await check()).differences).toEqual([]);
  } finally {
    await other.stop();
  }
});

test('the reader waits for no lock on an invoice or a payment', async () => {
  const { id } = await make();
  await world.service.testDatabase.database.withClient(async (client) => {
    await client.query(
      'begin; select from invoice for update; select from payment for update; select from refund for update',
    );
    await world.service.search.whenIdle();
    expect(await searched(id)).toHaveLength(1);
    await client.query('rollback');
  });
});

test('nothing is read while the log is from another cluster', async () => {
  const { id } = await make();
  await query('update webhook_feed set mismatch_since = now()');
  expect(await readChanges(world.service.database)).toBeUndefined();
  await query('update webhook_feed set mismatch_since = null');
  await query(`update search_position set seen = '1000000000:1000000000:'`);
  expect(await readChanges(world.service.database)).toBeUndefined();
  await beginRebuild(world.service.database);
  await world.service.search.whenIdle();
  expect(await searched(id)).toHaveLength(1);
});
