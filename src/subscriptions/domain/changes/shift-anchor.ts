// A pause that ends with a new anchor: its time is skipped up to today, and a whole period starts today.
import type { Instant } from '../../../clock.ts';
import { accept, refuse, type Outcome } from '../../../refusal.ts';
import { dateText } from '../../../retry-rules/domain/calendar.ts';
import { localDayOf } from '../../../retry-rules/domain/time-zones.ts';
import { wrongPhase } from '../commands.ts';
import { skipUntil } from '../period-rows.ts';
import type { Schedule } from '../schedule.ts';
import { evolveAll, type Subscription, type SubscriptionFact } from '../subscription.ts';

type Facts = readonly SubscriptionFact[];

/** Numbers continue, and dates have neither a hole nor an overlap. */
export function decideResumeShifted(
  subscription: Subscription,
  now: Instant,
): Outcome<Facts, 'invalidRequest' | 'invalidSubscriptionStatus' | 'subscriptionPastDue'> {
  const { phase, schedule, latest, parkedFor, endsAfter } = subscription;
  if (phase !== 'paused' || !schedule || !latest) return wrongPhase(subscription);
  if (endsAfter) return refuse('invalidSubscriptionStatus', { hint: 'Its end is scheduled.' });
  const wrong = (hint: string) => refuse('invalidRequest', { hint });
  if (schedule.ends && 'afterNumber' in schedule.ends)
    return wrong('`periods` fixes the dates. Resume without `shiftAnchor`.');
  const today = dateText(localDayOf(now, schedule.zone));
  if (latest.endsOn > today)
    return wrong(`Period ${latest.number} lasts until ${latest.endsOn}. Resume without \`shiftAnchor\`.`);
  const forgiven = heldInPause(subscription, now);
  if (forgiven.length < subscription.open.length) return refuse('subscriptionPastDue');
  if (!isCharged(subscription, schedule))
    return wrong('No full period has been paid yet. Resume without `shiftAnchor`.');
  const unparked: Facts = parkedFor === undefined ? [] : [{ type: 'subscription_unparked' }];
  const before = [...unparked, ...forgiven];
  const rows = skipUntil(evolveAll(subscription, before, now), today);
  const number = (rows.at(-1)?.period ?? latest).number + 1;
  const shifted = { type: 'anchor_shifted', schedule: shiftedTo(schedule, today, number) } as const;
  return accept([...before, ...rows, shifted, { type: 'subscription_resumed' }]);
}

/** The dates of a trial say when its end must be announced. So they stay until a charge has followed it. */
export function isCharged({ paidThrough, terms }: Subscription, schedule: Schedule): boolean {
  const [last] = schedule.leading.slice(-1);
  if (!last) return paidThrough !== undefined || terms.firstPeriod !== undefined;
  return paidThrough !== undefined && dateText(localDayOf(paidThrough, schedule.zone)) > last.endsOn;
}

/** What waited for its announcement all its period. */
function heldInPause({ open }: Subscription, now: Instant): Facts {
  return open
    .filter(({ isUnannounced, endsAt }) => isUnannounced && endsAt <= now)
    .map(({ number }) => ({ type: 'period_closed', number, outcome: 'forgiven' }));
}

export function shiftedTo(
  { anchorDay: _, ...schedule }: Schedule,
  anchor: string,
  anchorNumber: number,
): Schedule {
  return { ...schedule, anchor, anchorNumber, leading: [] };
}
