// Ends a hold: captures it, in full or in part, or cancels it. The response does not wait for the bank.
import { Type, type Static } from 'typebox';
import { withSince } from '../../platform/events/since.ts';
import { endpoint, type EndpointRequest } from '../../platform/http/endpoint.ts';
import { Amount, CurrencyCode, Reason } from '../../platform/http/schemas.ts';
import { maxCartLines, lineCostMinor } from '../../invoices/domain/invoice.ts';
import { CartParams, cartOf } from '../../invoices/api/schema.ts';
import type { Instant } from '../../clock.ts';
import type { TradingRefusal } from '../../merchants/domain/party.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { decideCancel, decideCapture } from '../domain/commands.ts';
import type { Payment } from '../domain/payment.ts';
import { storeEvents } from '../store/payment-changes.ts';
import { storeCancelWish } from '../store/pending/cancel-wish.ts';
import { findPayment } from '../store/payments.ts';
import type { StoredPayment } from '../store/rows.ts';
import { PaymentPath } from './schema.ts';
import { defined } from '../../defined.ts';
import type { Banks } from '../../acquiring/banks.ts';
import { followUpOf } from '../domain/bank-operations.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { JobRunner } from '../../platform/jobs/job-runner.ts';

type Deps = {
  readonly db: Database;
  readonly banks: Pick<Banks, 'takes'>;
  readonly merchants: Merchants;
  readonly jobs: Pick<JobRunner, 'wake'>;
};

const CaptureParams = Type.Object(
  {
    reason: Reason.properties.reason,
    amount: Type.Optional({
      ...Amount,
      description: 'At most the held amount, which is the default. The rest is released.',
    }),
    currency: Type.Optional(CurrencyCode),
    cart: Type.Optional(CartParams),
    allocation: Type.Optional(Type.Unknown({ description: 'Split payments are not supported.' })),
  },
  { title: 'CaptureParams' },
);

export const capturePayment = endpoint({
  operation: 'capturePayment',
  access: { scope: 'payments:write' },
  method: 'POST',
  path: '/v2/processing/invoices/{invoiceID}/payments/{paymentID}/capture',
  tag: 'Payments',
  summary: 'Capture a held payment',
  params: PaymentPath,
  body: CaptureParams,
  bodyExample: { reason: 'Shipped' },
  status: 202,
  errors: [
    'invoiceNotFound',
    'paymentNotFound',
    'invalidShopID',
    'invalidPartyStatus',
    'invalidShopStatus',
    'allocationNotPermitted',
    'inconsistentCaptureCurrency',
    'invalidInvoiceCart',
    'invalidPaymentStatus',
    'operationNotPermitted',
    'amountExceededCaptureBalance',
    'notOfferedByBank',
  ],
  handle: async (request, deps: Deps) => {
    const { body } = request;
    const { reason, amount, currency } = body;
    if (body.allocation !== undefined) return refuse('allocationNotPermitted');
    const cart = body.cart && cartOf(body.cart);
    if (cart && (cart.length === 0 || cart.length > maxCartLines)) return refuse('invalidInvoiceCart');
    return change(request, deps, (payment) =>
      decideCapture(payment, {
        reason,
        ...(amount === undefined ? {} : { amountMinor: BigInt(amount) }),
        ...defined({ currency }),
        ...(cart === undefined
          ? {}
          : { cart: body.cart, cartTotalMinor: cart.reduce((sum, line) => sum + lineCostMinor(line), 0n) }),
      }),
    );
  },
});

export const cancelPayment = endpoint({
  operation: 'cancelPayment',
  access: { scope: 'payments:write' },
  method: 'POST',
  path: '/v2/processing/invoices/{invoiceID}/payments/{paymentID}/cancel',
  tag: 'Payments',
  summary: 'Cancel a payment',
  description:
    'Releases a hold. A `pending` payment is reversed as soon as its outcome is known: then it is `cancelled`, or `failed` ' +
    'if the bank had not approved it.',
  params: PaymentPath,
  body: Reason,
  bodyExample: { reason: 'Out of stock' },
  status: 202,
  errors: [
    'invoiceNotFound',
    'paymentNotFound',
    'invalidShopID',
    'invalidPartyStatus',
    'invalidShopStatus',
    'invalidPaymentStatus',
    'operationNotPermitted',
  ],
  handle: (request, deps: Deps) =>
    change(request, deps, (payment) => decideCancel(payment, request.body.reason)),
});

type Decided = Extract<ReturnType<typeof decideCancel>, { readonly ok: true }>['value'];

function store(db: Database, stored: StoredPayment, decided: Decided, now: Instant): Promise<unknown> {
  if (decided.type === 'nothing') return Promise.resolve(true);
  if (decided.type === 'cancelWanted') return storeCancelWish(db, stored, decided.reason, now);
  return storeEvents(db, stored, [[decided]], now);
}

type ChangeRequest = EndpointRequest<Static<typeof PaymentPath>>;
type ChangeRefusal = TradingRefusal | 'invoiceNotFound' | 'paymentNotFound';

const tries = 10;

async function change<Code extends string>(
  { caller, params, now }: ChangeRequest,
  { db, banks, merchants, jobs }: Deps,
  decide: (payment: Payment) => Outcome<Decided, Code>,
): Promise<Outcome<undefined, Code | ChangeRefusal | 'notOfferedByBank'>> {
  const name = { partyId: caller.partyId, invoiceId: params.invoiceID, paymentId: params.paymentID };
  for (let attempt = 0; attempt < tries; attempt++) {
    const found = await findPayment(db, name);
    if (!found.ok) return found;
    const stored = found.value;
    const trading = await merchants.trading(stored.payment);
    if (!trading.ok) return trading;
    const decision = decide(stored.payment);
    if (!decision.ok) return withSince(db, decision, name.invoiceId);
    if (decision.value.type === 'payment_capture_started') {
      const { amount } = decision.value;
      const taken = await banks.takes(followUpOf(stored.payment, { do: 'capture', amount }));
      if (!taken.ok) return taken;
    }
    if (await store(db, stored, decision.value, now)) {
      db.afterCommit(() => jobs.wake());
      return accept(undefined);
    }
  }
  throw new Error(
    `Payment ${name.invoiceId}/${name.paymentId} had a version conflict ${tries} times in a row.`,
  );
}
