// Payments with a status or a network that few of a long range have. The sums say which quarters of an hour have any, and only those are
// looked through.
import { paymentColumns, storedFromRow } from '../payments/store/rows.ts';
import type { Payment } from '../payments/domain/payment.ts';
import type { Database } from '../platform/database/database.ts';
import { columnList, statement, type Values } from '../platform/database/statement.ts';
import { withinTime } from './searches.store.ts';

const seldomSearch = {
  party_id: 'text',
  shop_ids: 'text',
  created_from: 'timestamptz',
  before_at: 'timestamptz',
  before_invoice: 'text',
  before_payment: 'text',
  limit: 'int4',
  payment_statuses: 'text?',
  public_status: 'text?',
  payment_system: 'text?',
} as const;
export type SeldomAsked = Values<typeof seldomSearch>;

const isSummed = `what = 'payment' and (:public_status is null or status = :public_status)
              and (:payment_system is null or payment_system = :payment_system)`;

/** The newest days or quarters that hold a page together. Of the newest of them a part may be on the page before. */
const newestParts = (start: 'day' | 'quarter', sums: string) => `
          select ${start} from (
            select ${start}, sum(n) as here, sum(sum(n)) over newest as until_here, first_value(sum(n)) over newest as first
            from ${sums}
            group by ${start} having sum(n) > 0
            window newest as (order by ${start} desc)
          ) as counted where until_here - here - first < :limit`;

const days = newestParts(
  'day',
  `search_day_sum
            where party_id = :party_id and shop_id = shop.id and day > :created_from - interval '24 hours' and day <= :before_at
              and ${isSummed}`,
);

const quarters = newestParts(
  'quarter',
  `(${days}
            ) as days cross join lateral (
              select quarter, n from search_sum
              where party_id = :party_id and shop_id = shop.id and quarter >= day and quarter < day + interval '24 hours'
                and quarter > :created_from - interval '15 minutes' and quarter <= :before_at
                and ${isSummed} offset 0
            ) as sums`,
);

export const seldomPayments = statement({
  name: 'search_seldom_payments',
  parameters: seldomSearch,
  row: paymentColumns,
  text: `
    with found as materialized (
      select created_at, invoice_id, payment_id
      from unnest(string_to_array(:shop_ids, E'\\n')) as shop (id) cross join lateral (
        select one.created_at, invoice_id, payment_id
        from (${quarters}
        ) as quarters cross join lateral (
          select created_at, invoice_id, payment_id from search_payment
          where party_id = :party_id and shop_id = shop.id
            and created_at >= quarter and created_at < quarter + interval '15 minutes' and created_at >= :created_from
            and (created_at, invoice_id, payment_id) < (:before_at, :before_invoice, :before_payment)
            and (:payment_statuses is null or status = any(string_to_array(:payment_statuses, ',')))
            and (:payment_system is null or payment_system = :payment_system) offset 0
        ) as one
        order by created_at desc, invoice_id desc, payment_id desc limit :limit
      ) as of_shop
      order by created_at desc, invoice_id desc, payment_id desc limit :limit
    )
    select ${columnList(paymentColumns, 'payment')} from found join payment using (invoice_id, payment_id)
    order by found.created_at desc, found.invoice_id desc, found.payment_id desc`,
});

/** Undefined if it takes too long. */
export async function searchSeldomPayments(
  db: Database,
  asked: SeldomAsked,
): Promise<{ found: Payment[] } | undefined> {
  const rows = await withinTime(db, 4 / 3, (tx) => tx.run(seldomPayments, asked));
  return rows && { found: rows.map((row) => storedFromRow(row).payment) };
}
