// Webhook events of a subscription: one for each change that the API shows, with the subscription and the period right after it. So a
// receiver knows what the API knows.
import type { Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import { cartBody } from '../invoices/api/schema.ts';
import { filled, type Topic, type WebhookEvent } from '../platform/events/domain/topic.ts';
import { dueOf } from './domain/changes/change.ts';
import { periodBody, subscriptionBody, upcomingBody } from './api/schema.ts';
import { upcoming } from './domain/period-rows.ts';
import { triesLeft } from './domain/dunning/dunning.ts';
import {
  caseAfter,
  evolve,
  policyOfPeriod,
  type Change,
  type PendingChange,
  type Period,
  type Subscription,
  type SubscriptionFact,
} from './domain/subscription.ts';
import { subscriptionFact } from './store/codec.ts';

/** What the API does not show has none. */
const eventTypes: Partial<Record<SubscriptionFact['type'], string>> = {
  subscription_created: 'SubscriptionCreated',
  subscription_started: 'SubscriptionStarted',
  period_created: 'SubscriptionPeriodCreated',
  missed_period_charged: 'SubscriptionMissedPeriodCharged',
  charge_started: 'SubscriptionChargeStarted',
  charge_postponed: 'SubscriptionChargePostponed',
  charge_failed: 'SubscriptionChargeFailed',
  try_requested: 'SubscriptionTryRequested',
  period_paid: 'SubscriptionPeriodPaid',
  period_closed: 'SubscriptionPeriodClosed',
  payment_taken_back: 'SubscriptionPaymentTakenBack',
  subscription_unpaid: 'SubscriptionUnpaid',
  subscription_paused: 'SubscriptionPaused',
  subscription_resumed: 'SubscriptionResumed',
  anchor_shifted: 'SubscriptionAnchorShifted',
  end_scheduled: 'SubscriptionEndScheduled',
  end_taken_back: 'SubscriptionEndTakenBack',
  payer_reason_given: 'SubscriptionReasonGiven',
  subscription_ended: 'SubscriptionEnded',
  end_refund_started: 'SubscriptionRefundStarted',
  end_refund_refused: 'SubscriptionRefundRefused',
  end_refund_failed: 'SubscriptionRefundFailed',
  items_scheduled: 'SubscriptionChangeScheduled',
  items_unscheduled: 'SubscriptionChangeTakenBack',
  change_started: 'SubscriptionChangeStarted',
  change_charge_started: 'SubscriptionChangeChargeStarted',
  change_charge_failed: 'SubscriptionChangeChargeFailed',
  change_dropped: 'SubscriptionChangeDropped',
  items_changed: 'SubscriptionChanged',
  change_payment_taken_back: 'SubscriptionChangePaymentTakenBack',
  zone_changed: 'SubscriptionTimeZoneChanged',
  details_changed: 'SubscriptionDetailsChanged',
  dunning_policy_changed: 'SubscriptionDunningPolicyChanged',
  subscription_parked: 'SubscriptionParked',
  subscription_unparked: 'SubscriptionUnparked',
  charge_announced: 'SubscriptionChargeComing',
  announcement_ended: 'SubscriptionAnnouncementEnded',
};
/** Of a charge that ends a trial. */
const trialEnding = 'SubscriptionTrialEnding';
export const subscriptionChangeTypes = [...Object.values(eventTypes), trialEnding];
/** What a merchant who writes to payers has to pass on. */
export const announcementTypes = ['SubscriptionChargeComing', trialEnding];

function eventTypeOf(fact: SubscriptionFact): string | undefined {
  const endsTrial = fact.type === 'charge_announced' && fact.announcement.why === 'trialEnding';
  return endsTrial ? trialEnding : eventTypes[fact.type];
}

export const subscriptionsTopic: Topic = {
  name: 'SubscriptionsTopic',
  payloadTopic: 'SubscriptionsTopic',
  aggregate: 'subscription',
  eventTypes: subscriptionChangeTypes,
  eventId: 'number',
  typesOf: (facts) => subscriptionFact.known(facts).flatMap((fact) => eventTypeOf(fact) ?? []),
  ownersOf: ([first]) => {
    const fact = subscriptionFact.read(first);
    if (fact.type !== 'subscription_created')
      throw new Error('The log of a subscription does not start with subscription_created.');
    return [{ id: fact.terms.shopId }];
  },
  webhookEventsOf(log) {
    let subscription: Subscription | undefined;
    return log.flatMap(({ sequence, createdAt: happenedAt, facts }) => {
      const known = facts.map((fact) => subscriptionFact.read(fact));
      const { after, changes } = changesBy(subscription, known, happenedAt);
      subscription = after;
      return changes.map(({ changeType, members }, index): WebhookEvent => {
        const type = { registeredType: changeType, eventType: changeType };
        return { sequence, index, ...type, happenedAt, members };
      });
    });
  },
};

type Reported = { readonly changeType: string; readonly members: Record<string, unknown> };

/** What facts of one event change, as merchants see it: each with the subscription right after it. */
export function changesBy(
  before: Subscription | undefined,
  facts: readonly SubscriptionFact[],
  happenedAt: Instant,
): { readonly after: Subscription | undefined; readonly changes: readonly Reported[] } {
  let after = before;
  const changes = facts.flatMap((fact): Reported | [] => {
    const last = after;
    const current = evolve(last, fact, happenedAt);
    after = current;
    const changeType = eventTypeOf(fact);
    if (changeType === undefined) return [];
    const members = filled({ subscription: subscriptionBody(current), ...changeOf(fact, last, current) });
    return { changeType, members };
  });
  return { after, changes };
}

/** The period as it is after the fact, and what the fact says besides. */
function changeOf(fact: SubscriptionFact, before: Subscription | undefined, after: Subscription) {
  if (fact.type === 'period_created' || fact.type === 'payment_taken_back')
    return { period: periodBody(fact.period) };
  if (fact.type === 'charge_announced') return announcedPayload(fact, after);
  if (fact.type === 'details_changed')
    return { changed: ['metadata', 'catchUp', 'endsOn'].filter((name) => name in fact) };
  if (fact.type === 'subscription_paused') return { by: fact.by };
  if (fact.type === 'end_scheduled') return { by: fact.reason };
  if (fact.type === 'subscription_parked') return { reason: fact.why };
  if (fact.type === 'anchor_shifted') return { anchorOn: fact.schedule.anchor };
  if (fact.type === 'items_scheduled') return { items: cartBody(fact.items) };
  if (fact.type === 'items_unscheduled') return { items: cartBody(before?.scheduledItems ?? []) };
  if (fact.type === 'change_started' || fact.type === 'items_changed')
    return { items: cartBody(fact.change.items), change: changePayload(fact.change) };
  if (fact.type === 'change_payment_taken_back')
    return { invoiceID: fact.invoiceId, amount: Number(fact.amountMinor) };
  if (fact.type.startsWith('end_refund_')) return refundPayload(fact as RefundFact);
  if (fact.type.startsWith('change_')) return changeDetailsOf(fact, before?.change);
  if (!('number' in fact)) return {};
  const known = after.open.find(({ number }) => number === fact.number);
  const period = known ?? closedBy(fact, before);
  return { ...(period ? { period: periodBody(period) } : {}), ...detailsOf(fact, after) };
}

function changeDetailsOf(fact: SubscriptionFact, change: PendingChange | undefined) {
  const invoice = filled({ invoiceID: change?.invoiceId });
  if (fact.type === 'change_charge_started') return { ...invoice, ...paymentOf(fact.paymentId) };
  if (fact.type === 'change_charge_failed') return { ...invoice, reason: fact.failedFor };
  return fact.type === 'change_dropped'
    ? filled({ ...invoice, items: cartBody(change?.items ?? []), reason: fact.why })
    : invoice;
}

function changePayload(change: Change): Record<string, unknown> {
  const { period, creditMinor, chargeMinor, fromBalanceMinor, invoiceId, payableUntil, newPeriod } = change;
  return filled({
    ofPeriod: period,
    charge: Number(chargeMinor),
    credit: Number(creditMinor),
    fromBalance: Number(fromBalanceMinor),
    amount: Number(dueOf(change)),
    invoiceID: invoiceId,
    payableUntil,
    startsOn: newPeriod?.startsOn,
  });
}

type RefundFact = SubscriptionFact & { type: `end_refund_${string}` };

function refundPayload(fact: RefundFact) {
  const { invoiceId: invoiceID, paymentId: paymentID, amountMinor } = fact;
  return {
    amount: Number(amountMinor),
    ...(paymentID === undefined ? {} : { payment: { invoiceID, paymentID } }),
    ...(fact.type === 'end_refund_refused' ? { reason: fact.refusedFor } : {}),
    ...(fact.type === 'end_refund_failed' ? { reason: fact.failedFor } : {}),
  };
}

function paymentOf(name: string) {
  const [invoiceID, paymentID] = name.split('.');
  return { payment: { invoiceID, paymentID } };
}

function closedBy(fact: SubscriptionFact, before: Subscription | undefined): Period | undefined {
  if (!before || (fact.type !== 'period_closed' && fact.type !== 'period_paid')) return undefined;
  const closed = [...before.open, ...before.missed].find(({ number }) => number === fact.number);
  return closed && { ...closed, outcome: fact.type === 'period_closed' ? fact.outcome : 'paid' };
}

/** Undefined for a mistake of the merchant or the operator: it is tried for as long as it takes. */
function triesLeftOf(
  after: Subscription,
  { number, nextTryAt: at, declineClass }: SubscriptionFact & { type: 'charge_failed' },
): number | undefined {
  if (declineClass === 'configuration') return undefined;
  if (at === undefined) return 0;
  const { terms, open, schedule = terms.schedule } = after;
  const period = open.find((one) => one.number === number);
  if (!period) return undefined;
  const failed = caseAfter(period, declineClass, at);
  const tried = { id: terms.id, zone: schedule.zone };
  return triesLeft(policyOfPeriod(after, period), { at, declineClass }, failed, tried);
}

function detailsOf(fact: SubscriptionFact, after: Subscription) {
  switch (fact.type) {
    case 'charge_started':
      return { ...paymentOf(fact.paymentId), ...defined({ isUnannounced: fact.isUnannounced }) };
    case 'charge_postponed':
      return { reason: fact.why, ...defined({ nextTryAt: fact.until }) };
    case 'charge_failed': {
      const { declineClass, nextTryAt, givesUpAt } = fact;
      const left = triesLeftOf(after, fact);
      return { declineClass, ...defined({ nextTryAt, triesLeft: left, graceUntil: givesUpAt }) };
    }
    case 'try_requested':
      return { by: fact.isConsent ? 'newConsent' : fact.by };
    case 'period_paid':
      return { by: fact.by };
    case 'announcement_ended':
      return { announcement: fact.as };
    default:
      return {};
  }
}

/** The charge as it is if nothing else happens. */
function announcedPayload(
  { announcement: { number, why, by } }: SubscriptionFact & { type: 'charge_announced' },
  after: Subscription,
) {
  const created = after.open.find((period) => period.number === number);
  const coming = created ? undefined : upcoming(after, 1).find((period) => period.number === number);
  return {
    reason: why,
    by,
    ...defined({ period: created && periodBody(created), upcoming: coming && upcomingBody(coming) }),
  };
}
