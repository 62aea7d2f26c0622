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
  const facts = await factsOfLoss(tx, invoiceId, paid);
  if (await writeLoss(tx, paid, facts, now, deps)) return;
  // The payer pays for the new period just now. It takes effect without the credit.
  const others = facts.filter(({ type }) => type !== 'change_dropped');
  await writeLoss(tx, paid, others, now, deps);
}

/** False if the payer pays just now what would be dropped: then nothing is written. */
async function writeLoss(
  tx: Database,
  { stored }: PaidBy,
  facts: readonly SubscriptionFact[],
  now: Instant,
  deps: WriteDeps,
): Promise<boolean> {
  const paying = new Error('The payer pays for a change.');
  try {
    await tx.withSavepoint(async (part) => {
      const written = await writeFacts(part, stored, facts, now, deps);
      // The update is taken again.
      if (!written) throw new Error(`Subscription ${stored.subscription.terms.id} was changed meanwhile.`);
      if (written.isPaying) throw paying;
    });
    return true;
  } catch (error) {
    if (error !== paying) throw error;
    return false;
  }
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
