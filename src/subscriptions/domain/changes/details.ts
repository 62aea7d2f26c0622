// What a merchant changes of a subscription apart from its items: `metadata`, `catchUp`, and the day on which it ends.
import type { Instant } from '../../../clock.ts';
import { defined } from '../../../defined.ts';
import { accept, refuse, type Outcome } from '../../../refusal.ts';
import { localDayOf } from '../../../retry-rules/domain/time-zones.ts';
import { checkNotOver, isEverCharged, neverCharged, wrongPhase } from '../commands.ts';
import { endsOnProblem, type LocalDate } from '../schedule.ts';
import {
  catchUpOf,
  nextPeriod,
  type CatchUp,
  type Subscription,
  type SubscriptionFact,
} from '../subscription.ts';

export type DetailsWish = {
  readonly metadata?: object;
  readonly catchUp?: CatchUp;
  readonly endsOn?: LocalDate;
};

export function detailsOf(subscription: Subscription) {
  const { terms, details, schedule } = subscription;
  const ends = schedule ? schedule.ends : terms.schedule.ends;
  return {
    version: details?.version ?? 1,
    metadata: details?.metadata ?? terms.metadata ?? {},
    catchUp: catchUpOf(subscription),
    ...defined({ endsOn: ends && 'before' in ends ? ends.before : undefined }),
  };
}

/** `version`: what the merchant has seen. A repeat changes nothing, and is no conflict. */
export function decideDetails(
  subscription: Subscription,
  { version, ...wish }: DetailsWish & { readonly version: number },
  now: Instant,
): Outcome<
  readonly SubscriptionFact[],
  'subscriptionDetailsChanged' | 'invalidSubscriptionStatus' | 'invalidRequest' | 'subscriptionChangePending'
> {
  const present = detailsOf(subscription);
  const names = (['metadata', 'catchUp', 'endsOn'] as const).filter(
    (name) => wish[name] !== undefined && JSON.stringify(wish[name]) !== JSON.stringify(present[name]),
  );
  if (names.length === 0) return accept([]);
  if (version !== present.version)
    return refuse('subscriptionDetailsChanged', {
      details: { detailsVersion: String(present.version), differs: names.join(', ') },
    });
  const { phase, change } = subscription;
  if (phase === 'ended' && names.some((name) => name !== 'metadata')) return wrongPhase(subscription);
  if (names.includes('endsOn')) {
    if (phase === 'incomplete') return wrongPhase(subscription);
    const notOver = nextPeriod(subscription) ? accept(undefined) : checkNotOver(subscription, now);
    if (!notOver.ok) return notOver;
    // Its payment would start a period that may not be before that day.
    if (change?.newPeriod) return refuse('subscriptionChangePending');
    const hint = endProblem(subscription, wish.endsOn ?? '', now);
    if (hint !== undefined) return refuse('invalidRequest', { hint });
  }
  const changed = Object.fromEntries(names.map((name) => [name, wish[name]]));
  return accept([{ type: 'details_changed', ...changed }]);
}

/** The payer has agreed to no charge after the end that was said at the start. */
function endProblem(
  { terms, schedule, latest }: Subscription,
  endsOn: LocalDate,
  now: Instant,
): string | undefined {
  const { ends } = terms.schedule;
  if (ends && 'periods' in ends) return '`periods` is agreed. Cancel the subscription instead.';
  const problem = endsOnProblem(endsOn, localDayOf(now, schedule?.zone ?? terms.schedule.zone));
  if (problem !== undefined) return problem;
  if (ends && endsOn > ends.before)
    return `The payer agreed to an end on ${ends.before}. \`endsOn\` must not be later.`;
  const isNever = !latest && schedule && !isEverCharged(terms, { ...schedule, ends: { before: endsOn } });
  return isNever ? neverCharged : undefined;
}
