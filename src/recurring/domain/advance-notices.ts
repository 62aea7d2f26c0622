// Advance notices: what a merchant should know before it happens to a series, so that they can inform the payer. Each is
// sent once.
import { type Instant, dayMs, laterBy } from '../../clock.ts';
import { monthsAfter } from '../../retry-rules/domain/calendar.ts';
import { trialEndOf } from '../../retry-rules/domain/consent-terms.ts';
import { maxGapMonths } from '../../retry-rules/domain/may-charge.ts';
import { everyOf } from '../../retry-rules/domain/periods.ts';
import type { AdvanceNotice, Series } from './series.ts';

const rareAfterDays = 180;

/** Undefined if no advance notice is left to send. */
export function nextAdvanceNotice(series: Series): AdvanceNotice | undefined {
  if (series.state.name !== 'active') return undefined;
  return noticesOf(series)
    .filter(({ at }) => at > series.noticedUntil)
    .sort((a, b) => (a.at < b.at ? -1 : 1))[0];
}

function noticesOf(series: Series): AdvanceNotice[] {
  const { card, endsAt, lastSuccessAt, mandate } = series;
  const trialEndsAt = trialEndOf(series);
  const rareChargeAt = nextRareCharge(mandate.schedule, lastSuccessAt);
  const gapEndsAt = monthsAfter(lastSuccessAt, maxGapMonths);
  return [
    ...daysBefore('cardExpiring', card.endsAt, [60, 30, 7]),
    ...daysBefore('gapNearing', gapEndsAt, [14]),
    ...(rareChargeAt === undefined ? [] : daysBefore('rareChargeNearing', rareChargeAt, [14])),
    ...(trialEndsAt === undefined ? [] : daysBefore('trialEnding', trialEndsAt, [7])),
    ...(endsAt === undefined ? [] : daysBefore('consentEnding', endsAt, [14, 3])),
    ...(endsAt === undefined ? [] : daysBefore('consentEnded', endsAt, [0])),
  ];
}

/** When the next charge is due, if the schedule is a period longer than 180 days. */
function nextRareCharge(schedule: string, lastSuccessAt: Instant): Instant | undefined {
  const every = everyOf(schedule);
  if (!every) return undefined;
  const { count, unit } = every;
  const next =
    unit === 'Y' || unit === 'M'
      ? monthsAfter(lastSuccessAt, unit === 'Y' ? 12 * count : count)
      : laterBy(lastSuccessAt, count * (unit === 'W' ? 7 : 1) * dayMs);
  return next > laterBy(lastSuccessAt, rareAfterDays * dayMs) ? next : undefined;
}

function daysBefore(kind: AdvanceNotice['kind'], about: Instant, days: readonly number[]): AdvanceNotice[] {
  return days.map((before) => ({ kind, at: laterBy(about, -before * dayMs), about }));
}
