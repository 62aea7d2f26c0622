// Claims a stuck payment while an operator works on it. If the operator does not finish, the job is due when the lease
// expires.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { statement } from '../../platform/database/statement.ts';
import { initialClaim } from '../../platform/jobs/job-runner.ts';

const takeStuckPayment = statement({
  name: 'take_stuck_payment',
  parameters: { invoice_id: 'text', payment_id: 'text', now: 'timestamptz', until: 'timestamptz' },
  row: { now: 'timestamptz' },
  // Uses the party's own clock. The attempts stay, so one more failure makes the job stuck again.
  text: `
    with clocked as (
      select coalesce(max(offset_ms), 0) * interval '1 ms' as ahead
      from payment join test_clock using (party_id)
      where invoice_id = :invoice_id and payment_id = :payment_id
    )
    update payment set wake_at = :until + ahead, stuck_at = null, stuck_reason = null
    from clocked
    where invoice_id = :invoice_id and payment_id = :payment_id and stuck_at is not null
    returning :now + ahead as now`,
});

/** Returns the party's time. Undefined if the payment has no stuck job. */
export async function claimStuckJob(
  db: Database,
  name: { invoiceId: string; paymentId: string },
  now: Instant,
): Promise<Instant | undefined> {
  const { wake_at: until } = initialClaim(now);
  const [row] = await db.run(takeStuckPayment, {
    invoice_id: name.invoiceId,
    payment_id: name.paymentId,
    now,
    until,
  });
  return row?.now;
}
