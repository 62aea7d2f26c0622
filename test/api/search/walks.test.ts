// A walk through 10,000 payments, refunds or withdrawals returns each once, while others are made and those that it has not reached change.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { invoicesUrl } from '../../support/worlds/invoices.ts';
import type { Paying } from '../../support/worlds/payment-world.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';

const rows = 10_000;
const goodCard = '4242424242424242';
const range = 'fromTime=2025-12-01T00:00:00Z&toTime=2026-12-01T00:00:00Z';

let world: PayoutWorld;
let sold: Paying;
let destination: string;

const query = async (text: string, values: unknown[] = []) =>
  (await world.service.testDatabase.database.withClient((client) => client.query(text, values))).rows;

const ofPayment = { invoice_id: `'C' || n / 3`, payment_id: '(n % 3 + 1)::text' };
const ofRefund = {
  invoice_id: `'C' || n / 6`,
  payment_id: '(n / 2 % 3 + 1)::text',
  refund_id: '(n % 2 + 1)::text',
};

/** Of the only row, older than it. Seven have the same time, so that the IDs decide. */
const copy = (table: string, ids: Readonly<Record<string, string>>) =>
  query(
    `insert into ${table}
     select (json_populate_record(one, json_build_object('created_at', one.created_at - (1 + n / 7) * interval '1 second',
       ${Object.entries(ids)
         .map(([name, id]) => `'${name}', ${id}`)
         .join(', ')}))).*
     from ${table} as one cross join generate_series(0, ${rows - 1}) as n`,
  );

const refund = () => world.post(`${invoicesUrl}/${sold.id}/payments/1/refunds`, { reason: 'r', amount: 100 });
const withdraw = () => world.withdraw(1_000, destination);

beforeAll(async () => {
  world = await startPayoutWorld();
  sold = await world.paid(goodCard);
  await refund();
  destination = (await world.destinationFor(goodCard)).id;
  await withdraw();
  await world.service.jobs.whenIdle();
  await world.service.search.whenIdle();
  for (const table of ['payment', 'search_payment']) await copy(table, ofPayment);
  for (const table of ['refund', 'search_refund']) await copy(table, ofRefund);
  await copy('withdrawal', { withdrawal_id: `'C' || n` });
  await query('analyze');
});
afterAll(() => world.close());

type Walk = {
  readonly name: string;
  readonly path: string;
  readonly make: () => Promise<unknown>;
  /** What the walk finds of a copy, and how it changes. */
  readonly table: string;
  readonly nameOf: (item: any) => string;
};

const inShop = '/v2/analytics/shops/TEST';
const payments = {
  name: 'payments',
  path: `${inShop}/payments?${range}`,
  make: () => world.paid(goodCard),
  table: 'search_payment',
  nameOf: ({ invoiceID, id }: any) => `${invoiceID}.${id}`,
};
const walks: readonly Walk[] = [
  payments,
  {
    ...payments,
    name: 'payments between amounts',
    path: `${payments.path}&paymentAmountFrom=5999&paymentAmountTo=6001`,
  },
  {
    name: 'refunds',
    path: `${inShop}/refunds?${range}`,
    make: refund,
    table: 'search_refund',
    nameOf: ({ invoiceID, paymentID, id }) => `${invoiceID}.${paymentID}.${id}`,
  },
  {
    name: 'withdrawals',
    path: '/wallet/v0/withdrawals?',
    make: withdraw,
    table: 'withdrawal',
    nameOf: ({ id }) => id,
  },
];

async function walked({ path, make, table, nameOf }: Walk, limit: number): Promise<string[]> {
  const seen: string[] = [];
  for (let more = ''; ;) {
    const { status, body } = await world.get(`${path}&limit=${limit}${more}`);
    expect(status).toBe(200);
    seen.push(...body.result.map(nameOf));
    if (body.continuationToken === undefined) return seen;
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
}

describe('a walk of 10,000 rows while others are written', () => {
  test.each(walks)('of $name returns each once', async (walk) => {
    // Pages end between rows of the same time, invoice and payment.
    const seen = await walked(walk, 997);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((name) => name.startsWith('C'))).toHaveLength(rows);
  });
});

test('refunds are counted up to 10,000', async () => {
  const asked = `${inShop}/refunds?${range}&limit=1`;
  expect((await world.get(asked)).body.totalCount).toBe(rows);
  expect((await world.get(`${asked}&refundID=1`)).body.totalCount).toBeLessThan(rows);
  await query(`delete from search_refund where invoice_id ~ '^C.$'`);
  const [{ count }] = await query('select count(*)::int from search_refund');
  expect(count).toBeLessThan(rows);
  expect((await world.get(asked)).body.totalCount).toBe(count);
});

describe('payments between amounts that very many have', () => {
  test('are found in the order of time, and are the same', async () => {
    const { path } = payments;
    const before = await world.get(`${path}&limit=50&paymentAmountFrom=5999&paymentAmountTo=6001`);
    // In another shop.
    await query(
      `insert into search_payment (party_id, shop_id, invoice_id, payment_id, created_at, status, flow, amount_minor)
       select $1, 'TEST_USD', 'U' || n, '1', '2025-12-15', 'captured', 'instant', 6000 from generate_series(1, 20000) as n`,
      [world.merchant.partyId],
    );
    const after = await world.get(`${path}&limit=50&paymentAmountFrom=5999&paymentAmountTo=6001`);
    expect(before.body.result).toHaveLength(50);
    expect(after.body.result).toEqual(before.body.result);
  });
});
