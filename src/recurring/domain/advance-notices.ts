// Advance notices: what a merchant should know before it happens to a series, so that they can inform the payer. Each is
// sent once.
import { laterBy, type Instant } from '../../clock.ts';
import { endOfDay, monthsAfter } from '../../retry-rules/domain/calendar.ts';
import { maxGapMonths } from '../../retry-rules/domain/may-charge.ts';
import type { AdvanceNotice, Series } from './series.ts';

const dayMs = 24 * 3_600_000;
const rareAfterDays = 180;

/** Undefined if no advance notice is left to send. */
export function nextAdvanceNotice(series: Series): AdvanceNotice | undefined {
  if (series.state.name !== 'active') return undefined;
  return noticesOf(series)
    .filter(({ at }) => at > series.noticedUntil)
    .sort((a, b) => (a.at < b.at ? -1 : 1))[0];
}

function noticesOf({ card, endsAt, lastSuccessAt, mandate }: Series): AdvanceNotice[] {
  const { schedule, trialEnd } = mandate;
  const rareChargeAt = nextRareCharge(schedule, lastSuccessAt);
  const gapEndsAt = monthsAfter(lastSuccessAt, maxGapMonths);
  return [
    ...daysBefore('cardExpiring', card.endsAt, [60, 30, 7]),
    ...daysBefore('gapNearing', gapEndsAt, [14]),
    ...(rareChargeAt === undefined ? [] : daysBefore('rareChargeNearing', rareChargeAt, [14])),
    ...(trialEnd === undefined ? [] : daysBefore('trialEnding', endOfDay(trialEnd), [7])),
    ...(endsAt === undefined ? [] : daysBefore('consentEnding', endsAt, [14, 3])),
    ...(endsAt === undefined ? [] : daysBefore('consentEnded', endsAt, [0])),
  ];
}

/** When the next charge is due, if the schedule is a period longer than 180 days. */
function nextRareCharge(schedule: string, lastSuccessAt: Instant): Instant | undefined {
  const [, count, unit] = /^P(\d{1,3})([DWMY])$/.exec(schedule) ?? [];
  if (count === undefined) return undefined;
  const number = Number(count);
  const next =
    unit === 'Y' || unit === 'M'
      ? monthsAfter(lastSuccessAt, unit === 'Y' ? 12 * number : number)
      : laterBy(lastSuccessAt, number * (unit === 'W' ? 7 : 1) * dayMs);
  return next > laterBy(lastSuccessAt, rareAfterDays * dayMs) ? next : undefined;
}

function daysBefore(kind: AdvanceNotice['kind'], about: Instant, days: readonly number[]): AdvanceNotice[] {
  return days.map((before) => ({ kind, at: laterBy(about, -before * dayMs), about }));
}
