// The start with a payment of the payer: what it costs, and what the payer agrees to with it.
import { dayMs, laterBy, type Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import type { MandateTerms } from '../../receipts/domain/terms.ts';
import { dateText } from '../../retry-rules/domain/calendar.ts';
import { localDayOf } from '../../retry-rules/domain/time-zones.ts';
import type { InvoiceTerms } from '../../invoices/domain/invoice.ts';
import { linesOf } from './period-rows.ts';
import { sumOf } from './changes/proration.ts';
import { firstNumberOf, isoOf, layOut, periodDates, regularCountOf, type Schedule } from './schedule.ts';
import type { Item, SubscriptionTerms } from './subscription.ts';

/** The first period, if it starts on the day of the creation. */
export function costOfFirst(terms: SubscriptionTerms, now: Instant): bigint {
  const schedule = scheduleFrom(terms, now);
  return costOf(terms, schedule, firstNumberOf(schedule));
}

function scheduleFrom({ schedule }: SubscriptionTerms, now: Instant): Schedule {
  return layOut(schedule, dateText(localDayOf(now, schedule.zone)));
}

function costOf(terms: SubscriptionTerms, schedule: Schedule, number: number): bigint {
  const period = periodDates(schedule, number);
  return period ? sumOf(linesOf({ schedule, terms }, period, terms.items)) : 0n;
}

/** What the service charges after the first payment. The payer has a day to pay: no more charges follow than are said, and none earlier. */
export function chargesAfterFirst(
  terms: SubscriptionTerms,
  now: Instant,
): Pick<MandateTerms, 'firstChargeOn' | 'charges'> {
  const both = [now, laterBy(now, dayMs)].map((paidAt) => chargesIfPaid(terms, paidAt));
  const [firstChargeOn] = both.flatMap(({ firstChargeOn: day }) => day ?? []).toSorted();
  const charges = both.flatMap(({ charges: count }) => count ?? []).toSorted((one, other) => other - one)[0];
  return defined({ firstChargeOn, charges });
}

function chargesIfPaid(
  terms: SubscriptionTerms,
  paidAt: Instant,
): Partial<Pick<MandateTerms, 'firstChargeOn' | 'charges'>> {
  const schedule = scheduleFrom(terms, paidAt);
  let number = firstNumberOf(schedule) + 1;
  // A short first period may be free.
  if (number < schedule.anchorNumber && costOf(terms, schedule, number) === 0n) number++;
  const regular = regularCountOf(schedule);
  return defined({
    firstChargeOn: periodDates(schedule, number)?.startsOn,
    charges: regular === undefined ? undefined : schedule.anchorNumber + regular - number,
  });
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
