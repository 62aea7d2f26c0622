// Verification refunds the bank has not confirmed: counted for the alert, listed for the operator, and resumed when their
// jobs are stuck. A bank that is unavailable for a night must not leave a payer without the money.
import type { Clock, Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { statement } from '../../platform/database/statement.ts';
import { decideClose } from '../domain/commands.ts';
import { loadBinding } from './bindings.ts';
import { storeBindingFacts } from './binding-changes.ts';

/** Dates are on the party's clock, which a test clock may have moved forward. */
const countPendingRefunds = statement({
  name: 'count_pending_refunds',
  parameters: { now: 'timestamptz' },
  row: { pending: 'int8', overdue: 'int8' },
  text: `select count(*) as pending,
           count(*) filter (where refund_due_at < :now + coalesce(offset_ms, 0) * interval '1 ms') as overdue
         from binding left join test_clock using (party_id) where refund_due_at is not null`,
});

const listPendingRefunds = statement({
  name: 'list_pending_refunds',
  parameters: { now: 'timestamptz' },
  row: {
    customer_id: 'text',
    binding_id: 'text',
    party_id: 'text',
    status: 'text',
    amount_minor: 'int8',
    currency: 'text',
    refund_due_at: 'timestamptz',
    is_overdue: 'bool',
    stuck_reason: 'text?',
  },
  text: `select customer_id, binding_id, party_id, status, amount_minor, currency, refund_due_at,
           refund_due_at < :now + coalesce(offset_ms, 0) * interval '1 ms' as is_overdue,
           case when stuck_at is not null then stuck_reason end as stuck_reason
         from binding left join test_clock using (party_id)
         where refund_due_at is not null order by refund_due_at limit 1000`,
});

/** Attempts restart at 1, not 0, so that the next attempt asks the bank before it sends. */
const resumeRefunds = statement({
  name: 'resume_stuck_refunds',
  parameters: { now: 'timestamptz', stuck_before: 'timestamptz' },
  row: { binding_id: 'text' },
  text: `update binding set wake_at = :now, attempts = 1, stuck_at = null, stuck_reason = null
         where refund_due_at is not null and stuck_at < :stuck_before + coalesce((
           select offset_ms from test_clock where test_clock.party_id = binding.party_id), 0) * interval '1 ms'
         returning binding_id`,
});

export async function countPendingVerificationRefunds(
  db: Database,
  now: Instant,
): Promise<{ pending: number; overdue: number }> {
  const [row] = await db.run(countPendingRefunds, { now });
  return { pending: Number(row?.pending ?? 0n), overdue: Number(row?.overdue ?? 0n) };
}

export async function listPendingVerificationRefunds(db: Database, now: Instant) {
  return (await db.run(listPendingRefunds, { now })).map((row) => ({
    customerId: row.customer_id,
    bindingId: row.binding_id,
    partyId: row.party_id,
    status: row.status,
    amountMinor: row.amount_minor,
    currency: row.currency,
    refundDueAt: row.refund_due_at,
    isOverdue: row.is_overdue,
    stuckReason: row.stuck_reason,
  }));
}

/** Resumes the jobs that became stuck before `stuckBefore`. */
export async function resumeStuckRefunds(db: Database, now: Instant, stuckBefore: Instant): Promise<number> {
  return (await db.run(resumeRefunds, { now, stuck_before: stuckBefore })).length;
}

/**
 * Fails the binding, after the operator has made sure that the payer has the money back. False if no refund is pending
 * under that name.
 */
export async function resolveVerificationRefund(
  db: Database,
  clock: Clock,
  name: { customerId: string; bindingId: string },
  reason: string,
): Promise<boolean> {
  const stored = await loadBinding(db, name);
  const decision = stored && decideClose(stored.binding, reason);
  if (!stored || !decision?.ok) return false;
  const written = await storeBindingFacts(db, stored, [decision.value], clock.now());
  if (!written) throw new Error(`Customer ${name.customerId} was changed meanwhile. Run the command again.`);
  return true;
}
