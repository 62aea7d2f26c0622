// Where the payer's browser returns after a 3-D Secure challenge.
import type { FastifyInstance } from 'fastify';
import type { Database } from '../platform/database/database.ts';
import { addPayerReturn } from '../platform/http/pages/payer-return.ts';
import type { JobRunner } from '../platform/jobs/job-runner.ts';
import type { Payment } from './domain/payment.ts';
import { loadPayment } from './store/payments.ts';

const returnPath = '/payer/return';

/** The invoice ID cannot be guessed, and the page shows nothing but "done". */
export function returnUrlOf(publicUrl: string, payment: Payment): string {
  return `${publicUrl}${returnPath}/${payment.invoiceId}/${payment.id}`;
}

export function addPaymentReturn(
  app: FastifyInstance,
  { db, jobs }: { db: Database; jobs: Pick<JobRunner, 'expedite'> },
): void {
  addPayerReturn(app, returnPath, async (invoiceId, paymentId) => {
    const payment = (await loadPayment(db, { invoiceId, paymentId }))?.payment;
    // In any other state there was no challenge. Expediting would disturb the node that runs the payment's job.
    if (payment?.state.name === 'challenged') await jobs.expedite('payment', [invoiceId, paymentId]);
    return payment?.payer.redirectUrl;
  });
}
