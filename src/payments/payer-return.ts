// Where the payer's browser returns after a 3-D Secure challenge.
import type { FastifyInstance } from 'fastify';
import { returnAddressOf } from '../merchants/domain/return-address.ts';
import { addPayerReturn } from '../platform/http/pages/payer-return.ts';
import { handOnReturn, payerWaitsMs, type PayerReturnDeps } from '../acquiring/hand-on-return.ts';
import { readUntil } from '../platform/jobs/wait-for.ts';
import { operationIdOf, type Payment } from './domain/payment.ts';
import { storeEvents } from './store/payment-changes.ts';
import { loadPayment } from './store/payments.ts';

const returnPath = '/payer/return';

/** The invoice ID cannot be guessed, and the page shows nothing but "done". */
export function returnUrlOf(publicUrl: string, payment: Payment): string {
  return `${publicUrl}${returnPath}/${payment.invoiceId}/${payment.id}`;
}

export function addPaymentReturn(
  app: FastifyInstance,
  { db, clock, jobs, banks, pause, sendOn }: PayerReturnDeps,
): void {
  addPayerReturn(
    app,
    returnPath,
    async (invoiceId, paymentId, returned) => {
      const read = () => loadPayment(db, { invoiceId, paymentId });
      const stored = await read();
      const payment = stored?.payment;
      // In any other state there was no challenge. Expediting would disturb the node that runs the payment's job.
      if (stored && payment?.state.name === 'challenged') {
        const operationId = operationIdOf(payment, 'authorise');
        await handOnReturn(banks, { operationId, terminal: payment.terminal }, returned);
        if (!payment.state.isCompleted)
          await storeEvents(db, stored, [[{ type: 'payment_interaction_completed' }]], clock.now());
        await jobs.expedite('payment', [invoiceId, paymentId]);
        // A shop that still sees the payment waiting for its payer would return them to the bank.
        const hasMovedOn = (now: typeof stored | undefined) => now?.payment.state.name !== 'challenged';
        await readUntil(read, hasMovedOn, { forMs: payerWaitsMs, pause });
      }
      const address = returnAddressOf(payment?.payer.redirectUrl);
      return payment && address !== undefined ? { address, shop: payment } : undefined;
    },
    sendOn,
  );
}
