// The rows of periods as they are created: which one is charged, which are missed or skipped, and what each costs.
import { latest, laterBy, type Instant } from '../../clock.ts';
import type { CartLine } from '../../invoices/domain/invoice.ts';
import { partOfLines, restOfLines, sumOf } from './changes/proration.ts';
import { isLast, periodTimes, shareOfFirst, type LocalDate } from './schedule.ts';
import {
  catchUpOf,
  maxLateMs,
  nextPeriod,
  policyOf,
  type Item,
  type NextPeriod,
  type Period,
  type Subscription,
  type SubscriptionFact,
} from './subscription.ts';

/** More are left to the next step, in a transaction of its own. A step that ends what decides about them takes all. */
const maxRowsAtOnce = 100;

type Created = SubscriptionFact & { type: 'period_created' };

/** The lines of a period at full length, or as the first one is agreed. */
export function linesOf(
  { schedule, terms }: Pick<Subscription, 'schedule' | 'terms'>,
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

/** `chargedFrom`: the end of a pause. Nothing is asked for the time before it. */
type DuePeriod = NextPeriod & { readonly chargedFrom?: Instant };

function linesDue(subscription: Subscription, { chargedFrom, ...next }: DuePeriod): CartLine[] {
  const { scheduledItems, items } = subscription;
  const lines = linesOf(subscription, next, scheduledItems ?? items);
  return chargedFrom === undefined ? lines : restOfLines(lines, next, chargedFrom);
}

/** The row of a period that is due. What credit or a free period covers needs no invoice. */
function dueRow(subscription: Subscription, due: DuePeriod, invoiceId: string): Period {
  const { creditMinor: balance } = subscription;
  const { chargedFrom: _, ...next } = due;
  const lines = linesDue(subscription, due);
  const total = sumOf(lines);
  const creditMinor = balance < total ? balance : total;
  const amountMinor = total - creditMinor;
  const row = { ...next, lines, amountMinor, creditMinor };
  return amountMinor === 0n ? { ...row, outcome: 'paid' } : { ...row, invoiceId, outcome: 'open' };
}

/** A period that is not charged. A free one counts as paid, whenever it is created. */
function uncharged(subscription: Subscription, due: DuePeriod, outcome: 'missed' | 'skipped'): Period {
  const { chargedFrom: _, ...next } = due;
  const lines = linesDue(subscription, due);
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
  const started = nextPeriods(subscription, ({ startsAt }) => startsAt < now, { most: Infinity });
  const isOpen = subscription.open.some(({ outcome }) => outcome === 'open');
  if (isOpen && !policyOf(subscription).stack)
    return started.map((next) => created(uncharged(subscription, next, 'missed')));
  const rows = createFor(subscription, started, now, invoiceId, Infinity);
  const others = started.slice(rows.length);
  return [...rows, ...others.map((next) => created(uncharged(subscription, next, 'missed')))];
}

function createFor(
  subscription: Subscription,
  due: readonly DuePeriod[],
  now: Instant,
  invoiceId: string,
  most = maxRowsAtOnce,
): Created[] {
  const catchUp = catchUpOf(subscription);
  const charged = catchUp === 'all' ? due[0] : due.at(-1);
  const isTooLate = catchUp === 'none' && charged && now > laterBy(charged.dueAt, maxLateMs);
  const rows = due.slice(0, catchUp === 'all' ? 1 : most);
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
  const started = nextPeriods(subscription, ({ startsAt }) => startsAt < now, { most: Infinity });
  return started.map((next) => created(uncharged(subscription, next, 'skipped')));
}

/** All that starts before a local day is skipped. The last of it ends on that day, and its shorter time costs nothing. */
export function skipUntil(subscription: Subscription, day: LocalDate): Created[] {
  const { schedule, terms } = subscription;
  const started = nextPeriods(subscription, ({ startsOn }) => startsOn < day, { most: Infinity });
  return started.map((next) => {
    if (!schedule || next.endsOn <= day) return created(uncharged(subscription, next, 'skipped'));
    const { endsAt } = periodTimes(schedule, { ...next, endsOn: day }, terms.id, next.startsAt);
    const cut = { ...next, endsOn: day, endsAt };
    return created({ ...cut, lines: [], amountMinor: 0n, creditMinor: 0n, outcome: 'skipped' });
  });
}

/**
 * At the end of a pause: what it covers whole is skipped. A period that continues after it is charged for the rest, so that a pause over
 * a renewal makes no period free.
 */
export function createAfterPause(
  subscription: Subscription,
  until: Instant,
  now: Instant,
  invoiceId: string,
  most = maxRowsAtOnce,
): Created[] {
  const started = nextPeriods(subscription, ({ startsAt }) => startsAt < until, { most });
  const covered = started.filter(({ endsAt }) => endsAt <= until).slice(0, most);
  const skipped = covered.map((next) => created(uncharged(subscription, next, 'skipped')));
  if (started.length > most) return skipped;
  const running = started[covered.length];
  if (!running) return skipped;
  const rest = { ...running, dueAt: latest(running.dueAt, until), chargedFrom: until };
  const isOpen = subscription.open.some(({ outcome }) => outcome === 'open');
  if (isOpen && !policyOf(subscription).stack)
    return [...skipped, created(uncharged(subscription, rest, 'missed'))];
  const others = nextPeriods(subscription, ({ dueAt }) => dueAt <= now, { after: running });
  return [...skipped, ...createFor(subscription, [rest, ...others], now, invoiceId)];
}

/** One more than a step may create, if there are so many. */
function nextPeriods(
  subscription: Subscription,
  belongs: (next: NextPeriod) => boolean,
  { after, most = maxRowsAtOnce }: { readonly after?: NextPeriod; readonly most?: number } = {},
): NextPeriod[] {
  const found: NextPeriod[] = [];
  let next = nextPeriod(subscription, after);
  while (next && found.length <= most && belongs(next)) {
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
  const pausing = resumesAt ? createAfterPause(subscription, resumesAt, resumesAt, '', Infinity) : [];
  for (const { period } of pausing) {
    if (period.outcome !== 'open' && period.outcome !== 'paid') continue;
    const { number, kind, startsOn, endsOn, dueAt, amountMinor } = period;
    found.push({ number, kind, startsOn, endsOn, dueAt, amountMinor });
    creditMinor -= period.creditMinor;
  }
  let next = nextPeriod(subscription, pausing.at(-1)?.period);
  while (next && found.length < count) {
    const row = dueRow({ ...subscription, creditMinor }, next, '');
    const { number, kind, startsOn, endsOn, dueAt, amountMinor } = row;
    found.push({ number, kind, startsOn, endsOn, dueAt, amountMinor });
    creditMinor -= row.creditMinor;
    next = nextPeriod(subscription, next);
  }
  return found;
}
