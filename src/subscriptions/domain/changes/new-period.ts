// A change that ends the period today, and charges a whole new one that starts today. Later periods are counted from it.
import { defined } from '../../../defined.ts';
import type { Instant } from '../../../clock.ts';
import { accept, refuse, type Outcome } from '../../../refusal.ts';
import { dateText } from '../../../retry-rules/domain/calendar.ts';
import { localDayOf, startOfDay } from '../../../retry-rules/domain/time-zones.ts';
import { announcedFrom } from '../duties/duties.ts';
import { linesOf } from '../period-rows.ts';
import { periodDates, periodTimes } from '../schedule.ts';
import {
  nextPeriod,
  type Change,
  type Item,
  type Period,
  type Subscription,
  type SubscriptionFact,
} from '../subscription.ts';
import { sumOf } from './proration.ts';
import { isCharged, shiftedTo } from './shift-anchor.ts';

type NewPeriod = NonNullable<Change['newPeriod']>;

/** When it starts, and what it costs. Refused where the payer must hear of the dates, or of the charge, before. */
export function newPeriodOf(
  subscription: Subscription,
  latest: Period,
  { items, at }: { readonly items: readonly Item[]; readonly at: Instant },
  now: Instant,
): Outcome<
  { readonly newPeriod: NewPeriod; readonly chargeMinor: bigint },
  'invalidRequest' | 'invalidSubscriptionStatus'
> {
  const { schedule, terms, endsAfter } = subscription;
  const wrong = (hint: string) => refuse('invalidRequest', { hint });
  if (endsAfter) return refuse('invalidSubscriptionStatus', { hint: 'Its end is scheduled.' });
  if (!schedule || (schedule.ends && 'afterNumber' in schedule.ends))
    return wrong('`periods` fixes the dates.');
  const today = localDayOf(at, schedule.zone);
  const startsOn = dateText(today);
  if (startsOn <= latest.startsOn) return wrong(`Period ${latest.number} starts on ${latest.startsOn}.`);
  if (latest.outcome === 'missed')
    return wrong(`Period ${latest.number} is missed. Charge or close it first.`);
  if (!isCharged(subscription, schedule)) return wrong('No full period has been paid yet.');
  const number = latest.number + 1;
  const shifted = shiftedTo(schedule, startsOn, number);
  const dates = periodDates(shifted, number);
  if (!dates) return wrong('The subscription ends with this period.');
  const agreed = agreedTo(subscription, items);
  const next = nextPeriod(agreed);
  const { from } = next ? announcedFrom(agreed, { ...next, dueAt: now }, now) : { from: now };
  if (from > now) return wrong(`The payer must know of the charge first. It is allowed from ${from} on.`);
  const chargeMinor = sumOf(linesOf({ schedule: shifted, terms }, dates, items));
  return accept({ newPeriod: { startsOn, startsAt: startOfDay(today, schedule.zone) }, chargeMinor });
}

/** As in any change of now, the price of other items is no news for the payer. */
function agreedTo(subscription: Subscription, items: readonly Item[]): Subscription {
  const { scheduledItems: _, ...rest } = subscription;
  const isOther = items !== (subscription.scheduledItems ?? subscription.items);
  return isOther ? { ...rest, items, knownPriceMinor: sumOf(items) } : subscription;
}

/** Of a change that is paid. An end that was scheduled meanwhile comes after the new period. */
export function newPeriodFacts(
  { phase, terms, schedule: before, endsAfter }: Subscription,
  change: Change,
  dueMinor: bigint,
): readonly SubscriptionFact[] {
  const { newPeriod, period: last, items, chargeMinor, invoiceId } = change;
  if (!newPeriod || !before) return [];
  const number = last + 1;
  const schedule = shiftedTo(before, newPeriod.startsOn, number);
  const dates = periodDates(schedule, number);
  if (!dates) throw new Error(`Period ${number} of subscription ${terms.id} has no dates.`);
  const period = {
    ...dates,
    ...periodTimes(schedule, dates, terms.id, newPeriod.startsAt),
    lines: linesOf({ schedule, terms }, dates, items),
    amountMinor: dueMinor,
    creditMinor: chargeMinor - dueMinor,
    outcome: 'paid',
    ...defined({ invoiceId: dueMinor > 0n ? invoiceId : undefined }),
  } as const satisfies Period;
  const created = { type: 'period_created', period } as const;
  // Nothing follows it.
  if (phase === 'ended') return [created];
  const end =
    endsAfter && ({ type: 'end_scheduled', afterNumber: number, reason: endsAfter.reason } as const);
  return [{ type: 'anchor_shifted', schedule }, ...(end ? [end] : []), created];
}
