// What a merchant should hear of before it happens to a series: its card expires, the gap between two charges grows too
// long, the consent ends. Each is said once, at its time. Pure.
import { laterBy, type Instant } from '../clock.ts';
import { monthsAfter } from './calendar.ts';
import { gapMonthsMost } from './may-charge.ts';
import type { Series } from './series.ts';

export type Notice = {
  readonly kind: 'cardExpiring' | 'gapNearing' | 'consentEnding' | 'consentEnded';
  /** When it is said, and of which moment it speaks. */
  readonly at: Instant;
  readonly about: Instant;
};

const dayMs = 24 * 3_600_000;

/** The next one after those that were said; undefined when nothing is left to say. */
export function nextNotice(series: Series): Notice | undefined {
  if (series.state.name !== 'active') return undefined;
  return noticesOf(series)
    .filter(({ at }) => at > series.noticedUntil)
    .sort((a, b) => (a.at < b.at ? -1 : 1))[0];
}

function noticesOf({ card, endsAt, lastSuccessAt }: Series): Notice[] {
  const gapEndsAt = monthsAfter(lastSuccessAt, gapMonthsMost);
  return [
    ...daysBefore('cardExpiring', card.endsAt, [60, 30, 7]),
    ...daysBefore('gapNearing', gapEndsAt, [14]),
    ...(endsAt === undefined ? [] : daysBefore('consentEnding', endsAt, [14, 3])),
    ...(endsAt === undefined ? [] : daysBefore('consentEnded', endsAt, [0])),
  ];
}

function daysBefore(kind: Notice['kind'], about: Instant, days: readonly number[]): Notice[] {
  return days.map((before) => ({ kind, at: laterBy(about, -before * dayMs), about }));
}
