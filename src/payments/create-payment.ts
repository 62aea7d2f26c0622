// POST …/payments: a payer is present with a card. The payment is written and answered; the bank is asked afterwards, and
// what comes of it is read from the payment or from the invoice's events.
import { createHash } from 'node:crypto';
import { epochMsOf, laterBy, parseInstant, type Instant } from '../clock.ts';
import type { PaymentResource } from '../cards/payment-resource.ts';
import { bornClaimed } from '../engine/engine.ts';
import { isNameTaken } from '../database/database.ts';
import { endpoint } from '../http/endpoint.ts';
import { metadataProblem } from '../http/schemas.ts';
import { InvoicePath } from '../invoices/invoice.wire.ts';
import { requireTrading } from '../merchants/party.ts';
import { accept, refuse } from '../refusal.ts';
import { decideStart, type StartPayment } from './payment.commands.ts';
import { findPayableInvoice, findPaymentNamed, storeNewPayment } from './payment.store.ts';
import { paymentBody, paymentExample, PaymentParams, PaymentSchema } from './payment.wire.ts';

const tries = 10;

export const createPayment = endpoint({
  operation: 'createPayment',
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
  bodyProblem: ({ metadata }) => metadataProblem(metadata ?? {}),
  status: 201,
  answer: PaymentSchema,
  refusals: [
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
  ],
  handle: async ({ caller, params, body, now }, service) => {
    const deadline = deadlineOf(body.processingDeadline, now);
    if (deadline === 'unreadable') return refuse('invalidProcessingDeadline');

    const { db, merchants, cards, banks, engine } = service;
    const { payer } = body;
    const handles = {
      token: payer.paymentToolToken,
      ...(payer.paymentSession === undefined ? {} : { session: payer.paymentSession }),
    };
    const resource = await cards.use(db, caller, handles, now);
    if (!resource.ok) return resource;
    const fingerprint = fingerprintOf(params.invoiceID, body, resource.value);

    const command: Omit<StartPayment, 'terminal' | 'realm' | 'fees'> = {
      flow: flowOf(body.flow),
      payer: payerOf(payer, resource.value),
      makeRecurrent: body.makeRecurrent ?? false,
      ...(deadline === undefined ? {} : { deadline }),
      ...(body.metadata === undefined ? {} : { metadata: body.metadata }),
      ...(body.externalID === undefined ? {} : { externalId: body.externalID }),
    };
    for (let attempt = 0; attempt < tries; attempt++) {
      const started = await start();
      if (started === 'invoice has moved') continue;
      if (started.ok) return started;
      // A repeated request is answered before any other rule: the invoice may be busy, or paid, by that very payment.
      const repeated = await answerToRepeat();
      return repeated ?? started;
    }
    throw new Error(`invoice ${params.invoiceID} was changed by others ${tries} times in a row`);

    async function start() {
      const earlier = await answerToRepeat();
      if (earlier) return earlier;
      const payable = await findPayableInvoice(db, caller.partyId, params.invoiceID);
      const party = await merchants.party(caller.partyId);
      if (!payable || !party) return refuse('invoiceNotFound');
      const shop = requireTrading(party, await merchants.shop(party.id, payable.invoice.shopId));
      if (!shop.ok) return shop;
      const terminal = await banks.terminalOf(shop.value);
      if (!terminal) return refuse('operationNotPermitted', { message: 'No bank takes cards for this shop' });
      const { realm, fees } = shop.value;
      const decision = decideStart(payable.invoice, { ...command, terminal, realm, fees }, now);
      if (!decision.ok) return decision;
      // From here on the payment is made, unless the invoice has moved or the name was taken meanwhile.
      const { terms } = decision.value;
      const stored = await db
        .transaction(async (tx) => {
          if (!(await cards.keep(tx, caller.partyId, handles.token))) return 'expired';
          return storeNewPayment(tx, decision.value, {
            invoiceVersion: payable.version,
            fingerprint: body.externalID === undefined ? null : fingerprint,
            claim: bornClaimed(now),
          });
        })
        .catch((error: unknown) => {
          if (isNameTaken(error)) return false;
          throw error;
        });
      if (stored === 'expired') return refuse('invalidPaymentToolToken');
      if (!stored) return 'invoice has moved';
      db.afterCommit(() => engine.run('payment', [terms.invoiceId, terms.id], now));
      return accept(paymentBody({ ...terms, state: { name: 'authorising' } }, caller));
    }

    async function answerToRepeat() {
      if (body.externalID === undefined) return undefined;
      const earlier = await findPaymentNamed(db, caller.partyId, body.externalID);
      if (!earlier) return undefined;
      if (earlier.fingerprint.equals(fingerprint)) return accept(paymentBody(earlier.payment, caller));
      const details = { externalID: body.externalID, id: earlier.payment.id };
      return refuse('externalIDConflict', { details });
    }
  },
});

/** Like X-Request-Deadline, but of the payment, and not bounded. */
function deadlineOf(text: string | undefined, now: Instant): Instant | 'unreadable' | undefined {
  if (text === undefined) return undefined;
  const [, number, unit] = /^(\d{1,7}(?:\.\d{1,9})?)(ms|s|m)$/.exec(text) ?? [];
  if (unit) return laterBy(now, Number(number) * { ms: 1, s: 1_000, m: 60_000 }[unit as 'ms' | 's' | 'm']);
  const instant = parseInstant(text);
  return instant !== undefined && epochMsOf(instant) > epochMsOf(now) ? instant : 'unreadable';
}

function flowOf(flow: PaymentParams['flow']): StartPayment['flow'] {
  return flow?.type === 'PaymentFlowHold'
    ? { type: 'hold', onExpiration: flow.onHoldExpiration ?? 'cancel' }
    : { type: 'instant' };
}

function payerOf(payer: PaymentParams['payer'], resource: PaymentResource): StartPayment['payer'] {
  const redirectUrl = payer.sessionInfo?.redirectUrl;
  return {
    type: 'resource',
    token: resource.token,
    session: resource.session,
    card: resource.card,
    clientInfo: resource.clientInfo,
    contactInfo: payer.contactInfo,
    ...(redirectUrl === undefined ? {} : { redirectUrl }),
  };
}

/** What makes two requests the same request: the same card in another token is still the same card. */
function fingerprintOf(invoiceId: string, body: PaymentParams, resource: PaymentResource): Buffer {
  const flow = flowOf(body.flow);
  const significant = [
    invoiceId,
    flow.type,
    flow.type === 'hold' ? flow.onExpiration : null,
    body.makeRecurrent ?? false,
    body.payer.payerType,
    resource.identityHash.toString('hex'),
  ];
  return createHash('sha256').update(JSON.stringify(significant)).digest();
}
