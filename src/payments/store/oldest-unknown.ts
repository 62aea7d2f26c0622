// For monitoring: the age of the oldest unfinished payment and refund, without parties whose test clock was moved. Such
// rows are due within minutes or stuck, so two small indexes find them.
import { laterBy, type Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { statement } from '../../platform/database/statement.ts';

/** A payment has waited since the latest event of its invoice. */
const readOldestUnknown = statement({
  name: 'read_oldest_unknown_payment',
  parameters: { soon: 'timestamptz' },
  row: { since: 'timestamptz?' },
  text: `select min(event.created_at) as since
         from (
           select invoice_id, payment_id from payment where wake_at <= :soon and status in ('authorising', 'reversing', 'capturing', 'cancelling')
           union all
           select invoice_id, payment_id from payment where stuck_at is not null and status in ('authorising', 'reversing', 'capturing', 'cancelling')
         ) as open
         join invoice using (invoice_id)
         join event on aggregate_id = invoice_id and sequence = invoice.version`,
});

const readOldestPendingRefund = statement({
  name: 'read_oldest_pending_refund',
  parameters: { soon: 'timestamptz' },
  row: { since: 'timestamptz?' },
  text: `select min(refund.created_at) as since
         from (
           select invoice_id, payment_id from payment where wake_at <= :soon and status = 'refunding'
           union all
           select invoice_id, payment_id from payment where stuck_at is not null and status = 'refunding'
         ) as open
         join refund using (invoice_id, payment_id)
         where refund.status = 'pending' and refund.waits_until is null`,
});

/** Longer than any lease and any retry delay. */
const longestPauseMs = 15 * 60_000;

export const oldestUnknownPayment = (db: Database, now: Instant) => oldest(db, readOldestUnknown, now);
export const oldestPendingRefund = (db: Database, now: Instant) => oldest(db, readOldestPendingRefund, now);

async function oldest(
  db: Database,
  of: typeof readOldestUnknown,
  now: Instant,
): Promise<Instant | undefined> {
  const [row] = await db.run(of, { soon: laterBy(now, longestPauseMs) });
  return row?.since ?? undefined;
}
