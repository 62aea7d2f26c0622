// POST …/refunds: refunds a captured payment, in full or in part. The same write reserves the shop's money; the bank is
// sent the refund afterwards.
import type { Static } from 'typebox';
import type { Banks } from '../../acquiring/banks.ts';
import type { Database } from '../../platform/database/database.ts';
import { withSince } from '../../platform/events/since.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import { cartIdentity, cartOf } from '../../invoices/api/schema.ts';
import { accept, refuse } from '../../refusal.ts';
import { findPayment } from '../store/payments.ts';
import { refundOutcome } from './outcomes.ts';
import { PaymentPath } from './schema.ts';
import type { StartRefund } from '../domain/refund.ts';
import { findRefundByExternalId } from '../store/refunds.ts';
import { startRefund } from '../start-refund.ts';
import { refundBody, RefundParams, RefundSchema } from './refund-schema.ts';
import { defined } from '../../defined.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { JobRunner } from '../../platform/jobs/job-runner.ts';

type Deps = {
  readonly db: Database;
  readonly banks: Pick<Banks, 'takes'>;
  readonly merchants: Merchants;
  readonly jobs: Pick<JobRunner, 'wake'>;
};

export const createRefund = endpoint({
  operation: 'createRefund',
  access: { scope: 'payments:write' },
  method: 'POST',
  path: '/v2/processing/invoices/{invoiceID}/payments/{paymentID}/refunds',
  tag: 'Refunds',
  summary: 'Refund a payment',
  description:
    'Refunds the given amount of a captured payment, or all that is left. Follow the events of the invoice, or read the ' +
    'refund, until it is `succeeded` or `failed`. A payment can have one refund in progress at a time.',
  params: PaymentPath,
  body: RefundParams,
  bodyExample: { amount: 1000, currency: 'RUB', reason: 'One of two was returned' },
  status: 201,
  response: RefundSchema,
  outcome: refundOutcome,
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
    'notOfferedByBank',
  ],
  handle: async ({ caller, params, body, now }, { db, banks, merchants, jobs }: Deps) => {
    const { externalID } = body;
    const name = { partyId: caller.partyId, invoiceId: params.invoiceID, paymentId: params.paymentID };
    const fingerprint = fingerprintOf(name, body);
    return createIdempotently({
      externalId: externalID,
      fingerprint,
      order: 'findFirst',
      find: (externalId) => findRefundByExternalId(db, caller.partyId, externalId),
      respond: async (refund) => {
        const found = await findPayment(db, name);
        if (!found.ok) return found;
        const trading = await merchants.trading(found.value.payment);
        return trading.ok ? accept(refundBody(refund)) : trading;
      },
      compared: (refund) => ({
        sent: { amount: body.amount, currency: body.currency },
        kept: refundBody(refund),
      }),
      make: async () => {
        const found = await findPayment(db, name);
        if (!found.ok) return found;
        const stored = found.value;
        const trading = await merchants.trading(stored.payment);
        if (!trading.ok) return trading;
        if (body.allocation !== undefined)
          return refuse(body.cart === undefined ? 'allocationNotPermitted' : 'refundCartConflict');
        const print = externalID === undefined ? null : fingerprint;
        const started = await startRefund({ db, banks }, stored, commandOf(body), trading.value, now, print);
        if (started === 'versionConflict') return started;
        if (!started.ok) return withSince(db, started, name.invoiceId);
        db.afterCommit(() => jobs.wake());
        return accept(refundBody({ ...started.value, status: 'pending' }));
      },
    });
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

/** Two requests are the same if these values are equal. */
function fingerprintOf(name: { invoiceId: string; paymentId: string }, body: RefundRequest): Buffer {
  const { amount, currency, cart } = body;
  return requestFingerprint([name.invoiceId, name.paymentId, amount, currency, cart && cartIdentity(cart)]);
}
