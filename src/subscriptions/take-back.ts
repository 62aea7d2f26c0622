// What follows when a bank takes back, days later, what it had captured for a period.
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { decideTakenBack } from './domain/commands.ts';
import { findPaidBy } from './store/subscriptions.ts';
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
  const { stored, period, paidThrough } = paid;
  const facts = decideTakenBack(stored.subscription, period, paidThrough);
  // The update is taken again.
  if (!(await writeFacts(tx, stored, facts, now, deps)))
    throw new Error(`Subscription ${stored.subscription.terms.id} was changed meanwhile.`);
}
