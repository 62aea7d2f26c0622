// The refunds that an end asks for, and those of them that fail later. They start in the transaction that writes them down, so none
// is lost, and none starts twice.
import type { Banks } from '../acquiring/banks.ts';
import type { Instant } from '../clock.ts';
import { refundableOf, standingOfRefund, startRefundOf } from '../payments/port.ts';
import type { Database } from '../platform/database/database.ts';
import { accept, refuse, type Outcome } from '../refusal.ts';
import { invoicesToRefund, refundsOf, startedRefunds, type Paid } from './domain/ends/refund.ts';
import type { Subscription, SubscriptionFact } from './domain/subscription.ts';
import { loadOwnerOf, type StoredSubscription } from './store/subscriptions.ts';
import { writeFacts, type WriteDeps } from './write-facts.ts';

export type RefundDeps = WriteDeps & { readonly banks: Pick<Banks, 'takes'> };

/** Refused while another refund of a payment is in progress: then it is not known what is left. */
export async function refundAtEnd(
  tx: Database,
  stored: StoredSubscription,
  now: Instant,
  deps: RefundDeps,
): Promise<Outcome<StoredSubscription, 'operationNotPermitted'> | 'versionConflict'> {
  const { subscription } = stored;
  const payments = await paymentsOf(tx, subscription);
  if (payments.some(({ isRefunding }) => isRefunding)) return refuse('operationNotPermitted');
  const facts = await startRefunds(tx, subscription, payments, now, deps);
  if (facts === 'versionConflict') return facts;
  const written = await writeFacts(tx, stored, facts, now, deps);
  return written ? accept(written) : 'versionConflict';
}

async function paymentsOf(tx: Database, subscription: Subscription) {
  const { partyId } = subscription.terms;
  const payments: (Paid & { readonly isRefunding: boolean })[] = [];
  for (const invoiceId of invoicesToRefund(subscription)) {
    const payment = await refundableOf(tx, { partyId, invoiceId });
    if (payment) payments.push(payment);
  }
  return payments;
}

async function startRefunds(
  tx: Database,
  subscription: Subscription,
  payments: readonly Paid[],
  now: Instant,
  { merchants, banks }: RefundDeps,
): Promise<readonly SubscriptionFact[] | 'versionConflict'> {
  const { terms } = subscription;
  const wanted = refundsOf(subscription, payments);
  if (wanted.length === 0)
    return [{ type: 'end_refund_refused', refusedFor: 'nothingToRefund', amountMinor: 0n }];
  const shop = await merchants.trading(terms);
  const reason = `Subscription ${terms.id} ended`;
  const facts: SubscriptionFact[] = [];
  for (const refund of wanted) {
    const started = shop.ok
      ? await startRefundOf({ db: tx, banks }, { ...refund, reason }, shop.value, now)
      : shop;
    if (started === 'versionConflict') return started;
    facts.push(
      started.ok
        ? { type: 'end_refund_started', ...refund, refundId: started.value.id }
        : { type: 'end_refund_refused', ...refund, refusedFor: started.refusal.code },
    );
  }
  return facts;
}

/** What the refunds of an end have come to. `isPending`: the bank has not decided about one. */
export async function heardOfRefunds(
  db: Database,
  subscription: Subscription,
): Promise<{ readonly facts: readonly SubscriptionFact[]; readonly isPending: boolean }> {
  const facts: SubscriptionFact[] = [];
  let isPending = false;
  for (const refund of startedRefunds(subscription)) {
    const { status, failedFor = 'unknown' } = await standingOfRefund(db, refund);
    if (status === 'failed') facts.push({ type: 'end_refund_failed', ...refund, failedFor });
    if (status === 'pending') isPending = true;
  }
  return { facts, isPending };
}

/** In the transaction that gives the shop its money again, days after a refund had succeeded. Refunds of others are passed over. */
export async function refundReturned(
  tx: Database,
  invoiceId: string,
  now: Instant,
  deps: WriteDeps,
): Promise<void> {
  const stored = await loadOwnerOf(tx, invoiceId);
  if (!stored) return;
  const { facts } = await heardOfRefunds(tx, stored.subscription);
  // The update is taken again.
  if (!(await writeFacts(tx, stored, facts, now, deps)))
    throw new Error(`Subscription ${stored.subscription.terms.id} was changed meanwhile.`);
}
