// What payers, merchants and the calendar ask of a subscription. Each decision returns facts, or a refusal.
import { earliest, latest, laterBy, type Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { largestAmountMinor } from '../../money.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import type { PaymentRef } from '../../recurring/domain/series.ts';
import { dateText, dayOfDate, isDate } from '../../retry-rules/domain/calendar.ts';
import { isTimeZone, localDayOf } from '../../retry-rules/domain/time-zones.ts';
import { checkFits, checkPolicy } from './dunning/dunning.ts';
import { momentOnDay } from './day-window.ts';
import { createAfterPause, createDue, createStarted, skipStarted } from './period-rows.ts';
import { sumOf } from './changes/proration.ts';
import {
  checkSchedule,
  endsOnProblem,
  firstNumberOf,
  layOut,
  periodDates,
  type Schedule,
} from './schedule.ts';
import {
  evolveAll,
  mayChargeFrom,
  nextAction,
  nextPeriod,
  policyOf,
  policyOfPeriod,
  type EndReason,
  type Item,
  type OpenPeriod,
  type Period,
  type RefundShare,
  type Subscription,
  type SubscriptionFact,
  type SubscriptionTerms,
} from './subscription.ts';

type Facts = readonly SubscriptionFact[];

/** Drawn before the facts, so that a repeat after a crash finds them. */
export type NewIds = {
  readonly invoiceId: string;
  readonly paymentId: string;
  /** Of the saved card that is charged. */
  readonly bindingId?: string;
};

const maxItems = 100;
const dayMs = 86_400_000;
const maxPauseDays = 731;

export function decideCreate(
  terms: SubscriptionTerms,
  now: Instant,
): Outcome<Facts, 'invalidRequest' | 'invalidDunningPolicy'> {
  const items = checkItems(terms.items);
  if (!items.ok) return items;
  const scheduled = checkSchedule(terms.schedule);
  if (!scheduled.ok) return scheduled;
  const imported = checkImport(terms, now);
  if (!imported.ok) return imported;
  const policy = checkPolicy(terms.dunning, now);
  if (!policy.ok) return policy;
  const fits = checkFits(terms.dunning, terms.schedule.every);
  if (!fits.ok) return fits;
  const { ends, zone } = terms.schedule;
  const hint = ends && 'before' in ends ? endsOnProblem(ends.before, localDayOf(now, zone)) : undefined;
  if (hint !== undefined) return refuse('invalidRequest', { hint });
  const schedule = scheduleFrom(terms, now);
  if (!isEverCharged(terms, schedule)) return refuse('invalidRequest', { hint: neverCharged });
  const created = { type: 'subscription_created', terms } as const;
  return accept(
    terms.startsWith === 'savedCard' ? [created, { type: 'subscription_started', schedule }] : [created],
  );
}

export const neverCharged = '`endsOn` leaves no period that is charged.';

export function isEverCharged({ schedule: { anchor } }: SubscriptionTerms, schedule: Schedule): boolean {
  const isFirstCharged = anchor !== 'atStart' && anchor.firstPeriod !== 'free';
  const hasFirst = schedule.leading.some(({ kind }) => kind === 'first');
  return (isFirstCharged && hasFirst) || periodDates(schedule, schedule.anchorNumber) !== undefined;
}

/** So long after its start a period is still charged here, and so long before it a period is agreed. */
const importDays = { back: 366, ahead: 3_660 };

function checkImport(
  { firstPeriod, startsWith, schedule: { zone } }: SubscriptionTerms,
  now: Instant,
): Outcome<undefined, 'invalidRequest'> {
  if (!firstPeriod) return accept(undefined);
  const wrong = (hint: string) => refuse('invalidRequest', { hint });
  if (startsWith !== 'savedCard') return wrong('`continuesWith` needs `customerID`.');
  const { number, startsOn } = firstPeriod;
  if (!Number.isSafeInteger(number) || number < 1 || !isDate(startsOn))
    return wrong('`continuesWith` needs a number from 1 on, and a date.');
  const days = dayOfDate(startsOn) - localDayOf(now, zone);
  return days >= -importDays.back && days <= importDays.ahead
    ? accept(undefined)
    : wrong('`continuesWith.startsOn` must be of the last 366 or the next 3,660 days.');
}

export function checkItems(items: readonly Item[]): Outcome<readonly Item[], 'invalidRequest'> {
  const wrong = (hint: string) => refuse('invalidRequest', { hint });
  if (items.length === 0 || items.length > maxItems) return wrong(`\`items\` needs 1 to ${maxItems} lines.`);
  if (
    items.some(
      ({ quantity, priceMinor, lastPriceMinor = 0n }) =>
        quantity < 1n || priceMinor < 0n || lastPriceMinor < 0n,
    )
  )
    return wrong('A quantity must be 1 or more, and a price must not be negative.');
  const last = sumOf(items.map((one) => ({ ...one, priceMinor: one.lastPriceMinor ?? one.priceMinor })));
  const total = sumOf(items);
  const most = last > total ? last : total;
  return total > 0n && most <= largestAmountMinor
    ? accept(items)
    : wrong(`The items add up to ${most}. The amount must be 1 to ${largestAmountMinor}.`);
}

/** An import starts with its own period. Otherwise the first one starts on the local day of `now`. */
function scheduleFrom({ schedule, firstPeriod }: SubscriptionTerms, now: Instant): Schedule {
  return firstPeriod
    ? layOut(schedule, firstPeriod.startsOn, firstPeriod.number)
    : layOut(schedule, dateText(localDayOf(now, schedule.zone)));
}

/** A payment that comes after the last day for a start still has its period: from the day of the creation on. */
function scheduleOfPayment(terms: SubscriptionTerms, now: Instant): Schedule {
  const schedule = scheduleFrom(terms, now);
  return periodDates(schedule, firstNumberOf(schedule)) ? schedule : scheduleFrom(terms, terms.createdAt);
}

/** The payer's own payment is that of the first period, whatever it cost. */
export function decideFirstPaymentCaptured(
  subscription: Subscription,
  {
    invoiceId,
    amountMinor,
    parent,
  }: { readonly invoiceId: string; readonly amountMinor: bigint; readonly parent?: PaymentRef },
  now: Instant,
): Outcome<Facts, 'invalidSubscriptionStatus'> {
  if (subscription.phase !== 'incomplete') return wrongPhase(subscription);
  const schedule = scheduleOfPayment(subscription.terms, now);
  const started = { type: 'subscription_started', schedule, ...defined({ parent }) } as const;
  const [first] = createDue(evolveAll(subscription, [started], now), now, invoiceId);
  if (!first) throw new Error('The first period is due when the subscription starts.');
  const period = { ...first.period, invoiceId, amountMinor, outcome: 'paid' } as const;
  return accept([started, { type: 'period_created', period }]);
}

/** What is due by now. Nothing, if the subscription was woken too early: then another node was quicker. */
export function decideWake(subscription: Subscription, now: Instant, ids: NewIds): Facts {
  const next = nextAction(subscription);
  if (!next || next.at > now) return [];
  switch (next.does) {
    case 'end': {
      const held = subscription.open.filter(({ isUnannounced }) => isUnannounced);
      const open = subscription.open.filter((period) => !held.includes(period));
      return [...closing(held, 'forgiven'), ...ending({ ...subscription, open }, next.reason)];
    }
    case 'resume':
      return resuming(subscription, now, ids.invoiceId);
    case 'giveUp':
      return finalAction(subscription, next.number);
    case 'charge':
      return startCharge(subscription, next.number, now, ids);
    // Needs the payments of the period.
    case 'refund':
      return [];
    case 'chargeChange':
      return [{ type: 'change_charge_started', paymentId: ids.paymentId }];
    case 'createPeriod': {
      const dropped = droppingNewPeriod(subscription, 'unpaid');
      const created = [...dropped, ...createDue(evolveAll(subscription, dropped, now), now, ids.invoiceId)];
      const after = evolveAll(subscription, created, now);
      const [oldest] = after.open;
      const isNew = oldest !== undefined && oldest.number === after.latest?.number;
      return isNew ? [...created, ...startCharge(after, oldest.number, now, ids)] : created;
    }
  }
}

/** A period that has started otherwise leaves no place for one that waits for its payment. */
function droppingNewPeriod({ change }: Subscription, why: 'unpaid' | 'takenBack'): Facts {
  return change?.newPeriod && change.charging === undefined ? [{ type: 'change_dropped', why }] : [];
}

/** The last guard: a third charge in a day waits. If it is for the same period, and was not asked for, there is a bug. */
function startCharge(
  subscription: Subscription,
  number: number,
  now: Instant,
  { paymentId, bindingId }: NewIds,
): Facts {
  const period = subscription.open.find((one) => one.number === number);
  if (!period) throw new Error(`Period ${number} is not open.`);
  const until = mayChargeFrom(subscription);
  if (until > now) {
    const { charges } = subscription;
    const isExplained =
      [period, ...charges].some(({ isWished }) => isWished) || charges.some((one) => one.number !== number);
    const why = 'moreThanTwoChargesADay';
    return [
      isExplained ? { type: 'charge_postponed', number, why, until } : { type: 'subscription_parked', why },
    ];
  }
  if (period.startsAt > laterBy(now, 2 * dayMs)) return [{ type: 'subscription_parked', why: 'periodAhead' }];
  return [{ type: 'charge_started', number, paymentId, ...defined({ bindingId }) }];
}

/** With the payer or the merchant: the open invoice, by whichever payment. It ends the planned tries. */
export function decidePaid(
  subscription: Subscription,
  number: number,
  by: 'charge' | 'payer' | 'elsewhere',
  now: Instant,
  parent?: PaymentRef,
): Facts {
  if (!openPeriod(subscription, number)) return [];
  return settled(subscription, [{ type: 'period_paid', number, by, ...defined({ parent }) }], now);
}

/** The merchant charges or closes it, as any period that was missed. After the end it stays unpaid, and its credit pays no new period. */
export function decideTakenBack(
  subscription: Subscription,
  period: Period,
  paidThrough: Instant | undefined,
): Facts {
  const outcome = subscription.phase === 'ended' ? 'unpaid' : 'missed';
  const isCredited = subscription.change?.period === period.number;
  const dropped = isCredited ? droppingNewPeriod(subscription, 'takenBack') : [];
  const lost = { ...period, outcome } as const;
  return [...dropped, { type: 'payment_taken_back', period: lost, ...defined({ paidThrough }) }];
}

/**
 * If nothing is unpaid after these facts, what started meanwhile is not charged, and a pause continues. Of a former stack, an older
 * period may still be.
 */
export function settled(subscription: Subscription, facts: Facts, now: Instant): Facts {
  const { phase, pause } = subscription;
  if (phase !== 'unpaid') return facts;
  const left = evolveAll(subscription, facts, now);
  const paused: Facts = pause ? [{ type: 'subscription_paused', ...pause }] : [];
  const unpaid = left.open.find(({ outcome }) => outcome === 'unpaid');
  if (unpaid) return [...facts, ...paused, { type: 'subscription_unpaid', number: unpaid.number }];
  const isOver = pause?.resumesAt !== undefined && pause.resumesAt <= now;
  return [...facts, ...skipStarted(left, now), ...(isOver ? [] : paused)];
}

export function decidePause(
  subscription: Subscription,
  {
    by,
    resumesAt,
    openPeriods,
    invoiceId,
  }: {
    readonly by: 'payer' | 'merchant';
    readonly resumesAt?: Instant;
    readonly openPeriods: 'keepTrying' | 'forgive';
  } & Pick<NewIds, 'invoiceId'>,
  now: Instant,
): Outcome<Facts, 'invalidSubscriptionStatus' | 'invalidRequest' | 'subscriptionChargePending'> {
  if (subscription.phase !== 'running') return wrongPhase(subscription);
  if (resumesAt !== undefined && resumesAt <= now)
    return refuse('invalidRequest', { hint: '`resumesAt` must be in the future.' });
  // Each period of the pause gets a row when it ends.
  if (resumesAt !== undefined && resumesAt > laterBy(now, maxPauseDays * dayMs))
    return refuse('invalidRequest', { hint: `\`resumesAt\` must be within ${maxPauseDays} days.` });
  const { open, change } = subscription;
  const isForgiving = openPeriods === 'forgive' && open.some(({ charging }) => charging !== undefined);
  if (isForgiving || (change?.newPeriod && change.charging !== undefined))
    return refuse('subscriptionChargePending');
  const dropped = droppingNewPeriod(subscription, 'takenBack');
  const started = [...dropped, ...createStarted(evolveAll(subscription, dropped, now), now, invoiceId)];
  const after = evolveAll(subscription, started, now);
  const forgiven = openPeriods === 'forgive' ? closing(after.open, 'forgiven') : [];
  return accept([...started, ...forgiven, { type: 'subscription_paused', by, ...defined({ resumesAt }) }]);
}

/** The time of the pause is never charged, and what follows it is. A parked one is charged again, after a person has found the reason. */
export function decideResume(
  subscription: Subscription,
  { invoiceId }: Pick<NewIds, 'invoiceId'>,
  now: Instant,
): Outcome<Facts, 'invalidSubscriptionStatus'> {
  const { phase, parkedFor } = subscription;
  const isParked = parkedFor !== undefined && phase !== 'ended';
  if (phase !== 'paused' && !isParked) return wrongPhase(subscription);
  const unparked: Facts = isParked ? [{ type: 'subscription_unparked' }] : [];
  return accept([...unparked, ...(phase === 'paused' ? resuming(subscription, now, invoiceId) : [])]);
}

/** A pause ends at its own time, also if Mandate looks later. What started since then is due, and what waited all its period is not. */
function resuming(subscription: Subscription, now: Instant, invoiceId: string): Facts {
  const until = earliest(subscription.pause?.resumesAt ?? now, now);
  const over = subscription.open.filter(({ isUnannounced, endsAt }) => isUnannounced && endsAt <= until);
  const forgiven = closing(over, 'forgiven');
  const left = evolveAll(subscription, forgiven, now);
  const rows = [...forgiven, ...createAfterPause(left, until, now, invoiceId)];
  const after = nextPeriod(evolveAll(subscription, rows, now));
  if (after === undefined || after.startsAt >= until) return [...rows, { type: 'subscription_resumed' }];
  // Too many for one step: the job continues.
  const { by = 'merchant', resumesAt } = subscription.pause ?? {};
  return resumesAt === until ? rows : [...rows, { type: 'subscription_paused', by, resumesAt: until }];
}

export function decideCancel(
  subscription: Subscription,
  {
    when,
    by,
    refund,
  }: {
    readonly when: 'now' | 'periodEnd';
    readonly by: 'payer' | 'merchant';
    readonly refund?: RefundShare;
  },
): Outcome<Facts, 'invalidSubscriptionStatus' | 'invalidRequest'> {
  const { phase, latest, open } = subscription;
  if (phase === 'ended') return wrongPhase(subscription);
  if (refund && when !== 'now') return refuse('invalidRequest', { hint: '`refund` needs `when: now`.' });
  if (when === 'now' || !latest) return accept(ending(subscription, by, refund));
  // The payer has heard of the charge in time to prevent it.
  const held = by === 'payer' ? open.filter(({ isUnannounced }) => isUnannounced) : [];
  const forgiven = closing(held, 'forgiven');
  const others = open.filter((period) => !held.includes(period));
  // The period before it is over.
  if (others.length === 0 && held.some(({ number }) => number === latest.number))
    return accept([...forgiven, ...ending({ ...subscription, open: others }, by)]);
  const dropped = droppingNewPeriod(subscription, 'takenBack');
  return accept([...dropped, ...forgiven, { type: 'end_scheduled', afterNumber: latest.number, reason: by }]);
}

export function decideUncancel(
  subscription: Subscription,
  now: Instant,
): Outcome<Facts, 'invalidSubscriptionStatus'> {
  const { phase, endsAfter } = subscription;
  if (phase === 'ended') return wrongPhase(subscription);
  if (!endsAfter) return refuse('invalidSubscriptionStatus', { hint: 'No end is scheduled.' });
  const notOver = checkNotOver(subscription, now);
  return notOver.ok ? accept([{ type: 'end_taken_back' }]) : notOver;
}

/** After the last period it has ended for the payer. An open period or a stop of charging only delays the end here. */
export function checkNotOver(
  { latest: last }: Subscription,
  now: Instant,
): Outcome<undefined, 'invalidSubscriptionStatus'> {
  return last && last.endsAt <= now
    ? refuse('invalidSubscriptionStatus', { hint: `The last period is over since ${last.endsAt}.` })
    : accept(undefined);
}

/** An operator does it for the merchant. */
export function decideRevoked(
  subscription: Subscription,
  by: 'payer' | 'merchant' | 'operator' = 'merchant',
): Facts {
  return decideConsentEnded(subscription, by === 'payer' ? 'payer' : 'merchant');
}

/** It was revoked, or it ran out. */
export function decideConsentEnded(
  subscription: Subscription,
  reason: Extract<EndReason, 'payer' | 'merchant' | 'consentEnded'>,
): Facts {
  return subscription.phase === 'ended' ? [] : ending(subscription, reason);
}

/** What is at the bank is finished first. Its outcome closes its period. */
function ending({ open, phase, change }: Subscription, reason: EndReason, refund?: RefundShare): Facts {
  const closed = phase === 'incomplete' ? [] : closing(open, 'unpaid');
  const dropped: Facts =
    change && change.charging === undefined ? [{ type: 'change_dropped', why: 'ended' }] : [];
  return [...closed, ...dropped, { type: 'subscription_ended', reason, ...defined({ refund }) }];
}

function closing(open: readonly OpenPeriod[], outcome: 'unpaid' | 'forgiven'): Facts {
  return open
    .filter(({ charging }) => charging === undefined)
    .map(({ number }) => ({ type: 'period_closed', number, outcome }));
}

type Uncollected = Extract<EndReason, 'unpaid' | 'stopped'>;

/** Why a period is given up: the bank or the payer stopped its charges, or they failed. */
export function reasonToGiveUp(period: OpenPeriod | undefined): Uncollected {
  return period?.declineClass === 'stopped' ? 'stopped' : 'unpaid';
}

/** Of the dunning policy. With `stack` it gives up this period only, unless everything ends. */
export function finalAction(
  subscription: Subscription,
  number: number,
  reason = reasonToGiveUp(openPeriod(subscription, number)),
): Facts {
  const { stack, finally: action } = policyOfPeriod(subscription, openPeriod(subscription, number));
  return stack && action !== 'end'
    ? [{ type: 'period_closed', number, outcome: 'unpaid' }]
    : givingUp(subscription, number, action, reason);
}

export function givingUp(
  subscription: Subscription,
  number: number,
  action: 'unpaid' | 'end' | 'pause',
  reason: Uncollected = 'unpaid',
): Facts {
  const { phase } = subscription;
  if (action === 'end') return ending(subscription, reason);
  if (action === 'unpaid') return [{ type: 'subscription_unpaid', number }];
  const closed = { type: 'period_closed', number, outcome: 'unpaid' } as const;
  return phase === 'paused' ? [closed] : [closed, { type: 'subscription_paused', by: 'dunning' }];
}

/** From the next period on. That one starts where the one before was stored to end. */
export function decideZone(
  subscription: Subscription,
  zone: string,
): Outcome<Facts, 'invalidSubscriptionStatus' | 'invalidRequest'> {
  const { phase, schedule } = subscription;
  if (phase === 'ended' || phase === 'incomplete') return wrongPhase(subscription);
  if (!isTimeZone(zone)) return refuse('invalidRequest', { hint: `\`timeZone\` "${zone}" is unknown.` });
  return accept(schedule?.zone === zone ? [] : [{ type: 'zone_changed', zone }]);
}

type Wish = { readonly number: number; readonly afterDays: number; readonly at?: Instant };

/** The merchant tries the oldest unpaid period at once, or at a later time instead of the planned one, or charges a missed one. */
export function decideCharge(
  subscription: Subscription,
  { invoiceId, ...wish }: Wish & Pick<NewIds, 'invoiceId'>,
  now: Instant,
): Outcome<
  Facts,
  'invalidRequest' | 'invalidSubscriptionStatus' | 'invalidPeriodStatus' | 'subscriptionChargePending'
> {
  const { number } = wish;
  const [oldest] = subscription.open;
  const isOldest = oldest?.number === number;
  const olderFirst = () =>
    refuse('invalidPeriodStatus', { hint: `Period ${oldest?.number} is unpaid. It is charged first.` });
  if (!isOldest && openPeriod(subscription, number)) return olderFirst();
  const begun = isOldest
    ? decideTry(subscription, 'merchant')
    : decideChargeMissed(subscription, number, { invoiceId });
  if (!begun.ok) {
    const { code } = begun.refusal;
    return code === 'subscriptionPastDue' ? olderFirst() : refuse(code, begun.refusal);
  }
  const later = laterTry(subscription, wish, now);
  if (!later.ok || later.value.length === 0) return later.ok ? begun : later;
  return isOldest ? later : accept([...begun.value, ...later.value]);
}

/** Nothing, if the try is made at once. */
function laterTry(
  subscription: Subscription,
  { number, afterDays, at }: Wish,
  now: Instant,
): Outcome<Facts, 'invalidRequest' | 'invalidSubscriptionStatus'> {
  const open = openPeriod(subscription, number);
  const { at: hours, windowDays } = policyOfPeriod(subscription, open);
  const { schedule, terms } = subscription;
  if (!schedule) return wrongPhase(subscription);
  if (at !== undefined && at <= now) return refuse('invalidRequest', { hint: '`at` must be in the future.' });
  const { zone } = schedule;
  const onDay = () => momentOnDay(hours, terms.id, localDayOf(now, zone) + afterDays, zone);
  const wished = at ?? (afterDays === 0 ? now : onDay());
  const allowed = latest(now, mayChargeFrom(subscription));
  const until = latest(wished, allowed);
  if (until <= now) return accept([]);
  const last = open?.givesUpAt ?? laterBy(now, windowDays * dayMs);
  if (wished >= last)
    return refuse('invalidRequest', { hint: `The retries are over at ${last}. Choose an earlier time.` });
  if (until >= last)
    return refuse('invalidRequest', {
      hint: `Two charges were made within 24 hours. A third is allowed from ${allowed} on, and the retries are over at ${last}.`,
    });
  const why = until === wished ? 'merchant' : 'moreThanTwoChargesADay';
  return accept([{ type: 'charge_postponed', number, why, until }]);
}

/** One try at once, because something is different now: a new card, or the merchant's wish. */
export function decideTry(
  subscription: Subscription,
  by: 'newCard' | 'merchant',
): Outcome<Facts, 'invalidSubscriptionStatus' | 'subscriptionChargePending'> {
  if (subscription.phase === 'ended') return wrongPhase(subscription);
  const [oldest] = subscription.open;
  if (!oldest)
    return by === 'newCard'
      ? accept([])
      : refuse('invalidSubscriptionStatus', { hint: 'No period is open.' });
  if (oldest.charging !== undefined) return refuse('subscriptionChargePending');
  return accept([{ type: 'try_requested', number: oldest.number, by }]);
}

/** The merchant charges a period that was missed. */
export function decideChargeMissed(
  subscription: Subscription,
  number: number,
  { invoiceId }: Pick<NewIds, 'invoiceId'>,
): Outcome<Facts, 'invalidSubscriptionStatus' | 'invalidPeriodStatus' | 'subscriptionPastDue'> {
  const { phase, open, change } = subscription;
  if (phase !== 'running') return wrongPhase(subscription);
  if (change?.newPeriod)
    return refuse('invalidSubscriptionStatus', { hint: 'A new period waits for its payment.' });
  if (open.length > 0 && !policyOf(subscription).stack) return refuse('subscriptionPastDue');
  return subscription.missed.some((period) => period.number === number)
    ? accept([{ type: 'missed_period_charged', number, invoiceId }])
    : refuse('invalidPeriodStatus', { hint: `Period ${number} was not missed.` });
}

/** An open or missed period that the merchant does not want paid any more, or that was paid without Mandate. */
export function decideClose(
  subscription: Subscription,
  { number, as }: { readonly number: number; readonly as: 'forgiven' | 'paidElsewhere' },
  now: Instant,
): Outcome<Facts, 'invalidSubscriptionStatus' | 'invalidPeriodStatus' | 'subscriptionChargePending'> {
  const forgiven = decideForgive(subscription, number, now);
  if (!forgiven.ok || as === 'forgiven') return forgiven;
  return accept(settled(subscription, [{ type: 'period_paid', number, by: 'elsewhere' }], now));
}

export function decideForgive(
  subscription: Subscription,
  number: number,
  now: Instant,
): Outcome<Facts, 'invalidSubscriptionStatus' | 'invalidPeriodStatus' | 'subscriptionChargePending'> {
  const { phase, missed } = subscription;
  if (phase === 'ended') return wrongPhase(subscription);
  const open = openPeriod(subscription, number);
  if (open?.charging !== undefined) return refuse('subscriptionChargePending');
  if (!open && !missed.some((period) => period.number === number))
    return refuse('invalidPeriodStatus', { hint: `Period ${number} is neither open nor missed.` });
  // A missed one is not what the subscription waits for.
  if (phase === 'unpaid' && !open) return wrongPhase(subscription);
  return accept(settled(subscription, [{ type: 'period_closed', number, outcome: 'forgiven' }], now));
}

/** No payment can settle it any more. If all waited for that one, it ends, because only the payer could have continued it. */
export function decideOverdue(subscription: Subscription, number: number, now: Instant): Facts {
  const { phase, open } = subscription;
  const overdue = openPeriod(subscription, number);
  if (!overdue || overdue.charging !== undefined) return [];
  const waitsForOther = open.some((period) => period !== overdue && period.outcome === 'unpaid');
  return phase === 'unpaid' && !waitsForOther
    ? ending(subscription, 'unpaid')
    : settled(subscription, [{ type: 'period_closed', number, outcome: 'unpaid' }], now);
}

export function openPeriod({ open }: Pick<Subscription, 'open'>, number: number): OpenPeriod | undefined {
  return open.find((period) => period.number === number);
}

export function wrongPhase({ phase }: Subscription) {
  return refuse('invalidSubscriptionStatus', { hint: `The subscription is ${phase}.` });
}
