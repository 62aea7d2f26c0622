// For monitoring: how long the oldest payment has waited for its bank, and the oldest refund. Whoever waits is due within
// minutes or stuck, so two small indexes find them all, however many holds there are. Where a sandbox has moved a party's clock
// its payments are left out.
import { laterBy, type Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { statement } from '../../platform/database/statement.ts';

const open = (status: string) => `(
           select invoice_id, payment_id from payment where wake_at <= :soon and ${status}
           union all
           select invoice_id, payment_id from payment where stuck_at is not null and ${status}
         ) as open`;

/** The latest event of an invoice is the one since which its payment has waited. */
const readOldestUnknown = statement({
  name: 'read_oldest_unknown_payment',
  parameters: { soon: 'timestamptz' },
  row: { since: 'timestamptz?' },
  text: `select min(event.created_at) as since
         from ${open("status in ('authorising', 'reversing', 'capturing', 'cancelling')")}
         join invoice using (invoice_id)
         join event on aggregate_id = invoice_id and sequence = invoice.version`,
});

const readOldestPendingRefund = statement({
  name: 'read_oldest_pending_refund',
  parameters: { soon: 'timestamptz' },
  row: { since: 'timestamptz?' },
  text: `select min(refund.created_at) as since
         from ${open("status = 'refunding'")}
         join refund using (invoice_id, payment_id)
         where refund.status = 'pending'`,
});

/** Longer than any lease and any pause between two attempts. */
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
