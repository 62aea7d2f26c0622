// Other items or prices: from the next period, or now for the difference. A dearer change takes effect when it is paid.
import { laterBy, type Instant } from '../../clock.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { localDayOf } from '../../retry-rules/domain/time-zones.ts';
import { checkItems, wrongPhase } from './commands.ts';
import { linesOf } from './period-rows.ts';
import { prorate } from './proration.ts';
import {
  statusOf,
  type Change,
  type Item,
  type Subscription,
  type SubscriptionFact,
} from './subscription.ts';

export type ChangeRefusal =
  | 'invalidRequest'
  | 'invalidSubscriptionStatus'
  | 'subscriptionPastDue'
  | 'subscriptionChangePending'
  | 'subscriptionChangedToday';

/** How long the amounts of a preview can be taken. */
const previewMs = 3_600_000;

export function decideChangeFromNextPeriod(
  subscription: Subscription,
  items: readonly Item[],
): Outcome<
  readonly SubscriptionFact[],
  'invalidRequest' | 'invalidSubscriptionStatus' | 'subscriptionChangePending'
> {
  const { phase, change } = subscription;
  if (phase !== 'running' && phase !== 'paused') return wrongPhase(subscription);
  // Its payment would replace what is scheduled.
  if (change) return refuse('subscriptionChangePending');
  const checked = checkItems(items);
  return checked.ok ? accept([{ type: 'items_scheduled', items }]) : checked;
}

export type Preview = Change & {
  /** What the payer pays now. */
  readonly dueMinor: bigint;
};

/** What a change would cost. `asOf` is the instant that the amounts are for. */
export function previewChange(
  subscription: Subscription,
  items: readonly Item[],
  asOf: Instant,
): Outcome<Preview, ChangeRefusal> {
  const checked = checkItems(items);
  if (!checked.ok) return checked;
  const { phase, latest, schedule, change, changedOn } = subscription;
  if (phase !== 'running' || !latest || !schedule) return wrongPhase(subscription);
  if (statusOf(subscription) === 'pastDue' || latest.outcome === 'open') return refuse('subscriptionPastDue');
  if (change) return refuse('subscriptionChangePending');
  if (changedOn === localDayOf(asOf, schedule.zone)) return refuse('subscriptionChangedToday');
  if (asOf < latest.startsAt || asOf >= latest.endsAt)
    return refuse('invalidRequest', {
      hint: 'The current period has not been created yet. Try again later.',
    });
  const { creditMinor, chargeMinor } = amounts(subscription, items, asOf);
  const difference = chargeMinor - creditMinor;
  const balance = subscription.creditMinor;
  const most = difference > 0n ? difference : 0n;
  const fromBalanceMinor = balance < most ? balance : most;
  const { number: period } = latest;
  return accept({
    period,
    items,
    creditMinor,
    chargeMinor,
    fromBalanceMinor,
    dueMinor: most - fromBalanceMinor,
  });
}

/** Nothing is reckoned for a trial, and for a period that nothing was asked for. */
function amounts(subscription: Subscription, items: readonly Item[], at: Instant) {
  const { latest, paidMinor } = subscription;
  if (!latest || latest.outcome !== 'paid' || latest.kind === 'trial')
    return { creditMinor: 0n, chargeMinor: 0n };
  const from = linesOf(subscription, latest, subscription.items);
  const to = linesOf(subscription, latest, items);
  return prorate(latest, paidMinor, { from, to, at });
}

/** With the `asOf` of a preview, it costs what the preview said. */
export function decideChangeNow(
  subscription: Subscription,
  {
    items,
    asOf,
    invoiceId,
  }: { readonly items: readonly Item[]; readonly asOf?: Instant; readonly invoiceId: string },
  now: Instant,
): Outcome<readonly SubscriptionFact[], ChangeRefusal> {
  if (asOf !== undefined && (asOf > now || asOf < laterBy(now, -previewMs)))
    return refuse('invalidRequest', { hint: '`asOf` must be of a preview of the last hour.' });
  const preview = previewChange(subscription, items, asOf ?? now);
  if (!preview.ok) return preview;
  const { dueMinor, ...change } = preview.value;
  return accept([
    dueMinor > 0n
      ? { type: 'change_started', change: { ...change, invoiceId } }
      : { type: 'items_changed', change },
  ]);
}

/** The outcome of the invoice of a change. */
export function decideChangeEnded(
  { change }: Subscription,
  invoiceId: string,
  isPaid: boolean,
): readonly SubscriptionFact[] {
  if (change?.invoiceId !== invoiceId) return [];
  return [isPaid ? { type: 'items_changed', change } : { type: 'change_dropped' }];
}
