// The outcomes of payments and refunds that a caller can wait for.
import type { Database } from '../../platform/database/database.ts';
import type { AwaitedOutcome, AwaitedState } from '../../platform/http/waiting/outcome-waits.ts';
import { publicStatus, type Payment } from '../domain/payment.ts';
import type { Refund } from '../domain/refund.ts';
import { loadPayment } from '../store/payments.ts';
import { findRefunds } from '../store/refunds.ts';
import { refundBody, type RefundBody } from './refund-schema.ts';
import { paymentBody, type PaymentBody } from './schema.ts';

type Deps = { readonly db: Database };

/** A hold has its outcome: the bank has approved it. */
export function awaitedStateOf({ state }: Payment): AwaitedState<unknown>['is'] {
  if (publicStatus[state.name] !== 'pending') return 'known';
  return state.name === 'challenged' ? 'payerAsked' : 'pending';
}

export const paymentOutcome: AwaitedOutcome<unknown, PaymentBody, Deps> = {
  job: ({ invoiceID, id }) => ['payment', [invoiceID, id]],
  look: async ({ db }, { answer: { invoiceID, id }, caller }) => {
    const payment = (await loadPayment(db, { invoiceId: invoiceID, paymentId: id }))?.payment;
    return payment && { body: paymentBody(payment, caller), is: awaitedStateOf(payment) };
  },
};

type RefundName = { readonly invoiceID: string; readonly paymentID: string };

async function lookAtRefund(
  { db }: Deps,
  { invoiceID, paymentID }: RefundName,
  refundId: string,
): Promise<AwaitedState<Refund> | undefined> {
  const [refund] = await findRefunds(db, { invoiceId: invoiceID, paymentId: paymentID, refundId });
  return refund && { body: refund, is: refund.status === 'pending' ? 'pending' : 'known' };
}

export const refundOutcome: AwaitedOutcome<RefundName, RefundBody, Deps> = {
  job: (_refund, { invoiceID, paymentID }) => ['payment', [invoiceID, paymentID]],
  look: async (deps, { answer, params }) => {
    const found = await lookAtRefund(deps, params, answer.id);
    return found && { ...found, body: refundBody(found.body) };
  },
};

/** Of a refund that names its payment itself. */
export const namedRefundOutcome: AwaitedOutcome<unknown, RefundBody & RefundName, Deps> = {
  job: ({ invoiceID, paymentID }) => ['payment', [invoiceID, paymentID]],
  look: async (deps, { answer: { id, invoiceID, paymentID } }) => {
    const found = await lookAtRefund(deps, { invoiceID, paymentID }, id);
    return found && { ...found, body: { ...refundBody(found.body), invoiceID, paymentID } };
  },
};
