// Which dunning policy a subscription has. A period keeps the version of its first failure until the merchant moves the subscription.
import { epochMsOf, laterBy, type Instant } from '../../../clock.ts';
import { defined } from '../../../defined.ts';
import type { Retry } from '../../../payments/domain/payer/payer.ts';
import { localDayOf, offsetMsAt } from '../../../retry-rules/domain/time-zones.ts';
import { accept, type Outcome } from '../../../refusal.ts';
import { wrongPhase } from '../commands.ts';
import { hashOf } from '../day-window.ts';
import { checkFits, givesUpAt, isHealedByTime, nextTryAt, type DunningPolicy } from './dunning.ts';
import {
  policyNameOf,
  policyOf,
  policyOfPeriod,
  type OpenPeriod,
  type Subscription,
  type SubscriptionFact,
} from '../subscription.ts';

const dayMs = 86_400_000;

/** A share that grows keeps the subscriptions it had. */
export function isInTrial(
  { name, trial }: Pick<DunningPolicy, 'name' | 'trial'>,
  subscriptionId: string,
): boolean {
  return trial !== undefined && hashOf(`${name} ${subscriptionId}`) % 100 < trial.percent;
}

/** The newest version of the policy that it follows. Nothing, if it has that one. */
export function decideFollow(subscription: Subscription, policy: DunningPolicy): readonly SubscriptionFact[] {
  if (isSame(policyOf(subscription), policy)) return [];
  return [{ type: 'dunning_policy_changed', policy, ...defined({ name: policyNameOf(subscription) }) }];
}

/** With it the periods that fail already: their next tries and their end are those of the new policy. */
export function decideMove(
  subscription: Subscription,
  { name, policy }: { readonly name: string; readonly policy: DunningPolicy },
  now: Instant,
): Outcome<readonly SubscriptionFact[], 'invalidSubscriptionStatus' | 'invalidDunningPolicy'> {
  const { phase, schedule } = subscription;
  if (phase === 'ended' || !schedule) return wrongPhase(subscription);
  const fits = checkFits(policy, schedule.every);
  if (!fits.ok) return fits;
  const failing = subscription.open.filter(
    ({ firstFailedAt, outcome }) => firstFailedAt !== undefined && outcome === 'open',
  );
  const has = [policyOf(subscription), ...failing.map((period) => policyOfPeriod(subscription, period))];
  if (policyNameOf(subscription) === name && has.every((one) => isSame(one, policy))) return accept([]);
  const moved = failing.map((period) => timesOf(subscription, period, policy, now));
  return accept([{ type: 'dunning_policy_changed', name, policy, moved }]);
}

function isSame(one: DunningPolicy, other: DunningPolicy): boolean {
  return one.name === other.name && one.version === other.version;
}

/** Days of the new policy that are over are passed over, and so is the day of a charge. */
function timesOf(
  { terms, schedule, charges }: Subscription,
  period: OpenPeriod,
  policy: DunningPolicy,
  now: Instant,
) {
  const {
    number,
    firstFailedAt = now,
    retries,
    declines,
    declineClass,
    charging,
    nextTryAt: planned,
  } = period;
  // A mistake of the merchant's ends nothing, and is tried as before.
  if (declineClass === 'configuration') return { number, ...defined({ nextTryAt: planned }) };
  const end = { number, givesUpAt: givesUpAt(policy, firstFailedAt) };
  if (!schedule || !declineClass || charging !== undefined) return end;
  const { zone } = schedule;
  const ofClass = isHealedByTime(declineClass) ? (declines?.[declineClass] ?? 1) : 1;
  const so = { firstFailedAt, retries, retriesOfClass: ofClass - 1 };
  const after = (at: Instant) => nextTryAt(policy, so, { at, declineClass }, { id: terms.id, zone });
  const isTriedToday = charges.some(({ at }) => localDayOf(at, zone) === localDayOf(now, zone));
  const today = isTriedToday ? undefined : after(laterBy(now, -dayMs));
  return { ...end, ...defined({ nextTryAt: today !== undefined && today > now ? today : after(now) }) };
}

/** What a charge retries. Undefined for the first one of a period, and while nothing but a mistake of the merchant's has failed. */
export function retryOf(subscription: Subscription, number: number, now: Instant): Retry | undefined {
  const period = subscription.open.find((one) => one.number === number);
  const { schedule } = subscription;
  if (!schedule || period?.firstFailedAt === undefined || !period.declineClass) return undefined;
  const { zone } = schedule;
  const { name: policy, version: policyVersion } = policyOfPeriod(subscription, period);
  const localMs = epochMsOf(now) + offsetMsAt(now, zone);
  return {
    number: period.retries + 1,
    declineClass: period.declineClass,
    days: localDayOf(now, zone) - localDayOf(period.firstFailedAt, zone),
    localHour: Math.floor((localMs % dayMs) / 3_600_000),
    policy,
    policyVersion,
  };
}
