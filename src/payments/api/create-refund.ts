// POST …/refunds: gives back a captured payment, or a part of it. The shop's money for it is set aside at once, in the same
// write, so that what is promised here can be kept; the bank is asked afterwards.
import { createHash } from 'node:crypto';
import type { Static } from 'typebox';
import { isNameTaken, type Database } from '../../platform/database/database.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { cartOf } from '../../invoices/api/schema.ts';
import { accept, refuse } from '../../refusal.ts';
import { storeRefundStart } from '../store/payment-changes.ts';
import { findPayment } from '../store/payments.ts';
import { PaymentPath } from './schema.ts';
import { decideRefund, type StartRefund } from '../domain/refund.ts';
import { findRefundNamed } from '../store/refunds.ts';
import { refundBody, RefundParams, RefundSchema } from './refund-schema.ts';
import { defined } from '../../defined.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { JobRunner } from '../../platform/jobs/job-runner.ts';

const tries = 10;

export const createRefund = endpoint({
  operation: 'createRefund',
  access: { scope: 'payments:write' },
  method: 'POST',
  path: '/v2/processing/invoices/{invoiceID}/payments/{paymentID}/refunds',
  tag: 'Refunds',
  summary: 'Refund a payment',
  description:
    'Gives back all that is left of a captured payment, or the amount asked for. The answer is `pending`; follow the events ' +
    'of the invoice, or read the refund, until it has `succeeded` or `failed`. A payment has one refund under way at a ' +
    'time, and as many as its money allows. When nothing is left of it, the payment is `refunded`.',
  params: PaymentPath,
  body: RefundParams,
  bodyExample: { amount: 1000, currency: 'RUB', reason: 'One of two was returned' },
  status: 201,
  response: RefundSchema,
  errors: [
    'invoiceNotFound',
    'paymentNotFound',
    'externalIDConflict',
    'invalidShopID',
    'invalidPartyStatus',
    'invalidShopStatus',
    'refundCartConflict',
    'allocationNotPermitted',
    'invalidPaymentStatus',
    'operationNotPermitted',
    'inconsistentRefundCurrency',
    'invoicePaymentAmountExceeded',
    'invalidInvoiceCart',
    'insufficentAccountBalance',
  ],
  handle: async (
    { caller, params, body, now },
    { db, merchants, jobs }: { db: Database; merchants: Merchants; jobs: JobRunner },
  ) => {
    const { externalID } = body;
    const name = { partyId: caller.partyId, invoiceId: params.invoiceID, paymentId: params.paymentID };
    const fingerprint = fingerprintOf(name, body);
    const command = commandOf(body);

    for (let attempt = 0; attempt < tries; attempt++) {
      const made = await start();
      if (made === 'payment has moved') continue;
      if (made.ok) return made;
      // A repeated request is answered before the rules of refunds: the payment may be busy, or refunded, by that very one.
      return (await answerToRepeat()) ?? made;
    }
    throw new Error(`payment ${name.invoiceId}/${name.paymentId} was changed by others ${tries} times`);

    async function start() {
      const earlier = await answerToRepeat();
      if (earlier) return earlier;
      const found = await findPayment(db, name);
      if (!found.ok) return found;
      const stored = found.value;
      const trading = await merchants.trading(stored.payment);
      if (!trading.ok) return trading;
      if (body.allocation !== undefined)
        return refuse(body.cart === undefined ? 'allocationNotPermitted' : 'refundCartConflict');
      const decision = decideRefund(stored.payment, command, now);
      if (!decision.ok) return decision;
      const refund = decision.value;
      const named = externalID === undefined ? null : fingerprint;
      const written = await storeRefundStart(db, stored, refund, named).catch((error: unknown) => {
        if (isNameTaken(error)) return 'moved' as const;
        throw error;
      });
      if (written === 'moved') return 'payment has moved';
      if (written === 'insufficient') return refuse('insufficentAccountBalance');
      db.afterCommit(() => jobs.wake());
      return accept(refundBody({ ...refund.refund, status: 'pending' }));
    }

    /** In this order: is it another request, may the shop trade, and then what there is. */
    async function answerToRepeat() {
      if (externalID === undefined) return undefined;
      const earlier = await findRefundNamed(db, caller.partyId, externalID);
      if (!earlier) return undefined;
      const { refund } = earlier;
      if (!earlier.fingerprint.equals(fingerprint))
        return refuse('externalIDConflict', { details: { externalID, id: refund.id } });
      const found = await findPayment(db, name);
      if (!found.ok) return refuse('paymentNotFound');
      const trading = await merchants.trading(found.value.payment);
      return trading.ok ? accept(refundBody(refund)) : trading;
    }
  },
});

type RefundRequest = Static<typeof RefundParams>;

function commandOf({ amount, currency, reason, cart, externalID }: RefundRequest): StartRefund {
  return {
    ...(amount === undefined ? {} : { amountMinor: BigInt(amount) }),
    ...defined({ currency, reason }),
    ...(cart === undefined ? {} : { cart: cartOf(cart) }),
    ...defined({ externalId: externalID }),
  };
}

/** What makes two requests the same request. */
function fingerprintOf(name: { invoiceId: string; paymentId: string }, body: RefundRequest): Buffer {
  const cart = body.cart?.map(({ product, quantity, price, taxMode }) =>
    JSON.stringify([product, quantity ?? 1, price, taxMode?.rate ?? null]),
  );
  const significant = [
    name.invoiceId,
    name.paymentId,
    body.amount ?? null,
    body.currency ?? null,
    cart?.sort() ?? null,
  ];
  return createHash('sha256').update(JSON.stringify(significant)).digest();
}
