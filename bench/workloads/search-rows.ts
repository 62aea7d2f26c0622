// Rows of searches and sums for the copied payments of a large database. All copies have one payer and one card, so here each gets
// values of its own, the same for the same ID.
import type { ClientBase } from 'pg';
import { columnsOf, sumKey, summedPayments, summedRefunds } from '../../src/search/sums/summed.ts';

const hash = `(hashtextextended(payment.invoice_id, 0) & 9223372036854775807)`;
const failed = `${hash} % 10 = 0`;

const payments = `
  insert into search_payment (party_id, shop_id, invoice_id, payment_id, created_at, invoice_created_at, status, flow, amount_minor, external_id, customer_id,
    email, ip, fingerprint, first6, last4, payment_system, rrn, approval_code, currency, attempt, decline_class, failure, bank_code)
  select payment.party_id, payment.shop_id, invoice_id, payment_id, payment.created_at, invoice.created_at,
    case when ${failed} then 'failed' when ${hash} % 50 = 1 then 'refunded' else payment.status end,
    case when ${hash} % 20 = 2 then 'hold' else 'instant' end, 100 + ${hash} % 100000, 'order-' || invoice_id,
    'C' || ${hash} % 200000, 'payer' || ${hash} % 300000 || '@example.com',
    '10.' || ${hash} % 50 || '.' || ${hash} % 200 || '.' || ${hash} % 7, 'device' || ${hash} % 250000,
    (400000 + ${hash} % 40)::text, lpad((${hash} % 10000)::text, 4, '0'), (array['visa', 'mastercard', 'nspkmir'])[1 + ${hash} % 3],
    lpad((${hash} % 1000000000000)::text, 12, '0'), lpad((${hash} % 1000000)::text, 6, '0'), payment.currency, (${hash} % 37 % 4)::int,
    case when ${failed} then (array['retryLater', 'fixData', 'neverRetry'])[1 + ${hash} % 7 % 3] end,
    case when ${failed} then 'authorization_failed:insufficient_funds' end,
    case when ${failed} then (array['51', '54', '41', '05', '61'])[1 + ${hash} % 11 % 5] end
  from payment join invoice using (invoice_id)
  where payment.ctid >= $1::tid and payment.ctid < $2::tid`;

const invoices = `
  insert into search_invoice (party_id, shop_id, invoice_id, created_at, status, amount_minor, external_id)
  select party_id, shop_id, invoice_id, created_at, status, amount_minor, 'invoice-' || invoice_id from invoice`;

/** Of the payments that are refunded. */
const refunds = `
  with added as (
    insert into refund (invoice_id, payment_id, refund_id, party_id, created_at, status, amount_minor, currency, fee_minor, external_id, rrn)
    select invoice_id, payment_id, '1', party_id, created_at + interval '1 hour', 'succeeded', amount_minor, currency, 0,
      'refund-' || invoice_id, rrn
    from search_payment where status = 'refunded'
    returning *
  )
  insert into search_refund (party_id, shop_id, invoice_id, payment_id, refund_id, created_at, status, external_id, rrn, amount_minor, currency)
  select added.party_id, shop_id, invoice_id, payment_id, refund_id, added.created_at, added.status, added.external_id, added.rrn,
    added.amount_minor, added.currency
  from added join search_payment using (party_id, invoice_id, payment_id)`;

const sums = [summedPayments, summedRefunds].map(
  (summed, index) => `
  insert into search_sum (${sumKey}, amount_minor, n)
  select ${sumKey}, sum(amount_minor), count(*)
  from (select ${columnsOf(summed)}, amount_minor from ${['search_payment', 'search_refund'][index]}) as rows group by ${sumKey}`,
);

/** Without its indexes, a table of millions of rows is written in a tenth of the time. */
async function withoutIndexes(client: ClientBase, table: string, write: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ drop: string; create: string }>(
    `select case when pg_constraint.oid is null then format('drop index %s', indexrelid::regclass)
         else format('alter table %s drop constraint %I', indrelid::regclass, conname) end as drop,
       case when pg_constraint.oid is null then pg_get_indexdef(indexrelid)
         else format('alter table %s add constraint %I %s', indrelid::regclass, conname, pg_get_constraintdef(pg_constraint.oid))
         end as create
     from pg_index left join pg_constraint on conindid = indexrelid and contype in ('p', 'u')
     where indrelid = $1::regclass order by indexrelid`,
    [table],
  );
  for (const { drop } of rows) await client.query(drop);
  await write();
  for (const [index, { create }] of rows.entries()) {
    await client.query(create);
    console.log(`${table}: ${index + 1} of ${rows.length} indexes`);
  }
}

/** In portions of the table that is read, so that progress shows. */
async function writePayments(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ blocks: string }>(
    `select (pg_relation_size('payment') / current_setting('block_size')::int)::text as blocks`,
  );
  const blocks = Number(rows[0]?.blocks);
  const portions = Math.min(50, blocks);
  const from = (portion: number) => `(${Math.floor((blocks * portion) / portions)},0)`;
  // The invoices of neighbouring payments are neighbours too.
  await client.query('set local enable_hashjoin to off; set local enable_mergejoin to off');
  for (let portion = 0; portion < portions; portion++) {
    await client.query(payments, [from(portion), from(portion + 1)]);
    if (portion % 5 === 4) console.log(`search_payment: ${portion + 1} of ${portions} portions`);
  }
}

const writes: Readonly<Record<string, (client: ClientBase) => Promise<unknown>>> = {
  search_payment: writePayments,
  search_invoice: (client) => client.query(invoices),
  search_refund: (client) => client.query(refunds),
  search_sum: async (client) => {
    for (const text of sums) await client.query(text);
  },
};
const copied = 'rows of a measurement';

/** Once for a database. Each table is one transaction: after an interruption the table that was being written begins again. */
export async function writeSearchRows(client: ClientBase): Promise<void> {
  await client.query(`set maintenance_work_mem to '1GB'; set work_mem to '256MB'`);
  for (const [table, write] of Object.entries(writes)) {
    const { rows } = await client.query<{ is_written: boolean }>(
      `select coalesce(obj_description($1::regclass) = $2, false) as is_written`,
      [table, copied],
    );
    if (rows[0]?.is_written) continue;
    console.log(`${table}: writing from the beginning; if this is interrupted, the table begins again`);
    await client.query('begin');
    // The sums of hours and days follow those of quarters.
    await client.query(
      `truncate ${table === 'search_sum' ? 'search_sum, search_hour_sum, search_day_sum' : table}`,
    );
    await withoutIndexes(client, table, async () => void (await write(client)));
    await client.query(`comment on table ${table} is '${copied}'`);
    // The position of the reader is behind everything that is there.
    await client.query(
      `update search_position set seen = pg_current_snapshot()::text, rebuild_after = null, resum_from = null`,
    );
    await client.query('commit');
    await client.query(`vacuum (analyze) ${table}`);
  }
  await client.query('vacuum (analyze) search_hour_sum, search_day_sum');
}
