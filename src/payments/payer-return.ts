// The payer's browser, back from a challenge for a payment.
import type { FastifyInstance } from 'fastify';
import type { Database } from '../platform/database/database.ts';
import { addPayerReturn } from '../platform/http/pages/payer-return.ts';
import type { JobRunner } from '../platform/jobs/job-runner.ts';
import type { Payment } from './domain/payment.ts';
import { loadPayment } from './store/payments.ts';

const returnPath = '/payer/return';

/** The invoice's ID cannot be guessed, and who knows the address only gets a page that says "done". */
export function returnUrlOf(publicUrl: string, payment: Payment): string {
  return `${publicUrl}${returnPath}/${payment.invoiceId}/${payment.id}`;
}

export function addPaymentReturn(
  app: FastifyInstance,
  { db, jobs }: { db: Database; jobs: Pick<JobRunner, 'expedite'> },
): void {
  addPayerReturn(app, returnPath, async (invoiceId, paymentId) => {
    const payment = (await loadPayment(db, { invoiceId, paymentId }))?.payment;
    // At any other moment there was no challenge, and the job of the node that has the payment must not be disturbed.
    if (payment?.state.name === 'challenged') await jobs.expedite('payment', [invoiceId, paymentId]);
    return payment?.payer.redirectUrl;
  });
}
