// Reads the log of an invoice: its own facts and those of its payments and refunds.
import { logReader } from '../../platform/events/read-log.ts';
import type { Database } from '../../platform/database/database.ts';
import type { DatedFact } from '../domain/exchanges/bank-exchanges.ts';
import type { Payment } from '../domain/payment.ts';
import { invoiceLogFact } from './codec.ts';

export const readInvoiceLog = logReader('invoice', invoiceLogFact);

const eventsAtOnce = 1_000;

/** The facts of one payment and its refunds, the oldest first. */
export async function readPaymentFacts(
  db: Database,
  { partyId, invoiceId, id }: Pick<Payment, 'partyId' | 'invoiceId' | 'id'>,
): Promise<(DatedFact & { readonly sequence: number })[]> {
  const facts: (DatedFact & { readonly sequence: number })[] = [];
  for (let after = 0; ;) {
    const page = { after, limit: eventsAtOnce };
    const events = (await readInvoiceLog(db, { partyId, id: invoiceId }, page)) ?? [];
    for (const { createdAt: at, sequence, facts: written } of events) {
      for (const fact of written)
        if ('paymentId' in fact && fact.paymentId === id) facts.push({ at, sequence, fact });
    }
    const last = events.at(-1);
    if (!last || events.length < eventsAtOnce) return facts;
    after = last.sequence;
  }
}
