// What both lists and details of payments say about a payment and its job.
import { epochMsOf, type Instant } from '../../clock.ts';
import { publicStatus, statesAtBank } from '../../payments/domain/payment.ts';
import type { PaymentOverview } from '../../payments/store/job-overview.ts';

export function summaryOf({ payment, ...job }: PaymentOverview) {
  const { invoiceId, id: paymentId, partyId, shopId, amount, terminal, createdAt, state } = payment;
  return {
    id: `${invoiceId}/${paymentId}`,
    invoiceId,
    paymentId,
    partyId,
    shopId,
    status: publicStatus[state.name],
    state: state.name,
    amountMinor: Number(amount.minor),
    currency: amount.currency,
    bankId: terminal.bankId,
    createdAt,
    waitingSince: job.isWaiting ? job.changedAt : null,
    attempts: job.attempts,
    nextTryAt: job.nextTryAt,
    stuckSince: job.stuckSince,
    lastFailure: job.lastFailure,
  };
}

export function nextTryText({ payment, isWaiting, nextTryAt, stuckSince, now }: PaymentOverview): string {
  if (stuckSince !== null) return 'stuck';
  if (nextTryAt === null) return '';
  if (!isWaiting && statesAtBank.includes(payment.state.name)) return 'in progress';
  return nextTryAt > now ? `in ${duration(nextTryAt, now)}` : `due for ${duration(now, nextTryAt)}`;
}

export function timeText(at: string): string {
  return `${at.slice(0, 19)}Z`;
}

/** `2 h 5 min`, `40 s`. */
export function duration(later: Instant, earlier: Instant): string {
  const seconds = Math.max(0, Math.round((epochMsOf(later) - epochMsOf(earlier)) / 1_000));
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}
