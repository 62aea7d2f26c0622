// Reads the log of an invoice: its own facts and those of its payments and refunds.
import { logReader, readFacts, type NumberedFact } from '../../platform/events/read-log.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Payment } from '../domain/payment.ts';
import { invoiceLogFact, type InvoiceLogFact } from './codec.ts';

export const readInvoiceLog = logReader('invoice', invoiceLogFact);

type FactOfPayment = Extract<InvoiceLogFact, { readonly paymentId: string }>;

/** The facts of one payment and its refunds, the oldest first. */
export function readPaymentFacts(
  db: Database,
  { partyId, invoiceId, id }: Pick<Payment, 'partyId' | 'invoiceId' | 'id'>,
): Promise<NumberedFact<FactOfPayment>[]> {
  return readFacts(
    (page) => readInvoiceLog(db, { partyId, id: invoiceId }, page),
    (fact): fact is FactOfPayment => 'paymentId' in fact && fact.paymentId === id,
  );
}
