// What a payer must know before a charge, and how long before it. A charge that needs an announcement waits until one has reached the
// payer in time.
import { epochMsOf, laterBy, latest, type Instant } from '../../../clock.ts';
import { dayOfDate } from '../../../retry-rules/domain/calendar.ts';
import type { Every } from '../../../retry-rules/domain/periods.ts';
import { localDayOf } from '../../../retry-rules/domain/time-zones.ts';
import { momentOnDay } from '../day-window.ts';
import type { Announcement, AnnouncementReason } from './terms.ts';
import type { DunningPolicy } from '../dunning/dunning.ts';
import { linesOf } from '../period-rows.ts';
import { sumOf } from '../changes/proration.ts';
import {
  evolveAll,
  nextPeriod,
  policyOf,
  policyOfPeriod,
  type NextPeriod,
  type OpenPeriod,
  type Subscription,
  type SubscriptionFact,
  type SubscriptionTerms,
} from '../subscription.ts';
import type { PeriodDates, PeriodKind } from '../schedule.ts';

type Facts = readonly SubscriptionFact[];

const hourMs = 3_600_000;
/** Visa asks for seven days or more before the end of a trial, Mastercard for three to seven. */
const usualLeadMs = 7 * 24 * hourMs;
const longTrialDays = 7;
/** An address that accepts no email is looked at as often as that. */
const unreachableMs = 7 * 24 * hourMs;
const usualEmailDays = [0, 5, 14, 24];

type Need = Pick<Announcement, 'why' | 'leadMs'>;

/** Undefined if the charge needs no announcement. */
function needOf(subscription: Subscription, period: PeriodDates): Need | undefined {
  const { schedule, terms, duties, creditMinor } = subscription;
  const { number } = period;
  if (!schedule) return undefined;
  // The payer has just agreed to it.
  if (number === 1 && !terms.firstPeriod) return undefined;
  const costs = sumOf(linesOf(subscription, period, subscription.scheduledItems ?? subscription.items));
  const isCreated = subscription.open.some((one) => one.number === number);
  if (!isCreated && costs <= creditMinor) return undefined;
  const { announceEachHours } = duties ?? {};
  const reason: AnnouncementReason | undefined = endsLongTrial(subscription)
    ? 'trialEnding'
    : hasNewPrice(subscription, number)
      ? 'newPrice'
      : isRare(schedule.every)
        ? 'rareCharge'
        : undefined;
  const eachMs = (announceEachHours ?? 0) * hourMs;
  if (reason) return { why: reason, leadMs: Math.max(usualLeadMs, eachMs) };
  return eachMs > 0 ? { why: 'eachCharge', leadMs: eachMs } : undefined;
}

/** Of a full period. What is scheduled concerns those that have no row yet. */
function priceOf({ latest: last, scheduledItems, items }: Subscription, number: number): bigint {
  return sumOf(number > (last?.number ?? 0) ? (scheduledItems ?? items) : items);
}

/** One before the newest that was announced has the price of then. */
function hasNewPrice(subscription: Subscription, number: number): boolean {
  const { announcements = [], knownPriceMinor, terms } = subscription;
  if (announcements.some((one) => one.number > number)) return false;
  return priceOf(subscription, number) !== (knownPriceMinor ?? sumOf(terms.items));
}

/** The confirmation at the start is early enough for a short one. A first period without a price belongs to the trial. */
function endsLongTrial({ schedule, terms, hasCharged }: Subscription): boolean {
  const free = schedule?.leading.filter(({ kind }) => isFree(terms, kind)) ?? [];
  const [first, last] = [free.at(0), free.at(-1)];
  if (hasCharged || !first || !last) return false;
  return dayOfDate(last.endsOn) - dayOfDate(first.startsOn) > longTrialDays;
}

function isFree({ schedule: { anchor } }: SubscriptionTerms, kind: PeriodKind): boolean {
  return kind === 'trial' || (kind === 'first' && anchor !== 'atStart' && anchor.firstPeriod === 'free');
}

/** The one that is announced. Before it may be a trial, and a short period that is free. */
function nextWithPrice(subscription: Subscription): NextPeriod | undefined {
  let period = nextPeriod(subscription);
  while (period && isFree(subscription.terms, period.kind)) period = nextPeriod(subscription, period);
  return period;
}

/** Less often than every six months. */
function isRare({ count, unit }: Every): boolean {
  const most = { D: 180, W: 25, M: 6, Y: 0 }[unit];
  return count > most;
}

export type Duty =
  | { readonly does: 'announce'; readonly at: Instant; readonly period: NextPeriod; readonly need: Need }
  | { readonly does: 'remind'; readonly at: Instant; readonly number: number; readonly which: number };

/** The next email that no charge leads to. Charges that are due come first. */
export function nextDuty(subscription: Subscription): Duty | undefined {
  const { phase, parkedFor } = subscription;
  if (parkedFor !== undefined || (phase !== 'running' && phase !== 'paused')) return undefined;
  const [announcement, reminder] = [announcementDue(subscription), reminderDue(subscription)];
  if (!announcement || !reminder) return announcement ?? reminder;
  return announcement.at <= reminder.at ? announcement : reminder;
}

export function dutyDue(subscription: Subscription, now: Instant): Duty | undefined {
  const duty = nextDuty(subscription);
  return duty && duty.at <= now ? duty : undefined;
}

function announcementDue(subscription: Subscription): Duty | undefined {
  const { phase, open } = subscription;
  if (phase !== 'running') return undefined;
  if (open.some(({ outcome }) => outcome === 'open') && !policyOf(subscription).stack) return undefined;
  const period = nextWithPrice(subscription);
  const need = period && needOf(subscription, period);
  if (!need || announcedFor(subscription, period.number)) return undefined;
  return { does: 'announce', at: laterBy(period.startsAt, -need.leadMs), period, need };
}

/** At the price it has now. In a stack, an older open period keeps its own, and its announcement. */
function announcedFor(subscription: Subscription, number: number): Announcement | undefined {
  const { announcements = [], latest: last } = subscription;
  const announcement = announcements.find((one) => one.number === number);
  const isOlder = number < (last?.number ?? 0);
  return isOlder || announcement?.priceMinor === priceOf(subscription, number) ? announcement : undefined;
}

/** The first one is that of the decline, whether it is emailed or not. */
function emailDaysOf({ emailDays = usualEmailDays, windowDays }: DunningPolicy): readonly number[] {
  const later = emailDays.filter((day) => day > 0 && day < windowDays);
  return [0, ...later.toSorted((a, b) => a - b)];
}

function reminderDue(subscription: Subscription): Duty | undefined {
  const [oldest] = subscription.open;
  const { which, at } = (oldest && reminderAfter(subscription, oldest)) ?? {};
  return oldest && which !== undefined && at !== undefined
    ? { does: 'remind', at, number: oldest.number, which }
    : undefined;
}

/** While a try is at the bank, its outcome is awaited. */
function reminderAfter(
  subscription: Subscription,
  period: OpenPeriod,
): { readonly which: number; readonly at: Instant } | undefined {
  const { schedule, terms } = subscription;
  const { charging, firstFailedAt, declineClass, givesUpAt, emailsWritten: which } = period;
  if (!schedule || charging !== undefined || firstFailedAt === undefined || which === undefined)
    return undefined;
  const policy = policyOfPeriod(subscription, period);
  const day = emailDaysOf(policy)[which];
  if (day === undefined || declineClass === 'configuration' || givesUpAt === undefined) return undefined;
  const { zone } = schedule;
  return { which, at: momentOnDay(policy.at, terms.id, localDayOf(firstFailedAt, zone) + day, zone) };
}

export function isLastReminder(policy: DunningPolicy, which: number): boolean {
  return which > 0 && which === emailDaysOf(policy).length - 1;
}

/** How the payer can be reached now, and the version of the subscription that the announcement follows. */
export type Reach = Pick<Announcement, 'by' | 'version'>;

export function decideDuty(subscription: Subscription, duty: Duty, now: Instant, reach: Reach): Facts {
  if (duty.at > now) return [];
  if (duty.does === 'announce') return [announced(subscription, duty.period.number, duty.need, reach)];
  // After an outage, one email for all that were due.
  let { which } = duty;
  for (;;) {
    const oldest = subscription.open.find(({ number }) => number === duty.number);
    const following = oldest && reminderAfter(subscription, { ...oldest, emailsWritten: which + 1 });
    if (!following || following.at > now) break;
    ({ which } = following);
  }
  return [{ type: 'payer_reminded', number: duty.number, which }];
}

function announced(
  subscription: Subscription,
  number: number,
  { why, leadMs }: Need,
  { by, version }: Reach,
): SubscriptionFact {
  const announcement = { number, why, leadMs, priceMinor: priceOf(subscription, number), by, version };
  return { type: 'charge_announced', announcement };
}

/** The number of the period whose first charge the facts begin, if it needs an announcement that has not been made in time. */
export function unannounced(subscription: Subscription, facts: Facts, now: Instant): number | undefined {
  const { charged, after } = beforeCharge(subscription, facts, now);
  if (!charged) return undefined;
  const { acceptedAt, leadMs = 0 } = announcedFor(after, charged.number) ?? {};
  if (acceptedAt !== undefined && laterBy(acceptedAt, leadMs) <= now) return undefined;
  const isNeeded = announcedFor(after, charged.number) ?? needOf(after, charged);
  return isNeeded ? charged.number : undefined;
}

function beforeCharge(subscription: Subscription, facts: Facts, now: Instant) {
  const index = facts.findIndex(({ type }) => type === 'charge_started');
  const started = facts[index];
  const after = evolveAll(subscription, facts.slice(0, Math.max(index, 0)), now);
  const charged =
    started?.type === 'charge_started'
      ? after.open.find(({ number, declineClass }) => number === started.number && declineClass === undefined)
      : undefined;
  return { charged, after, index };
}

/** The charge that waits for its announcement, or is made without it if the shop says so. The dates of the period stay. */
export function holdUnannounced(subscription: Subscription, facts: Facts, now: Instant, reach: Reach): Facts {
  const { charged, after, index } = beforeCharge(subscription, facts, now);
  if (!charged) return facts;
  if (subscription.duties?.chargeUnannounced)
    return facts.map((fact) => (fact.type === 'charge_started' ? { ...fact, isUnannounced: true } : fact));
  const { number } = charged;
  const created = facts.slice(0, index);
  const earlier = announcedFor(after, number);
  // Another way to reach the payer is taken as soon as there is one.
  const isLost = earlier && earlier.acceptedAt === undefined && earlier.by !== reach.by;
  const need = earlier && !isLost ? undefined : (earlier ?? needOf(after, charged));
  const fact = need && announced(after, number, need, reach);
  const announcement = announcedFor(fact ? evolveAll(after, [fact], now) : after, number);
  if (!announcement) throw new Error(`The charge of period ${number} needs no announcement.`);
  const wait = { ...waitOf(announcement, now), isUnannounced: true } as const;
  const postponed = { type: 'charge_postponed', number, ...wait } as const;
  return [...created, ...(fact ? [fact] : []), postponed];
}

function waitOf(announcement: Announcement, now: Instant) {
  const { acceptedAt, leadMs } = announcement;
  if (acceptedAt !== undefined) return { why: 'announced', until: laterBy(acceptedAt, leadMs) };
  const isLost = isUnreachable(announcement);
  const until = laterBy(now, isLost ? Math.max(leadMs, unreachableMs) : leadMs);
  return { why: isLost ? 'payerUnreachable' : 'announcementPending', until };
}

function isUnreachable({ by, refusedAt }: Announcement): boolean {
  return by === 'none' || refusedAt !== undefined;
}

/**
 * From when the announcement of a charge is early enough, if one that is missing is accepted at once. `isAwaited`: it is late by then, or
 * the payer cannot be reached.
 */
export function announcedFrom(
  subscription: Subscription,
  period: Announced & Pick<NextPeriod, 'dueAt'>,
  now: Instant,
): { readonly from: Instant; readonly isAwaited: boolean } {
  const { number, dueAt, declineClass } = period;
  const inTime = { from: dueAt, isAwaited: false };
  if (subscription.duties?.chargeUnannounced || declineClass !== undefined) return inTime;
  const announcement = announcedFor(subscription, number);
  // Credit pays none of the amount.
  const need = announcement ?? needOf({ ...subscription, creditMinor: 0n }, period);
  if (!need) return inTime;
  if (announcement?.acceptedAt !== undefined)
    return { from: laterBy(announcement.acceptedAt, need.leadMs), isAwaited: false };
  const from = laterBy(now, need.leadMs);
  const isLost = announcement !== undefined && isUnreachable(announcement);
  return isLost || from > dueAt ? { from, isAwaited: true } : inTime;
}

type Announced = PeriodDates & Pick<OpenPeriod, 'declineClass'>;

/** The announcements that are neither accepted nor refused yet. */
export function pendingAnnouncements({ announcements = [], phase }: Subscription): readonly Announcement[] {
  if (phase === 'ended') return [];
  return announcements.filter(
    ({ by, acceptedAt, refusedAt }) => by !== 'none' && acceptedAt === undefined && refusedAt === undefined,
  );
}

/** Webhook events wake nothing. Each look waits as long as all before it, an hour at least. */
export function nextLook(subscription: Subscription, now: Instant): Instant | undefined {
  const looks = pendingAnnouncements(subscription)
    .filter(({ by }) => by === 'webhook')
    .map(({ announcedAt = now }) =>
      laterBy(latest(now, announcedAt), Math.max(hourMs, epochMsOf(now) - epochMsOf(announcedAt))),
    );
  return looks.toSorted().at(0);
}
