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
  from payment join invoice using (invoice_id)`;

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

/** Once for a database: the position of the reader is behind everything that is there. */
export async function writeSearchRows(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ is_written: boolean }>(
    `select exists (select from search_payment where external_id like 'order-%') as is_written`,
  );
  if (rows[0]?.is_written) return;
  await client.query(
    'truncate search_payment, search_invoice, search_refund, search_sum, search_hour_sum, search_day_sum',
  );
  for (const text of [payments, invoices, refunds, ...sums]) await client.query(text);
  await client.query(
    `update search_position set seen = pg_current_snapshot()::text, rebuild_after = null, resum_from = null`,
  );
  await client.query(
    'vacuum (analyze) search_payment, search_invoice, search_refund, search_sum, search_hour_sum, search_day_sum',
  );
}
