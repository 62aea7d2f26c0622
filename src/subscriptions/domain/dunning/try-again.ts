// What failed is tried once more outside the plan, because something is different now: a new card, or a new consent of the payer.
import { latest, type Instant } from '../../../clock.ts';
import type { DeclineClass } from '../../../acquiring/domain/decline-class.ts';
import { defined } from '../../../defined.ts';
import { classOfRefusal } from '../charge-outcome.ts';
import { decideTry } from '../commands.ts';
import {
  mayChargeFrom,
  type OpenPeriod,
  type PendingChange,
  type Subscription,
  type SubscriptionFact,
} from '../subscription.ts';

type Facts = readonly SubscriptionFact[];

/** What failed is tried with a card that it was not tried with: at once, or as soon as the last guard allows another charge. */
export function decideNewCard(subscription: Subscription, bindingId: string, now: Instant): Facts {
  const { phase, parkedFor, open } = subscription;
  const [oldest] = open;
  if ((phase !== 'running' && phase !== 'paused') || parkedFor !== undefined) return [];
  if (oldest?.declineClass === undefined || oldest.bindingId === bindingId) return [];
  const until = latest(now, mayChargeFrom(subscription));
  if (oldest.charging !== undefined || (oldest.nextTryAt !== undefined && oldest.nextTryAt <= until))
    return [];
  if (until > now) return [{ type: 'charge_postponed', number: oldest.number, why: 'newCard', until }];
  const wished = decideTry(subscription, 'newCard');
  return wished.ok ? wished.value : [];
}

/** The payer has consented again since the last failure: an unpaid period has one try, as soon as the last guard allows it. */
export function decideConsentRenewed(subscription: Subscription, consentedAt: Instant, now: Instant): Facts {
  const { number, at, isChange } = tryOnConsent(subscription, consentedAt, now) ?? {};
  if (number === undefined || at === undefined || isChange) return [];
  return at > now
    ? [{ type: 'charge_postponed', number, why: 'newConsent', until: at }]
    : [{ type: 'try_requested', number, by: 'newCard', isConsent: true }];
}

/** The same of a change: its charge is due again. No fact says that, because older nodes would know none. */
export function withChangeConsented(
  subscription: Subscription,
  consentedAt: Instant,
  now: Instant,
): Subscription {
  const { change } = subscription;
  const { at: tryAt, isChange } = tryOnConsent(subscription, consentedAt, now) ?? {};
  return change && tryAt !== undefined && isChange
    ? { ...subscription, change: { ...change, tryAt } }
    : subscription;
}

/** What a consent of that time would start. */
export function tryOnConsent(
  subscription: Subscription,
  consentedAt: Instant,
  now: Instant,
): { readonly number: number; readonly at: Instant; readonly isChange?: true } | undefined {
  const waiting = waitingForPayer(subscription);
  if (!waiting) return undefined;
  const { number, failedAt, over, isChange } = waiting;
  const at = latest(latest(now, consentedAt), mayChargeFrom(subscription));
  return consentedAt > failedAt && at < over ? { number, at, ...defined({ isChange }) } : undefined;
}

type Waiting = {
  readonly number: number;
  readonly isChange?: true;
  readonly failedAt: Instant;
  /** From then on it is not tried. */
  readonly over: Instant;
};

/** What a new consent may heal, and nothing else will try. Rows of before have no `failedAt`. */
export function waitingForPayer({ phase, parkedFor, open, change }: Subscription): Waiting | undefined {
  const [oldest] = open;
  if (parkedFor !== undefined || (phase !== 'running' && phase !== 'paused')) return undefined;
  if (oldest) return waitingPeriod(oldest);
  return phase === 'running' && change ? waitingChange(change) : undefined;
}

function waitingPeriod(oldest: OpenPeriod): Waiting | undefined {
  const { number, charging, nextTryAt, declineClass, failedAt, givesUpAt: over } = oldest;
  if (charging !== undefined || nextTryAt !== undefined || !isHealedByConsent(declineClass)) return undefined;
  return failedAt === undefined || over === undefined ? undefined : { number, failedAt, over };
}

function waitingChange(change: PendingChange): Waiting | undefined {
  const { period: number, charging, tryAt, failedFor = '', failedAt, payableUntil: over } = change;
  const declineClass = new Map(Object.entries(classOfRefusal)).get(failedFor) ?? failedFor;
  if (charging !== undefined || tryAt !== undefined || !isHealedByConsent(declineClass)) return undefined;
  return failedAt === undefined || over === undefined
    ? undefined
    : { number, failedAt, over, isChange: true };
}

/** Time does not heal them, and the payer can. */
const healedByConsent: readonly DeclineClass[] = ['newCard', 'payerPresent', 'stopped'];

function isHealedByConsent(declineClass: string | undefined): boolean {
  return healedByConsent.some((one) => one === declineClass);
}
