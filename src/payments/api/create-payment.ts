// POST …/payments: starts a payment with a card, or a recurring charge. The response does not wait for the bank.
import { hash } from 'node:crypto';
import type { Static } from 'typebox';
import { epochMsOf, lastInstant, laterBy, parseInstant, type Instant } from '../../clock.ts';
import { initialClaim, type JobRunner } from '../../platform/jobs/job-runner.ts';
import type { Database } from '../../platform/database/database.ts';
import { durationMsOf } from '../../platform/http/request/request-deadline.ts';
import { endpoint, type EndpointRequest } from '../../platform/http/endpoint.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import { metadataProblem } from '../../platform/http/schemas.ts';
import { validationMessage } from '../../platform/http/errors/validate.ts';
import { InvoicePath } from '../../invoices/api/schema.ts';
import type { Shop } from '../../merchants/domain/party.ts';
import { mandateGiven, recurrentTermsProblem } from '../../recurring/api/schema.ts';
import { accept, refuse } from '../../refusal.ts';
import { cardSourceOf, type CardSource, type CardSourceDeps } from '../card-source.ts';
import { decideStart, requirePayable, type PayableInvoice, type StartPayment } from '../domain/commands.ts';
import { findPayableInvoice, findPaymentByExternalId, storeNewPayment } from '../store/payments.ts';
import { paymentBody, paymentExample, PaymentParams, PaymentSchema } from './schema.ts';
import { defined } from '../../defined.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Banks } from '../../acquiring/banks.ts';

type Deps = CardSourceDeps & {
  readonly merchants: Merchants;
  readonly banks: Banks;
  readonly jobs: JobRunner;
};

export const createPayment = endpoint({
  operation: 'createPayment',
  access: { scope: 'payments:write', tokens: ['invoice'], entity: 'invoiceID' },
  method: 'POST',
  path: '/v2/processing/invoices/{invoiceID}/payments',
  tag: 'Payments',
  summary: 'Pay an invoice',
  description:
    'Starts a payment of the whole invoice. The status is `pending` at first. Follow the events of the invoice, or read ' +
    'the payment, until it is `captured` (or `processed`, with a hold) or `failed`. If an event requests an interaction, ' +
    'redirect the payer to their bank. An invoice can have one payment in progress at a time.',
  params: InvoicePath,
  body: PaymentParams,
  bodyExample: paymentExample,
  validateBody: ({ metadata, recurrentTerms, makeRecurrent, payer }) =>
    metadataProblem(metadata ?? {}) ??
    (makeRecurrent && payer.payerType === 'CustomerPayer' ? 'Invalid payer' : undefined) ??
    (recurrentTerms && recurrentTermsProblem(recurrentTerms)) ??
    (recurrentTerms && !(makeRecurrent && payer.payerType === 'PaymentResourcePayer')
      ? validationMessage('recurrentTerms', 'no_match', 'requires makeRecurrent and a PaymentResourcePayer')
      : undefined),
  status: 201,
  response: PaymentSchema,
  errors: [
    'invoiceNotFound',
    'invalidPaymentToolToken',
    'invalidPaymentSession',
    'externalIDConflict',
    'invalidShopID',
    'invalidPartyStatus',
    'invalidShopStatus',
    'invalidProcessingDeadline',
    'invalidInvoiceStatus',
    'invoicePaymentPending',
    'operationNotPermitted',
    'invalidRecurrentParent',
    'customerNotReady',
    'recurrentStopped',
    'recurrentConsentRevoked',
    'recurrentConsentExpired',
    'recurrentCardExpired',
    'recurrentRetryWindowExpired',
    'recurrentRetryTooEarly',
    'recurrentRetryLimitReached',
    'recurrentParentStale',
  ],
  handle: async (request, deps: Deps) => {
    const { caller, params, body, now } = request;
    const deadline = deadlineOf(body.processingDeadline, now);
    if (deadline === 'unreadable') return refuse('invalidProcessingDeadline');
    // Checked before any lookup, so that a checkout token cannot find out which cards are saved.
    if ('isFor' in caller && body.payer.payerType !== 'PaymentResourcePayer')
      return refuse('operationNotPermitted', {
        message: 'This token is limited to a payer who is present. Use an API key to charge a saved card.',
      });
    const source = await cardSourceOf({ caller, payer: body.payer, now }, deps);
    if (!source.ok) return source;
    const fingerprint = fingerprintOf(params.invoiceID, body, source.value);
    const made = { command: commandOf(body, deadline), source: source.value, fingerprint };
    return createIdempotently({
      externalId: body.externalID,
      fingerprint,
      order: 'findFirst',
      find: (externalId) => findPaymentByExternalId(deps.db, caller.partyId, externalId),
      respond: async (payment) => {
        const trading = await deps.merchants.trading(payment);
        return trading.ok ? accept(paymentBody(payment, caller)) : trading;
      },
      // After a version conflict, lock the rows read, so that the next attempt succeeds.
      make: (attempt) => startPayment(request, made, source.value.needsLock ?? attempt > 0, deps),
    });
  },
});

type PaymentRequest = EndpointRequest<Static<typeof InvoicePath>, undefined, PaymentParams>;
type Command = Omit<StartPayment, 'terminal' | 'livemode' | 'fees' | 'payer'>;
type NewPayment = { readonly command: Command; readonly source: CardSource; readonly fingerprint: Buffer };

async function startPayment(request: PaymentRequest, made: NewPayment, isLocked: boolean, deps: Deps) {
  const { caller, params, now } = request;
  const { db, merchants, banks, jobs } = deps;
  const payable = await findPayableInvoice(db, caller.partyId, params.invoiceID);
  if (!payable) return refuse('invoiceNotFound');
  const shop = await merchants.trading(payable.invoice);
  if (!shop.ok) return shop;
  const mayStart = requirePayable(payable.invoice, made.command, now);
  if (!mayStart.ok) return mayStart;
  const unwanted = await unwantedByShop(shop.value, request, deps);
  if (unwanted) return refuse('operationNotPermitted', { message: unwanted });
  const terminal = await banks.terminalOf(shop.value);
  if (!terminal)
    return refuse('operationNotPermitted', {
      message: 'The shop has no terminal at a bank. Ask the operator to add one.',
    });
  const { livemode, fees } = shop.value;
  const command = { ...made.command, terminal, livemode, fees };
  const store = (on: Database) => storePayment(on, payable, { ...made, command }, isLocked, now);
  const stored = await (isLocked ? db.transaction(store) : db.withSavepoint(store));
  if (stored === 'versionConflict' || !stored.ok) return stored;
  const { payment } = stored.value.stored;
  db.afterCommit(() => jobs.run('payment', [payment.invoiceId, payment.id], now, stored.value));
  return accept(paymentBody(payment, caller));
}

/** The last check is whether the card may be charged. An invoice that changed since it was read is a version conflict. */
async function storePayment(
  db: Database,
  { invoice, version: invoiceVersion }: { readonly invoice: PayableInvoice; readonly version: number },
  made: NewPayment & { readonly command: Omit<StartPayment, 'payer'> },
  isLocked: boolean,
  now: Instant,
) {
  const taken = await made.source.pick(db, invoice, isLocked);
  if (!taken.ok) return taken;
  const { payer, withPayment } = taken.value;
  const decision = decideStart(invoice, { ...made.command, payer }, now);
  if (!decision.ok) return decision;
  const stored = await storeNewPayment(db, decision.value, {
    invoiceVersion,
    fingerprint: made.command.externalId === undefined ? null : made.fingerprint,
    claim: initialClaim(now),
    withPayment: withPayment(decision.value.terms),
  });
  if (stored === 'versionConflict') return stored;
  return stored === 'cardGone' ? refuse('invalidPaymentToolToken') : accept(stored);
}

/** The error message if the shop's own settings forbid the payment. Most payments need no lookup. */
async function unwantedByShop(
  { partyId, id: shopId }: Shop,
  { caller, body }: PaymentRequest,
  { db, recurring }: Pick<Deps, 'db' | 'recurring'>,
): Promise<string | undefined> {
  const isCharge = body.payer.payerType !== 'PaymentResourcePayer';
  if (isCharge ? caller.kind === 'apiKey' : !body.makeRecurrent) return undefined;
  const settings = await recurring.settings(db, { partyId, shopId });
  if (isCharge && settings.needsApiKey) return 'This shop accepts recurring charges only with an API key';
  if (!isCharge && settings.requireConsentEvidence && !body.recurrentTerms?.consent)
    return 'This shop saves a card only with recurrentTerms.consent. Send the consent.';
  return undefined;
}

function commandOf(body: PaymentParams, deadline: Instant | undefined): Command {
  const { metadata, externalID, recurrentTerms } = body;
  return {
    flow: flowOf(body.flow),
    makeRecurrent: body.makeRecurrent ?? false,
    ...defined({
      recurrentTerms: recurrentTerms && mandateGiven(recurrentTerms, sha256),
      deadline,
      metadata,
      externalId: externalID,
    }),
  };
}

function sha256(text: string): string {
  return hash('sha256', text);
}

/**
 * The format of X-Request-Deadline, without its upper limit. A deadline in the past is accepted here, because a repeat may
 * come later; new payments refuse it.
 */
function deadlineOf(text: string | undefined, now: Instant): Instant | 'unreadable' | undefined {
  if (text === undefined) return undefined;
  const durationMs = durationMsOf(text);
  // A longer duration ends with the last representable instant.
  if (durationMs !== undefined)
    return laterBy(now, Math.min(durationMs, epochMsOf(lastInstant) - epochMsOf(now)));
  return parseInstant(text) ?? 'unreadable';
}

function flowOf(flow: PaymentParams['flow']): StartPayment['flow'] {
  return flow?.type === 'PaymentFlowHold'
    ? { type: 'hold', onExpiration: flow.onHoldExpiration ?? 'cancel' }
    : { type: 'instant' };
}

/** Two requests are the same if these values are equal. Two tokens of one card count as the same card. */
function fingerprintOf(invoiceId: string, body: PaymentParams, { identity }: CardSource): Buffer {
  const flow = flowOf(body.flow);
  return requestFingerprint([
    invoiceId,
    flow.type,
    flow.type === 'hold' ? flow.onExpiration : null,
    body.makeRecurrent ?? false,
    ...identity,
  ]);
}
