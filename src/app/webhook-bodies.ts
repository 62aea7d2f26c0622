// The bodies of webhook events as the OpenAPI document declares them. Each is made in the webhook-events.ts of its module; members
// without a value are left out.
import { Type, type TProperties, type TSchema } from 'typebox';
import { BankWordsSchema } from '../acquiring/api/bank-words-schema.ts';
import { Asset } from '../identities/api/shared-schema.ts';
import { ContactInfo, UserInteraction } from '../payments/api/schema.ts';
import { FailureOfBank, ReturnedSchema } from '../payouts/api/schema.ts';
import type { Topic } from '../platform/events/domain/topic.ts';
import type { WebhookDeclaration } from '../platform/http/openapi.ts';
import { DateTime, EntityID, Metadata } from '../platform/http/schemas.ts';
import { PeriodSchema, SubscriptionSchema, UpcomingSchema } from '../subscriptions/api/schema.ts';

const text = Type.String();
const number = Type.Integer();
const maybe = Type.Optional;
const named = (title: string, members: TProperties) => Type.Object(members, { title });

const CartLine = named('WebhookCartLine', {
  product: text,
  quantity: number,
  price: number,
  cost: number,
  taxMode: maybe(Type.Object({ type: maybe(text), rate: maybe(text) })),
});
const PaymentName = named('WebhookPaymentName', { invoiceID: EntityID, paymentID: EntityID });

const invoice = named('WebhookInvoice', {
  id: EntityID,
  externalID: maybe(text),
  shopID: EntityID,
  createdAt: DateTime,
  status: Type.Enum(['unpaid', 'paid', 'fulfilled', 'cancelled']),
  reason: maybe(text),
  dueDate: DateTime,
  amount: number,
  currency: text,
  metadata: Metadata,
  product: text,
  description: maybe(text),
  cart: maybe(Type.Array(CartLine)),
});

const nested = (inside?: TSchema) =>
  Type.Object({ code: text, ...(inside ? { subError: maybe(inside) } : {}) });
const paymentError = named('WebhookPaymentError', {
  code: text,
  message: text,
  subError: maybe(nested(nested(nested()))),
  declineClass: maybe(text),
  bank: maybe(BankWordsSchema),
});
const paymentToolDetails = named('WebhookCard', {
  detailsType: Type.Enum(['PaymentToolDetailsBankCard']),
  bin: text,
  lastDigits: text,
  cardNumberMask: text,
  paymentSystem: text,
});
const clientInfo = Type.Object({ ip: maybe(text), fingerprint: maybe(text) });
const payer = named('WebhookPayer', {
  payerType: Type.Enum(['PaymentResourcePayer', 'RecurrentPayer', 'CustomerPayer']),
  paymentToolDetails: maybe(paymentToolDetails),
  clientInfo: maybe(clientInfo),
  contactInfo: maybe(ContactInfo),
  recurrentParentPayment: maybe(PaymentName),
  customerID: maybe(EntityID),
});
const payment = named('WebhookPayment', {
  id: EntityID,
  externalID: maybe(text),
  createdAt: DateTime,
  status: Type.Enum(['pending', 'processed', 'captured', 'cancelled', 'refunded', 'failed']),
  reason: maybe(text),
  error: maybe(paymentError),
  amount: number,
  currency: text,
  metadata: Metadata,
  fee: number,
  rrn: maybe(text),
  contactInfo: ContactInfo,
  ip: maybe(text),
  fingerprint: maybe(text),
  payer,
});
const plainError = named('WebhookError', { code: text, message: text, bank: maybe(BankWordsSchema) });
const refund = named('WebhookRefund', {
  id: EntityID,
  createdAt: DateTime,
  status: Type.Enum(['pending', 'succeeded', 'failed']),
  error: maybe(paymentError),
  amount: number,
  currency: text,
  reason: maybe(text),
  waitsUntil: maybe(DateTime),
  rrn: maybe(text),
  arn: maybe(text),
  cart: maybe(Type.Array(CartLine)),
});
const customer = named('WebhookCustomer', {
  id: EntityID,
  shopID: EntityID,
  status: Type.Enum(['ready', 'unready']),
  contactInfo: ContactInfo,
  metadata: Metadata,
});
const binding = named('WebhookBinding', {
  id: EntityID,
  status: Type.Enum(['pending', 'succeeded', 'failed']),
  error: maybe(plainError),
  paymentResource: Type.Object({ paymentToolDetails, clientInfo }),
});
const series = named('WebhookSeries', {
  id: text,
  shopID: EntityID,
  status: Type.Enum(['active', 'stopped', 'withdrawn']),
  rootPayment: maybe(PaymentName),
  latestParent: maybe(PaymentName),
  rootBinding: maybe(Type.Object({ customerID: EntityID, customerBindingID: EntityID })),
  card: Type.Object({ paymentSystem: text, lastDigits: text, goodUntil: DateTime }),
  consentedAt: maybe(DateTime),
  lastSuccessAt: maybe(DateTime),
  failingSince: maybe(DateTime),
  chargesMade: number,
});
const seriesMembers = {
  series,
  payment: maybe(PaymentName),
  invoiceID: maybe(EntityID),
  declineClass: maybe(text),
  notBefore: maybe(DateTime),
  rule: maybe(text),
  rulePack: maybe(text),
  warnings: maybe(Type.Array(text)),
  by: maybe(text),
  reason: maybe(text),
  notice: maybe(text),
  about: maybe(DateTime),
  consentLinkID: maybe(EntityID),
};

const subscriptionMembers = {
  subscription: SubscriptionSchema,
  period: maybe(PeriodSchema),
  upcoming: maybe(UpcomingSchema),
  items: maybe(Type.Array(CartLine)),
  change: maybe(
    named('WebhookSubscriptionChange', {
      ofPeriod: number,
      charge: number,
      credit: number,
      fromBalance: number,
      amount: number,
      invoiceID: maybe(EntityID),
      payableUntil: maybe(DateTime),
      startsOn: maybe(Type.String()),
    }),
  ),
  invoiceID: maybe(EntityID),
  amount: maybe(number),
  anchorOn: maybe(text),
  payment: maybe(PaymentName),
  declineClass: maybe(text),
  nextTryAt: maybe(DateTime),
  triesLeft: maybe(number),
  graceUntil: maybe(DateTime),
  reason: maybe(text),
  by: maybe(text),
  isUnannounced: maybe(Type.Boolean()),
  announcement: maybe(text),
  changed: maybe(Type.Array(text)),
};

const payout = { wallet: EntityID, destination: EntityID, body: Asset, externalID: maybe(text) };
const withdrawal = named('WebhookWithdrawal', {
  id: EntityID,
  createdAt: DateTime,
  ...payout,
  metadata: maybe(Metadata),
});
const destination = named('WebhookDestination', {
  id: EntityID,
  name: text,
  identity: EntityID,
  currency: text,
  resource: Type.Object({
    type: Type.Enum(['BankCard']),
    cardNumberMask: text,
    bin: text,
    lastDigits: text,
    paymentSystem: text,
  }),
  metadata: maybe(Metadata),
  externalID: maybe(text),
});

/** The members next to the envelope, by what an event type begins with. The first that fits counts. */
const membersOf: readonly (readonly [prefix: string, name: string, members: TProperties])[] = [
  [
    'PaymentUserInteraction',
    'PaymentInteractionWebhook',
    {
      invoiceId: EntityID,
      paymentId: EntityID,
      userInteractionDetails: maybe(UserInteraction),
    },
  ],
  ['PaymentRefundCreated', 'RefundWebhook', { invoice, payment, refund }],
  ['PaymentRefundSucceeded', 'RefundWebhook', { invoice, payment, refund }],
  ['PaymentRefundFailed', 'RefundWebhook', { invoice, payment, refund }],
  ['Invoice', 'InvoiceWebhook', { invoice }],
  ['Payment', 'PaymentWebhook', { invoice, payment }],
  ['CustomerBinding', 'CustomerBindingWebhook', { customer, binding }],
  ['Customer', 'CustomerWebhook', { customer }],
  ['WithdrawalStarted', 'WithdrawalStartedWebhook', { withdrawal }],
  [
    'Withdrawal',
    'WithdrawalWebhook',
    {
      withdrawalID: EntityID,
      ...payout,
      fee: Asset,
      failure: maybe(FailureOfBank),
      availableBy: maybe(DateTime),
      returned: maybe(ReturnedSchema),
    },
  ],
  ['DestinationCreated', 'DestinationCreatedWebhook', { destination }],
  ['Destination', 'DestinationWebhook', { destinationID: EntityID, externalID: maybe(text) }],
  ['Subscription', 'SubscriptionWebhook', subscriptionMembers],
  // Of a series: its event types have no prefix of their own.
  ['', 'RecurringWebhook', seriesMembers],
];

/** By the name that a webhook registers for. */
export function webhookBodies(topics: readonly Topic[]): WebhookDeclaration[] {
  return topics.flatMap(({ name: topic, eventTypes, eventId }) =>
    eventTypes.map((name) => {
      const [, title = '', members = {}] = membersOf.find(([prefix]) => name.startsWith(prefix)) ?? [];
      const envelope = {
        eventID: eventId === 'number' ? number : text,
        occuredAt: DateTime,
        topic: text,
        eventType: Type.String({ description: 'The name of the event. There may be new ones.' }),
      };
      return { name, topic, body: named(title, { ...envelope, ...members }) };
    }),
  );
}
