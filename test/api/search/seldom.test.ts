// Payments by what few of them have are found by way of the sums. They are the same rows in the same order, and few others are read.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Caller } from '../../../src/caller.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { statement } from '../../../src/platform/database/statement.ts';
import { isBySumsAlone, paymentsAsked, searchPayments } from '../../../src/search/api/search-payments.ts';
import { seldomPayments } from '../../../src/search/seldom.store.ts';
import { columnsOf, summedPayments } from '../../../src/search/sums/summed.ts';
import { openTurns } from '../../../src/search/turns.ts';
import { startSmallWorld, type SmallWorld } from '../../support/worlds/small-world.ts';

const rows = 12_000;
let world: SmallWorld;
beforeAll(async () => {
  world = await startSmallWorld();
  await world.service.search.whenIdle();
  for (const party of ['MANY', 'OTHER']) {
    // Ten a quarter of an hour, in two shops; one in 97 has failed, one in 1,009 is of another network.
    await query(
      `insert into search_payment (party_id, shop_id, invoice_id, payment_id, created_at, status, flow, amount_minor, currency, attempt,
         payment_system, invoice_created_at)
       select $1::text, case when n % 3 = 0 then 'TEST_USD' else 'TEST' end, $1::text || n, '1', at,
         case when n % 97 = 0 then 'failed' else 'captured' end, 'instant', n, 'RUB', 0,
         case when n % 1009 = 0 then 'amex' else 'visa' end, at
       from generate_series(1, ${rows}) as n cross join lateral (
         select timestamptz '2026-01-01' + n / 2 * interval '180 seconds' as at) as made`,
      [party],
    );
    await query(
      `insert into payment (invoice_id, payment_id, party_id, shop_id, version, status, created_at, amount_minor, currency, terms, state)
       select invoice_id, payment_id, party_id, shop_id, 1, 'failed', created_at, amount_minor, 'RUB', '{}', '{}' from search_payment
       where party_id = $1`,
      [party],
    );
  }
  await query(
    `insert into search_sum (party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code,
       amount_minor, n)
     select summed.*, 0, count(*) from (select ${columnsOf(summedPayments)} from search_payment where party_id in ('MANY', 'OTHER')) as summed
     group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11`,
  );
  await query('analyze');
});
afterAll(() => world.close());

const query = async (text: string, values?: unknown[]) =>
  (await world.service.testDatabase.database.withClient((client) => client.query(text, values)))
    .rows as any[];

type Filters = { readonly status?: string; readonly system?: string };
type Last = { readonly created_at: string; readonly invoice_id: string; readonly payment_id: string };
const first = { created_at: '2026-12-01', invoice_id: '', payment_id: '' };

function parametersOf({ status, system }: Filters, shops: readonly string[], limit: number, before: Last) {
  const given: Readonly<Record<string, unknown>> = {
    party_id: 'MANY',
    shop_ids: shops.join('\n'),
    created_from: '2026-01-03T00:07:00Z',
    before_at: before.created_at,
    before_invoice: before.invoice_id,
    before_payment: before.payment_id,
    limit,
    payment_statuses: status ?? null,
    public_status: status ?? null,
    payment_system: system ?? null,
  };
  return seldomPayments.parameterNames.map((name) => given[name]);
}

const found = (
  filters: Filters,
  shops: readonly string[],
  limit: number,
  before: Last = first,
): Promise<Last[]> => query(seldomPayments.text, parametersOf(filters, shops, limit, before));

const expected = ({ status, system }: Filters, shops: readonly string[]): Promise<Last[]> =>
  query(
    `select created_at, invoice_id, payment_id from search_payment
     where party_id = 'MANY' and shop_id = any($1) and created_at >= '2026-01-03T00:07:00Z' and created_at < '2026-12-01'
       and ($2::text is null or status = $2) and ($3::text is null or payment_system = $3)
     order by created_at desc, invoice_id desc, payment_id desc`,
    [shops, status ?? null, system ?? null],
  );
const idsOf = (all: readonly Last[]) => all.map(({ invoice_id }) => invoice_id);

describe.each<Filters>([
  { status: 'failed' },
  { system: 'amex' },
  { status: 'failed', system: 'visa' },
  { status: 'failed', system: 'amex' },
  { status: 'captured' },
  { status: 'cancelled' },
])('of payments with %j', (filters) => {
  test.each([[['TEST']], [['TEST', 'TEST_USD']], [[]]])(
    'in the shops %j, each page is the newest',
    async (shops) => {
      const all = await expected(filters, shops);
      for (const limit of [1, 7, 60])
        expect(idsOf(await found(filters, shops, limit))).toEqual(idsOf(all.slice(0, limit)));
    },
  );

  test('a walk returns each once', async () => {
    const all = await expected(filters, ['TEST', 'TEST_USD']);
    const walked: Last[] = [];
    for (let page: Last[], before: Last = first; ; before = page.at(-1)!) {
      page = await found(filters, ['TEST', 'TEST_USD'], 90, before);
      walked.push(...page);
      if (page.length < 90) break;
    }
    expect(idsOf(walked)).toEqual(idsOf(all));
  });
});

type Node = { readonly [name: string]: unknown; readonly Plans?: readonly Node[] };
const scansIn = (node: Node): Node[] => [
  ...(node['Relation Name'] === 'search_payment' ? [node] : []),
  ...(node.Plans ?? []).flatMap(scansIn),
];

test('only the quarters of an hour that have any are looked through', async () => {
  const filters = { system: 'amex' };
  const [{ 'QUERY PLAN': plans }] = await query(
    `explain (analyze, format json) ${seldomPayments.text}`,
    parametersOf(filters, ['TEST', 'TEST_USD'], 60, first),
  );
  const [scan] = scansIn(plans[0].Plan);
  const looked =
    (Number(scan?.['Actual Rows']) + Number(scan?.['Rows Removed by Filter'])) *
    Number(scan?.['Actual Loops']);
  const all = await expected(filters, ['TEST', 'TEST_USD']);
  expect(scan?.['Index Name']).toBe('search_payment_of_shop');
  expect(all.length).toBeGreaterThan(5);
  // A quarter has ten in both shops.
  expect(looked).toBeLessThanOrEqual(10 * all.length);
});

describe('a search', () => {
  const asked = (more: object) => isBySumsAlone(paymentsAsked({ limit: 10, ...more }));
  test.each([
    [true, { paymentStatus: 'failed' as const }],
    [true, { paymentStatus: 'failed' as const, bankCardPaymentSystem: 'visa' }],
    [false, {}],
    [false, { paymentStatus: 'failed' as const, first6: '424242' }],
    [false, { bankCardPaymentSystem: 'visa', invoiceIDs: ['one'] }],
    [false, { paymentStatus: 'failed' as const, paymentAmountFrom: 1 }],
  ])('may go by the sums: %s for %j', (isAlone, more) => expect(asked(more)).toBe(isAlone));

  /** As the limit on statements does it, and at once. */
  const cancelNow = statement({
    name: 'cancel_now',
    parameters: {},
    row: {},
    text: 'select pg_cancel_backend(pg_backend_pid()), pg_sleep(10)',
  });
  const cancelling = (db: Database, name: string): Database => ({
    ...db,
    run: async (one, parameters) => {
      if (one.name === name) await db.run(cancelNow, {});
      return db.run(one, parameters);
    },
    transaction: (work, of) => db.transaction((tx) => work(cancelling(tx, name)), of),
  });
  const range = { fromTime: '2026-01-01T00:00:00Z', toTime: '2026-12-31T00:00:00Z' };
  const searchedWith = (db: Database, query: object) =>
    (searchPayments as any).handle(
      {
        caller: { kind: 'apiKey', keyId: 'k', partyId: world.merchant.partyId, scopes: [] } satisfies Caller,
        now: world.service.clock.now(),
        params: { shopID: 'TEST' },
        query: { limit: 2, ...range, ...query },
      },
      {
        db,
        merchants: { shop: async (_: string, id: string) => ({ id }) },
        pageTokens: { issue: () => 'more' },
        searchTurns: openTurns(1),
      },
    );

  test.each([{ paymentStatus: 'failed' }, { paymentStatus: 'captured' }, { bankCardPaymentSystem: 'visa' }])(
    'by %j that takes long by time goes by the sums, and finds the same',
    async (query) => {
      const { database } = world.service;
      const usual = await searchedWith(database, query);
      expect(usual.value.result.length).toBeGreaterThan(0);
      expect(await searchedWith(cancelling(database, 'search_payments_by_time'), query)).toEqual(usual);
    },
  );

  test('that takes long by both is refused, and so is one while everything is copied again', async () => {
    const { database } = world.service;
    const query = { paymentStatus: 'failed' };
    const slow = cancelling(cancelling(database, 'search_payments_by_time'), 'search_seldom_payments');
    expect((await searchedWith(slow, query)).refusal.code).toBe('searchTooWide');
    // No row: it says that everything is copied again.
    const rebuilding = cancelling(
      {
        ...database,
        run: async (one, given) => (one.name === 'read_search_freshness' ? [] : database.run(one, given)),
      },
      'search_payments_by_time',
    );
    expect((await searchedWith(rebuilding, query)).refusal.code).toBe('searchTooWide');
  });
});
