// Which instalments of a subscription with an agreed number are still to come.
import { instalmentOf } from '../schedule.ts';
import { nextPeriod, type Subscription } from '../subscription.ts';

/** `next`: its number. A trial and a short first period are none. */
export type Instalments = { readonly total: number; readonly remaining: number; readonly next?: number };

/** Undefined where no number is agreed, and before the payer has started it. */
export function instalmentsOf(subscription: Subscription): Instalments | undefined {
  const { schedule, phase } = subscription;
  const total = schedule && instalmentOf(schedule, schedule.anchorNumber)?.of;
  if (!schedule || total === undefined) return undefined;
  const coming = phase === 'ended' ? undefined : nextPeriod(subscription);
  if (!coming) return { total, remaining: 0 };
  const next = instalmentOf(schedule, coming.number)?.number ?? 1;
  return { total, remaining: total - next + 1, next };
}
