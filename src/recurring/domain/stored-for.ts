// What the payer agrees to when a card is stored, in the words of card networks.
import type { StoredFor } from '../../acquiring/domain/initiation.ts';
import { laterBy } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { endOfDay } from '../../retry-rules/domain/calendar.ts';
import { agreedAmountOf, type MandateTerms } from '../../receipts/domain/terms.ts';

/** Terms that were not stated may come from the shop, so what they say is not sent. The last day ends in the zone. */
export function storedFor(terms: MandateTerms = {}, timeZone: string): StoredFor {
  const { chargeReason = 'recurring', validUntil } = terms;
  return {
    for: chargeReason,
    ...defined({
      amount: agreedAmountOf(terms),
      everyDays: daysIn(terms.schedule),
      until: validUntil === undefined ? undefined : laterBy(endOfDay(validUntil, timeZone), -1_000),
    }),
  };
}

const daysOf: Readonly<Record<string, (count: number) => number>> = {
  D: (count) => count,
  W: (count) => count * 7,
  M: leastDaysOfMonths,
  Y: (count) => count * 365,
};
const daysOfMonths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Of as many months in a row, whichever is the first. */
function leastDaysOfMonths(count: number): number {
  const from = (first: number) =>
    Array.from({ length: count % 12 }, (_, month) => daysOfMonths[(first + month) % 12] ?? 0);
  const sums = daysOfMonths.map((_, first) => from(first).reduce((sum, days) => sum + days, 0));
  return Math.floor(count / 12) * 365 + Math.min(...sums);
}

/** The least number of days between charges, as 3-D Secure counts them. Undefined for words. */
function daysIn(schedule = ''): number | undefined {
  const [, count = '', unit = ''] = /^P(\d{1,3})([DWMY])$/.exec(schedule) ?? [];
  const days = daysOf[unit]?.(Number(count)) ?? 0;
  return days >= 1 && days <= 9_999 ? days : undefined;
}
