// Webhook events of a subscription: one for each change, with the subscription and the period right after it. A receiver that keeps the
// subscription as it was created can follow its state from them.
import { defined } from '../defined.ts';
import { cartBody } from '../invoices/api/schema.ts';
import { filled, type Topic, type WebhookEvent } from '../platform/events/domain/topic.ts';
import { dueOf } from './domain/changes/change.ts';
import { upcoming, type Upcoming } from './domain/period-rows.ts';
import {
  evolve,
  statusOf,
  type Change,
  type PendingChange,
  type Period,
  type Subscription,
  type SubscriptionFact,
} from './domain/subscription.ts';
import { subscriptionFact } from './store/codec.ts';

/** The charge that follows a wish to try says so itself. */
const eventTypes: Partial<Record<SubscriptionFact['type'], string>> = {
  subscription_created: 'SubscriptionCreated',
  subscription_started: 'SubscriptionStarted',
  period_created: 'SubscriptionPeriodCreated',
  missed_period_charged: 'SubscriptionMissedPeriodCharged',
  charge_started: 'SubscriptionChargeStarted',
  charge_postponed: 'SubscriptionChargePostponed',
  charge_failed: 'SubscriptionChargeFailed',
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
  items_scheduled: 'SubscriptionChangeScheduled',
  items_unscheduled: 'SubscriptionChangeTakenBack',
  change_started: 'SubscriptionChangeStarted',
  change_charge_started: 'SubscriptionChangeChargeStarted',
  change_charge_failed: 'SubscriptionChangeChargeFailed',
  change_dropped: 'SubscriptionChangeDropped',
  items_changed: 'SubscriptionChanged',
  change_payment_taken_back: 'SubscriptionChangePaymentTakenBack',
  zone_changed: 'SubscriptionTimeZoneChanged',
  dunning_policy_changed: 'SubscriptionDunningPolicyChanged',
  subscription_parked: 'SubscriptionParked',
  subscription_unparked: 'SubscriptionUnparked',
  charge_announced: 'SubscriptionChargeComing',
};
/** Of a charge that ends a trial. */
const trialEnding = 'SubscriptionTrialEnding';
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
  eventTypes: [...Object.values(eventTypes), trialEnding],
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
      let index = 0;
      return facts.flatMap((json): WebhookEvent | [] => {
        const fact = subscriptionFact.read(json);
        const before = subscription;
        subscription = evolve(subscription, fact, happenedAt);
        const eventType = eventTypeOf(fact);
        if (eventType === undefined) return [];
        const members = filled({
          subscription: payload(subscription),
          ...changeOf(fact, before, subscription),
        });
        return { sequence, index: index++, registeredType: eventType, eventType, happenedAt, members };
      });
    });
  },
};

function payload(subscription: Subscription): Record<string, unknown> {
  const { terms, paidThrough, pause, endsAfter, endedFor, parkedFor, creditMinor } = subscription;
  return filled({
    id: terms.id,
    shopID: terms.shopId,
    customerID: terms.customerId,
    firstInvoiceID: terms.firstInvoice?.id,
    externalID: terms.externalId,
    uniqueKey: terms.uniqueKey,
    status: statusOf(subscription),
    creditBalance: Number(creditMinor),
    paidThrough,
    resumesAt: pause?.resumesAt,
    endsAfterPeriod: endsAfter?.number,
    endReason: endedFor,
    payerReason: subscription.payerReason,
    parkedFor,
    metadata: terms.metadata,
  });
}

/** The period as it is after the fact, and what the fact says besides. */
function changeOf(fact: SubscriptionFact, before: Subscription | undefined, after: Subscription) {
  if (fact.type === 'period_created' || fact.type === 'payment_taken_back')
    return { period: periodPayload(fact.period) };
  if (fact.type === 'charge_announced') return announcedPayload(fact, after);
  if (fact.type === 'subscription_paused') return { by: fact.by };
  if (fact.type === 'subscription_parked') return { reason: fact.why };
  if (fact.type === 'anchor_shifted') return { anchorOn: fact.schedule.anchor };
  if (fact.type === 'zone_changed') return { timeZone: fact.zone };
  if (fact.type === 'items_scheduled') return { items: cartBody(fact.items) };
  if (fact.type === 'change_started' || fact.type === 'items_changed')
    return { items: cartBody(fact.change.items), change: changePayload(fact.change) };
  if (fact.type === 'change_payment_taken_back')
    return { invoiceID: fact.invoiceId, amount: Number(fact.amountMinor) };
  if (fact.type.startsWith('change_')) return changeDetailsOf(fact, before?.change);
  if (fact.type === 'dunning_policy_changed')
    return { dunning: { policy: fact.policy.name, version: fact.policy.version } };
  if (!('number' in fact)) return {};
  const known = after.open.find(({ number }) => number === fact.number);
  const closed = before && [...before.open, ...before.missed].find(({ number }) => number === fact.number);
  const period = known ?? (closed && { ...closed, outcome: outcomeOf(fact) });
  return { ...(period ? { period: periodPayload(period) } : {}), ...detailsOf(fact) };
}

function changeDetailsOf(fact: SubscriptionFact, change: PendingChange | undefined) {
  const invoice = filled({ invoiceID: change?.invoiceId });
  if (fact.type === 'change_charge_started') return { ...invoice, ...paymentOf(fact.paymentId) };
  if (fact.type === 'change_charge_failed') return { ...invoice, reason: fact.failedFor };
  return fact.type === 'change_dropped' ? filled({ ...invoice, reason: fact.why }) : invoice;
}

function changePayload(change: Change): Record<string, unknown> {
  const { period, creditMinor, chargeMinor, fromBalanceMinor, invoiceId, payableUntil } = change;
  return filled({
    ofPeriod: period,
    charge: Number(chargeMinor),
    credit: Number(creditMinor),
    fromBalance: Number(fromBalanceMinor),
    amount: Number(dueOf(change)),
    invoiceID: invoiceId,
    payableUntil,
  });
}

function paymentOf(name: string) {
  const [invoiceID, paymentID] = name.split('.');
  return { payment: { invoiceID, paymentID } };
}

function outcomeOf(fact: SubscriptionFact): Period['outcome'] {
  return fact.type === 'period_closed' ? fact.outcome : 'paid';
}

function detailsOf(fact: SubscriptionFact) {
  switch (fact.type) {
    case 'charge_started':
      return { ...paymentOf(fact.paymentId), ...defined({ isUnannounced: fact.isUnannounced }) };
    case 'charge_postponed':
      return { reason: fact.why, ...defined({ nextTryAt: fact.until }) };
    case 'charge_failed': {
      const { declineClass, nextTryAt, givesUpAt } = fact;
      return { declineClass, ...defined({ nextTryAt, graceUntil: givesUpAt }) };
    }
    case 'period_paid':
      return { by: fact.by };
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
  const coming = created ?? upcoming(after, 1).find((period) => period.number === number);
  return { reason: why, by, ...(coming ? { period: periodPayload({ outcome: 'open', ...coming }) } : {}) };
}

function periodPayload(period: Upcoming & Pick<Period, 'outcome' | 'invoiceId'>): Record<string, unknown> {
  const { number, kind, startsOn, endsOn, dueAt, amountMinor, outcome, invoiceId } = period;
  return filled({
    number,
    kind,
    startsOn,
    endsOn,
    dueAt,
    amount: Number(amountMinor),
    outcome,
    invoiceID: invoiceId,
  });
}
