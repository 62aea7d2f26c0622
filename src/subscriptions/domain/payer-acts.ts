// What payers may do with their subscription on its page.
import type { Instant } from '../../clock.ts';
import { accept, type Outcome } from '../../refusal.ts';
import { decideCancel, decidePause, decideResume, decideUncancel, type NewIds } from './commands.ts';
import type { PayerReason, Subscription, SubscriptionFact } from './subscription.ts';

export const payerActs = ['agree', 'pay', 'newCard', 'pause', 'resume', 'end', 'takeBack', 'reason'] as const;
export type PayerAct = (typeof payerActs)[number];
type Change = Exclude<PayerAct, 'agree' | 'pay' | 'newCard' | 'reason'>;

/** What the shop has not switched off, and `agree` where something costs more than the payer agreed to. They can always end it. */
export type PayerMay = { readonly pause: boolean; readonly changeCard: boolean; readonly agree?: boolean };

/** What the page offers. A payer resumes and takes back only what a payer has done: the merchant has reasons of their own. */
export function actsOf(subscription: Subscription, may: PayerMay, now: Instant): readonly PayerAct[] {
  const { terms, phase, pause, endsAfter, parkedFor, latest, open } = subscription;
  const reason = asksReason(subscription);
  if (phase === 'ended') return reason ? ['reason'] : [];
  const isMoving = parkedFor === undefined;
  const offered: Readonly<Record<PayerAct, boolean>> = {
    agree: may.agree ?? false,
    pay: payableOf(subscription) !== undefined,
    // Without a customer, the card that pays an open period is charged from then on.
    newCard: may.changeCard && terms.customerId !== undefined && phase !== 'incomplete',
    pause: may.pause && isMoving && phase === 'running' && !endsAfter,
    resume: isMoving && phase === 'paused' && pause?.by === 'payer',
    // Also a charge that is held can still be prevented.
    end: !endsAfter || open.some(({ isUnannounced }) => isUnannounced),
    takeBack: endsAfter?.reason === 'payer' && latest !== undefined && latest.endsAt > now,
    reason,
  };
  return payerActs.filter((act) => offered[act]);
}

/** After what the payer has ended: once, and without a need to answer. */
function asksReason({ endsAfter, endedFor, payerReason }: Subscription): boolean {
  return (endsAfter?.reason ?? endedFor) === 'payer' && payerReason === undefined;
}

/** Nothing, if the page does not ask any more. */
export function decideReason(subscription: Subscription, reason: PayerReason): readonly SubscriptionFact[] {
  return asksReason(subscription) ? [{ type: 'payer_reason_given', reason }] : [];
}

/** Of the oldest unpaid period. While a charge of it is at the bank, nothing else can pay it. */
export function payableOf({
  terms,
  phase,
  open: [oldest],
}: Subscription): { readonly id: string; readonly amountMinor: bigint } | undefined {
  if (phase === 'incomplete') return terms.firstInvoice;
  const { charging, invoiceId: id, amountMinor = 0n } = oldest ?? {};
  return charging === undefined && id !== undefined ? { id, amountMinor } : undefined;
}

/** The same decisions as the merchant's, with the payer as the cause. What is not offered is done already, and changes nothing. */
export function decideForPayer(
  subscription: Subscription,
  act: Change,
  { may, invoiceId }: { readonly may: PayerMay } & Pick<NewIds, 'invoiceId'>,
  now: Instant,
): Outcome<
  readonly SubscriptionFact[],
  'invalidSubscriptionStatus' | 'invalidRequest' | 'subscriptionChargePending'
> {
  if (!actsOf(subscription, may, now).includes(act)) return accept([]);
  const by = 'payer';
  switch (act) {
    case 'pause':
      return decidePause(subscription, { by, openPeriods: 'keepTrying', invoiceId }, now);
    case 'resume':
      return decideResume(subscription, { invoiceId }, now);
    case 'end':
      return decideCancel(subscription, { by, when: 'periodEnd' });
    case 'takeBack':
      return decideUncancel(subscription, now);
  }
}
