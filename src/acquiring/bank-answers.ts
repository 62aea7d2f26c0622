// For an operator: how banks answer, by the hour of the last day and by the day of the last month.
import { epochMsOf, instantAt, laterBy, type Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { exchangeSums, hourOf, type ExchangeSum } from './exchange-log/store/exchange-sums.ts';

const hourMs = 3_600_000;
const parts = { hours: { lengthMs: hourMs, count: 24 }, days: { lengthMs: 24 * hourMs, count: 30 } } as const;

type Part = {
  readonly at: Instant;
  /** All that was begun, and how many of them ended without the bank's answer or have none yet. */
  readonly operations: number;
  readonly unanswered: number;
  readonly open: number;
  /** Authorisations that the bank approved or declined: half and nine tenths of them were answered within these times. */
  readonly answered: number;
  readonly halfWithinMs: number | null;
  readonly mostWithinMs: number | null;
};
export type BankAnswers = {
  readonly bankId: string;
  readonly hours: readonly Part[];
  readonly days: readonly Part[];
};

/** Days are those of UTC. */
export async function bankAnswers(db: Database, now: Instant): Promise<BankAnswers[]> {
  const today = instantAt(Math.floor(epochMsOf(now) / (24 * hourMs)) * 24 * hourMs);
  const firstDay = laterBy(today, -(parts.days.count - 1) * parts.days.lengthMs);
  const firstHour = laterBy(hourOf(now), -(parts.hours.count - 1) * hourMs);
  const sums = await exchangeSums(db, firstDay);
  return [...new Set(sums.map(({ bank_id }) => bank_id))].map((bankId) => {
    const own = sums.filter(({ bank_id }) => bank_id === bankId);
    return { bankId, hours: partsOf(own, firstHour, 'hours'), days: partsOf(own, firstDay, 'days') };
  });
}

function partsOf(sums: readonly ExchangeSum[], first: Instant, unit: keyof typeof parts): Part[] {
  const { lengthMs, count } = parts[unit];
  return Array.from({ length: count }, (_, index) => {
    const at = laterBy(first, index * lengthMs);
    const next = laterBy(at, lengthMs);
    return { at, ...countsOf(sums.filter(({ hour }) => hour >= at && hour < next)) };
  });
}

function countsOf(sums: readonly ExchangeSum[]): Omit<Part, 'at'> {
  const countOf = (isMeant: (sum: ExchangeSum) => boolean) =>
    sums.filter(isMeant).reduce((all, { n }) => all + Number(n), 0);
  const isOpen = ({ state }: ExchangeSum) => state === 'begun' || state === 'challenged';
  const times = sums
    .filter(({ kind, within_ms }) => kind === 'authorise' && within_ms > 0)
    .toSorted((one, other) => one.within_ms - other.within_ms);
  const answered = times.reduce((all, { n }) => all + Number(n), 0);
  const within = (share: number) => {
    let counted = 0;
    return times.find(({ n }) => (counted += Number(n)) >= share * answered)?.within_ms ?? null;
  };
  return {
    operations: countOf(() => true),
    unanswered: countOf(({ state }) => state === 'givenUp' || state === 'settled'),
    open: countOf(isOpen),
    answered,
    halfWithinMs: within(0.5),
    mostWithinMs: within(0.9),
  };
}
