// The time in which a charge that failed may be tried again. It opens with a failure and ends by itself after the days the rule
// packs name. Pure.
import type { PaymentSystem } from '../../cards/domain/card.ts';
import { laterBy, type Instant } from '../../clock.ts';
import { packsInForce, type RulePack } from './rule-packs.ts';

/** What of a series tells whether its charges fail, and since when. */
export type Failing = {
  readonly card: { readonly paymentSystem: PaymentSystem };
  readonly failingSince?: Instant;
  readonly deadUntil?: Instant;
};

/** How long after its beginning a series of failures ends, whatever comes. */
export function failingEndsAt(failingSince: Instant, packs: readonly RulePack[]): Instant {
  const untilMs = Math.min(...packs.map(({ retries }) => retries?.untilMs ?? Infinity));
  return laterBy(failingSince, untilMs);
}

/** The series with its failures' end behind it, if that is so by now: nothing happens at that moment, it is only late. */
export function seriesAt<S extends Failing>(series: S, now: Instant): S {
  const { failingSince, ...rest }: Failing = series;
  if (failingSince === undefined) return series;
  const end = failingEndsAt(failingSince, packsInForce(series.card.paymentSystem, now));
  return now > end ? ({ ...rest, deadUntil: end } as Failing as S) : series;
}
