// Until when a series needs its card.
import { laterBy, type Instant } from '../../clock.ts';
import { canNeverCharge } from '../../retry-rules/domain/may-charge.ts';
import type { Series } from './series.ts';

/** As long as an unpaid invoice can be charged again. */
const renewableMs = 31 * 24 * 3_600_000;

/** Undefined: no longer. After a stop of the series alone the payer can agree again with the same card, for a while. */
export function cardNeededUntil(series: Series, now: Instant): Instant | undefined {
  const { state, card, endsAt = card.endsAt } = series;
  if (state.name === 'stopped' && state.scope === 'series') {
    const until = earlier(laterBy(state.at, renewableMs), card.endsAt);
    return now < until ? until : undefined;
  }
  return canNeverCharge(series, now) ? undefined : earlier(endsAt, card.endsAt);
}

function earlier(a: Instant, b: Instant): Instant {
  return a < b ? a : b;
}
