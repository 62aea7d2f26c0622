// Charges that are written together: each is written whole or not at all, whatever happens to its neighbours.
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { openDatabase, type DatabasePool } from '../../../src/platform/database/database.ts';
import { statement } from '../../../src/platform/database/statement.ts';
import { currentSnapshot, newEvents } from '../../../src/webhooks/feed/feed.store.ts';
import { notFinal } from '../../support/checks/ledger-check.ts';
import { stayOpen } from '../../support/database/waiting.ts';
import { makeInvoice, type CreatedInvoice } from '../../support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import { recurringWorld, type Parent } from '../../support/worlds/recurring.ts';

type Change = Record<string, unknown>;

let world: PaymentWorld;
let recurring: ReturnType<typeof recurringWorld>;
/** Of a second node. */
let other: DatabasePool;
const parents: Parent[] = [];

beforeAll(async () => {
  world = await startPaymentWorld();
  recurring = recurringWorld(world);
  other = openDatabase({ connection: { url: world.service.testDatabase.url }, maxConnections: 10 });
  for (let number = 0; number < 33; number++) parents.push(await recurring.parent());
});
afterAll(async () => {
  await other.end();
  await world.close();
});
afterEach(() => void vi.restoreAllMocks());

const query = async (text: string, values: unknown[] = []): Promise<any[]> =>
  (await world.service.database.withClient((client) => client.query(text, values))).rows;

type Send = (change: Change, on?: Pick<DatabasePool, 'run'>) => Promise<unknown[]>;

/** Leaves a new row of the same version, which a statement that has waited must find. */
const lockSeries = statement({
  name: 'test_lock_series',
  parameters: { series_id: 'text' },
  row: {},
  text: 'update series set attempts = attempts where series_id = :series_id',
});
const dayMs = 24 * 3_600_000;
const pastTheLeaseMs = 61_000;

/** The writes of a statement wait until there are so many. Then `sendAll` writes them, and each caller gets its answer. */
function gather(
  name: string,
  count: number,
  sendAll = (changes: Change[], send: Send) => changes.map((change) => send(change)),
) {
  const { database } = world.service;
  const { run } = database;
  const changes: Change[] = [];
  let release: (answers: Promise<unknown[]>[]) => void = () => {};
  const answers = new Promise<Promise<unknown[]>[]>((resolve) => void (release = resolve));
  vi.spyOn(database, 'withSavepoint').mockImplementation((work) => work(database));
  vi.spyOn(database, 'run').mockImplementation(async (statement, parameters) => {
    if (statement.name !== name || changes.length === count) return run(statement, parameters);
    const index = changes.push(parameters) - 1;
    const send: Send = (change, on = { run }) => on.run(statement, change as never);
    if (changes.length === count) release(sendAll(changes, send));
    return (await answers)[index] as never;
  });
  return answers.then((all) => Promise.allSettled(all));
}

/** How many changes were in each statement of that name. */
function sizesOf(name: string): number[] {
  const sizes: number[] = [];
  const { query: ask } = pg.Client.prototype;
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...asked: any[]) {
    if (asked[0].name === name) sizes.push(JSON.parse(asked[0].values[0]).length);
    return (ask as any).apply(this, asked);
  });
  return sizes;
}

async function chargeAll(by: readonly Parent[]): Promise<string[]> {
  const made = await Promise.all(by.map((parent) => recurring.charge(parent)));
  expect(made.map(({ status }) => status)).toEqual(by.map(() => 201));
  return made.map(({ body }) => body.invoiceID);
}

async function calm(): Promise<void> {
  const { clock, jobs } = world.service;
  await jobs.whenIdle();
  for (let round = 0; round < 3; round++) {
    clock.advance(pastTheLeaseMs);
    jobs.wake();
    await jobs.whenIdle();
  }
}

async function expectAllCaptured(invoices: readonly string[]): Promise<void> {
  await calm();
  const found = await query(
    'select status, count(*)::int from payment where invoice_id = any($1) group by status',
    [invoices],
  );
  expect(found).toEqual([{ status: 'captured', count: invoices.length }]);
  expect(await query(`select from series_attempt where outcome = 'pending'`)).toEqual([]);
  expect(await notFinal(world.service.database)).toEqual([]);
  expect(await world.differences()).toEqual([]);
}

beforeEach(() => void world.service.clock.advance(40 * dayMs));

test('of 33 approvals in one statement 30 are written, and three that do not hold are decided again alone', async () => {
  const sizes = sizesOf('approve_charge');
  const answers = gather('approve_charge', 33, (changes, send) =>
    changes.map((change, index) => {
      if (index === 4) return send({ ...change, series_version: 1 });
      if (index === 17) return send({ ...change, version: 9 });
      return send(index === 30 ? { ...change, version: 0 } : change);
    }),
  );
  const invoices = await chargeAll(parents);
  const rows = (await answers).map((answer) => (answer.status === 'fulfilled' ? answer.value.length : -1));
  expect(rows).toEqual(parents.map((_, index) => ([4, 17, 30].includes(index) ? 0 : 1)));
  expect(sizes).toEqual([33, 1, 1, 1]);
  await expectAllCaptured(invoices);
});

test('an approval that breaks a constraint fails alone, and its neighbours are written', async () => {
  const answers = gather('approve_charge', 33, (changes, send) =>
    changes.map((change, index) => send(index === 20 ? { ...change, refunded_minor: -1n } : change)),
  );
  const invoices = await chargeAll(parents);
  const settled = await answers;
  expect(settled[20]).toMatchObject({ status: 'rejected', reason: { code: '23514' } });
  expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(32);
  await expectAllCaptured(invoices);
});

test('of two approvals of one invoice in a statement, by two series, the later is left out', async () => {
  const by = parents.slice(0, 2);
  const versions = async () => {
    const text = 'select version from series where series_id = any($1) order by series_id';
    const found = await query(text, [by.map(({ invoiceID }) => `${invoiceID}.1`)]);
    return found.map(({ version }) => version as number);
  };
  const before = await versions();
  const answers = gather('approve_charge', 2, ([first = {}, second = {}], send) => {
    const attempted = query(
      `insert into series_attempt (series_id, invoice_id, payment_id, created_at, amount_minor, currency, is_retry, packs, outcome)
       select series_id, $2, payment_id, created_at, amount_minor, currency, is_retry, packs, outcome from series_attempt
       where series_id = $1 and outcome = 'pending'`,
      [second.series_id, first.invoice_id],
    );
    const other = { ...second, invoice_id: first.invoice_id };
    return [first, other].map((change) => attempted.then(() => send(change)));
  });
  const invoices = await chargeAll(by);
  const rows = (await answers).map((answer) =>
    answer.status === 'fulfilled' ? answer.value : answer.reason,
  );
  expect(rows).toMatchObject([[{}], []]);
  await query('delete from series_attempt where series_id = $1 and invoice_id = $2', [
    `${by[1]?.invoiceID}.1`,
    invoices[0],
  ]);
  await expectAllCaptured(invoices);
  // Begun and approved once.
  expect(await versions()).toEqual(before.map((version) => version + 2));
});

test('two nodes write at once, in opposite orders, and every balance is exact', async () => {
  const answers = gather('approve_charge', 32, (changes, send) => {
    const all = changes.map((change, index) => [index, change] as const);
    const sent = new Map<number, Promise<unknown[]>>();
    for (const [index, change] of all) if (index % 2 === 0) sent.set(index, send(change));
    for (const [index, change] of all.toReversed()) if (index % 2 === 1) sent.set(index, send(change, other));
    return changes.map((_, index) => sent.get(index) ?? Promise.reject(new Error('not sent')));
  });
  const invoices = await chargeAll(parents.slice(0, 32));
  expect((await answers).filter(({ status }) => status === 'fulfilled')).toHaveLength(32);
  await expectAllCaptured(invoices);
});

test('of 50 charges of one series one is made, in one statement and across two nodes', async () => {
  const [parent = { invoiceID: '', paymentID: '' }] = parents;
  const sizes = sizesOf('start_charge');
  const answers = gather('start_charge', 50, (changes, send) =>
    changes.map((change, index) => send(change, index % 2 === 0 ? undefined : other)),
  );
  const invoices: CreatedInvoice[] = [];
  for (let number = 0; number < 50; number++) invoices.push(await recurring.invoice());
  const made = await Promise.all(invoices.map((invoice) => recurring.charge(parent, invoice)));
  const written = (await answers).filter(
    (answer) => answer.status === 'fulfilled' && answer.value.length > 0,
  );
  expect(written).toHaveLength(1);
  expect(sizes.toSorted((one, two) => two - one).slice(0, 3)).toEqual([25, 25, 1]);
  // The others are decided again one after the other, so some find no charge pending.
  expect(made.filter(({ status }) => status >= 500)).toEqual([]);
  await expectAllCaptured(made.flatMap(({ status, body }) => (status === 201 ? [body.invoiceID] : [])));
});

test('of charges of one invoice to several series one is made, and the others go again alone', async () => {
  const sizes = sizesOf('start_charge');
  const answers = gather('start_charge', 3);
  const invoice = await recurring.invoice();
  const made = await Promise.all(parents.slice(0, 3).map((parent) => recurring.charge(parent, invoice)));
  const rows = (await answers).map((answer) => (answer.status === 'fulfilled' ? answer.value.length : -1));
  expect(rows.toSorted()).toEqual([0, 0, 1]);
  expect(sizes).toEqual([3, 1, 1]);
  expect(made.map(({ status }) => status).toSorted()).toEqual([201, 400, 400]);
  await expectAllCaptured([invoice.id]);
});

test('a series that another transaction has locked delays its own charge alone', async () => {
  const [first, ...others] = parents.slice(0, 7);
  const { database } = world.service;
  const sizes = sizesOf('start_charge');
  const answers = gather('start_charge', 7);
  let all: Promise<string[]> = Promise.resolve([]);
  await database.transaction(async (tx) => {
    await tx.run(stayOpen, {});
    await tx.run(lockSeries, { series_id: `${first?.invoiceID}.${first?.paymentID}` });
    const charges = parents.slice(0, 7).map((parent) => recurring.charge(parent));
    all = Promise.all(charges).then((made) => made.map(({ body }) => body.invoiceID));
    const made = await Promise.all(charges.slice(1));
    expect(made.map(({ status }) => status)).toEqual(others.map(() => 201));
    // No limit on time had to end the wait.
    expect(sizes).toEqual([7, 1]);
  });
  const invoices = await all;
  expect((await answers).map(({ status }) => status)).toEqual(parents.slice(0, 7).map(() => 'fulfilled'));
  await expectAllCaptured(invoices);
});

test.each([1, 7, 200])('the feed has every event of a batch of %i once and in order', async (count) => {
  const { database } = world.service;
  let seen = await currentSnapshot(database);
  const sizes = sizesOf('insert_invoice');
  void gather('insert_invoice', count);
  const made = await Promise.all(
    Array.from({ length: count }, () => makeInvoice(world.service, world.merchant)),
  );
  expect(sizes).toEqual([count]);
  const ids = new Set(made.map(({ id }) => id));
  const { partyId } = world.merchant;
  const read = new Map<string, number[]>();
  for (let more = true; more;) {
    const page = await newEvents(database, seen, 50, partyId);
    ({ seen, more } = page);
    for (const { aggregateId, sequence } of page.events.filter((event) => ids.has(event.aggregateId)))
      read.set(aggregateId, [...(read.get(aggregateId) ?? []), sequence]);
  }
  expect(new Set(read.keys())).toEqual(ids);
  expect([...read.values()]).toEqual(made.map(() => [1]));
});
