// When the job of a subscription looks at it next.
import { earliest, laterBy, type Instant } from '../../clock.ts';
import { nextDuty, nextLook } from './duties/duties.ts';
import { waitingForPayer } from './dunning/try-again.ts';
import { startedRefunds } from './ends/refund.ts';
import { nextAction, type Subscription, type SubscriptionFact } from './subscription.ts';

/** The end of a payment wakes the subscription. If a crash prevents that, it looks after this time. */
const looksMs = { charging: 3_600_000, unpaid: 7 * 24 * 3_600_000 };

export function wakeTimeOf(subscription: Subscription, now: Instant): Instant | undefined {
  return earliestOf(
    wakeForPeriods(subscription, now),
    nextDuty(subscription)?.at,
    nextLook(subscription, now),
    lookAtChange(subscription, now),
    lookAtRefunds(subscription, now),
  );
}

/**
 * While charging is stopped, new cards are passed over, so the job looks for them when that ends. The lease of the job that begins a
 * charge stays: most end within it, and their row is due soon without another write.
 */
export function wakeTimeAfter(
  facts: readonly SubscriptionFact[],
  subscription: Subscription,
  now: Instant,
  leasedUntil?: Instant,
): Instant | undefined {
  if (facts.some(({ type }) => type === 'subscription_unparked')) return now;
  const wakeAt = wakeTimeOf(subscription, now);
  const isCharged = facts.some(({ type }) => type === 'charge_started' || type === 'change_charge_started');
  return isCharged ? earliestOf(wakeAt, leasedUntil) : wakeAt;
}

function wakeForPeriods(subscription: Subscription, now: Instant): Instant | undefined {
  const next = nextAction(subscription)?.at;
  if (subscription.phase === 'incomplete' && next !== undefined)
    return earliest(next, laterBy(now, looksMs.charging));
  const [oldest] = subscription.open;
  if (!oldest) return next;
  const look = laterBy(now, oldest.charging === undefined ? looksMs.unpaid : looksMs.charging);
  return next === undefined || (oldest.charging !== undefined && look < next) ? look : next;
}

/** Its invoice says when it is dropped. A payment at the bank may delay that, and a consent of the payer lets it be charged before. */
function lookAtChange(subscription: Subscription, now: Instant): Instant | undefined {
  const { change } = subscription;
  if (!change) return undefined;
  const { charging, payableUntil = now } = change;
  const look = laterBy(now, looksMs.charging);
  if (charging !== undefined || payableUntil <= now) return look;
  return waitingForPayer(subscription)?.isChange ? earliest(look, payableUntil) : payableUntil;
}

/** The end of a refund wakes the subscription too. */
function lookAtRefunds(subscription: Subscription, now: Instant): Instant | undefined {
  return startedRefunds(subscription).length > 0 ? laterBy(now, looksMs.charging) : undefined;
}

function earliestOf(...times: readonly (Instant | undefined)[]): Instant | undefined {
  return times
    .filter((at) => at !== undefined)
    .toSorted()
    .at(0);
}
