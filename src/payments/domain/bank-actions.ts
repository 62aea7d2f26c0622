// What to send to the bank about a payment, and what its response means: pure functions of state and time. A response that
// proves nothing changes nothing.
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { laterBy, type Instant } from '../../clock.ts';
import type { Money } from '../../money.ts';
import {
  pollIntervalMs,
  earliest,
  type Approval,
  type Payment,
  type PaymentFact,
  type PaymentState,
} from './payment.ts';
import { deadlineReached, failureOfDecline, threeDsNotFinished } from './payment-failure.ts';
import { defined } from '../../defined.ts';

/** How long a payer has to complete a challenge. */
const challengeMs = 10 * 60_000;

export type NextAction =
  | { readonly do: 'authorise' }
  | { readonly do: 'inquire' }
  | { readonly do: 'reverse' }
  | { readonly do: 'nothing' }
  | { readonly do: 'capture'; readonly amount: Money }
  | { readonly do: 'refund'; readonly id: string; readonly amount: Money }
  | { readonly do: 'write'; readonly fact: PaymentFact }
  | { readonly do: 'wait'; readonly until: Instant };

export function nextAction(payment: Payment, now: Instant): NextAction {
  const { state, flow } = payment;
  switch (state.name) {
    case 'authorising':
      return { do: 'authorise' };
    case 'challenged':
      return { do: 'inquire' };
    case 'reversing':
    case 'cancelling':
      return { do: 'reverse' };
    case 'capturing':
      return { do: 'capture', amount: state.amount };
    case 'held':
      if (flow.type !== 'hold')
        throw new Error(`Payment ${payment.invoiceId}/${payment.id} is held, but its flow is instant.`);
      if (now < flow.heldUntil) return { do: 'wait', until: flow.heldUntil };
      return { do: 'write', fact: endOfHold(payment, flow.onExpiration) };
    case 'refunding': {
      const { id, minor } = state.refund;
      return { do: 'refund', id, amount: { minor, currency: state.amount.currency } };
    }
    case 'captured':
    case 'cancelled':
    case 'refunded':
    case 'failed':
      return { do: 'nothing' };
  }
}

function endOfHold(payment: Payment, onExpiration: 'cancel' | 'capture'): PaymentFact {
  const reason = 'hold expired';
  return onExpiration === 'cancel'
    ? { type: 'payment_cancel_started', reason }
    : { type: 'payment_capture_started', amount: payment.amount, reason };
}

export type Interpretation =
  /** Each list of facts is one event. An empty list means that the response is no longer relevant. */
  | { readonly events: readonly (readonly PaymentFact[])[] }
  | { readonly again: Instant }
  /** An unknown outcome: the job is retried with growing delays, then stuck. */
  | { readonly unknown: string };

export function interpret(payment: Payment, answer: BankResponse, now: Instant): Interpretation {
  const { state } = payment;
  switch (state.name) {
    case 'authorising':
    case 'challenged':
      return meaningForAuthorisation(payment, answer, now);
    case 'reversing':
      return answer.outcome === 'approved'
        ? one({ type: 'payment_failed', failure: state.failure })
        : notFinal(answer, now);
    case 'cancelling':
      return answer.outcome === 'approved' ? one(cancelled(state)) : notFinal(answer, now);
    case 'capturing':
      return answer.outcome === 'approved'
        ? one({ type: 'payment_captured', amount: state.amount })
        : notFinal(answer, now);
    case 'refunding':
      return meaningForRefund(state, answer, now);
    default:
      return { events: [] };
  }
}

export function cancelled(state: PaymentState & { name: 'cancelling' }): PaymentFact & {
  type: 'payment_cancelled';
} {
  return { type: 'payment_cancelled', ...(state.isReleased ? { reason: state.reason } : {}) };
}

function meaningForRefund(
  { amount, refundedMinor, refund }: PaymentState & { name: 'refunding' },
  answer: BankResponse,
  now: Instant,
): Interpretation {
  const refundId = refund.id;
  if (answer.outcome === 'declined')
    return one({ type: 'refund_failed', refundId, failure: failureOfDecline(answer) });
  if (answer.outcome !== 'approved') return notFinal(answer, now);
  const succeeded: PaymentFact = { type: 'refund_succeeded', refundId };
  const isAll = refundedMinor + refund.minor === amount.minor;
  return { events: [isAll ? [succeeded, { type: 'payment_refunded' }] : [succeeded]] };
}

function meaningForAuthorisation(payment: Payment, answer: BankResponse, now: Instant): Interpretation {
  const { state, flow, amount, deadline } = payment;
  if (answer.outcome === 'approved') {
    const processed: PaymentFact = { type: 'payment_processed', approval: approvalOf(answer) };
    if (flow.type === 'hold') return one(processed);
    return { events: [[processed], [{ type: 'payment_captured', amount }]] };
  }
  if (answer.outcome === 'declined')
    return one({ type: 'payment_failed', failure: failureOfDecline(answer) });

  const until = state.name === 'challenged' ? state.until : deadline;
  if (now >= until) {
    // Time is up without proof. The charge is reversed before the payment fails, whatever the bank did or still does.
    const failure = state.name === 'challenged' ? threeDsNotFinished : deadlineReached;
    return one({ type: 'payment_reversal_started', failure });
  }
  if (answer.outcome === 'payerNeeded' && state.name === 'authorising') {
    const { interaction } = answer;
    return one({
      type: 'payment_interaction_requested',
      interaction,
      until: earliest(laterBy(now, challengeMs), deadline),
    });
  }
  return answer.outcome === 'payerNeeded' ? { again: laterBy(now, pollIntervalMs) } : notFinal(answer, now);
}

/** Whatever the code, a declined reversal or capture was not done. An operator must find out what the bank holds. */
export function notFinal(
  answer: BankResponse,
  now: Instant,
): Exclude<Interpretation, { readonly events: unknown }> {
  switch (answer.outcome) {
    case 'pending':
      return { again: laterBy(now, pollIntervalMs) };
    case 'unknown':
    case 'notSent':
      return { unknown: answer.why };
    case 'declined':
      return { unknown: `the bank declined with code ${answer.code}` };
    default:
      return { unknown: `the bank returned ${answer.outcome}` };
  }
}

function one(fact: PaymentFact): Interpretation {
  return { events: [[fact]] };
}

export function approvalOf(answer: BankResponse & { outcome: 'approved' }): Approval {
  const { reference, approvalCode, networkTransactionId, eci } = answer;
  return {
    reference,
    ...defined({ approvalCode, networkTransactionId, eci }),
  };
}
