// Requests on a customer with 100,000 bindings must read as few rows as on one with three.
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  customersUrl,
  startCustomerWorld,
  type CustomerWorld,
  type MadeBinding,
  type MadeCustomer,
} from '../../support/worlds/customer-world.ts';

const many = 100_000;
/** Of tables and indexes, for a page of 100. A request that looks through all bindings reads at least 50,000. */
const mostRows = 1_000;
/** Revoking and deleting look for bindings of the same series among all of the customer, and deleting does it twice. */
const mostRowsToEnd = many * 2.5;

/** Every session from the first on: one that is not asked reports what it read in the middle of a later count. */
const clients = new Set<pg.Client>();
beforeAll(() => {
  // Otherwise idle sessions are ended meanwhile, and what they have read is counted a moment later.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const query = pg.Client.prototype.query;
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...parameters: any[]) {
    if (!clients.has(this)) this.once('end', () => clients.delete(this));
    clients.add(this);
    return (query as any).apply(this, parameters);
  });
});
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

let world: CustomerWorld;
let customer: MadeCustomer;
let last: MadeBinding;

beforeAll(async () => {
  world = await startCustomerWorld({
    BINDINGS_PER_CUSTOMER_PER_DAY: '50',
    BINDINGS_PER_CARD_PER_DAY: '50',
  });
  customer = await world.createCustomer();
  const first = await world.bound(customer, '4242424242424242');
  await plant(first);
  last = await world.bound(customer, '5555555555554444');
}, 120_000);
afterAll(() => world.close());

/** Inserts past bindings: every other one bound, each with two events. */
async function plant({ id, bindingId }: MadeBinding): Promise<void> {
  await world.service.database.withClient(async (client) => {
    await client.query(
      `insert into binding (customer_id, binding_id, party_id, shop_id, version, number, status, created_at,
         amount_minor, currency, card_fingerprint, terms, state, bound_at_version, series_id)
       select customer_id, 'planted' || place, party_id, shop_id, version + place * 2, number + place,
         case place % 2 when 0 then 'succeeded' else 'failed' end, created_at - interval '2 days',
         amount_minor, currency, card_fingerprint, terms,
         case place % 2 when 0 then state else '{"failure":["authorization_failed"]}' end,
         case place % 2 when 0 then version + place * 2 end, case place % 2 when 0 then series_id end
       from binding, generate_series(1, $3) as place where customer_id = $1 and binding_id = $2`,
      [id, bindingId, many],
    );
    await client.query(
      `insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
       select aggregate_id, version + place, 'customer', event.party_id, event.created_at, facts
       from event join customer on customer_id = aggregate_id, generate_series(1, $2) as place
       where aggregate_id = $1 and sequence = version`,
      [id, many * 2],
    );
    await client.query(
      `update customer set version = version + $2 * 2, bindings_made = bindings_made + $2,
         active_binding_id = 'planted' || $2 where customer_id = $1`,
      [id, many],
    );
  });
  await analyze('binding', 'event');
}

/** As the owner, because PostgreSQL skips it for a service. Otherwise old plans, made for empty tables, look through all bindings. */
async function analyze(...tables: string[]): Promise<void> {
  const owner = new pg.Client({ connectionString: world.service.config.databaseUrl });
  await owner.connect();
  for (const table of tables) await owner.query(`analyze ${table}`);
  await owner.end();
}

/** How many rows of tables and indexes the service has read so far. A session reports them late unless asked. */
async function rowsRead(): Promise<number> {
  for (const client of clients) await client.query('select pg_stat_force_next_flush()');
  const { rows } = await world.service.database.withClient((client) =>
    client.query<{ read: string }>(
      `select (select sum(seq_tup_read) from pg_stat_user_tables)
         + (select sum(idx_tup_read) from pg_stat_user_indexes) as read`,
    ),
  );
  return Number(rows[0]!.read);
}

async function counted(what: string, method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown) {
  const url = `${customersUrl}/${customer.id}${path}`;
  const token = world.merchant.apiKey;
  const before = await rowsRead();
  const answer = await world.service.call(method, url, { token, ...(body === undefined ? {} : { body }) });
  const rows = (await rowsRead()) - before;
  expect(rows, `rows read for ${what}`).toBeGreaterThan(0);
  expect(rows, `rows read for ${what}`).toBeLessThan(method === 'DELETE' ? mostRowsToEnd : mostRows);
  return answer;
}

test(
  'pages of the list read as few rows at its end as at its beginning, and reach its end',
  { timeout: 120_000 },
  async () => {
    const page = await counted('the first page', 'GET', '/bindings?limit=100');
    expect(page.body).toHaveLength(100);
    const end = await counted('the last page', 'GET', `/bindings?limit=100&bindingID=planted${many - 50}`);
    expect(end.body.map(({ id }: any) => id)).toEqual([
      ...Array.from({ length: 50 }, (_, place) => `planted${many - 49 + place}`),
      last.bindingId,
    ]);
    let [seen, after] = [0, `&bindingID=planted${many - 2_000}`];
    for (;;) {
      const url = `${customersUrl}/${customer.id}/bindings?limit=500${after}`;
      const { body } = await world.service.call('GET', url, { token: customer.token });
      if (body.length === 0) break;
      seen += body.length;
      after = `&bindingID=${body.at(-1).id}`;
    }
    expect(seen).toBe(2_001);
    expect(
      await counted('after an unknown binding', 'GET', '/bindings?limit=1&bindingID=nothing'),
    ).toMatchObject({
      status: 404,
      body: { message: 'Customer binding not found' },
    });
  },
);

test(
  'reading the customer, a binding and events, and binding a card, read few rows, and revoking reads no binding twice',
  { timeout: 120_000 },
  async () => {
    expect((await counted('the customer', 'GET', '')).body.status).toBe('ready');
    expect((await counted('a binding', 'GET', `/bindings/planted77`)).body.status).toBe('failed');
    expect((await counted('events', 'GET', `/events?limit=100&eventID=${many}`)).body).toHaveLength(100);
    const card = await world.tokenize('2201382000000013');
    const paymentResource = { paymentToolToken: card.token, paymentSession: card.session };
    const bound = await counted('a new binding', 'POST', '/bindings', { paymentResource });
    expect(bound.status).toBe(201);
    const before = await rowsRead();
    await world.service.jobs.whenIdle();
    expect((await rowsRead()) - before, 'rows read until it is bound').toBeLessThan(mostRows);
    expect((await counted('it', 'GET', `/bindings/${bound.body.id}`)).body.isActive).toBe(true);
    expect((await counted('revoking it', 'DELETE', `/bindings/${bound.body.id}`)).status).toBe(204);
    expect((await counted('the one before', 'GET', `/bindings/${last.bindingId}`)).body.isActive).toBe(true);
    await counted('revoking that', 'DELETE', `/bindings/${last.bindingId}`);
    expect((await counted('the one before', 'GET', `/bindings/planted${many}`)).body.isActive).toBe(true);
    expect((await counted('deleting the customer', 'DELETE', '')).status).toBe(204);
  },
);
