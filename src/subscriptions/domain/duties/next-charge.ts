// The next charge of a subscription, with the day on which it will really be made, or with what it waits for.
import { latest, type Instant } from '../../../clock.ts';
import { dueOf } from '../changes/change.ts';
import { upcoming } from '../period-rows.ts';
import { nextAction, type Subscription } from '../subscription.ts';
import { announcedFrom } from './duties.ts';

export type NextCharge = {
  /** With `waitsFor`, not before it. */
  readonly at: Instant;
  readonly amountMinor: bigint;
  /** What may still not come: an announcement that reaches the payer, their consent to the amount, or a card. */
  readonly waitsFor?: 'announcement' | 'consent' | 'card';
};

/** Undefined while none is planned: a person or a bank decides first, or the subscription ends. */
export function nextChargeOf(subscription: Subscription, now: Instant): NextCharge | undefined {
  const { open, parkedFor, change } = subscription;
  if (parkedFor !== undefined) return undefined;
  const next = nextAction(subscription);
  if (next?.does === 'charge') {
    const period = open.find(({ number }) => number === next.number);
    return period && announced(subscription, period, next.at, now);
  }
  // It waits for no announcement.
  if (change && next?.does === 'chargeChange') return { at: next.at, amountMinor: dueOf(change) };
  if (open.length > 0) return undefined;
  // A trial and a period that credit pays cost nothing.
  const charged = upcoming(subscription, 12).find(({ amountMinor }) => amountMinor > 0n);
  if (!charged) return undefined;
  const { dueAt } = charged;
  // The day may have had its charge.
  const plannedAt = next?.does === 'createPeriod' ? latest(next.at, dueAt) : dueAt;
  return announced(subscription, charged, plannedAt, now);
}

function announced(
  subscription: Subscription,
  charged: Parameters<typeof announcedFrom>[1] & { readonly amountMinor: bigint },
  plannedAt: Instant,
  now: Instant,
): NextCharge {
  const { amountMinor } = charged;
  const { from, isAwaited } = announcedFrom(subscription, charged, now);
  const at = latest(plannedAt, from);
  return { at, amountMinor, ...(isAwaited ? { waitsFor: 'announcement' } : {}) };
}
