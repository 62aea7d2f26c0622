// The shapes of subscriptions in the API.
import { Type, type Static } from 'typebox';
import { declineClasses } from '../../acquiring/domain/decline-class.ts';

import { defined } from '../../defined.ts';
import { cartBody, cartOf, CartParams, CartSchema } from '../../invoices/api/schema.ts';
import {
  Amount,
  CurrencyCode,
  DateTime,
  EntityID,
  ExternalID,
  Metadata,
} from '../../platform/http/schemas.ts';
import { dueOf } from '../domain/changes/change.ts';
import { detailsOf } from '../domain/changes/details.ts';
import { instalmentsOf } from '../domain/ends/instalments.ts';
import type { DunningPolicy } from '../domain/dunning/dunning.ts';
import type { Upcoming } from '../domain/period-rows.ts';
import { isoOf } from '../domain/schedule.ts';
import {
  nextAction,
  payerReasons,
  policyNameOf,
  policyOf,
  statuses,
  statusOf,
  type EndRefund,
  type OpenPeriod,
  type PendingChange,
  type Period,
  type Subscription,
} from '../domain/subscription.ts';
import { ifUnpaids, PolicyName, PolicyVersion } from './dunning-policy-schema.ts';

export const LocalDate = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' });
const Time = Type.String({ pattern: '^\\d\\d:\\d\\d$' });
export const catchUps = ['current', 'all', 'none'] as const;
export const SubscriptionStatus = Type.Enum([...statuses]);

const FirstPeriod = Type.Enum(['free', 'full', 'proRata'], {
  description: 'What the short period before the first `anchorDay` costs.',
});

/** What a merchant says of a schedule. */
const scheduleMembers = {
  every: Type.String({
    pattern: '^P\\d{1,3}[DWMY]$',
    description: 'An ISO 8601 period such as `P1M`, of three days or more.',
  }),
  timeZone: Type.String({ maxLength: 64, description: 'An IANA name. Periods start at its midnight.' }),
  chargeFrom: Type.Optional({
    ...Time,
    default: '06:00',
    description: 'Local time. Charges are spread from then on.',
  }),
  chargeUntil: Type.Optional({ ...Time, default: '10:00' }),
  anchorDay: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 31,
      description:
        'The day of the month that periods start on, or the last day of a shorter month. Without it, the first day.',
    }),
  ),
  anchorMonth: Type.Optional(Type.Integer({ minimum: 1, maximum: 12, description: 'With `anchorDay`.' })),
  firstPeriod: Type.Optional({ ...FirstPeriod, default: 'free' }),
  trialDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 730 })),
  periods: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000,
      description: 'How many are charged. Without it, until it is cancelled.',
    }),
  ),
  endsOn: Type.Optional({
    ...LocalDate,
    description:
      'Instead of `periods`. No period starts on this local day or later, and the one before is whole.',
  }),
};

/** Names of the API for what a subscription is created with. */
const startMembers = {
  uniqueKey: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 40,
      description: 'The customer, or without one the shop, has one subscription with it that has not ended.',
    }),
  ),
  continuesWith: Type.Optional(
    Type.Object(
      { number: Type.Integer({ minimum: 1, maximum: 100_000 }), startsOn: LocalDate },
      {
        title: 'NextPeriod',
        description: 'Of a subscription that ran elsewhere: the first period that is charged here.',
      },
    ),
  ),
};

const policyMembers = {
  catchUp: Type.Optional(
    Type.Enum([...catchUps], {
      default: 'current',
      description:
        'Which late periods are charged: the newest, all (one a day), or none that is more than 72 hours late. Others are `missed`.',
    }),
  ),
  ifUnpaid: Type.Optional(
    Type.Enum([...ifUnpaids], { default: 'unpaid', description: 'What follows when the retries are over.' }),
  ),
  trialWithoutCard: Type.Optional(
    Type.Enum([...ifUnpaids], {
      description:
        'What follows if no saved card is there when the trial ends. Without it, as when the retries are over.',
    }),
  ),
  dunningPolicy: Type.Optional({
    ...PolicyName,
    description: 'Instead of `ifUnpaid`. Without both, that named `default`.',
  }),
};

export const SubscriptionParams = Type.Object(
  {
    externalID: Type.Optional(ExternalID),
    customerID: Type.Optional({ ...EntityID, description: 'A customer who is `ready`.' }),
    shopID: Type.Optional({
      ...EntityID,
      description: 'Instead of `customerID`: the payer starts it with a payment.',
    }),
    firstAmount: Type.Optional({
      ...Amount,
      description: 'With `shopID`: what that payment costs. Without it, the first period.',
    }),
    items: CartParams,
    ...startMembers,
    ...scheduleMembers,
    ...policyMembers,
    metadata: Type.Optional(Metadata),
  },
  { title: 'SubscriptionParams' },
);
export type SubscriptionParams = Static<typeof SubscriptionParams>;

export const subscriptionExample = {
  customerID: 'the ID of your customer',
  items: [{ product: 'Tea of the month', price: 49900 }],
  every: 'P1M',
  timeZone: 'Europe/Moscow',
};

const PolicyInForce = Type.Object(
  { policy: Type.String(), version: PolicyVersion },
  { title: 'DunningPolicyInForce' },
);

const OpenPeriodSchema = Type.Object(
  {
    number: Type.Integer(),
    invoiceID: EntityID,
    isCharging: Type.Boolean(),
    declineClass: Type.Optional(Type.Enum([...declineClasses])),
    nextTryAt: Type.Optional(DateTime),
    graceUntil: Type.Optional({ ...DateTime, description: 'When the retries are over.' }),
    dunning: Type.Optional(PolicyInForce),
  },
  { title: 'OpenPeriod' },
);

/** Its invoice is paid by the saved card, or by the payer. */
const PendingChangeSchema = Type.Object(
  {
    items: CartSchema,
    amount: Amount,
    invoiceID: EntityID,
    payableUntil: DateTime,
    startsOn: Type.Optional({ ...LocalDate, description: 'When its new period starts.' }),
    isCharging: Type.Boolean(),
    failedFor: Type.Optional(Type.String()),
  },
  { title: 'PendingChange' },
);

const EndRefundSchema = Type.Object(
  {
    refund: Type.Enum(['unused', 'last']),
    isPending: Type.Boolean(),
    refunds: Type.Array(
      Type.Object(
        {
          amount: { ...Amount, minimum: 0 },
          invoiceID: Type.Optional(EntityID),
          paymentID: Type.Optional(EntityID),
          refundID: Type.Optional(EntityID),
          refusedFor: Type.Optional(Type.String()),
          failedFor: Type.Optional(Type.String()),
        },
        { title: 'RefundOfEnd' },
      ),
    ),
  },
  { title: 'EndRefund' },
);

export const SubscriptionSchema = Type.Object(
  {
    id: EntityID,
    shopID: EntityID,
    customerID: Type.Optional(EntityID),
    firstInvoiceID: Type.Optional({
      ...EntityID,
      description: 'Paid with `makeRecurrent` within 24 hours, it starts the subscription.',
    }),
    externalID: Type.Optional(ExternalID),
    createdAt: DateTime,
    status: SubscriptionStatus,
    items: CartSchema,
    scheduledItems: Type.Optional(CartSchema),
    pendingChange: Type.Optional(PendingChangeSchema),
    creditBalance: { ...Amount, minimum: 0 },
    currency: CurrencyCode,
    ...startMembers,
    ...scheduleMembers,
    // Without an `anchorDay` there is none, so that no default stands for it.
    firstPeriod: Type.Optional(FirstPeriod),
    anchorOn: Type.Optional({ ...LocalDate, description: 'Periods are counted from this day.' }),
    ...policyMembers,
    dunning: PolicyInForce,
    paidThrough: Type.Optional({ ...DateTime, description: 'The end of the last paid period.' }),
    nextActionAt: Type.Optional({ ...DateTime, description: 'When the next charge, or its retry, is due.' }),
    openPeriods: Type.Array(OpenPeriodSchema, { description: 'What is not paid yet.' }),
    endsAfterPeriod: Type.Optional(Type.Integer()),
    instalments: Type.Optional(
      Type.Object(
        {
          total: Type.Integer(),
          remaining: Type.Integer({ description: 'How many are still to come.' }),
          next: Type.Optional(Type.Integer({ description: 'Which of them comes next.' })),
        },
        { title: 'Instalments', description: 'With `periods`, from the start on.' },
      ),
    ),
    resumesAt: Type.Optional(DateTime),
    pausedBy: Type.Optional(Type.Enum(['payer', 'merchant', 'dunning'])),
    endReason: Type.Optional(Type.String()),
    endRefund: Type.Optional(EndRefundSchema),
    payerReason: Type.Optional(
      Type.Enum([...payerReasons], { description: 'Why the payer has ended it, if they say so.' }),
    ),
    parkedFor: Type.Optional(
      Type.String({ description: 'Charging is stopped until you resume it. Nothing is lost.' }),
    ),
    metadata: Metadata,
    detailsVersion: Type.Integer({ description: 'Counts what `PATCH` has changed.' }),
  },
  { title: 'Subscription' },
);

const datesOfPeriod = {
  number: Type.Integer({ description: 'From 1, without gaps.' }),
  kind: Type.Enum(['regular', 'trial', 'first']),
  startsOn: LocalDate,
  endsOn: { ...LocalDate, description: 'The first day of the next period.' },
  dueAt: DateTime,
  amount: { ...Amount, minimum: 0 },
};

export const PeriodSchema = Type.Object(
  {
    ...datesOfPeriod,
    outcome: Type.Enum(['open', 'paid', 'unpaid', 'forgiven', 'skipped', 'missed']),
    invoiceID: Type.Optional(EntityID),
  },
  { title: 'SubscriptionPeriod' },
);
export const UpcomingSchema = Type.Object(datesOfPeriod, { title: 'UpcomingPeriod' });

export const SubscriptionPath = Type.Object({ subscriptionID: EntityID });

export function itemsOf(items: SubscriptionParams['items']) {
  return cartOf(items);
}

export function subscriptionBody(subscription: Subscription): Static<typeof SubscriptionSchema> {
  const { terms, items, paidThrough, endsAfter, pause, parkedFor, open } = subscription;
  const { scheduledItems, change, creditMinor } = subscription;
  const { id, shopId, customerId, createdAt, currency, externalId } = terms;
  const { version: detailsVersion, metadata, catchUp } = detailsOf(subscription);
  const policy = policyOf(subscription);
  const next = nextAction(subscription);
  return {
    id,
    shopID: shopId,
    createdAt,
    status: statusOf(subscription),
    items: cartBody(items),
    creditBalance: Number(creditMinor),
    currency,
    ...scheduleBody(subscription),
    catchUp,
    ifUnpaid: policy.finally,
    dunning: inForce(policy),
    openPeriods: open.map(openPeriodBody),
    metadata: metadata as Record<string, unknown>,
    detailsVersion,
    ...defined({
      customerID: customerId,
      firstInvoiceID: terms.firstInvoice?.id,
      externalID: externalId,
      uniqueKey: terms.uniqueKey,
      continuesWith: terms.firstPeriod,
      scheduledItems: scheduledItems && cartBody(scheduledItems),
      pendingChange: change && pendingChangeBody(change),
      dunningPolicy: policyNameOf(subscription),
      trialWithoutCard: terms.schedule.trialDays === undefined ? undefined : terms.trialWithoutCard,
      paidThrough,
      nextActionAt: next?.does === 'refund' ? undefined : next?.at,
      endsAfterPeriod: endsAfter?.number,
      instalments: instalmentsOf(subscription),
      resumesAt: pause?.resumesAt,
      pausedBy: pause?.by,
      ...endBody(subscription),
      parkedFor,
    }),
  };
}

function openPeriodBody(period: OpenPeriod): Static<typeof OpenPeriodSchema> {
  return {
    number: period.number,
    invoiceID: period.invoiceId ?? '',
    isCharging: period.charging !== undefined,
    ...defined({
      declineClass: period.declineClass,
      nextTryAt: period.nextTryAt,
      graceUntil: period.givesUpAt,
      dunning: period.dunning && inForce(period.dunning),
    }),
  };
}

function pendingChangeBody(change: PendingChange): Static<typeof PendingChangeSchema> {
  const { items, invoiceId = '', payableUntil = '', newPeriod, charging, tryAt, failedFor } = change;
  return {
    items: cartBody(items),
    amount: Number(dueOf(change)),
    invoiceID: invoiceId,
    payableUntil,
    // The first charge follows at once. A later one may wait for days.
    isCharging: charging !== undefined || (tryAt !== undefined && failedFor === undefined),
    ...defined({ startsOn: newPeriod?.startsOn, failedFor }),
  };
}

function endBody({ endedFor, endRefund, payerReason }: Subscription) {
  return defined({
    endReason: endedFor,
    endRefund: endRefund && endRefundBody(endRefund),
    payerReason,
  });
}

function endRefundBody({ share, isDue, refunds }: EndRefund): Static<typeof EndRefundSchema> {
  return {
    refund: share,
    isPending: isDue ?? false,
    refunds: refunds.map(({ amountMinor, invoiceId, paymentId, refundId, refusedFor, failedFor }) => ({
      amount: Number(amountMinor),
      ...defined({ invoiceID: invoiceId, paymentID: paymentId, refundID: refundId, refusedFor, failedFor }),
    })),
  };
}

function inForce({ name, version }: DunningPolicy) {
  return { policy: name, version };
}

function scheduleBody(subscription: Subscription) {
  const { terms, schedule: laidOut } = subscription;
  const { every, zone, chargeAt, anchor, trialDays, ends } = terms.schedule;
  // A pause may have ended with a new charging day.
  const isShifted = laidOut !== undefined && laidOut.anchorDay === undefined;
  const fixed = anchor === 'atStart' || isShifted ? undefined : anchor;
  return {
    every: isoOf(every),
    timeZone: laidOut?.zone ?? zone,
    chargeFrom: chargeAt.from,
    chargeUntil: chargeAt.until,
    ...defined({
      anchorDay: fixed?.day,
      anchorMonth: fixed?.month,
      firstPeriod: fixed?.firstPeriod,
      anchorOn: laidOut?.anchor,
      trialDays,
      periods: ends && 'periods' in ends ? ends.periods : undefined,
      endsOn: detailsOf(subscription).endsOn,
    }),
  };
}

export function upcomingBody(period: Upcoming): Static<typeof UpcomingSchema> {
  const { number, kind, startsOn, endsOn, dueAt, amountMinor } = period;
  return { number, kind, startsOn, endsOn, dueAt, amount: Number(amountMinor) };
}

export function periodBody(
  period: Upcoming & Pick<Period, 'outcome' | 'invoiceId'>,
): Static<typeof PeriodSchema> {
  const { outcome, invoiceId } = period;
  return { ...upcomingBody(period), outcome, ...defined({ invoiceID: invoiceId }) };
}
