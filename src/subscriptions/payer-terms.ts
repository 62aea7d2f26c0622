// The terms that a payer has to agree to, for another card or for a higher price on this one.
import { latest, type Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Database } from '../platform/database/database.ts';
import { mayRenew } from '../recurring/domain/renewal.ts';
import type { Consents, StoredSeries } from '../recurring/port.ts';
import { compareWithConsent, trialEndOf } from '../retry-rules/domain/consent-terms.ts';
import { findChargedSeries } from './charged-series.ts';
import { sumOf } from './domain/changes/proration.ts';
import type { PayerView, TermsToAgree } from './domain/payer-view.ts';
import { isoOf } from './domain/schedule.ts';
import type { Subscription } from './domain/subscription.ts';
import type { NewCardTerms } from './port.ts';
import { findLargestOfOthers } from './store/subscriptions.ts';

type Deps = {
  readonly db: Database;
  readonly consents: Pick<Consents, 'find' | 'seriesOfCustomer'>;
};

/**
 * Those of the present card, because a consent covers all that is charged to the card. If it has no amount, or one that is too small
 * for a subscription, those of the customer's subscriptions.
 */
export async function termsOfNewCard(
  { subscription, schedule, now }: PayerView,
  deps: Deps,
): Promise<NewCardTerms> {
  const { most, isOnly } = await largestCharge(subscription, deps);
  const series = (await findChargedSeries(deps.db, subscription, deps.consents))?.series;
  const { schedule: agreed, amountRule } = series?.mandate ?? {};
  const isOver = series?.endsAt !== undefined && series.endsAt <= now;
  const isEnough = amountRule?.kind === 'variable' || (amountRule?.amountMinor ?? 0) >= most;
  if (amountRule && isEnough && !isOver) return { amountRule, ...defined({ schedule: agreed }) };
  // Two subscriptions have two schedules.
  return isOnly
    ? { schedule, amountRule: { kind: 'fixed', amountMinor: most } }
    : { amountRule: { kind: 'upTo', amountMinor: most } };
}

/** Undefined if the consent covers what comes, or can no longer be renewed. */
export async function termsToAgree(
  subscription: Subscription,
  now: Instant,
  deps: Deps,
): Promise<TermsToAgree | undefined> {
  const { phase, endsAfter, terms } = subscription;
  if (phase === 'ended' || phase === 'incomplete' || endsAfter) return undefined;
  const stored = await findChargedSeries(deps.db, subscription, deps.consents);
  if (!stored || !isTooLittle(stored, subscription, now) || !mayRenew(stored.series, now).ok)
    return undefined;
  const { id: seriesId, mandate: before, endsAt } = stored.series;
  const { schedule, amountRule, validUntil, chargeReason } = before;
  const { most, isOnly } = await largestCharge(subscription, deps);
  const kind = isOnly && amountRule?.kind !== 'upTo' ? 'fixed' : 'upTo';
  const after = {
    schedule: isOnly ? isoOf(terms.schedule.every) : schedule,
    amountRule: { kind, amountMinor: most },
    ...defined({ chargeReason, validUntil: endsAt !== undefined && endsAt > now ? validUntil : undefined }),
  } as const;
  return { seriesId, before, after };
}

/** What the first charge after a trial may cost counts already during it. */
function isTooLittle({ series, settings }: StoredSeries, subscription: Subscription, now: Instant): boolean {
  if (!series.bindsAmount && !settings.enforceAmount) return false;
  const amount = {
    minor: BigInt(largestChargeMinor(subscription)),
    currency: subscription.terms.currency,
  };
  const finding = compareWithConsent(series, amount, latest(now, trialEndOf(series) ?? now));
  return finding?.is === 'above' && finding.rule === 'amount';
}

/** What is charged to the same card: what the dearest costs at most, and whether it is this one alone. */
async function largestCharge(
  subscription: Subscription,
  { db }: Deps,
): Promise<{ readonly most: number; readonly isOnly: boolean }> {
  const { terms } = subscription;
  const { customerId } = terms;
  const own = largestChargeMinor(subscription);
  if (customerId === undefined) return { most: own, isOnly: true };
  const { others, largestMinor } = await findLargestOfOthers(db, { ...terms, customerId });
  return { most: Math.max(own, largestMinor), isOnly: others === 0 };
}

function largestChargeMinor(subscription: Subscription): number {
  const { items, scheduledItems = [], change } = subscription;
  const last = items.map((item) => ({ ...item, priceMinor: item.lastPriceMinor ?? item.priceMinor }));
  const lines = [items, last, scheduledItems, change?.items ?? []];
  const due = subscription.open.map(({ amountMinor }) => amountMinor);
  return Math.max(...[...due, ...lines.map(sumOf)].map(Number));
}
