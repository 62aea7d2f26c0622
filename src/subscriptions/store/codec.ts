// Stored JSON of subscriptions: facts in the log, terms and state in their row.
import {
  anyObject,
  currency,
  instant,
  list,
  minorUnits,
  object,
  oneOf,
  optional,
  text,
  variants,
  wholeNumber,
  written,
  type Codec,
  type Members,
} from '../../platform/database/codec.ts';
import { cart } from '../../invoices/store/codec.ts';
import { declineClass, duties } from '../../recurring/store/codec.ts';
import type { PaymentRef } from '../../recurring/domain/series.ts';
import type { Every } from '../../retry-rules/domain/periods.ts';
import type { Announcement } from '../domain/duties/terms.ts';
import type { DayWindow } from '../domain/day-window.ts';
import type { ClassRule, DunningPolicy } from '../domain/dunning/dunning.ts';
import type { PeriodDates, Schedule, ScheduleTerms } from '../domain/schedule.ts';
import { payerReasons } from '../domain/subscription.ts';
import type {
  CatchUp,
  Change,
  Charge,
  CutShort,
  Taken,
  EndRefund,
  Item,
  LastPaid,
  OpenPeriod,
  OtherPaid,
  PendingChange,
  Period,
  Phase,
  RefundOfEnd,
  Subscription,
  SubscriptionFact,
  SubscriptionTerms,
} from '../domain/subscription.ts';

export const phase: Codec<Phase> = oneOf('incomplete', 'running', 'paused', 'unpaid', 'ended');
export const periodKind = oneOf('regular', 'trial', 'first');
export const periodOutcome: Codec<Period['outcome']> = oneOf(
  'open',
  'paid',
  'unpaid',
  'forgiven',
  'skipped',
  'missed',
);
export { cart as periodLines };
export const announcementReason: Codec<Announcement['why']> = oneOf(
  'trialEnding',
  'newPrice',
  'rareCharge',
  'eachCharge',
);

const taxMode: Codec<NonNullable<Item['taxMode']>> = object({
  type: oneOf('InvoiceLineTaxVAT'),
  rate: text,
});
const items: Codec<readonly Item[]> = list(
  object<Item>({
    product: text,
    quantity: minorUnits,
    priceMinor: minorUnits,
    taxMode: optional(taxMode),
    lastPriceMinor: optional(minorUnits),
  }),
);
const every: Codec<Every> = object({ count: wholeNumber, unit: oneOf('D', 'W', 'M', 'Y') });
const window: Codec<DayWindow> = object({ from: text, until: text });
const finalAction = oneOf('unpaid', 'end', 'pause');

/** A value that is one of two shapes, distinguished by a member of the first. */
function either<One extends object, Other extends object>(
  member: string,
  one: Codec<One>,
  other: Codec<Other>,
): Codec<One | Other> {
  const isOne = (value: unknown): value is One =>
    typeof value === 'object' && value !== null && member in value;
  return {
    read: (stored) => (isOne(stored) ? one.read(stored) : other.read(stored)),
    write: undefined,
  };
}

const fixedAnchor = object<Exclude<ScheduleTerms['anchor'], string>>({
  day: wholeNumber,
  month: optional(wholeNumber),
  firstPeriod: oneOf('free', 'full', 'proRata'),
});
const anchor: Codec<ScheduleTerms['anchor']> = {
  read: (stored) => (stored === 'atStart' ? stored : fixedAnchor.read(stored)),
  write: undefined,
};
const scheduleTerms: Codec<ScheduleTerms> = object({
  every,
  zone: text,
  chargeAt: window,
  anchor,
  trialDays: optional(wholeNumber),
  ends: optional(either('periods', object({ periods: wholeNumber }), object({ before: text }))),
});

const dates: Members<PeriodDates> = { number: wholeNumber, kind: periodKind, startsOn: text, endsOn: text };
const schedule: Codec<Schedule> = object({
  every,
  zone: text,
  chargeAt: window,
  anchor: text,
  anchorDay: optional(wholeNumber),
  anchorNumber: wholeNumber,
  leading: list(object<PeriodDates>(dates)),
  ends: optional(either('afterNumber', object({ afterNumber: wholeNumber }), object({ before: text }))),
});

const classRule: Codec<ClassRule> = object({
  tries: optional(list(wholeNumber)),
  maxTries: optional(wholeNumber),
  onDays: optional(object({ days: list(wholeNumber), within: wholeNumber })),
});
export const dunningPolicy: Codec<DunningPolicy> = object({
  name: text,
  version: wholeNumber,
  tries: list(wholeNumber),
  at: window,
  byClass: optional(
    object<NonNullable<DunningPolicy['byClass']>>({
      funds: optional(classRule),
      vague: optional(classRule),
      issuer: optional(classRule),
      technical: optional(classRule),
    }),
  ),
  windowDays: wholeNumber,
  emailDays: optional(list(wholeNumber)),
  finally: finalAction,
  stack: optional(oneOf(true, false)),
  trial: optional(object({ policy: text, percent: wholeNumber })),
});

const catchUp: Codec<CatchUp> = oneOf('current', 'all', 'none');
const refundShare = oneOf('unused', 'last');
const endRefund: Codec<EndRefund> = object({
  share: refundShare,
  at: instant,
  isDue: optional(oneOf(true)),
  refunds: list(
    object<RefundOfEnd>({
      invoiceId: optional(text),
      paymentId: optional(text),
      amountMinor: minorUnits,
      refundId: optional(text),
      refusedFor: optional(text),
      failedFor: optional(text),
    }),
  ),
});

export const subscriptionTerms: Codec<SubscriptionTerms> = object({
  id: text,
  partyId: text,
  shopId: text,
  customerId: optional(text),
  firstInvoice: optional(object({ id: text, amountMinor: minorUnits })),
  createdAt: instant,
  currency,
  startsWith: oneOf('firstPayment', 'savedCard'),
  items,
  schedule: scheduleTerms,
  firstPeriod: optional(object({ number: wholeNumber, startsOn: text })),
  catchUp,
  dunning: dunningPolicy,
  dunningPolicy: optional(text),
  trialWithoutCard: finalAction,
  externalId: optional(text),
  uniqueKey: optional(text),
  metadata: optional(anyObject),
});

const periodMembers: Members<Period> = {
  ...dates,
  startsAt: instant,
  endsAt: instant,
  dueAt: instant,
  lines: cart,
  amountMinor: minorUnits,
  creditMinor: minorUnits,
  invoiceId: optional(text),
  outcome: periodOutcome,
};
const period: Codec<Period> = object(periodMembers);
const openPeriod: Codec<OpenPeriod> = object({
  ...periodMembers,
  charging: optional(text),
  bindingId: optional(text),
  firstFailedAt: optional(instant),
  failedAt: optional(instant),
  retries: wholeNumber,
  declines: optional(
    object<NonNullable<OpenPeriod['declines']>>({
      funds: optional(wholeNumber),
      vague: optional(wholeNumber),
      issuer: optional(wholeNumber),
      technical: optional(wholeNumber),
    }),
  ),
  dunning: optional(dunningPolicy),
  declineClass: optional(declineClass),
  nextTryAt: optional(instant),
  givesUpAt: optional(instant),
  isWished: optional(oneOf(true)),
  isUnannounced: optional(oneOf(true)),
  emailsWritten: optional(wholeNumber),
});
const changeMembers: Members<Change> = {
  period: wholeNumber,
  items,
  creditMinor: minorUnits,
  chargeMinor: minorUnits,
  fromBalanceMinor: minorUnits,
  invoiceId: optional(text),
  payableUntil: optional(instant),
  newPeriod: optional(object({ startsOn: text, startsAt: instant })),
};
const change: Codec<Change> = object(changeMembers);
const pendingChange: Codec<PendingChange> = object({
  ...changeMembers,
  tryAt: optional(instant),
  charging: optional(text),
  failedFor: optional(text),
  failedAt: optional(instant),
  lostMinor: optional(minorUnits),
});

export const endReason = oneOf(
  'payer',
  'merchant',
  'consentEnded',
  'stopped',
  'unpaid',
  'finished',
  'firstPaymentMissing',
  'disputed',
);
const payerReason = oneOf(...payerReasons);
const announcement: Codec<Announcement> = object({
  number: wholeNumber,
  why: announcementReason,
  priceMinor: minorUnits,
  leadMs: wholeNumber,
  version: wholeNumber,
  by: oneOf('email', 'webhook', 'none'),
  announcedAt: optional(instant),
  acceptedAt: optional(instant),
  refusedAt: optional(instant),
});
const parkReason = oneOf('moreThanTwoChargesADay', 'periodAhead');
const pauseMembers = { by: oneOf('payer', 'merchant', 'dunning'), resumesAt: optional(instant) };

const parent: Codec<PaymentRef> = object({ invoiceId: text, paymentId: text });

/** What has no column of its own. */
export type SubscriptionState = Omit<Subscription, 'terms' | 'phase'>;
/** Nodes and rows of before know the latest announcement alone, so the others are stored apart. */
type StoredState = Omit<SubscriptionState, 'announcements'> & {
  readonly announcement?: Announcement;
  readonly otherAnnouncements?: readonly Announcement[];
};

const paidPeriod = { number: wholeNumber, invoiceIds: list(text) };
const storedState: Codec<StoredState> = object({
  items,
  startedAt: optional(instant),
  details: optional(
    object<NonNullable<Subscription['details']>>({
      version: wholeNumber,
      metadata: optional(anyObject),
      catchUp: optional(catchUp),
    }),
  ),
  parent: optional(parent),
  schedule: optional(schedule),
  latest: optional(period),
  paidMinor: minorUnits,
  open: list(openPeriod),
  missed: list(period),
  creditMinor: minorUnits,
  paidThrough: optional(instant),
  hasCharged: optional(oneOf(true)),
  pause: optional(object<NonNullable<Subscription['pause']>>(pauseMembers)),
  endsAfter: optional(object({ number: wholeNumber, reason: endReason })),
  scheduledItems: optional(items),
  change: optional(pendingChange),
  changedOn: optional(wholeNumber),
  dunning: optional(
    object<NonNullable<Subscription['dunning']>>({ name: optional(text), policy: dunningPolicy }),
  ),
  charges: list(
    object<Charge>({ number: wholeNumber, paymentId: text, at: instant, isWished: optional(oneOf(true)) }),
  ),
  paidByPayer: optional(object({ number: wholeNumber, at: instant })),
  parkedFor: optional(parkReason),
  endedFor: optional(endReason),
  payerReason: optional(payerReason),
  endRefund: optional(endRefund),
  lastPaid: optional(object<LastPaid>(paidPeriod)),
  otherPaid: optional(list(object<OtherPaid>({ ...paidPeriod, isLost: optional(oneOf(true)) }))),
  cutShort: optional(list(object<CutShort>({ number: wholeNumber, paidMinor: minorUnits }))),
  taken: optional(
    list(
      object<Taken>({
        number: wholeNumber,
        minor: minorUnits,
        ofPeriod: optional(wholeNumber),
        ofChange: optional(oneOf(true)),
        ofNothing: optional(oneOf(true)),
      }),
    ),
  ),
  announcement: optional(announcement),
  otherAnnouncements: optional(list(announcement)),
  knownPriceMinor: optional(minorUnits),
  declinedAt: optional(instant),
  duties: optional(duties),
});
export const subscriptionState: Codec<SubscriptionState> = {
  read(stored) {
    const { announcement: last, otherAnnouncements = [], ...state } = storedState.read(stored);
    // An old node writes the latest again, and leaves the others as they are.
    const others = otherAnnouncements.filter(({ number }) => number !== last?.number);
    const announcements = last ? [...others, last] : others;
    return announcements.length > 0 ? { ...state, announcements } : state;
  },
  write({ announcements = [], ...state }) {
    const last = announcements.at(-1);
    const others = announcements.slice(0, -1);
    return written(storedState, {
      ...state,
      ...(last ? { announcement: last } : {}),
      ...(others.length > 0 ? { otherAnnouncements: others } : {}),
    });
  },
};

export const subscriptionFact = variants<SubscriptionFact, 'type'>('type', {
  subscription_created: { terms: subscriptionTerms },
  subscription_started: { schedule, parent: optional(parent) },
  period_created: { period },
  missed_period_charged: { number: wholeNumber, invoiceId: text },
  charge_started: {
    number: wholeNumber,
    paymentId: text,
    bindingId: optional(text),
    isUnannounced: optional(oneOf(true)),
  },
  charge_postponed: {
    number: wholeNumber,
    until: optional(instant),
    why: text,
    isUnannounced: optional(oneOf(true)),
  },
  charge_failed: {
    number: wholeNumber,
    declineClass,
    nextTryAt: optional(instant),
    givesUpAt: optional(instant),
    isUnsent: optional(oneOf(true)),
  },
  try_requested: {
    number: wholeNumber,
    by: oneOf('newCard', 'merchant'),
    isConsent: optional(oneOf(true)),
  },
  period_paid: {
    number: wholeNumber,
    by: oneOf('charge', 'payer', 'elsewhere'),
    parent: optional(parent),
  },
  period_closed: { number: wholeNumber, outcome: oneOf('unpaid', 'forgiven') },
  payment_taken_back: { period, paidThrough: optional(instant) },
  subscription_unpaid: { number: wholeNumber },
  subscription_paused: pauseMembers,
  subscription_resumed: {},
  anchor_shifted: { schedule },
  end_scheduled: { afterNumber: wholeNumber, reason: endReason },
  end_taken_back: {},
  payer_reason_given: { reason: payerReason },
  subscription_ended: { reason: endReason, refund: optional(refundShare) },
  end_refund_started: { invoiceId: text, paymentId: text, amountMinor: minorUnits, refundId: text },
  end_refund_refused: {
    refusedFor: text,
    invoiceId: optional(text),
    paymentId: optional(text),
    amountMinor: minorUnits,
  },
  end_refund_failed: {
    failedFor: text,
    invoiceId: text,
    paymentId: text,
    amountMinor: minorUnits,
    refundId: text,
  },
  items_scheduled: { items },
  items_unscheduled: {},
  change_started: { change },
  change_charge_started: { paymentId: text },
  change_charge_failed: { failedFor: text, isUnsent: optional(oneOf(true)), retryAt: optional(instant) },
  change_dropped: { why: optional(oneOf('unpaid', 'takenBack', 'ended')) },
  change_payment_taken_back: { ofPeriod: wholeNumber, invoiceId: text, amountMinor: minorUnits },
  items_changed: { change, parent: optional(parent) },
  zone_changed: { zone: text },
  details_changed: { metadata: optional(anyObject), catchUp: optional(catchUp), endsOn: optional(text) },
  dunning_policy_changed: {
    name: optional(text),
    policy: dunningPolicy,
    moved: optional(
      list(object({ number: wholeNumber, nextTryAt: optional(instant), givesUpAt: optional(instant) })),
    ),
  },
  subscription_parked: { why: parkReason },
  subscription_unparked: {},
  charge_announced: { announcement },
  announcement_ended: { number: wholeNumber, as: oneOf('accepted', 'refused') },
  payer_reminded: { number: wholeNumber, which: wholeNumber },
  duties_changed: { duties },
});
