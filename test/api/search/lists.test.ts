// The lists of customers, bindings and series find what single reads say, by each filter, and nothing of another party.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Merchant } from '../../support/service/test-service.ts';
import {
  customersUrl,
  startCustomerWorld,
  type CustomerWorld,
  type MadeCustomer,
} from '../../support/worlds/customer-world.ts';
import { recurringWorld } from '../../support/worlds/recurring.ts';

const range = 'fromTime=2025-12-01T00:00:00Z&toTime=2026-12-01T00:00:00Z';
const good = '4242424242424242';
const otherCard = '5555555555554444';
const declined = '4000000000000002';

let world: CustomerWorld;
let other: Merchant;
let deleted: MadeCustomer;
type Listed = Readonly<Record<string, any>>;
type What = 'customers' | 'bindings' | 'series';
/** As single reads return them, newest first. */
const all: Record<What, Listed[]> = { customers: [], bindings: [], series: [] };

const get = async (path: string, token = world.merchant.apiKey) =>
  (await world.service.call('GET', path, { token })).body;
const list = (what: What, query: string, token = world.merchant.apiKey) =>
  world.service.call('GET', `/v2/analytics/${what}?limit=100&${query}`, { token });
const query = async (text: string, values?: unknown[]): Promise<Record<string, any>[]> =>
  (await world.service.testDatabase.database.withClient((client) => client.query(text, values))).rows;
const found = async (what: What, asked: string): Promise<Listed[]> => {
  const { status, body, text } = await list(what, asked);
  expect(status, text).toBe(200);
  return body.result;
};

beforeAll(async () => {
  world = await startCustomerWorld();
  other = await world.createMerchant();
  const { service } = world;
  const later = () => service.clock.advance(1_000);
  await world.openShop('SECOND', 'RUB');
  const first = await world.createCustomer({ externalID: 'c-1', contactInfo: { email: 'Anna@Example.com' } });
  later();
  const second = await world.createCustomer({
    shopID: 'SECOND',
    contactInfo: { email: 'boris@example.com' },
  });
  later();
  await world.createCustomer();
  deleted = await world.createCustomer({ externalID: 'gone', contactInfo: { email: 'gone@example.com' } });
  for (const [customer, card] of [
    [first, good],
    [first, otherCard],
    [second, declined],
    [second, good],
    [deleted, good],
  ] as const) {
    later();
    await world.bound(customer, card);
  }
  const revoked = await world.bound(second, otherCard);
  await world.withdraw(revoked);
  later();
  // The payer is at their bank.
  await world.bind(first, '4012888888881881', { externalID: 'b-1' });
  await service.call('DELETE', `${customersUrl}/${deleted.id}`, { token: world.merchant.apiKey });
  const { parent, charged } = recurringWorld(world);
  await charged(await parent());
  await service.jobs.whenIdle();
  await service.search.whenIdle();
  await readAll();
});
afterAll(() => world.close());

async function readAll(): Promise<void> {
  const customers = await query(
    `select customer_id, created_at from customer where customer_id <> $1 order by created_at desc, customer_id desc`,
    [deleted.id],
  );
  for (const { customer_id: id, created_at: createdAt } of customers)
    all.customers.push({ ...(await get(`${customersUrl}/${id}`)), createdAt });
  const bindings = await query(
    `select customer_id, binding_id, shop_id, created_at, series_id from binding where customer_id <> $1
     order by created_at desc, customer_id desc, binding_id desc`,
    [deleted.id],
  );
  for (const { customer_id: customerID, binding_id, shop_id: shopID, created_at, series_id } of bindings)
    all.bindings.push({
      customerID,
      shopID,
      createdAt: created_at,
      ...(series_id && { seriesID: series_id }),
      ...(await get(`${customersUrl}/${customerID}/bindings/${binding_id}`)),
    });
}

const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
const instants = (rows: readonly Listed[]) =>
  rows.map(({ createdAt, ...row }) => ({ ...row, createdAt: new Date(createdAt).toISOString() }));

describe('without a filter', () => {
  test.each(['customers', 'bindings'] as const)(
    'all %s are listed as single reads return them',
    async (what) => {
      const { body } = await list(what, range);
      expect(instants(body.result)).toEqual(instants(plain(all[what])));
      expect(body.asOf).toBe(world.service.clock.now());
      expect(body.result.length).toBeGreaterThan(2);
      expect(body.rebuilding).toBeUndefined();
    },
  );

  test('series of payments and of bindings are listed, the newest first', async () => {
    const result = await found('series', range);
    expect(result.map(({ seriesID }) => seriesID).sort()).toEqual(
      (await query('select series_id from series order by series_id')).map((row) => row['series_id']).sort(),
    );
    const times = result.map(({ createdAt }) => createdAt);
    expect(times).toEqual([...times].sort().reverse());
    const ofPayment = result.find(({ rootPayment }) => rootPayment) as Listed;
    const { invoiceID, paymentID } = ofPayment['rootPayment'];
    const single = await get(`/v2/processing/invoices/${invoiceID}/payments/${paymentID}/recurring`);
    expect({ ...ofPayment, mayCharge: true, warnings: [] }).toEqual({
      ...single,
      createdAt: ofPayment['createdAt'],
      shopID: 'TEST',
      chargeable: true,
    });
    expect(result.filter(({ rootBinding }) => rootBinding).length).toBeGreaterThan(2);
  });
});

type Of = (one: Listed) => string | undefined;
const filters: readonly [What, name: string, of: Of, isExact?: 'exact'][] = [
  ['customers', 'customerID', ({ id }) => id, 'exact'],
  ['customers', 'externalID', ({ externalID }) => externalID, 'exact'],
  ['customers', 'payerEmail', ({ contactInfo }) => contactInfo.email, 'exact'],
  ['customers', 'customerStatus', ({ status }) => status],
  ['customers', 'shopID', ({ shopID }) => shopID],
  ['bindings', 'customerID', ({ customerID }) => customerID, 'exact'],
  ['bindings', 'externalID', ({ externalID }) => externalID, 'exact'],
  ['bindings', 'bindingStatus', ({ status }) => status],
  ['bindings', 'bindingStatus', ({ withdrawnAt }) => withdrawnAt && 'withdrawn'],
  ['bindings', 'first6', ({ paymentResource }) => paymentResource.paymentToolDetails.bin],
  ['bindings', 'last4', ({ paymentResource }) => paymentResource.paymentToolDetails.lastDigits],
  ['bindings', 'bindingError', ({ error }) => error?.code],
  ['bindings', 'bindingError', ({ error }) => error && `${error.code}:${error.message}`],
  ['bindings', 'shopID', ({ shopID }) => shopID],
];

describe('each filter', () => {
  test.each(filters)('of %s by %s finds those that have the value', async (what, name, of, isExact) => {
    const values = [...new Set(all[what].map(of))].filter((value) => value !== undefined);
    expect(values.length).toBeGreaterThan(0);
    for (const value of values) {
      const asked = `${name}=${encodeURIComponent(value)}`;
      const expected = all[what].filter((one) => of(one) === value);
      expect(instants(await found(what, isExact ? asked : `${asked}&${range}`))).toEqual(
        instants(plain(expected)),
      );
    }
  });

  test('of several shops finds those of each', async () => {
    expect(await found('customers', `${range}&shopIDs=TEST,SECOND`)).toHaveLength(all.customers.length);
    const rest = all.customers.filter(({ shopID }) => shopID !== 'SECOND');
    expect(rest.length).toBeLessThan(all.customers.length);
    expect(await found('customers', `${range}&excludeShopIDs=SECOND`)).toHaveLength(rest.length);
  });

  test('of the time includes its beginning and not its end', async () => {
    const times = all.bindings.map(({ createdAt }) => new Date(createdAt).toISOString()).sort();
    const [from, to] = [times[0], times.at(-1)];
    const inside = times.filter((time) => time !== to).length;
    expect(await found('bindings', `fromTime=${from}&toTime=${to}`)).toHaveLength(inside);
    expect(inside).toBeGreaterThan(1);
  });

  test('of a customer by an email does not mind its case', async () => {
    expect(await found('customers', 'payerEmail=ANNA@example.COM')).toHaveLength(1);
  });

  test('of a card by fewer than four digits finds the numbers that end so', async () => {
    const endOf = ({ paymentResource }: Listed): string => paymentResource.paymentToolDetails.lastDigits;
    for (const digits of ['4', '42', '242', '444', '9']) {
      const expected = all.bindings.filter((one) => endOf(one).endsWith(digits));
      expect(instants(await found('bindings', `last4=${digits}&${range}`)), digits).toEqual(
        instants(plain(expected)),
      );
    }
    expect(all.bindings.filter((one) => endOf(one).endsWith('42')).length).toBeGreaterThan(1);
    expect(all.bindings.some((one) => !endOf(one).endsWith('4') && !endOf(one).endsWith('2'))).toBe(true);
    expect(await found('bindings', `last4=&${range}`)).toHaveLength(all.bindings.length);
  });

  test('of an error of one part finds it by both of its texts', async () => {
    const failed = all.bindings.find(({ error }) => error) as Listed;
    const { customerID, id } = failed;
    const [{ state }] = (await query('select state from binding where binding_id = $1', [id])) as [Listed];
    const setFailure = async (failure: readonly string[]) => {
      const changed = JSON.stringify({ ...state, failure });
      await query('update binding set state = $2::json where binding_id = $1', [id, changed]);
      await query(`update search_list_position set rebuild_after = ''`);
      await world.service.search.whenIdle();
    };
    await setFailure(['timeout']);
    const { error } = await get(`${customersUrl}/${customerID}/bindings/${id}`);
    expect(error).toMatchObject({ code: 'timeout', message: 'timeout' });
    for (const asked of ['timeout', 'timeout:timeout'])
      expect(await found('bindings', `bindingError=${asked}&${range}`), asked).toMatchObject([{ id }]);
    expect(await found('bindings', `bindingError=timeout:other&${range}`)).toEqual([]);
    await setFailure(state.failure);
  });

  test('joins with the others by and', async () => {
    const [customer] = all.customers.filter(({ externalID }) => externalID === 'c-1');
    expect(await found('customers', `customerID=${customer?.['id']}&customerStatus=ready`)).toHaveLength(1);
    expect(await found('customers', `customerID=${customer?.['id']}&customerStatus=unready`)).toEqual([]);
  });
});

describe('series', () => {
  const ids = async (asked: string) => (await found('series', asked)).map(({ seriesID }) => seriesID);

  test('are found by their root, their ID and their shop', async () => {
    const every = await found('series', range);
    for (const { seriesID, rootPayment, rootBinding } of every) {
      expect(await ids(`seriesID=${seriesID}`)).toEqual([seriesID]);
      const { invoiceID, paymentID, customerID, customerBindingID } = { ...rootPayment, ...rootBinding };
      const root = rootPayment
        ? `invoiceID=${invoiceID}&paymentID=${paymentID}`
        : `customerID=${customerID}&customerBindingID=${customerBindingID}`;
      expect(await ids(root)).toEqual([seriesID]);
      // No series has both.
      expect(await ids(`${root}&${rootPayment ? 'customerID' : 'invoiceID'}=X`)).toEqual([]);
    }
    const ofSecond = every.filter(({ shopID }) => shopID === 'SECOND').map(({ seriesID }) => seriesID);
    expect(ofSecond.length).toBeGreaterThan(0);
    expect(await ids(`${range}&shopID=SECOND`)).toEqual(ofSecond);
  });

  test('are found by whether they can be charged, as it changes', async () => {
    const every = await ids(range);
    const withdrawn = await ids(`${range}&seriesStatus=withdrawn`);
    expect(withdrawn.length).toBeGreaterThan(0);
    const active = await ids(`${range}&seriesStatus=active`);
    expect([...active, ...withdrawn].sort()).toEqual([...every].sort());
    expect(await ids(`${range}&chargeable=true`)).toEqual(active);
    expect(await ids(`${range}&chargeable=false`)).toEqual(withdrawn);
    // A card that has ended since.
    const [over] = active;
    await query(
      `update series set terms = replace(terms::text, '"endsAt"', '"endsAt":"2026-01-01T00:00:00.000000Z","was"')::json
       where series_id = $1`,
      [over],
    );
    await query(`update search_list_position set rebuild_after = ''`);
    await world.service.search.whenIdle();
    expect(await ids(`${range}&chargeable=true`)).toEqual(active.filter((one) => one !== over));
    expect(await ids(`${range}&chargeable=false`)).toContain(over);
    for (const { seriesID, chargeable } of await found('series', range))
      expect(chargeable).toBe((await ids(`${range}&chargeable=true`)).includes(seriesID));
  });
});

describe('what is not listed', () => {
  test('are deleted customers and their bindings', async () => {
    expect(await query('select status from customer where customer_id = $1', [deleted.id])).toEqual([
      { status: 'deleted' },
    ]);
    expect(await found('customers', `customerID=${deleted.id}`)).toEqual([]);
    expect(await found('customers', 'externalID=gone')).toEqual([]);
    expect(await found('bindings', `customerID=${deleted.id}`)).toEqual([]);
  });

  test('is a customer that was deleted since the copy', async () => {
    const late = await world.createCustomer();
    await world.service.search.whenIdle();
    expect(await found('customers', `customerID=${late.id}`)).toHaveLength(1);
    await world.service.testDatabase.database.withClient(async (client) => {
      await client.query('begin; select from search_list_position for update');
      await world.service.call('DELETE', `${customersUrl}/${late.id}`, { token: world.merchant.apiKey });
      expect(await found('customers', `customerID=${late.id}`)).toEqual([]);
      await client.query('rollback');
    });
  });

  test('is anything of another party, in any filter', async () => {
    const [customer] = all.customers;
    const [series] = await found('series', range);
    for (const [what, asked] of [
      ['customers', range],
      ['customers', `customerID=${customer?.['id']}`],
      ['customers', 'externalID=c-1'],
      ['customers', 'payerEmail=anna@example.com'],
      ['bindings', range],
      ['bindings', `customerID=${all.bindings[0]?.['customerID']}`],
      ['bindings', 'externalID=b-1'],
      ['series', range],
      ['series', `seriesID=${series?.['seriesID']}`],
    ] as const) {
      const { status, body } = await list(what, asked, other.apiKey);
      expect([status, body.result]).toEqual([200, []]);
      const foreign = `${asked}&partyID=${world.merchant.partyId}`;
      expect((await list(what, foreign, other.apiKey)).status).toBe(401);
      expect((await list(what, `${asked}&shopID=SECOND`, other.apiKey)).status).toBe(404);
    }
  });
});

describe('a request', () => {
  const wide = (names: string) => ({
    status: 400,
    body: {
      code: 'searchTooWide',
      hint: `Send fromTime and toTime, or one of ${names}.`,
    },
  });

  test('without a range of time and an exact key is too wide', async () => {
    expect(await list('customers', 'customerStatus=ready')).toMatchObject(
      wide('customerID, externalID, payerEmail'),
    );
    expect(await list('bindings', 'last4=4242')).toMatchObject(wide('customerID, externalID'));
    expect(await list('series', 'seriesStatus=active')).toMatchObject(
      wide('seriesID, invoiceID, customerID'),
    );
    const years = 'fromTime=2025-01-01T00:00:00Z&toTime=2026-12-01T00:00:00Z';
    expect(await list('series', years)).toMatchObject({ status: 400, body: { code: 'searchTooWide' } });
  });

  test('that takes more than two seconds names the exact keys of its list', async () => {
    await world.service.testDatabase.database.withClient(async (client) => {
      await client.query('begin; lock table search_series in access exclusive mode');
      const hint = expect.stringMatching(/two seconds.* one of seriesID, invoiceID, customerID\.$/);
      expect(await list('series', range)).toMatchObject({
        status: 400,
        body: { code: 'searchTooWide', hint },
      });
      await client.query('rollback');
    });
  });

  test.each([
    ['customers', 'customerStatus=deleted'],
    ['bindings', 'bindingStatus=revoked'],
    ['bindings', 'first6=4242'],
    ['series', 'chargeable=yes'],
    ['series', 'fromTime=2026-02-01T00:00:00Z&toTime=2026-01-01T00:00:00Z'],
  ] as const)('of %s by %s is refused', async (what, asked) => {
    const { status, body } = await list(what, asked.startsWith('from') ? asked : `${asked}&${range}`);
    expect([status, body.code]).toEqual([400, 'invalidRequest']);
  });

  test('of customers by externalID in the old way works as before', async () => {
    const [customer] = all.customers.filter(({ externalID }) => externalID === 'c-1');
    const { createdAt } = customer as Listed;
    expect({ ...(await get(`${customersUrl}?externalID=c-1`)), createdAt }).toEqual(customer);
  });
});

describe('a continuation token', () => {
  const refused = { status: 400, body: { code: 'invalidContinuationToken' } };
  const page = (what: What, more: string, token = world.merchant.apiKey) =>
    world.service.call('GET', `/v2/analytics/${what}?limit=1&${range}${more}`, { token });

  test.each(['customers', 'bindings', 'series'] as const)(
    'leads through all %s, is bound to the list, its filters and the party, and ends after a day',
    async (what) => {
      const seen: unknown[] = [];
      let next: string | undefined;
      do {
        const { body } = await page(what, next === undefined ? '' : `&continuationToken=${next}`);
        seen.push(...body.result);
        next = body.continuationToken;
      } while (next !== undefined);
      expect(seen).toEqual(await found(what, range));
      const { continuationToken: token } = (await page(what, '')).body;
      const after = `&continuationToken=${token}`;
      expect((await page(what, after)).status).toBe(200);
      expect(await page(what, `&shopID=TEST${after}`)).toMatchObject(refused);
      expect(await page(what, after, other.apiKey)).toMatchObject(refused);
      const another = what === 'series' ? 'customers' : 'series';
      expect(await page(another, after)).toMatchObject(refused);
      expect(await page(what, `&continuationToken=${token.slice(0, -1)}!`)).toMatchObject(refused);
      world.service.clock.advance(86_400_000);
      expect(await page(what, after)).toMatchObject(refused);
    },
  );
});
