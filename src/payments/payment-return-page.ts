// Where the payer's browser returns after a 3-D Secure challenge of a payment.
import type { FastifyInstance } from 'fastify';
import { addReturnPage, type PayerReturnDeps } from '../acquiring/authorisation/return-page.ts';
import { returnAddressOf } from '../merchants/domain/return-address.ts';
import { operationIdOf, type Payment } from './domain/payment.ts';
import { storeEvents } from './store/payment-changes.ts';
import { loadPayment } from './store/payments.ts';
import type { StoredPayment } from './store/rows.ts';

const path = '/payer/return';

export function returnUrlOf(publicUrl: string, payment: Payment): string {
  return `${publicUrl}${path}/${payment.invoiceId}/${payment.id}`;
}

export function addPaymentReturn(app: FastifyInstance, deps: PayerReturnDeps): void {
  const { db } = deps;
  addReturnPage<StoredPayment>(app, deps, {
    path,
    table: 'payment',
    load: (invoiceId, paymentId) => loadPayment(db, { invoiceId, paymentId }),
    chargeOf: ({ payment }) => ({ ...payment, operationId: operationIdOf(payment, 'authorise') }),
    complete: (stored, now) => storeEvents(db, stored, [[{ type: 'payment_interaction_completed' }]], now),
    isWaiting: ({ payment }) => payment.state.name === 'challenged',
    onwardOf({ payment }) {
      const address = returnAddressOf(payment.payer.redirectUrl);
      return address === undefined ? undefined : { address, shop: payment };
    },
  });
}
