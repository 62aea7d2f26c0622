// POST …/payments: starts a payment with a card, or a recurring charge. The response does not wait for the bank.
import { chargeRefusals } from '../../retry-rules/domain/may-charge.ts';
import { hash } from 'node:crypto';
import type { Static } from 'typebox';
import { epochMsOf, lastInstant, laterBy, parseInstant, type Instant } from '../../clock.ts';
import { initialClaim, type JobRunner } from '../../platform/jobs/job-runner.ts';
import { allOrNothing } from '../../platform/database/all-or-nothing.ts';
import type { Database } from '../../platform/database/database.ts';
import type { AccessTokens } from '../../platform/keys/access-token.ts';
import { durationMsOf } from '../../platform/http/request/request-deadline.ts';
import { withSince } from '../../platform/events/since.ts';
import { endpoint, type EndpointRequest } from '../../platform/http/endpoint.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import { metadataProblem } from '../../platform/http/schemas.ts';
import { validationMessage } from '../../platform/http/errors/validate.ts';
import { InvoicePath } from '../../invoices/api/schema.ts';
import type { Shop } from '../../merchants/domain/party.ts';
import { areSameTerms, mandateGiven, recurrentTermsProblem } from '../../recurring/api/schema.ts';
import { consentWarnings } from '../../recurring/domain/mandate.ts';
import { accept, refuse, type Outcome, type Warning } from '../../refusal.ts';
import {
  cardSourceOf,
  identityOf,
  presentCardOf,
  selectCard,
  withPaymentOf,
  type CardSource,
  type CardSourceDeps,
  type SelectedCard,
} from '../card-source.ts';
import {
  recurrenceOf,
  requirePayable,
  startedBy,
  type PayableInvoice,
  type Recurrence,
  type StartPayment,
} from '../domain/commands.ts';
import type { NewPayment as WrittenPayment } from '../store/payments.ts';
import { findPayableInvoice, findPaymentByExternalId, storeNewPayment } from '../store/payments.ts';
import type { Payer } from '../domain/payer/payer.ts';
import { keptWish, wantedCharge, type KeptWish } from '../domain/authentication/three-d-secure.ts';
import type { CardDetails } from '../../cards/domain/card.ts';
import { kept, requireUsable } from './authenticated-elsewhere.ts';
import { paymentOutcome } from './outcomes.ts';
import {
  customerProof,
  needsPresentPayer,
  ofMerchant,
  presenceProblem,
  staleToken,
} from './payer-present.ts';
import {
  paymentBody,
  paymentExample,
  PaymentParams,
  PaymentSchema,
  returnAddressProblem,
  unlistedReturn,
} from './schema.ts';
import { mayReturn } from '../../merchants/domain/return-address.ts';
import { defined } from '../../defined.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Banks } from '../../acquiring/banks.ts';
import type { Terminal } from '../../acquiring/domain/bank-port.ts';

export type StartPaymentDeps = CardSourceDeps & {
  readonly merchants: Merchants;
  readonly banks: Banks;
  readonly jobs: Pick<JobRunner<{ payment: WrittenPayment }>, 'run'>;
  readonly publicUrl: () => string;
  readonly tokens: Pick<AccessTokens, 'verify'>;
};

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
    const made = { command: commandOf(body, deadline), source: source.value, fingerprint };
    return createIdempotently({
      externalId: body.externalID,
      fingerprint,
      order: 'findFirst',
      find: (externalId) => findPaymentByExternalId(deps.db, caller.partyId, externalId),
      respond: async (payment) => {
        // An invoice that asks for a saved card has no payment that saves none.
        const payable = payment.makeRecurrent
          ? await findPayableInvoice(deps.db, caller.partyId, params.invoiceID)
          : undefined;
        const { recurrentTerms } = recurrenceFor(request, made.command, payable?.invoice);
        if (!areSameTerms(payment.recurrentTerms, recurrentTerms)) return 'otherRequest';
        const trading = await deps.merchants.trading(payment);
        return trading.ok ? accept(paymentBody(payment, caller)) : trading;
      },
      // After a version conflict, lock the rows read, so that the next attempt succeeds.
      make: async (attempt) =>
        proof.value === 'stale'
          ? staleToken
          : startPayment(request, made, needsTransaction(request, source.value) || attempt > 0, deps),
    });
  },
});

/**
 * The choice of a customer's card is only valid in the transaction that creates the payment. The copy of a saved card with its code, and
 * the value of an authentication, must not outlive a refusal.
 */
function needsTransaction({ body }: PaymentRequest, { from }: CardSource): boolean {
  return from === 'customer' || from === 'savedCard' || body.authenticated !== undefined;
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

const needsSavedCard = (where: string) =>
  validationMessage(
    `${where}recurrentTerms`,
    'no_match',
    'requires makeRecurrent and a PaymentResourcePayer',
  );

/** Checks that need to know what the invoice says. A card that is saved is always authenticated. */
function recurrenceProblem(
  { recurrentTerms, threeDSecure, exemption, authenticated }: PaymentParams,
  { makeRecurrent }: Recurrence,
): string | undefined {
  if (recurrentTerms && !makeRecurrent) return needsSavedCard('');
  if (!makeRecurrent) return undefined;
  if (authenticated?.status === 'A')
    return validationMessage('authenticated.status', 'no_match', 'must be Y with makeRecurrent');
  if (exemption !== undefined)
    return validationMessage('exemption', 'no_match', 'must not be sent with makeRecurrent');
  if (threeDSecure !== 'never') return undefined;
  return validationMessage('threeDSecure', 'no_match', 'must not be never with makeRecurrent');
}

/** What the request of a payment means for its invoice. Charges without a payer follow their own request. */
function recurrenceFor(
  { caller, body }: PaymentAsked,
  command: Recurrence,
  invoice: Pick<PayableInvoice, 'recurring'> = {},
): Recurrence {
  const isEntered = body.payer.payerType === 'PaymentResourcePayer';
  return isEntered ? recurrenceOf(command, invoice, caller.kind === 'apiKey') : command;
}

type PaymentRequest = EndpointRequest<Static<typeof InvoicePath>, undefined, PaymentParams>;
/** What a payment follows from, also without a request. */
type PaymentAsked = Pick<PaymentRequest, 'caller' | 'body' | 'now'>;
/** How long a hold lasts is known with its terminal and card. */
type WantedFlow = { readonly type: 'instant' } | Omit<StartPayment['flow'] & { type: 'hold' }, 'days'>;
type Command = Omit<
  StartPayment,
  'terminal' | 'livemode' | 'fees' | 'payer' | 'flow' | keyof KeptWish | 'authenticated'
> & {
  readonly flow: WantedFlow;
};
type NewPayment = {
  readonly command: Command;
  readonly source: CardSource;
  readonly fingerprint: Buffer;
  /** What the names of members begin with in messages. */
  readonly where?: string;
};

async function startPayment(
  request: PaymentRequest,
  made: NewPayment,
  isLocked: boolean,
  deps: StartPaymentDeps,
) {
  const payable = await findPayableInvoice(deps.db, request.caller.partyId, request.params.invoiceID);
  return payable ? startPaymentOf(payable, request, made, isLocked, deps) : refuse('invoiceNotFound');
}

/** With `isLocked`, in a transaction that the rows it reads stay locked for. */
export async function startPaymentOf(
  payable: NonNullable<Awaited<ReturnType<typeof findPayableInvoice>>>,
  request: PaymentAsked,
  made: NewPayment,
  isLocked: boolean,
  deps: StartPaymentDeps,
) {
  const { caller, now } = request;
  const { db, merchants, banks, jobs } = deps;
  const recurrence = recurrenceFor(request, made.command, payable.invoice);
  const problem = recurrenceProblem(request.body, recurrence);
  if (problem !== undefined) return refuse('invalidRequest', { message: problem });
  const shop = await merchants.trading(payable.invoice);
  if (!shop.ok) return shop;
  const { redirectUrl } = request.body.payer.sessionInfo ?? {};
  if (!mayReturn(redirectUrl, shop.value.origins, [deps.publicUrl()]))
    return unlistedReturn(`${made.where ?? ''}payer.`);
  const mayStart = requirePayable(payable.invoice, made.command, now);
  if (!mayStart.ok) return withSince(db, mayStart, payable.invoice.id);
  const allowed = await allowedByShop(shop.value, request, recurrence, deps);
  if (!allowed.ok) return allowed;
  const presentCard = await presentCardOf(made.source, deps, payable.invoice);
  if (!presentCard.ok) return presentCard;
  const present = presentCard.value;
  const refused =
    present && (await deps.payerAttempts.refusalBefore(payable.invoice, present, payable.payerAttempts));
  if (refused) return refused;
  const fits = present && (await requireUsable(db, request, payable.invoice, present));
  if (fits && !fits.ok) return fits;
  const wished = present ? await wishOf(shop.value, request, present, deps) : accept({});
  if (!wished.ok) return wished;
  const wish = wished.value;
  const { currency } = payable.invoice.amount;
  const by = present ? 'payer' : 'merchant';
  const { authenticated } = request.body;
  const { livemode, fees } = shop.value;
  const command = { ...made.command, ...recurrence, ...wish, livemode, fees };
  const terminalFor = (network: string, payer: Payer) => {
    const wanted = wantedCharge({ ...command, authenticated, by, currency, network, payer });
    return present ? banks.terminalFor(shop.value, wanted) : banks.terminalOfCharge(shop.value, wanted, now);
  };
  const making = { ...made, command, terminalFor };
  const store = (on: Database) => storePayment(on, payable, making, deps, isLocked, request);
  const stored = await (isLocked ? allOrNothing(db, store) : db.withSavepoint(store));
  if (stored === 'versionConflict' || !stored.ok) return stored;
  const { payment } = stored.value.stored;
  db.afterCommit(() => jobs.run('payment', [payment.invoiceId, payment.id], now, stored.value));
  return accept(paymentBody(payment, caller), allowed.value);
}

/** An invoice that changed since it was read is a version conflict. */
async function storePayment(
  db: Database,
  { invoice, version: invoiceVersion }: { readonly invoice: PayableInvoice; readonly version: number },
  made: NewPayment & {
    readonly command: Command & Pick<StartPayment, 'livemode' | 'fees' | keyof KeptWish>;
    readonly terminalFor: (network: string, payer: Payer) => ReturnType<Banks['terminalFor']>;
  },
  deps: StartPaymentDeps,
  isLocked: boolean,
  { body, now }: PaymentAsked,
) {
  const selected = await selectCard(made.source, { ...deps, db }, invoice, isLocked);
  if (!selected.ok) return selected;
  const { payer, paymentSystem } = selected.value;
  const terminal = await made.terminalFor(paymentSystem, payer);
  if (!terminal.ok) return terminal;
  const routed = { ...made.command, terminal: terminal.value };
  const flow = await flowWithDays(invoice, routed, selected.value, deps.banks);
  const authenticated = await kept(deps.cards, db, body.authenticated, { partyId: invoice.partyId, payer });
  const started = startedBy({ ...routed, ...defined({ authenticated }), flow, payer }, invoice, now);
  const stored = await storeNewPayment(db, started, {
    invoiceVersion,
    fingerprint: made.command.externalId === undefined ? null : made.fingerprint,
    claim: initialClaim(now),
    withPayment: withPaymentOf(selected.value, started.terms, deps),
  });
  if (stored === 'versionConflict') return stored;
  return 'why' in stored ? deps.payerAttempts.refusalOf(db, stored) : accept(stored);
}

async function wishOf(
  shop: Shop,
  { body }: PaymentAsked,
  card: CardDetails,
  { payerAttempts }: StartPaymentDeps,
): Promise<Outcome<KeptWish, 'authenticationMismatch'>> {
  const { partyId, id: shopId, threeDSecure } = shop;
  const isChallenged = await payerAttempts.isChallenged({ partyId, shopId }, card);
  const { threeDSecure: request, exemption } = body;
  const wish = keptWish({ request, exemption, shop: threeDSecure, isChallenged });
  if (!body.authenticated) return accept(wish);
  // An attempt may shift the liability, and does not show who the payer is.
  if (wish.threeDSecure === 'always' && body.authenticated.status === 'A')
    return refuse('authenticationMismatch', {
      hint: 'The shop charges only payers who are authenticated. Send a result with status Y.',
    });
  return accept({});
}

async function flowWithDays(
  shop: PayableInvoice,
  { flow, terminal }: { readonly flow: WantedFlow; readonly terminal: Terminal },
  { payer, paymentSystem }: SelectedCard,
  banks: Banks,
): Promise<StartPayment['flow']> {
  if (flow.type !== 'hold') return flow;
  const initiation = payer.type === 'resource' ? 'payerPresent' : 'withoutPayer';
  return { ...flow, days: await banks.holdDays(shop, terminal, paymentSystem, initiation) };
}

/** What the shop's own settings say: a refusal, or warnings about the consent. Most payments need no lookup. */
async function allowedByShop(
  { partyId, id: shopId }: Shop,
  { caller, body }: PaymentAsked,
  { makeRecurrent, recurrentTerms }: Recurrence,
  { db, consents }: Pick<StartPaymentDeps, 'db' | 'consents'>,
): Promise<Outcome<Warning[], 'operationNotPermitted'>> {
  const { payer } = body;
  // The customer's own token was checked: that is no charge without the payer.
  if (payer.payerType === 'CustomerPayer' && payer.customerAccessToken !== undefined) return accept([]);
  const isCharge = payer.payerType !== 'PaymentResourcePayer';
  if (isCharge ? caller.kind === 'apiKey' : !makeRecurrent) return accept([]);
  const settings = await consents.settings(db, { partyId, shopId });
  if (isCharge && settings.needsApiKey)
    return refuse('operationNotPermitted', {
      message: 'This shop accepts recurring charges only with an API key',
    });
  if (isCharge) return accept([]);
  if (settings.requireConsentEvidence && !recurrentTerms?.consent)
    return refuse('operationNotPermitted', {
      message: 'This shop saves a card only with recurrentTerms.consent. Send the consent.',
    });
  return accept(consentWarnings(recurrentTerms, settings.terms));
}

export function commandOf(body: PaymentParams, deadline: Instant | undefined): Command {
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
export function deadlineOf(text: string | undefined, now: Instant): Instant | 'unreadable' | undefined {
  if (text === undefined) return undefined;
  const durationMs = durationMsOf(text);
  // A longer duration ends with the last representable instant.
  if (durationMs !== undefined)
    return laterBy(now, Math.min(durationMs, epochMsOf(lastInstant) - epochMsOf(now)));
  return parseInstant(text) ?? 'unreadable';
}

function flowOf(flow: PaymentParams['flow']): WantedFlow {
  return flow?.type === 'PaymentFlowHold'
    ? { type: 'hold', onExpiration: flow.onHoldExpiration ?? 'cancel' }
    : { type: 'instant' };
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
