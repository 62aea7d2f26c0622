// POST …/payments: starts a payment with a card, or a recurring charge. The response does not wait for the bank.
import { epochMsOf, lastInstant, laterBy, parseInstant, type Instant } from '../../clock.ts';
import { InvoicePath } from '../../invoices/api/schema.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import { durationMsOf } from '../../platform/http/request/request-deadline.ts';
import { metadataProblem } from '../../platform/http/schemas.ts';
import { areSameTerms, recurrentTermsProblem } from '../../recurring/api/schema.ts';
import { accept, refuse } from '../../refusal.ts';
import { chargeRefusals } from '../../retry-rules/domain/may-charge.ts';
import { cardSourceOf, identityOf, type CardSource } from '../card-source.ts';
import {
  flowOf,
  needsSavedCard,
  recurrenceFor,
  startPayment,
  type StartPaymentDeps,
} from '../start-payment.ts';
import { findPayableInvoice, findPaymentByExternalId } from '../store/payments.ts';
import { paymentOutcome } from './outcomes.ts';
import {
  customerProof,
  needsPresentPayer,
  ofMerchant,
  presenceProblem,
  staleToken,
} from './payer-present.ts';
import { paymentBody, paymentExample, PaymentParams, PaymentSchema, returnAddressProblem } from './schema.ts';

export const errorsOfPayment = [
  'invalidPaymentToolToken',
  'invalidPaymentSession',
  'externalIDConflict',
  'invalidShopID',
  'invalidPartyStatus',
  'invalidShopStatus',
  'invalidProcessingDeadline',
  'invalidInvoiceStatus',
  'invoicePaymentPending',
  'invoiceAttemptsExceeded',
  'tooManyAttempts',
  'shopRefusesCards',
  'operationNotPermitted',
  'threeDSecureNotOffered',
  'notOfferedByBank',
  'authenticationMismatch',
  'authenticationNotCurrent',
  'authenticationUsed',
  'invalidRecurrentParent',
  'customerNotReady',
  ...chargeRefusals,
] as const;

export const createPayment = endpoint({
  operation: 'createPayment',
  access: { scope: 'payments:write', tokens: ['invoice'], entity: 'invoiceID' },
  method: 'POST',
  path: '/v2/processing/invoices/{invoiceID}/payments',
  tag: 'Payments',
  summary: 'Pay an invoice',
  description:
    'Starts a payment of the whole invoice. Follow the events of the invoice, or read the payment, until it is `captured` ' +
    '(or `processed`, with a hold) or `failed`. If an event requests an interaction, redirect the payer to their bank. An ' +
    'invoice can have one payment in progress at a time.',
  params: InvoicePath,
  body: PaymentParams,
  bodyExample: paymentExample,
  validateBody: (body) => paymentProblem(body),
  // As where the card was stored.
  excludeFromHash: ['payer.cvv', 'payer.customerAccessToken', 'authenticated.value'],
  status: 201,
  response: PaymentSchema,
  outcome: paymentOutcome,
  errors: ['invoiceNotFound', ...errorsOfPayment],
  handle: async (request, deps: StartPaymentDeps) => {
    const { caller, params, body, now } = request;
    const deadline = deadlineOf(body.processingDeadline, now);
    if (deadline === 'unreadable') return refuse('invalidProcessingDeadline');
    const proof = await customerProof(body.payer, caller, deps.tokens);
    if (!proof.ok) return proof;
    // Checked before any lookup, so that a checkout token cannot find out which cards are saved.
    if ('isFor' in caller && body.payer.payerType !== 'PaymentResourcePayer' && proof.value === 'none')
      return needsPresentPayer;
    const needsKey = ofMerchant.find((name) => body[name] !== undefined);
    if (caller.kind !== 'apiKey' && needsKey)
      return refuse('operationNotPermitted', { message: `Only an API key can send ${needsKey}.` });
    const { address, countedAs } = request;
    const asked = { caller, payer: body.payer, invoiceId: params.invoiceID, address, countedAs, now };
    const source = await cardSourceOf(asked, deps);
    if (!source.ok) return source;
    const fingerprint = fingerprintOf(params.invoiceID, body, source.value);
    const wish = { params: body, deadline, source: source.value, fingerprint };
    const isLocked = needsTransaction(body, source.value);
    const findPayable = () => findPayableInvoice(deps.db, caller.partyId, params.invoiceID);
    return createIdempotently({
      externalId: body.externalID,
      fingerprint,
      order: 'findFirst',
      find: (externalId) => findPaymentByExternalId(deps.db, caller.partyId, externalId),
      respond: async (payment) => {
        // An invoice that asks for a saved card has no payment that saves none.
        const payable = payment.makeRecurrent ? await findPayable() : undefined;
        const { recurrentTerms } = recurrenceFor({ caller, wish }, payable?.invoice);
        if (!areSameTerms(payment.recurrentTerms, recurrentTerms)) return 'otherRequest';
        const trading = await deps.merchants.trading(payment);
        return trading.ok ? accept(paymentBody(payment, caller)) : trading;
      },
      make: async (attempt) => {
        if (proof.value === 'stale') return staleToken;
        const payable = await findPayable();
        if (!payable) return refuse('invoiceNotFound');
        // After a version conflict, lock the rows read, so that the next attempt succeeds.
        const asked = { caller, now, wish: { ...wish, isLocked: isLocked || attempt > 0 } };
        return startPayment(payable, asked, deps);
      },
    });
  },
});

/**
 * The choice of a customer's card is only valid in the transaction that creates the payment. The copy of a saved card with its code, and
 * the value of an authentication, must not outlive a refusal.
 */
function needsTransaction({ authenticated }: PaymentParams, { from }: CardSource): boolean {
  return from === 'customer' || from === 'savedCard' || authenticated !== undefined;
}

/** `where` is what the names of its members begin with. */
export function paymentProblem(body: PaymentParams, where = ''): string | undefined {
  const { metadata, recurrentTerms, makeRecurrent, payer } = body;
  return (
    metadataProblem(metadata ?? {}, `${where}metadata`) ??
    returnAddressProblem(`${where}payer.`, payer.sessionInfo) ??
    (makeRecurrent && payer.payerType === 'CustomerPayer' ? `Invalid ${where}payer` : undefined) ??
    presenceProblem(body, where) ??
    (recurrentTerms && recurrentTermsProblem(recurrentTerms, `${where}recurrentTerms`)) ??
    (recurrentTerms && payer.payerType !== 'PaymentResourcePayer' ? needsSavedCard(where) : undefined)
  );
}

/**
 * The format of X-Request-Deadline, without its upper limit. A deadline in the past is accepted here, because a repeat may
 * come later; new payments refuse it.
 */
export function deadlineOf(text: string | undefined, now: Instant): Instant | 'unreadable' | undefined {
  if (text === undefined) return undefined;
  const durationMs = durationMsOf(text);
  // A longer duration ends with the last representable instant.
  if (durationMs !== undefined)
    return laterBy(now, Math.min(durationMs, epochMsOf(lastInstant) - epochMsOf(now)));
  return parseInstant(text) ?? 'unreadable';
}

/** Two requests are the same if these values and their recurrentTerms are equal. Two tokens of one card count as the same card. */
function fingerprintOf(invoiceId: string, body: PaymentParams, source: CardSource): Buffer {
  return requestFingerprint([invoiceId, ...flowIdentity(body), ...identityOf(source)]);
}

export function flowIdentity(body: Pick<PaymentParams, 'flow' | 'makeRecurrent'>): readonly unknown[] {
  const flow = flowOf(body.flow);
  const onExpiration = flow.type === 'hold' ? flow.onExpiration : null;
  return [flow.type, onExpiration, body.makeRecurrent ?? false];
}
