// The job of an invoice: runs what is due by its own state, or sets `wake_at` to when that will be.
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { nextAction } from './domain/invoice.ts';
import { loadStoredInvoice, rescheduleInvoice, storeInvoiceFact } from './store/invoices.ts';

export async function runInvoiceJob(db: Database, invoiceId: string, now: Instant): Promise<void> {
  const stored = await loadStoredInvoice(db, invoiceId);
  if (!stored) return;
  const next = nextAction(stored.invoice);
  if (next && next.at <= now) {
    // After a version conflict, the other writer has set what is due next.
    await storeInvoiceFact(db, stored, next.fact, now);
  } else {
    await rescheduleInvoice(db, stored, next?.at);
  }
}
