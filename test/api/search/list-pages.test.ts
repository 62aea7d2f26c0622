// A walk through a list returns every row once while others are written, and the plan of each filter is by an index.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BindingSearch, bindingsAsked } from '../../../src/search/api/lists/search-bindings.ts';
import { CustomerSearch, customersAsked } from '../../../src/search/api/lists/search-customers.ts';
import { SeriesSearch, seriesAsked } from '../../../src/search/api/lists/search-series.ts';
import { ListQuery } from '../../../src/search/api/lists/list-schema.ts';
import { listBindings, listCustomers, listSeries } from '../../../src/search/lists/searches.store.ts';
import type { Instant } from '../../../src/clock.ts';
import type { Statement } from '../../../src/platform/database/statement.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { recurringWorld } from '../../support/worlds/recurring.ts';

const rows = 5_000;
const range = 'fromTime=2025-12-01T00:00:00Z&toTime=2026-12-01T00:00:00Z';
const tables = ['search_customer', 'search_binding', 'search_series'] as const;

let world: CustomerWorld;
const query = async (text: string, values?: unknown[]): Promise<Record<string, any>[]> =>
  (await world.service.testDatabase.database.withClient((client) => client.query(text, values))).rows;

/** Copies of its only row, older than it. Seven have the same time, so that the IDs decide. */
const copy = (table: string, ids: Readonly<Record<string, string>>) =>
  query(
    `insert into ${table}
     select (json_populate_record(one, json_build_object('created_at', created.at - (1 + n / 7) * interval '1 second',
       ${Object.entries(ids)
         .map(([name, id]) => `'${name}', ${id}`)
         .join(', ')}))).*
     from ${table} as one cross join (select timestamptz '2026-01-01' as at) as created
       cross join generate_series(0, ${rows - 1}) as n`,
  );

const parent = () => recurringWorld(world).parent();
const bound = async () => world.bound(await world.createCustomer(), '4242424242424242');

beforeAll(async () => {
  world = await startCustomerWorld();
  await world.createCustomer({ externalID: 'first', contactInfo: { email: 'first@example.com' } });
  await world.service.search.whenIdle();
  const ofCustomer = { customer_id: `'C' || n`, external_id: `'e' || n`, active_binding_id: 'null' };
  await copy('customer', ofCustomer);
  await copy('search_customer', { ...ofCustomer, email: `'payer' || n / 20 || '@example.com'` });
  await world.bound({ id: 'C7', token: world.merchant.apiKey }, '4242424242424242');
  await world.service.search.whenIdle();
  const ofBinding = {
    customer_id: `'C' || n / 2`,
    binding_id: `'B' || n`,
    number: '100 + n',
    external_id: `'e' || n`,
  };
  await copy('binding', { ...ofBinding, bound_at_version: '1' });
  await copy('search_binding', {
    ...ofBinding,
    first6: `lpad((n / 20)::text, 6, '4')`,
    last4: `lpad((n / 20)::text, 4, '0')`,
  });
  const ofSeries = { series_id: `'S' || n`, root_of: `'C' || n / 2`, root_id: `'B' || n` };
  await copy('series', { series_id: ofSeries.series_id });
  await copy('search_series', ofSeries);
  await query('vacuum analyze');
});
afterAll(() => world.close());

describe(`a walk of ${rows} rows while others are written`, () => {
  test.each([
    ['customers', 'search_customer', () => world.createCustomer(), ({ id }: any) => id],
    ['bindings', 'search_binding', bound, ({ customerID, id }: any) => `${customerID}.${id}`],
    ['series', 'search_series', parent, ({ seriesID }: any) => seriesID],
  ] as const)('of %s returns each once', async (what, table, make, nameOf) => {
    const seen: string[] = [];
    for (let more = ''; ;) {
      const { status, body, text } = await world.service.call(
        'GET',
        `/v2/analytics/${what}?${range}&limit=997${more}`,
        { token: world.merchant.apiKey },
      );
      expect(status, text.slice(0, 200)).toBe(200);
      seen.push(...body.result.map(nameOf));
      if (body.continuationToken === undefined) break;
      more = `&continuationToken=${encodeURIComponent(body.continuationToken)}`;
      world.service.clock.advance(1);
      await make();
      await world.service.jobs.whenIdle();
      await world.service.search.whenIdle();
      // As a copy of what changed writes them: each is another version of its row.
      await query(
        `update ${table} set status = status where created_at < $1 and created_at > $1 - interval '1 minute'`,
        [body.result.at(-1).createdAt],
      );
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((name) => /^(C\d+(\.B\d+)?|S\d+)$/.test(name))).toHaveLength(rows);
  });
});

describe('the plan', () => {
  // Of other parties, and of another shop, so that the party alone does not decide.
  beforeAll(async () => {
    for (const table of tables) {
      await query(
        `update ${table} set shop_id = 'SECOND' where extract(second from created_at)::int % 10 <> 0`,
      );
      await query(
        `insert into ${table} select (json_populate_record(one, json_build_object('party_id', 'P' || n))).*
         from ${table} as one cross join generate_series(1, 4) as n`,
      );
    }
    await query('vacuum analyze');
  });

  const now = '2026-03-01T00:00:00.000000Z' as Instant;
  const given = {
    before_at: '2026-12-01',
    created_from: '2025-12-01',
    before_customer: '',
    before_binding: '',
    before_series: '',
    limit: 11,
    now,
  };

  async function planOf({ text, parameterNames }: Statement, asked: Readonly<Record<string, unknown>>) {
    const values: Readonly<Record<string, unknown>> = {
      ...given,
      party_id: world.merchant.partyId,
      shop_id: 'TEST',
      ...asked,
    };
    return world.service.testDatabase.database.withClient(async (client) => {
      await client.query('begin; set local plan_cache_mode = force_custom_plan');
      const { rows: lines } = await client.query<{ 'QUERY PLAN': string }>(
        `explain ${text}`,
        parameterNames.map((name) => values[name] ?? null),
      );
      await client.query('rollback');
      return lines.map((line) => line['QUERY PLAN']).join('\n');
    });
  }

  const filtersOf = (search: { readonly properties: object }) =>
    Object.keys(search.properties).filter((name) => !(name in ListQuery));
  type Case = readonly [value: unknown, index: string];
  const customers: Readonly<Record<string, Case>> = {
    customerID: ['C70', 'search_customer_pkey'],
    externalID: ['e70', 'search_customer_external_id'],
    payerEmail: ['payer70@example.com', 'search_customer_of_email'],
    customerStatus: ['unready', 'search_customer_of_'],
  };
  const bindings: Readonly<Record<string, Case>> = {
    customerID: ['C70', 'search_binding_pkey'],
    externalID: ['e70', 'search_binding_external_id'],
    bindingStatus: ['succeeded', 'search_binding_of_'],
    first6: ['444470', 'search_binding_of_'],
    last4: ['0070', 'search_binding_of_last4'],
    bindingError: ['authorization_failed', 'search_binding_of_'],
  };
  const series: Readonly<Record<string, Case>> = {
    seriesID: ['S70', 'search_series_pkey'],
    invoiceID: ['C70', 'search_series_of_root'],
    paymentID: ['B70', 'search_series_of_'],
    customerID: ['C70', 'search_series_of_root'],
    customerBindingID: ['B70', 'search_series_of_'],
    seriesStatus: ['active', 'search_series_of_'],
    chargeable: ['true', 'search_series_of_'],
  };

  test.each([
    ...filtersOf(CustomerSearch).map((name) => ['customers', name] as const),
    ...filtersOf(BindingSearch).map((name) => ['bindings', name] as const),
    ...filtersOf(SeriesSearch).map((name) => ['series', name] as const),
  ])('of %s by the documented filter %s is by an index', async (what, name) => {
    const [value, index] = { customers, bindings, series }[what][name] ?? [];
    expect(index).toBeDefined();
    const asked = { limit: 10, [name]: value };
    const [statement, parameters] = {
      customers: [listCustomers, customersAsked(asked)] as const,
      bindings: [listBindings, bindingsAsked(asked)] as const,
      series: [listSeries, seriesAsked(asked, now)] as const,
    }[what];
    const plan = await planOf(statement, parameters);
    expect(plan).toContain(index);
    expect(plan).not.toMatch(/Seq Scan on search_/);
  });

  test.each([
    ['customers', 'search_customer'],
    ['bindings', 'search_binding'],
    ['series', 'search_series'],
  ] as const)('of %s without a filter reads a page in the order of its index', async (what, table) => {
    const statement = { customers: listCustomers, bindings: listBindings, series: listSeries }[what];
    expect(await planOf(statement, {})).toContain(`Scan Backward using ${table}_of_shop`);
    const ofAll = await planOf(statement, { shop_id: null, shop_ids: 'TEST,SECOND' });
    expect(ofAll).toContain(`Scan Backward using ${table}_of_party`);
  });

  test('of a charge writes no entry to an index of series', async () => {
    const indexed = await query(
      `select pg_get_indexdef(indexrelid) as definition from pg_index where indrelid = 'search_series'::regclass`,
    );
    for (const { definition } of indexed) expect(definition).not.toMatch(/status|ends_at/);
  });
});
