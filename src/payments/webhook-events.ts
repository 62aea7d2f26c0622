// Webhook events of an invoice, its payments and refunds, which share one log and one queue. Each event shows the state
// right after its fact.
import type { ContactInfo } from '../recurring/domain/mandate.ts';
import type { CardDetails } from '../cards/domain/card.ts';
import { filled, hasMembers, type WebhookEvent, type Topic } from '../platform/events/domain/topic.ts';
import { evolve as evolveInvoice, type Invoice } from '../invoices/domain/invoice.ts';
import {
  invoiceEventTypes,
  invoicePayload,
  invoiceEventType,
  cartLinePayload,
} from '../invoices/webhook-events.ts';
import { merchantError, type MerchantError } from './domain/payment-failure.ts';
import { invoiceLogFact, type InvoiceLogFact } from './store/codec.ts';
import {
  amountOf,
  evolve,
  publicStatus,
  type Payer,
  type Payment,
  type PaymentFact,
  type PaymentState,
} from './domain/payment.ts';
import type { Refund } from './domain/refund.ts';

type EventType = {
  readonly registeredType: string;
  /** Set if the payload's event type differs from the registered type. */
  readonly eventType?: string;
};

/** Facts without an entry are internal and produce no webhook event. */
const eventTypesOf: Partial<Record<PaymentFact['type'], EventType>> = {
  payment_started: { registeredType: 'PaymentStarted' },
  payment_processed: { registeredType: 'PaymentProcessed' },
  payment_captured: { registeredType: 'PaymentCaptured' },
  payment_cancelled: { registeredType: 'PaymentCancelled' },
  payment_refunded: { registeredType: 'PaymentRefunded' },
  payment_failed: { registeredType: 'PaymentFailed' },
  refund_started: { registeredType: 'PaymentRefundCreated', eventType: 'RefundCreated' },
  refund_succeeded: { registeredType: 'PaymentRefundSucceeded', eventType: 'RefundSucceeded' },
  refund_failed: { registeredType: 'PaymentRefundFailed', eventType: 'RefundFailed' },
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
    ...Object.values(eventTypesOf).map(({ registeredType }) => registeredType),
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
  if (fact.type !== 'refund_succeeded' && fact.type !== 'refund_failed') return {};
  const name = `${paymentId}/${fact.refundId}`;
  const refund = refunds[name];
  if (!refund) throw new Error(`Refund ${name} ended without having started.`);
  return {
    [name]:
      fact.type === 'refund_failed'
        ? { ...refund, status: 'failed', failure: fact.failure }
        : { ...refund, status: 'succeeded' },
  };
}

/** The refund a fact is about. */
function refundIdIn(fact: PaymentFact): string | undefined {
  return fact.type === 'refund_started' ? fact.refund.id : 'refundId' in fact ? fact.refundId : undefined;
}

function membersOf({ invoice, payments, refunds }: Snapshot, fact: InvoiceLogFact): Record<string, unknown> {
  if (!invoice) throw new Error('A fact of the log names a missing invoice.');
  const members = { invoice: invoicePayload(invoice) };
  if (!('paymentId' in fact)) return members;
  const payment = payments[fact.paymentId];
  if (!payment) return members;
  const refund = refunds[`${payment.id}/${refundIdIn(fact)}`];
  return {
    ...members,
    payment: paymentPayload(payment),
    ...(refund ? { refund: refundPayload(refund) } : {}),
  };
}

function paymentPayload(payment: Payment): Record<string, unknown> {
  const { payer, state } = payment;
  const { ip, fingerprint } = payer.type === 'resource' ? payer.clientInfo : {};
  const contactInfo = contactInNotice(payer.contactInfo);
  return filled({
    id: payment.id,
    createdAt: payment.createdAt,
    status: publicStatus[state.name],
    error: state.name === 'failed' ? errorPayload(merchantError(state.failure)) : undefined,
    amount: Number(amountOf(payment).minor),
    currency: payment.amount.currency,
    metadata: hasMembers(payment.metadata) ? payment.metadata : undefined,
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
  const contactInfo = contactInNotice(payer.contactInfo);
  if (payer.type === 'recurrent') {
    const { invoiceId, paymentId } = payer.parent;
    const recurrentParentPayment = { invoiceID: invoiceId, paymentID: paymentId };
    return { payerType: 'RecurrentPayer', recurrentParentPayment, contactInfo };
  }
  if (payer.type === 'customer') return { payerType: 'CustomerPayer', customerID: payer.customerId };
  const { ip, fingerprint } = payer.clientInfo;
  return {
    payerType: 'PaymentResourcePayer',
    paymentToolDetails: cardInNotice(payer.card),
    clientInfo: filled({ ip, fingerprint }),
    contactInfo,
  };
}

/** Only email and phone number. */
export function contactInNotice({ email, phoneNumber }: ContactInfo): Record<string, unknown> {
  return filled({ email, phoneNumber });
}

export function cardInNotice({ bin, lastDigits, paymentSystem }: CardDetails): Record<string, unknown> {
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
  return 'approval' in state ? state.approval.reference : undefined;
}

function refundPayload(refund: Refund): Record<string, unknown> {
  const { id, createdAt, status, amount, reason, cart } = refund;
  return filled({
    id,
    createdAt,
    status,
    error: status === 'failed' ? { code: refund.failure[0], message: refund.failure[0] } : undefined,
    amount: Number(amount.minor),
    currency: amount.currency,
    reason,
    cart: cart?.map(cartLinePayload),
  });
}

function errorPayload(error: MerchantError): Record<string, unknown> {
  return { code: error.code, message: error.code, ...(error.subError ? { subError: error.subError } : {}) };
}
