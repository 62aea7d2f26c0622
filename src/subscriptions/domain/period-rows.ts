// The rows of periods as they are created: which one is charged, which are missed or skipped, and what each costs.
import { laterBy, type Instant } from '../../clock.ts';
import type { CartLine } from '../../invoices/domain/invoice.ts';
import { partOfLines, sumOf } from './proration.ts';
import { isLast, shareOfFirst } from './schedule.ts';
import {
  nextPeriod,
  type Item,
  type NextPeriod,
  type Period,
  type Subscription,
  type SubscriptionFact,
} from './subscription.ts';

/** Later than that, `none` charges no period. */
const maxLateMs = 72 * 3_600_000;

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
  return createFor(
    subscription,
    nextPeriods(subscription, ({ dueAt }) => dueAt <= now),
    now,
    invoiceId,
  );
}

/**
 * At the start of a pause: what has started belongs to the time before it. Another open period is not joined by a second one, so it is
 * missed then.
 */
export function createStarted(subscription: Subscription, now: Instant, invoiceId: string): Created[] {
  const started = nextPeriods(subscription, ({ startsAt }) => startsAt < now);
  const isOpen = subscription.open.some(({ outcome }) => outcome === 'open');
  if (isOpen && !subscription.terms.dunning.stack)
    return started.map((next) => created(uncharged(subscription, next, 'missed')));
  const rows = createFor(subscription, started, now, invoiceId);
  const others = started.slice(rows.length).map((next) => created(uncharged(subscription, next, 'missed')));
  return [...rows, ...others];
}

function createFor(
  subscription: Subscription,
  due: readonly NextPeriod[],
  now: Instant,
  invoiceId: string,
): Created[] {
  const { catchUp } = subscription.terms;
  const charged = catchUp === 'all' ? due[0] : due.at(-1);
  const isTooLate = catchUp === 'none' && charged && now > laterBy(charged.dueAt, maxLateMs);
  const rows = catchUp === 'all' ? due.slice(0, 1) : due;
  return rows.map((next) =>
    created(
      next === charged && !isTooLate
        ? dueRow(subscription, next, invoiceId)
        : uncharged(subscription, next, 'missed'),
    ),
  );
}

/** The periods that started before an instant without being charged. The one that starts then is charged. */
export function skipStarted(subscription: Subscription, now: Instant): Created[] {
  const started = nextPeriods(subscription, ({ startsAt }) => startsAt < now);
  return started.map((next) => created(uncharged(subscription, next, 'skipped')));
}

function nextPeriods(subscription: Subscription, belongs: (next: NextPeriod) => boolean): NextPeriod[] {
  const found: NextPeriod[] = [];
  let next = nextPeriod(subscription);
  while (next && belongs(next)) {
    found.push(next);
    next = nextPeriod(subscription, next);
  }
  return found;
}

function created(period: Period): Created {
  return { type: 'period_created', period };
}

export type Upcoming = Pick<Period, 'number' | 'kind' | 'startsOn' | 'endsOn' | 'dueAt' | 'amountMinor'>;

/** The periods to come, as they are if nothing else happens. */
export function upcoming(subscription: Subscription, count: number): Upcoming[] {
  const { phase, pause } = subscription;
  const resumesAt = pause?.resumesAt;
  if (phase !== 'running' && !(phase === 'paused' && resumesAt)) return [];
  const found: Upcoming[] = [];
  let { creditMinor } = subscription;
  let next = nextPeriod(subscription, resumesAt && skipStarted(subscription, resumesAt).at(-1)?.period);
  while (next && found.length < count) {
    const row = dueRow({ ...subscription, creditMinor }, next, '');
    const { number, kind, startsOn, endsOn, dueAt, amountMinor } = row;
    found.push({ number, kind, startsOn, endsOn, dueAt, amountMinor });
    creditMinor -= row.creditMinor;
    next = nextPeriod(subscription, next);
  }
  return found;
}
