// The time in which a failed charge can be retried. It starts with a failure and lasts as long as the rule packs say.
import type { PaymentSystem } from '../../cards/domain/card.ts';
import { latest, laterBy, type Instant } from '../../clock.ts';
import { packIdOf, packsInForce, type RulePack } from './rule-packs.ts';
import { localDayOf, startOfDay } from './time-zones.ts';

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

/** When the strictest pack allows a retry after an attempt. Undefined if no pack has a rule for retries. */
export function nextRetryAfter(lastAttemptAt: Instant, packs: readonly RulePack[], timeZone: string) {
  return packs
    .flatMap((pack) => {
      if (!pack.retries) return [];
      const at = nextDayAfter(lastAttemptAt, pack.retries.atLeastMs, timeZone);
      return [{ at, rule: 'onceADay', pack: packIdOf(pack) }];
    })
    .reduce<{ at: Instant; rule: string; pack: string } | undefined>(
      (strictest, each) => (strictest && strictest.at >= each.at ? strictest : each),
      undefined,
    );
}

/** The first instant on a later local day that is also so much later. Near a change of the clocks, days differ in length. */
function nextDayAfter(attemptAt: Instant, atLeastMs: number, timeZone: string): Instant {
  return latest(laterBy(attemptAt, atLeastMs), startOfDay(localDayOf(attemptAt, timeZone) + 1, timeZone));
}
