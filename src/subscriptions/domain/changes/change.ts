// Other items or another time zone: from the next period, or now for the difference, also with a new period. What is to be paid takes
// effect when it is paid.
import { earliest, laterBy, type Instant } from '../../../clock.ts';
import { defined } from '../../../defined.ts';
import type { PaymentRef } from '../../../recurring/domain/series.ts';
import { accept, refuse, type Outcome } from '../../../refusal.ts';
import { localDayOf } from '../../../retry-rules/domain/time-zones.ts';
import { triedAgainAt, type ChargeEnding } from '../charge-outcome.ts';
import { checkItems, decideZone, wrongPhase } from '../commands.ts';
import { linesOf, upcoming, type Upcoming } from '../period-rows.ts';
import { newPeriodFacts, newPeriodOf } from './new-period.ts';
import { prorate, sumOf } from './proration.ts';
import {
  evolveAll,
  type Change,
  type Item,
  type PendingChange,
  type Subscription,
  type SubscriptionFact,
} from '../subscription.ts';

type Facts = readonly SubscriptionFact[];

export type ChangeRefusal =
  | 'invalidRequest'
  | 'invalidSubscriptionStatus'
  | 'subscriptionPastDue'
  | 'subscriptionChangePending'
  | 'subscriptionChangedToday';

export type WantedChange = {
  readonly items?: readonly Item[];
  /** `auto`: what is dearer now, what is cheaper from the next period. `anchorNow`: with a whole new period that starts today. */
  readonly when: 'nextPeriod' | 'now' | 'auto' | 'anchorNow';
  /** Whether the unused time of the old items counts. */
  readonly credit: 'unused' | 'none';
  /** From the next period. */
  readonly timeZone?: string;
  /** Of a preview, so that the amounts are the same. */
  readonly asOf?: Instant;
};

/** How long the amounts of a preview can be taken. */
const previewMs = 3_600_000;
/** How long a payer can pay what the saved card did not. */
const payableMs = 3 * 86_400_000;

export function decideChange(
  subscription: Subscription,
  change: WantedChange,
  invoiceId: string,
  now: Instant,
): Outcome<Facts, ChangeRefusal> {
  const { items, timeZone, ...wanted } = change;
  if (wanted.when === 'anchorNow') return decideAnchorNow(subscription, change, invoiceId, now);
  if (!items && timeZone === undefined)
    return refuse('invalidRequest', { hint: 'Send `items` or `timeZone`.' });
  const zone = timeZone === undefined ? accept([]) : decideZone(subscription, timeZone);
  if (!zone.ok || !items) return zone;
  const isDearer = sumOf(items) > sumOf(subscription.items);
  const isNow = wanted.when === 'now' || (wanted.when === 'auto' && isDearer);
  const changed = isNow
    ? decideChangeNow(subscription, { items, ...wanted, invoiceId }, now)
    : decideChangeFromNextPeriod(subscription, items);
  return changed.ok ? accept([...zone.value, ...changed.value]) : changed;
}

function decideAnchorNow(
  subscription: Subscription,
  { items, timeZone, ...wanted }: WantedChange,
  invoiceId: string,
  now: Instant,
): Outcome<Facts, ChangeRefusal> {
  if (timeZone !== undefined)
    return refuse('invalidRequest', { hint: '`timeZone` applies from the next period. Change it alone.' });
  const kept = subscription.scheduledItems ?? subscription.items;
  const asked = { items: items ?? kept, ...wanted, invoiceId, startsPeriod: true } as const;
  return decideChangeNow(subscription, asked, now);
}

export function decideChangeFromNextPeriod(
  subscription: Subscription,
  items: readonly Item[],
): Outcome<Facts, 'invalidRequest' | 'invalidSubscriptionStatus' | 'subscriptionChangePending'> {
  const { phase, change } = subscription;
  if (phase !== 'running' && phase !== 'paused') return wrongPhase(subscription);
  // Its payment would replace what is scheduled.
  if (change) return refuse('subscriptionChangePending');
  const checked = checkItems(items);
  return checked.ok ? accept([{ type: 'items_scheduled', items }]) : checked;
}

/** With the `asOf` of a preview, it costs what the preview said. */
export function decideChangeNow(
  subscription: Subscription,
  {
    items,
    credit = 'unused',
    asOf,
    invoiceId,
    startsPeriod,
  }: Pick<WantedChange, 'asOf'> & {
    readonly items: readonly Item[];
    readonly credit?: WantedChange['credit'];
    readonly invoiceId: string;
    readonly startsPeriod?: true;
  },
  now: Instant,
): Outcome<Facts, ChangeRefusal> {
  if (asOf !== undefined && (asOf > now || asOf < laterBy(now, -previewMs)))
    return refuse('invalidRequest', { hint: '`asOf` must be of a preview of the last hour.' });
  const at = asOf ?? now;
  const checked = checkItems(items);
  if (!checked.ok) return checked;
  const period = changeablePeriod(subscription, at, now);
  if (!period.ok) return period;
  const { number, endsAt } = period.value;
  const started = startsPeriod
    ? newPeriodOf(subscription, period.value, { items, at }, now)
    : accept(undefined);
  if (!started.ok) return started;
  const reckoned = { ...amounts(subscription, { items, credit }, at), ...started.value };
  const { creditMinor, chargeMinor } = reckoned;
  const difference = chargeMinor > creditMinor ? chargeMinor - creditMinor : 0n;
  const balance = subscription.creditMinor;
  const fromBalanceMinor = balance < difference ? balance : difference;
  const change = { period: number, items, ...reckoned, fromBalanceMinor };
  if (difference === fromBalanceMinor) return accept(applied(subscription, change));
  const payableUntil = earliest(endsAt, laterBy(now, payableMs));
  return accept([{ type: 'change_started', change: { ...change, invoiceId, payableUntil } }]);
}

/** `parent`: the payer's payment of it, if its card is charged from now on. */
function applied(subscription: Subscription, change: Change, parent?: PaymentRef): Facts {
  return [
    { type: 'items_changed', change, ...defined({ parent }) },
    ...newPeriodFacts(subscription, change, dueOf(change)),
  ];
}

function changeablePeriod(subscription: Subscription, at: Instant, now: Instant) {
  const { phase, parkedFor, latest, open, schedule, change, changedOn } = subscription;
  if (phase !== 'running' || !latest || !schedule) return wrongPhase(subscription);
  if (parkedFor !== undefined)
    return refuse('invalidSubscriptionStatus', { hint: 'Charging is stopped. Resume it first.' });
  if (open.length > 0) return refuse('subscriptionPastDue');
  if (change) return refuse('subscriptionChangePending');
  // A preview may be of the day before the last change.
  if (changedOn !== undefined && changedOn >= localDayOf(at, schedule.zone))
    return refuse('subscriptionChangedToday');
  return at < latest.startsAt || now >= latest.endsAt
    ? refuse('invalidRequest', { hint: 'The current period has not been created yet. Try again later.' })
    : accept(latest);
}

/** Nothing is reckoned for a trial, and for a period that nothing was asked for. */
function amounts(
  subscription: Subscription,
  { items, credit }: Pick<WantedChange, 'credit'> & { readonly items: readonly Item[] },
  at: Instant,
) {
  const { latest, paidMinor } = subscription;
  if (!latest || latest.outcome !== 'paid' || latest.kind === 'trial')
    return { creditMinor: 0n, chargeMinor: 0n };
  const from = credit === 'none' ? [] : linesOf(subscription, latest, subscription.items);
  const to = linesOf(subscription, latest, items);
  return prorate(latest, paidMinor, { from, to, at });
}

/** What the payer pays now. */
export function dueOf({ creditMinor, chargeMinor, fromBalanceMinor }: Change): bigint {
  const difference = chargeMinor - creditMinor;
  return difference > 0n ? difference - fromBalanceMinor : 0n;
}

export type Preview = {
  /** The instant that the amounts are for. */
  readonly asOf: Instant;
  /** Absent: nothing changes before the next period. */
  readonly change?: Change;
  readonly after: Subscription;
  /** Absent: none comes without a person. */
  readonly next?: Upcoming;
};

/** What a change would cost, and what follows once it is paid. */
export function previewChange(
  subscription: Subscription,
  wanted: WantedChange,
  now: Instant,
): Outcome<Preview, ChangeRefusal> {
  const decision = decideChange(subscription, wanted, '', now);
  if (!decision.ok) return decision;
  let change: Change | undefined;
  const facts = decision.value.flatMap((fact) => {
    if (fact.type !== 'change_started' && fact.type !== 'items_changed') return fact;
    ({ change } = fact);
    return fact.type === 'change_started' ? applied(subscription, change) : fact;
  });
  const after = evolveAll(subscription, facts, now);
  const [next] = upcoming(after, 1);
  return accept({ asOf: wanted.asOf ?? now, after, ...defined({ change, next }) });
}

/** What waits: for the next period, or for a payment. */
export function decideTakeBackChange(
  subscription: Subscription,
): Outcome<Facts, 'invalidSubscriptionStatus' | 'subscriptionChargePending'> {
  const { phase, change, scheduledItems } = subscription;
  if (phase === 'ended') return wrongPhase(subscription);
  if (change?.charging !== undefined) return refuse('subscriptionChargePending');
  if (change) return accept([{ type: 'change_dropped', why: 'takenBack' }]);
  return scheduledItems
    ? accept([{ type: 'items_unscheduled' }])
    : refuse('invalidSubscriptionStatus', { hint: 'No change is waiting.' });
}

/** The outcome of the invoice of a change. `parent`: the payer's payment, if its card is charged from now on. */
export function decideChangeEnded(
  subscription: Subscription,
  invoiceId: string,
  isPaid: boolean,
  parent?: PaymentRef,
): Facts {
  const { change } = subscription;
  if (change?.invoiceId !== invoiceId) return [];
  return isPaid
    ? applied(subscription, withoutCharge(change), parent)
    : [{ type: 'change_dropped', why: 'unpaid' }];
}

function withoutCharge({
  tryAt: _,
  charging: __,
  failedFor: ___,
  failedAt: ____,
  lostMinor: _____,
  ...change
}: PendingChange): Change {
  return change;
}

/** Nothing, if the payment is not the one in progress. It reaches the bank once: after that the payer can pay, unless all has ended. */
export function decideChangeChargeEnded(
  subscription: Subscription,
  paymentId: string,
  ending: ChargeEnding,
  now: Instant,
): Facts {
  const { change, phase } = subscription;
  if (change?.charging !== paymentId) return [];
  if (ending.outcome === 'captured') return applied(subscription, withoutCharge(change));
  const failed = {
    type: 'change_charge_failed',
    ...failureOf(ending),
    ...retryOf(change, ending, now),
  } as const;
  return phase === 'ended' ? [failed, { type: 'change_dropped', why: 'ended' }] : [failed];
}

type UnpaidEnding = Exclude<ChargeEnding, { outcome: 'captured' }>;

/** A hold of the bank uses up no try. After a hold or a failure, nothing else that was not sent does. */
function retryOf({ failedFor, payableUntil }: PendingChange, ending: UnpaidEnding, now: Instant) {
  if (ending.outcome === 'failed') return {};
  const { outcome, retryAfter } = ending;
  const retryAt = outcome === 'unsent' ? triedAgainAt(retryAfter, now) : retryAfter;
  if ((failedFor === undefined && !isHeld(ending)) || retryAt === undefined || payableUntil === undefined)
    return {};
  return retryAt < payableUntil ? { retryAt } : {};
}

function failureOf(ending: UnpaidEnding) {
  if (ending.outcome === 'failed') return { failedFor: ending.declineClass };
  const unsent = isHeld(ending) ? 'held' : 'unsent';
  return { failedFor: ending.outcome === 'refused' ? ending.code : unsent, isUnsent: true } as const;
}

function isHeld(ending: UnpaidEnding): boolean {
  return ending.outcome === 'unsent' && ending.isHeld === true;
}
