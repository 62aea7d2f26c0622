// The rows of periods as they are created: which one is charged, which are missed or skipped, and what each costs.
import { laterBy, type Instant } from '../../clock.ts';
import type { CartLine } from '../../invoices/domain/invoice.ts';
import { partOfLines, sumOf } from './proration.ts';
import { isLast, shareOfFirst } from './schedule.ts';
import {
  evolve,
  nextPeriod,
  type Item,
  type NextPeriod,
  type Period,
  type Subscription,
  type SubscriptionFact,
} from './subscription.ts';

/** Later than that, `none` charges no period. */
export const maxLateMs = 72 * 3_600_000;

type Created = SubscriptionFact & { type: 'period_created' };

/** The lines of a period at full length, or as the first one is agreed. */
export function linesOf(
  { schedule, terms }: Subscription,
  period: Pick<Period, 'number' | 'kind' | 'startsOn' | 'endsOn'>,
  items: readonly Item[],
): CartLine[] {
  if (!schedule || period.kind === 'trial') return [];
  const lines = items.map(({ lastPriceMinor, ...line }) =>
    lastPriceMinor !== undefined && isLast(schedule, period.number)
      ? { ...line, priceMinor: lastPriceMinor }
      : line,
  );
  if (period.kind === 'regular') return lines;
  const { anchor } = terms.schedule;
  const costs = anchor === 'atStart' ? 'full' : anchor.firstPeriod;
  const { days, ofDays } = shareOfFirst(schedule, period);
  if (costs === 'free') return [];
  return costs === 'full' ? lines : partOfLines(lines, days, ofDays);
}

/** The row of a period that is due. What credit or a free period covers needs no invoice. */
function dueRow(subscription: Subscription, next: NextPeriod, invoiceId: string): Period {
  const { scheduledItems, items, creditMinor: balance } = subscription;
  const lines = linesOf(subscription, next, scheduledItems ?? items);
  const total = sumOf(lines);
  const creditMinor = balance < total ? balance : total;
  const amountMinor = total - creditMinor;
  const row = { ...next, lines, amountMinor, creditMinor };
  return amountMinor === 0n ? { ...row, outcome: 'paid' } : { ...row, invoiceId, outcome: 'open' };
}

/** A period that is not charged. A free one counts as paid, whenever it is created. */
function uncharged(subscription: Subscription, next: NextPeriod, outcome: 'missed' | 'skipped'): Period {
  const { scheduledItems, items } = subscription;
  const lines = linesOf(subscription, next, scheduledItems ?? items);
  const amountMinor = sumOf(lines);
  const isFree = amountMinor === 0n && outcome === 'missed';
  return { ...next, lines, amountMinor, creditMinor: 0n, outcome: isFree ? 'paid' : outcome };
}

/** All periods that are due, by the policy for those that are late. At most one of them is charged. */
export function createDue(subscription: Subscription, now: Instant, invoiceId: string): Created[] {
  const { catchUp } = subscription.terms;
  const created: Created[] = [];
  let at = subscription;
  for (let next = nextPeriod(at); next && next.dueAt <= now; next = nextPeriod(at)) {
    const missed = { type: 'period_created', period: uncharged(at, next, 'missed') } as const;
    const after = evolve(at, missed, now);
    const isNewest = !isDue(nextPeriod(after), now);
    const isTooLate = catchUp === 'none' && now > laterBy(next.dueAt, maxLateMs);
    if (catchUp === 'all' || (isNewest && !isTooLate))
      return [...created, { type: 'period_created', period: dueRow(at, next, invoiceId) }];
    created.push(missed);
    at = after;
  }
  return created;
}

function isDue(next: NextPeriod | undefined, now: Instant): boolean {
  return next !== undefined && next.dueAt <= now;
}

/** The periods that started before an instant without being charged. The one that starts then is charged. */
export function skipStarted(subscription: Subscription, now: Instant): Created[] {
  const skipped: Created[] = [];
  let at = subscription;
  for (let next = nextPeriod(at); next && next.startsAt < now; next = nextPeriod(at)) {
    const fact = { type: 'period_created', period: uncharged(at, next, 'skipped') } as const;
    skipped.push(fact);
    at = evolve(at, fact, now);
  }
  return skipped;
}

export type Upcoming = Pick<Period, 'number' | 'kind' | 'startsOn' | 'endsOn' | 'dueAt' | 'amountMinor'>;

/** The periods to come, as they are if nothing else happens. */
export function upcoming(subscription: Subscription, count: number): Upcoming[] {
  const { phase, resumesAt } = subscription;
  if (phase !== 'running' && !(phase === 'paused' && resumesAt)) return [];
  const found: Upcoming[] = [];
  const skipped = resumesAt ? skipStarted(subscription, resumesAt) : [];
  let at = skipped.reduce<Subscription>(
    (before, fact) => evolve(before, fact, fact.period.dueAt),
    subscription,
  );
  for (let next = nextPeriod(at); next && found.length < count; next = nextPeriod(at)) {
    const period: Period = { ...dueRow(at, next, ''), outcome: 'paid' };
    const { number, kind, startsOn, endsOn, dueAt, amountMinor } = period;
    found.push({ number, kind, startsOn, endsOn, dueAt, amountMinor });
    at = evolve(at, { type: 'period_created', period }, dueAt);
  }
  return found;
}
