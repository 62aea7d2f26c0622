// POST …/payments: a payer with a card, or a charge without him. The payment is written and answered; the bank is asked
// afterwards, and what comes of it is read from the payment or from the invoice's events.
import { hash } from 'node:crypto';
import { epochMsOf, lastInstant, laterBy, parseInstant, type Instant } from '../../clock.ts';
import { initialClaim, type JobRunner } from '../../platform/jobs/job-runner.ts';
import { isVersionConflict, isNameTaken, type Database } from '../../platform/database/database.ts';
import { durationMsOf } from '../../platform/http/request-deadline.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { metadataProblem } from '../../platform/http/schemas.ts';
import { validationMessage } from '../../platform/http/errors/validate.ts';
import { InvoicePath } from '../../invoices/api/schema.ts';
import type { Shop } from '../../merchants/domain/party.ts';
import { mandateGiven, recurrentTermsProblem } from '../../recurring/api/schema.ts';
import { accept, refuse } from '../../refusal.ts';
import { sourceOf, type CardSource, type CardSourceDeps } from '../card-source.ts';
import { decideStart, requirePayable, type StartPayment } from '../domain/commands.ts';
import { findPayableInvoice, findPaymentNamed, storeNewPayment } from '../store/payments.ts';
import { paymentBody, paymentExample, PaymentParams, PaymentSchema } from './schema.ts';
import { defined } from '../../defined.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Banks } from '../../acquiring/banks.ts';

type Deps = CardSourceDeps & {
  readonly merchants: Merchants;
  readonly banks: Banks;
  readonly jobs: JobRunner;
};

const tries = 10;

export const createPayment = endpoint({
  operation: 'createPayment',
  access: { scope: 'payments:write', tokens: ['invoice'], entity: 'invoiceID' },
  method: 'POST',
  path: '/v2/processing/invoices/{invoiceID}/payments',
  tag: 'Payments',
  summary: 'Pay an invoice',
  description:
    'Starts a payment of the whole invoice with a tokenized card. The answer is `pending`; follow the events of the ' +
    'invoice, or read the payment, until it is `captured` (or `processed`, with a hold) or `failed`. When an event asks for ' +
    'an interaction, the payer has to authenticate with his bank. One payment of an invoice can be in progress at a time.',
  params: InvoicePath,
  body: PaymentParams,
  bodyExample: paymentExample,
  validateBody: ({ metadata, recurrentTerms, makeRecurrent, payer }) =>
    metadataProblem(metadata ?? {}) ??
    (makeRecurrent && payer.payerType === 'CustomerPayer' ? 'Invalid payer' : undefined) ??
    (recurrentTerms && recurrentTermsProblem(recurrentTerms)) ??
    (recurrentTerms && !(makeRecurrent && payer.payerType === 'PaymentResourcePayer')
      ? validationMessage('recurrentTerms', 'no_match', 'goes with makeRecurrent and a payer who is present')
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
  handle: async ({ caller, params, body, now }, deps: Deps) => {
    const deadline = deadlineOf(body.processingDeadline, now);
    if (deadline === 'unreadable') return refuse('invalidProcessingDeadline');
    // Before anything is looked for: it is not to learn which cards were kept either.
    if ('isFor' in caller && body.payer.payerType !== 'PaymentResourcePayer')
      return refuse('operationNotPermitted', { message: 'This token is for a payer who is present' });

    const { db, merchants, banks, recurring, jobs } = deps;
    const source = await sourceOf({ caller, payer: body.payer, now }, deps);
    if (!source.ok) return source;
    const payerSource = source.value;
    const fingerprint = fingerprintOf(params.invoiceID, body, payerSource);

    const command: Omit<StartPayment, 'terminal' | 'livemode' | 'fees' | 'payer'> = {
      flow: flowOf(body.flow),
      makeRecurrent: body.makeRecurrent ?? false,
      ...(body.recurrentTerms === undefined
        ? {}
        : { recurrentTerms: mandateGiven(body.recurrentTerms, sha256) }),
      ...defined({ deadline, metadata: body.metadata, externalId: body.externalID }),
    };
    for (let attempt = 0; attempt < tries; attempt++) {
      // Who has found once that others are at it holds what it is about, so that it is his turn in the end.
      const started = await start(payerSource.needsLock ?? attempt > 0);
      if (started === 'invoice has moved') continue;
      if (started.ok) return started;
      // A repeated request is answered before the rules of payments: the invoice may be busy, or paid, by that very one.
      const repeated = await answerToRepeat();
      return repeated ?? started;
    }
    throw new Error(`invoice ${params.invoiceID} was changed by others ${tries} times in a row`);

    async function start(isLocked: boolean) {
      const earlier = await answerToRepeat();
      if (earlier) return earlier;
      const payable = await findPayableInvoice(db, caller.partyId, params.invoiceID);
      if (!payable) return refuse('invoiceNotFound');
      const shop = await merchants.trading(payable.invoice);
      if (!shop.ok) return shop;
      const { livemode, fees } = shop.value;
      const { invoice, version: invoiceVersion } = payable;
      const mayStart = requirePayable(invoice, command, now);
      if (!mayStart.ok) return mayStart;
      const unwanted = await unwantedByShop(shop.value);
      if (unwanted) return refuse('operationNotPermitted', { message: unwanted });
      const terminal = await banks.terminalOf(shop.value);
      if (!terminal) return refuse('operationNotPermitted', { message: 'No bank takes cards for this shop' });
      // From here on the payment is made, if its card may be charged, unless the invoice has moved or the name was taken.
      const make = async (on: Database) => {
        const taken = await payerSource.take(on, invoice, isLocked);
        if (!taken.ok) return taken;
        const { payer, withPayment } = taken.value;
        const decision = decideStart(invoice, { ...command, payer, terminal, livemode, fees }, now);
        if (!decision.ok) return decision;
        const stored = await storeNewPayment(on, decision.value, {
          invoiceVersion,
          fingerprint: body.externalID === undefined ? null : fingerprint,
          claim: initialClaim(now),
          withPayment: withPayment(decision.value.terms),
        });
        if (stored === 'moved') return 'invoice has moved';
        return stored === 'card gone' ? refuse('invalidPaymentToolToken') : accept(stored);
      };
      const made = await (isLocked ? db.transaction(make) : db.withSavepoint(make)).catch(
        (error: unknown) => {
          if (isNameTaken(error) || isVersionConflict(error)) return 'invoice has moved' as const;
          throw error;
        },
      );
      if (made === 'invoice has moved' || !made.ok) return made;
      const { payment } = made.value.stored;
      db.afterCommit(() => jobs.run('payment', [payment.invoiceId, payment.id], now, made.value));
      return accept(paymentBody(payment, caller));
    }

    /** What the shop has forbidden itself. Most payments need not ask. */
    async function unwantedByShop({ partyId, id: shopId }: Shop): Promise<string | undefined> {
      const isCharge = body.payer.payerType !== 'PaymentResourcePayer';
      if (isCharge ? caller.kind === 'apiKey' : !command.makeRecurrent) return undefined;
      const settings = await recurring.settings(db, { partyId, shopId });
      if (isCharge && settings.needsApiKey) return 'The shop charges without the payer by API key alone';
      if (!isCharge && settings.requireConsentEvidence && !body.recurrentTerms?.consent)
        return 'The shop stores no card without the consent in recurrentTerms';
      return undefined;
    }

    /** In this order: is it another request, may the shop trade, and then what there is. */
    async function answerToRepeat() {
      if (body.externalID === undefined) return undefined;
      const earlier = await findPaymentNamed(db, caller.partyId, body.externalID);
      if (!earlier) return undefined;
      const { payment } = earlier;
      if (!earlier.fingerprint.equals(fingerprint))
        return refuse('externalIDConflict', { details: { externalID: body.externalID, id: payment.id } });
      const shop = await merchants.trading(payment);
      return shop.ok ? accept(paymentBody(payment, caller)) : shop;
    }
  },
});

function sha256(text: string): string {
  return hash('sha256', text);
}

/**
 * Like X-Request-Deadline, but of the payment, and not bounded. It may have passed: a repeat is answered as long after its deadline
 * as one likes, and what is new is refused by the rules of payments.
 */
function deadlineOf(text: string | undefined, now: Instant): Instant | 'unreadable' | undefined {
  if (text === undefined) return undefined;
  const durationMs = durationMsOf(text);
  // What is longer than there are years ends with them.
  if (durationMs !== undefined)
    return laterBy(now, Math.min(durationMs, epochMsOf(lastInstant) - epochMsOf(now)));
  return parseInstant(text) ?? 'unreadable';
}

function flowOf(flow: PaymentParams['flow']): StartPayment['flow'] {
  return flow?.type === 'PaymentFlowHold'
    ? { type: 'hold', onExpiration: flow.onHoldExpiration ?? 'cancel' }
    : { type: 'instant' };
}

/** What makes two requests the same request: the same card in another token is still the same card. */
function fingerprintOf(invoiceId: string, body: PaymentParams, { identity }: CardSource): Buffer {
  const flow = flowOf(body.flow);
  const significant = [
    invoiceId,
    flow.type,
    flow.type === 'hold' ? flow.onExpiration : null,
    body.makeRecurrent ?? false,
    ...identity,
  ];
  return hash('sha256', JSON.stringify(significant), 'buffer');
}
