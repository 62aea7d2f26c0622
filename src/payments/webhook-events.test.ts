// Webhook events of an invoice follow from its log, and routing agrees with what is sent.
import { expect, test } from 'vitest';
import { instantAt } from '../clock.ts';
import { factsOfInvoice } from '../../test/support/database/seeded-events.ts';
import { invoicesTopic } from './webhook-events.ts';
import { written } from '../platform/database/codec.ts';
import type { PaymentFact } from './domain/payment.ts';
import { invoiceLogFact, type InvoiceLogFact } from './store/codec.ts';

const at = instantAt(Date.UTC(2026, 0, 19));
const name = { partyId: 'P', shopId: 'SHOP', invoiceId: 'I' };
const rubles = (minor: bigint) => ({ minor, currency: 'RUB' as never });

const stored = (fact: InvoiceLogFact) => written(invoiceLogFact, fact);

/** Created, held, captured in part, refunded twice, with one failed refund in between. */
function wholeLife(): unknown[][] {
  const [created = [], started = []] = factsOfInvoice(name, 4, at);
  const fact = (one: PaymentFact) => stored({ ...one, paymentId: '1' });
  const refund = (id: string, minor: bigint) =>
    fact({ type: 'refund_started', refund: { id, createdAt: at, amount: rubles(minor), feeMinor: 0n } });
  return [
    created,
    started,
    [fact({ type: 'payment_processed', approval: { reference: '406109123456' } })],
    [fact({ type: 'payment_capture_started', amount: rubles(5_000n), reason: 'x' })],
    [fact({ type: 'payment_captured', amount: rubles(5_000n) }), { type: 'invoice_paid' }],
    [refund('1', 2_000n)],
    [fact({ type: 'refund_succeeded', refundId: '1' })],
    [refund('2', 3_000n)],
    [
      fact({
        type: 'refund_failed',
        refundId: '2',
        failure: ['terms_violated', 'insufficient_merchant_funds'],
      }),
    ],
    [refund('3', 3_000n)],
    [fact({ type: 'refund_succeeded', refundId: '3' }), fact({ type: 'payment_refunded' })],
    [{ type: 'invoice_fulfilled', reason: 'sent' }],
  ];
}
const logOf = (facts: unknown[][]) =>
  facts.map((each, index) => ({ sequence: index + 1, createdAt: at, facts: each }));

test('each webhook event shows the state right after its fact', () => {
  const webhookEvents = invoicesTopic.webhookEventsOf(logOf(wholeLife()));
  const told = webhookEvents.map(({ sequence, index, eventType, members }) => {
    const { invoice, payment, refund } = members as Record<string, { status: string; amount: number }>;
    const state = [invoice?.status, payment?.status, payment?.amount, refund?.status, refund?.amount];
    return [`${sequence}.${index}`, eventType, ...state.filter((part) => part !== undefined)].join(' ');
  });
  expect(told).toEqual([
    '1.0 InvoiceCreated unpaid',
    '2.0 PaymentStarted unpaid pending 6000',
    '3.0 PaymentProcessed unpaid processed 6000',
    '5.0 PaymentCaptured unpaid captured 5000',
    '5.1 InvoicePaid paid',
    '6.0 RefundCreated paid captured 5000 pending 2000',
    '7.0 RefundSucceeded paid captured 5000 succeeded 2000',
    '8.0 RefundCreated paid captured 5000 pending 3000',
    '9.0 RefundFailed paid captured 5000 failed 3000',
    '10.0 RefundCreated paid captured 5000 pending 3000',
    '11.0 RefundSucceeded paid captured 5000 succeeded 3000',
    '11.1 PaymentRefunded paid refunded 5000',
    '12.0 InvoiceFulfilled fulfilled',
  ]);
});

test('a failed refund repeats its code in its message, and has the rest in subError', () => {
  const webhookEvents = invoicesTopic.webhookEventsOf(logOf(wholeLife()));
  const failed = webhookEvents.find(({ eventType }) => eventType === 'RefundFailed');
  expect(failed?.members).toMatchObject({
    refund: {
      error: {
        code: 'terms_violated',
        message: 'terms_violated',
        subError: { code: 'insufficient_merchant_funds' },
      },
    },
  });
});

test('an event is routed by the types of its webhook events, in order', () => {
  const facts = wholeLife();
  const webhookEvents = invoicesTopic.webhookEventsOf(logOf(facts));
  facts.forEach((each, index) => {
    const ofEvent = webhookEvents.filter(({ sequence }) => sequence === index + 1);
    expect(invoicesTopic.typesOf(each)).toEqual(ofEvent.map(({ registeredType }) => registeredType));
    expect(ofEvent.map(({ index }) => index)).toEqual(ofEvent.map((_, index) => index));
  });
  for (const { registeredType } of webhookEvents) expect(invoicesTopic.eventTypes).toContain(registeredType);
  expect(invoicesTopic.ownersOf(facts[0]!)).toEqual([{ id: 'SHOP' }]);
});

test('later events do not change earlier webhook events', () => {
  const log = logOf(wholeLife());
  const all = invoicesTopic.webhookEventsOf(log);
  for (let events = 1; events <= log.length; events++) {
    expect(invoicesTopic.webhookEventsOf(log.slice(0, events))).toEqual(
      all.filter(({ sequence }) => sequence <= events),
    );
  }
});

test('no webhook event contains anything that can charge a card', () => {
  const text = JSON.stringify(invoicesTopic.webhookEventsOf(logOf(wholeLife())));
  for (const secret of ['"token"', 'paymentToolToken', 'paymentSession', '"session"', 'approvalCode'])
    expect(text).not.toContain(secret);
});

test('facts of an unknown kind are skipped, known ones in the same event are sent', () => {
  expect(invoicesTopic.typesOf([{ type: 'fact_of_tomorrow' }, { type: 'invoice_paid' }])).toEqual([
    'InvoicePaid',
  ]);
});

test('an invoice and a payment have their external IDs, and metadata even if there is none', () => {
  const [created = [], started = []] = factsOfInvoice(name, 4, at) as any[][];
  const terms = (facts: any[] | undefined) => facts?.[0].terms;
  terms(created).externalId = 'order-7';
  terms(started).externalId = 'payment-7';
  terms(created).metadata = {};
  delete terms(started).metadata;
  const [, event] = invoicesTopic.webhookEventsOf(logOf([created, started]));
  expect(event?.members).toMatchObject({
    invoice: { externalID: 'order-7', metadata: {} },
    payment: { externalID: 'payment-7', metadata: {} },
  });
});

test('an interaction is sent to those who registered for it, with where the payer goes', () => {
  const [created = [], started = []] = factsOfInvoice(name, 4, at);
  const fact = (one: PaymentFact) => stored({ ...one, paymentId: '1' });
  const interaction = { method: 'GET', url: 'https://issuer.example/' } as const;
  const facts = [
    created,
    started,
    [fact({ type: 'payment_interaction_requested', interaction, until: at })],
    [fact({ type: 'payment_interaction_completed' })],
    [fact({ type: 'payment_processed', approval: { reference: '406109123456' } })],
  ];
  const about = { invoiceId: 'I', paymentId: '1' };
  const request = { requestType: 'BrowserGetRequest', uriTemplate: 'https://issuer.example/' };
  expect(
    invoicesTopic
      .webhookEventsOf(logOf(facts))
      .slice(2, 4)
      .map(({ registeredType, eventType, members }) => ({ registeredType, eventType, members })),
  ).toEqual([
    {
      registeredType: 'PaymentUserInteractionRequested',
      eventType: 'PaymentInteractionRequested',
      members: { ...about, userInteractionDetails: { interactionType: 'Redirect', request } },
    },
    {
      registeredType: 'PaymentUserInteractionCompleted',
      eventType: 'PaymentInteractionCompleted',
      members: about,
    },
  ]);
  expect(invoicesTopic.typesOf(facts[3] ?? [])).toEqual(['PaymentUserInteractionCompleted']);
});
