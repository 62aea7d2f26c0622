// What follows when a bank takes back, days later, what it had captured for a period or a change.
import type { Instant } from '../clock.ts';
import { loadInvoice } from '../invoices/store/invoices.ts';
import type { Database } from '../platform/database/database.ts';
import { decideTakenBack } from './domain/commands.ts';
import type { SubscriptionFact } from './domain/subscription.ts';
import { findPaidBy, type PaidBy } from './store/subscriptions.ts';
import { writeFacts, type WriteDeps } from './write-facts.ts';

/** In the transaction that takes the money from the shop. Invoices of others are passed over. */
export async function takeBack(
  tx: Database,
  invoiceId: string,
  now: Instant,
  deps: WriteDeps,
): Promise<void> {
  const paid = await findPaidBy(tx, invoiceId);
  if (!paid) return;
  const { stored } = paid;
  const facts = await factsOfLoss(tx, invoiceId, paid);
  // The update is taken again.
  if (!(await writeFacts(tx, stored, facts, now, deps)))
    throw new Error(`Subscription ${stored.subscription.terms.id} was changed meanwhile.`);
}

async function factsOfLoss(
  tx: Database,
  invoiceId: string,
  { stored: { subscription }, number: ofPeriod, period, paidThrough }: PaidBy,
): Promise<readonly SubscriptionFact[]> {
  if (period) return decideTakenBack(subscription, period, paidThrough);
  const invoice = await loadInvoice(tx, invoiceId);
  const amountMinor = invoice?.amount.minor ?? 0n;
  return [{ type: 'change_payment_taken_back', ofPeriod, invoiceId, amountMinor }];
}
