// The start with a payment of the payer: what it costs, and what the payer agrees to with it.
import type { Instant } from '../../clock.ts';
import { dateText } from '../../retry-rules/domain/calendar.ts';
import { localDayOf } from '../../retry-rules/domain/time-zones.ts';
import type { InvoiceTerms } from '../../invoices/domain/invoice.ts';
import { linesOf } from './period-rows.ts';
import { sumOf } from './changes/proration.ts';
import { firstNumberOf, isoOf, layOut, periodDates } from './schedule.ts';
import type { Item, SubscriptionTerms } from './subscription.ts';

/** The first period, if it starts on the day of the creation. */
export function costOfFirst(terms: SubscriptionTerms, now: Instant): bigint {
  const { schedule: agreed, items } = terms;
  const schedule = layOut(agreed, dateText(localDayOf(now, agreed.zone)));
  const first = periodDates(schedule, firstNumberOf(schedule));
  return first ? sumOf(linesOf({ schedule, terms }, first, items)) : 0n;
}

type Asked = { readonly items: readonly Item[]; readonly atLeastMinor?: bigint };

/** The terms next to the box that the payer ticks. A payment on the day after the creation gives a trial one day more. */
export function consentTermsOf(
  { schedule, createdAt }: SubscriptionTerms,
  { items, atLeastMinor = 0n }: Asked,
  now: Instant,
): NonNullable<InvoiceTerms['recurring']> {
  const { every, zone, trialDays = 0 } = schedule;
  const last = sumOf(items.map((item) => ({ ...item, priceMinor: item.lastPriceMinor ?? item.priceMinor })));
  const amountMinor = Math.max(...[sumOf(items), last, atLeastMinor].map(Number));
  const trialEnds = localDayOf(createdAt, zone) + trialDays - 1;
  const trial = trialEnds >= localDayOf(now, zone) && {
    trialEnd: dateText(trialEnds),
    amountAfterTrialMinor: amountMinor,
  };
  return { schedule: isoOf(every), amountRule: { kind: 'fixed', amountMinor }, ...trial };
}
