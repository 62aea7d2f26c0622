// The time in which a failed charge can be retried. It starts with a failure and lasts as long as the rule packs say.
import type { PaymentSystem } from '../../cards/domain/card.ts';
import { laterBy, type Instant } from '../../clock.ts';
import { packsInForce, type RulePack } from './rule-packs.ts';

/** What decides whether the charges of a series are failing, and since when. */
export type Failing = {
  readonly card: { readonly paymentSystem: PaymentSystem };
  readonly failingSince?: Instant;
  readonly deadUntil?: Instant;
};

export function failingEndsAt(failingSince: Instant, packs: readonly RulePack[]): Instant {
  const untilMs = Math.min(...packs.map(({ retries }) => retries?.untilMs ?? Infinity));
  return laterBy(failingSince, untilMs);
}

/** Applies the end of the failures if it has passed, because no event marks that end. */
export function seriesAt<S extends Failing>(series: S, now: Instant): S {
  const { failingSince, ...rest }: Failing = series;
  if (failingSince === undefined) return series;
  const end = failingEndsAt(failingSince, packsInForce(series.card.paymentSystem, now));
  return now > end ? ({ ...rest, deadUntil: end } as Failing as S) : series;
}
