// Webhook events of an invoice, its payments and refunds, which share one log and one queue. Each event shows the state
// right after its fact.
import { referencesOf } from '../acquiring/authorisation/domain/approval.ts';
import { merchantError, type MerchantError } from '../acquiring/authorisation/domain/payment-failure.ts';
import type { ContactInfo } from '../recurring/domain/mandate.ts';
import type { CardDetails } from '../cards/domain/card.ts';
import { filled, type WebhookEvent, type Topic } from '../platform/events/domain/topic.ts';
import { evolve as evolveInvoice, type Invoice } from '../invoices/domain/invoice.ts';
import {
  invoiceEventTypes,
  invoicePayload,
  invoiceEventType,
  cartLinePayload,
} from '../invoices/webhook-events.ts';
import { refundError } from './api/refund-schema.ts';
import { userInteractionBody } from './api/schema.ts';
import { reasonOfBank } from './domain/bank-actions.ts';
import { invoiceLogFact, type InvoiceLogFact } from './store/codec.ts';
import {
  amountOf,
  evolve,
  publicStatus,
  type Payment,
  type PaymentFact,
  type PaymentState,
} from './domain/payment.ts';
import type { Payer } from './domain/payer/payer.ts';
import { evolveRefund, type Refund } from './domain/refund.ts';
import { defined } from '../defined.ts';

type EventType = {
  readonly registeredType: string;
  /** Set if the payload's event type differs from the registered type. */
  readonly eventType?: string;
};

/** Facts without an entry are internal and produce no webhook event. */
const eventTypesOf: Partial<Record<PaymentFact['type'], EventType>> = {
  payment_started: { registeredType: 'PaymentStarted' },
  payment_interaction_requested: {
    registeredType: 'PaymentUserInteractionRequested',
    eventType: 'PaymentInteractionRequested',
  },
  payment_interaction_completed: {
    registeredType: 'PaymentUserInteractionCompleted',
    eventType: 'PaymentInteractionCompleted',
  },
  payment_processed: { registeredType: 'PaymentProcessed' },
  payment_captured: { registeredType: 'PaymentCaptured' },
  payment_cancelled: { registeredType: 'PaymentCancelled' },
  payment_refunded: { registeredType: 'PaymentRefunded' },
  payment_failed: { registeredType: 'PaymentFailed' },
  refund_started: { registeredType: 'PaymentRefundCreated', eventType: 'RefundCreated' },
  refund_succeeded: { registeredType: 'PaymentRefundSucceeded', eventType: 'RefundSucceeded' },
  refund_failed: { registeredType: 'PaymentRefundFailed', eventType: 'RefundFailed' },
  payment_capture_failed: { registeredType: 'PaymentCancelled' },
  refund_returned: { registeredType: 'PaymentRefundFailed', eventType: 'RefundFailed' },
};

/** The invoice, payments and refunds after some of the facts. */
type Snapshot = {
  readonly invoice?: Invoice;
  readonly payments: Readonly<Record<string, Payment>>;
  readonly refunds: Readonly<Record<string, Refund>>;
};

export const invoicesTopic: Topic = {
  name: 'InvoicesTopic',
  payloadTopic: 'InvoicesTopic',
  aggregate: 'invoice',
  eventTypes: [
    ...invoiceEventTypes,
    ...new Set(Object.values(eventTypesOf).map(({ registeredType }) => registeredType)),
  ],
  eventId: 'number',
  typesOf: (facts) => invoiceLogFact.known(facts).flatMap((fact) => eventTypeOf(fact)?.registeredType ?? []),
  ownersOf: ([first]) => {
    const fact = invoiceLogFact.read(first);
    if (fact.type !== 'invoice_created')
      throw new Error('The log of an invoice does not start with invoice_created.');
    return [{ id: fact.terms.shopId }];
  },
  webhookEventsOf(log) {
    const webhookEvents: WebhookEvent[] = [];
    let snapshot: Snapshot = { payments: {}, refunds: {} };
    for (const event of log) {
      let index = 0;
      for (const json of event.facts) {
        const fact = invoiceLogFact.read(json);
        snapshot = after(snapshot, fact);
        const found = eventTypeOf(fact);
        if (!found) continue;
        const { sequence, createdAt: happenedAt } = event;
        const { registeredType, eventType = registeredType } = found;
        const members = membersOf(snapshot, fact);
        webhookEvents.push({ sequence, index: index++, registeredType, eventType, happenedAt, members });
      }
    }
    return webhookEvents;
  },
};

function eventTypeOf(fact: InvoiceLogFact): EventType | undefined {
  return 'paymentId' in fact ? eventTypesOf[fact.type] : { registeredType: invoiceEventType(fact) };
}

function after(snapshot: Snapshot, fact: InvoiceLogFact): Snapshot {
  if (!('paymentId' in fact)) return { ...snapshot, invoice: evolveInvoice(snapshot.invoice, fact) };
  const { paymentId } = fact;
  const payment = evolve(snapshot.payments[paymentId], fact);
  return {
    ...snapshot,
    payments: { ...snapshot.payments, [paymentId]: payment },
    refunds: { ...snapshot.refunds, ...refundAfter(snapshot, fact, paymentId) },
  };
}

function refundAfter({ refunds }: Snapshot, fact: PaymentFact, paymentId: string): Record<string, Refund> {
  if (fact.type === 'refund_started')
    return { [`${paymentId}/${fact.refund.id}`]: { ...fact.refund, status: 'pending' } };
  if (!('refundId' in fact)) return {};
  const name = `${paymentId}/${fact.refundId}`;
  const refund = refunds[name];
  if (!refund) throw new Error(`Refund ${name} changed without having started.`);
  return { [name]: evolveRefund(refund, fact) };
}

/** The refund a fact is about. */
function refundIdIn(fact: PaymentFact): string | undefined {
  return fact.type === 'refund_started' ? fact.refund.id : 'refundId' in fact ? fact.refundId : undefined;
}

function membersOf({ invoice, payments, refunds }: Snapshot, fact: InvoiceLogFact): Record<string, unknown> {
  if (!invoice) throw new Error('A fact of the log names a missing invoice.');
  if (isAboutInteraction(fact)) return interactionMembers(invoice, fact);
  const members = { invoice: invoicePayload(invoice) };
  if (!('paymentId' in fact)) return members;
  const payment = payments[fact.paymentId];
  if (!payment) return members;
  const refund = refunds[`${payment.id}/${refundIdIn(fact)}`];
  return {
    ...members,
    payment: { ...paymentPayload(payment), ...defined({ reason: reasonOfBank(fact) }) },
    ...(refund ? { refund: refundPayload(refund) } : {}),
  };
}

type AboutInteraction = InvoiceLogFact & {
  readonly type: 'payment_interaction_requested' | 'payment_interaction_completed';
};

function isAboutInteraction(fact: InvoiceLogFact): fact is AboutInteraction {
  return fact.type === 'payment_interaction_requested' || fact.type === 'payment_interaction_completed';
}

/** As published: the names of the objects instead of the objects. */
function interactionMembers(invoice: Invoice, fact: AboutInteraction): Record<string, unknown> {
  return {
    invoiceId: invoice.id,
    paymentId: fact.paymentId,
    ...('interaction' in fact ? { userInteractionDetails: userInteractionBody(fact.interaction) } : {}),
  };
}

function paymentPayload(payment: Payment): Record<string, unknown> {
  const { payer, state } = payment;
  const { ip, fingerprint } = payer.type === 'resource' ? payer.clientInfo : {};
  const contactInfo = contactPayload(payer.contactInfo);
  return filled({
    id: payment.id,
    externalID: payment.externalId,
    createdAt: payment.createdAt,
    status: publicStatus[state.name],
    error: state.name === 'failed' ? paymentErrorPayload(state) : undefined,
    amount: Number(amountOf(payment).minor),
    currency: payment.amount.currency,
    metadata: payment.metadata ?? {},
    fee: 0, // none is known yet
    rrn: referenceIn(state),
    contactInfo,
    ip,
    fingerprint,
    payer: payerPayload(payer),
  });
}

/** No token and no session: a receiver must not be able to charge the card. */
function payerPayload(payer: Payer): Record<string, unknown> {
  const contactInfo = contactPayload(payer.contactInfo);
  if (payer.type === 'recurrent') {
    const { invoiceId, paymentId } = payer.parent;
    const recurrentParentPayment = { invoiceID: invoiceId, paymentID: paymentId };
    return { payerType: 'RecurrentPayer', recurrentParentPayment, contactInfo };
  }
  if (payer.type === 'customer') return { payerType: 'CustomerPayer', customerID: payer.customerId };
  const { ip, fingerprint } = payer.clientInfo;
  const clientInfo = filled({ ip, fingerprint });
  if (payer.savedBy)
    return { payerType: 'CustomerPayer', customerID: payer.savedBy.customerId, present: true, clientInfo };
  const paymentToolDetails = cardPayload(payer.card);
  return { payerType: 'PaymentResourcePayer', paymentToolDetails, clientInfo, contactInfo };
}

/** Only email and phone number. */
export function contactPayload({ email, phoneNumber }: ContactInfo): Record<string, unknown> {
  return filled({ email, phoneNumber });
}

export function cardPayload({ bin, lastDigits, paymentSystem }: CardDetails): Record<string, unknown> {
  return {
    detailsType: 'PaymentToolDetailsBankCard',
    bin,
    lastDigits,
    // Six stars, whatever the length of the number.
    cardNumberMask: `${bin}******${lastDigits}`,
    paymentSystem,
  };
}

function referenceIn(state: PaymentState): string | undefined {
  return 'approval' in state && state.approval ? referencesOf(state.approval).rrn : undefined;
}

function refundPayload(refund: Refund): Record<string, unknown> {
  const { id, createdAt, status, amount, reason, cart, waitsUntil, rrn, arn } = refund;
  return filled({
    id,
    createdAt,
    status,
    error: status === 'failed' ? refundError(refund) : undefined,
    amount: Number(amount.minor),
    currency: amount.currency,
    reason,
    waitsUntil,
    rrn,
    arn,
    cart: cart?.map(cartLinePayload),
  });
}

function paymentErrorPayload({ failure, declineClass, bank }: PaymentState & { name: 'failed' }) {
  return { ...errorPayload(merchantError(failure)), ...defined({ declineClass, bank }) };
}

function errorPayload(error: MerchantError): Record<string, unknown> {
  return { code: error.code, message: error.code, ...(error.subError ? { subError: error.subError } : {}) };
}
