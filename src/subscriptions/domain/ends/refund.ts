// What an end gives back, and of which payments.
import { latest as later, type Instant } from '../../../clock.ts';
import { prorate } from '../changes/proration.ts';
import { linesOf } from '../period-rows.ts';
import { lastPaidOf, type Subscription } from '../subscription.ts';

/** What has paid an invoice, and how much of it is not refunded. */
export type Paid = {
  readonly invoiceId: string;
  readonly paymentId: string;
  readonly leftMinor: bigint;
};

export type WantedRefund = Omit<Paid, 'leftMinor'> & { readonly amountMinor: bigint };

/** Whose payments an end gives back. */
export function invoicesToRefund(subscription: Subscription): readonly string[] {
  return lastPaidOf(subscription)?.invoiceIds ?? [];
}

/** The period's own payment first, and each up to what is left of it. Credit was paid for an earlier period, and is not given back. */
export function refundsOf(subscription: Subscription, payments: readonly Paid[]): WantedRefund[] {
  const { endRefund } = subscription;
  if (!endRefund) return [];
  let left = endRefund.share === 'unused' ? unusedMinor(subscription, endRefund.at) : undefined;
  return payments.flatMap(({ leftMinor, ...payment }) => {
    const amountMinor = left === undefined || leftMinor < left ? leftMinor : left;
    if (left !== undefined) left -= amountMinor;
    return amountMinor > 0n ? [{ ...payment, amountMinor }] : [];
  });
}

/** That the end has started, and that have not failed. */
export function startedRefunds({ endRefund }: Pick<Subscription, 'endRefund'>) {
  return (endRefund?.refunds ?? []).flatMap(({ failedFor, invoiceId, paymentId, refundId, amountMinor }) =>
    failedFor !== undefined || invoiceId === undefined || paymentId === undefined || refundId === undefined
      ? []
      : { invoiceId, paymentId, refundId, amountMinor },
  );
}

/** As in a change, nothing is reckoned for a trial. */
function unusedMinor(subscription: Subscription, at: Instant): bigint {
  const { latest, items, paidMinor } = subscription;
  if (latest?.outcome !== 'paid' || at >= latest.endsAt) return 0n;
  const from = linesOf(subscription, latest, items);
  return prorate(latest, paidMinor, { from, to: [], at: later(at, latest.startsAt) }).creditMinor;
}
