// What to send to the bank about a payment, and what its response means: pure functions of state and time. A response that
// proves nothing changes nothing.
import { approvalOf, referencesOf, type Approved } from '../../acquiring/authorisation/domain/approval.ts';
import {
  interpretAuthorisation,
  notFinal,
  type NotFinal,
} from '../../acquiring/authorisation/domain/authorisation.ts';
import {
  cancelledInTime,
  deadlineReached,
  failureOfDecline,
  shopLacksFunds,
  type PaymentFailure,
} from '../../acquiring/authorisation/domain/payment-failure.ts';
import type { BankResponse, Declined } from '../../acquiring/domain/bank-port.ts';
import { bankWordsOf } from '../../acquiring/domain/bank-words.ts';
import type { Instant } from '../../clock.ts';
import type { Money } from '../../money.ts';
import { amountAtRisk, sendUntilOf, type Payment, type PaymentFact, type PaymentState } from './payment.ts';
import { mayStepUp } from './authentication/step-up.ts';
import { declineClassOf } from '../../retry-rules/domain/rule-packs.ts';
import { defined } from '../../defined.ts';

export type NextAction =
  | { readonly do: 'authorise' }
  | { readonly do: 'inquire' }
  | { readonly do: 'reverse' }
  /** Refunds what the bank has charged and does not reverse. */
  | { readonly do: 'undo'; readonly amount: Money }
  /** Undoes a charge that was approved after it was given up: without an amount a hold. */
  | { readonly do: 'undoLate'; readonly amount?: Money }
  | { readonly do: 'nothing' }
  | { readonly do: 'capture'; readonly amount: Money }
  | { readonly do: 'refund'; readonly id: string; readonly amount: Money }
  /** The refund waits for the shop's money. */
  | { readonly do: 'fundRefund'; readonly id: string; readonly until: Instant }
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
      return state.isRefunding ? { do: 'undo', amount: amountAtRisk(payment) } : { do: 'reverse' };
    case 'capturing':
      return { do: 'capture', amount: state.amount };
    case 'held':
      if (flow.type !== 'hold')
        throw new Error(`Payment ${payment.invoiceId}/${payment.id} is held, but its flow is instant.`);
      if (now < flow.heldUntil) return { do: 'wait', until: flow.heldUntil };
      return { do: 'write', fact: endOfHold(payment, flow.onExpiration) };
    case 'refunding': {
      const { id, minor, waitsUntil } = state.refund;
      if (waitsUntil !== undefined && now >= waitsUntil)
        return { do: 'write', fact: { type: 'refund_failed', refundId: id, failure: shopLacksFunds } };
      if (waitsUntil !== undefined) return { do: 'fundRefund', id, until: waitsUntil };
      return { do: 'refund', id, amount: { minor, currency: state.amount.currency } };
    }
    case 'failed':
      if (!state.isUndoing) return { do: 'nothing' };
      return { do: 'undoLate', ...(flow.type === 'instant' ? { amount: payment.amount } : {}) };
    case 'captured':
    case 'cancelled':
    case 'refunded':
      return { do: 'nothing' };
  }
}

function endOfHold(payment: Payment, onExpiration: 'cancel' | 'capture'): PaymentFact {
  const reason = 'hold expired';
  return onExpiration === 'cancel'
    ? { type: 'payment_cancel_started', reason }
    : { type: 'payment_capture_started', amount: payment.amount, reason };
}

/** Each list of facts is one event. An empty list means that the response is no longer relevant. */
export type PaymentChange = { readonly events: readonly (readonly PaymentFact[])[] };

export type Interpretation =
  | PaymentChange
  /** The bank refuses a way back, with this code. What it says about the operation decides: see `interpretInquiry`. */
  | { readonly inquire: 'authorise' | 'capture'; readonly code: string }
  | NotFinal;

export function interpret(payment: Payment, answer: BankResponse, now: Instant): Interpretation {
  const { state } = payment;
  switch (state.name) {
    case 'authorising':
    case 'challenged':
      return meaningForAuthorisation(payment, state, answer, now);
    case 'reversing':
    case 'cancelling':
      return state.isRefunding
        ? meaningForUndo(payment, state, answer, now)
        : meaningForReversal(payment, state, answer, now);
    case 'capturing':
      if (answer.outcome === 'approved') return one({ type: 'payment_captured', amount: state.amount });
      if (answer.outcome === 'declined') return one(captureRefusedWith(answer.code, state.amount));
      return notFinal(answer, now);
    case 'refunding':
      return meaningForRefund(state, answer, now);
    case 'failed':
      return state.isUndoing ? meaningForLate(payment, answer, now) : { events: [] };
    default:
      return { events: [] };
  }
}

/** Merchants read it as the reason of the cancellation. */
const captureRefused = 'captureRefused';

type TakingBack = PaymentState & { name: 'reversing' | 'cancelling' };

function meaningForReversal(
  payment: Payment,
  state: TakingBack,
  answer: BankResponse,
  now: Instant,
): Interpretation {
  if (answer.outcome === 'approved') return one(endOf(state));
  // The bank says so for good, perhaps because it has settled the charge already.
  return answer.outcome === 'declined' ? inquireAfter(payment, state, answer) : notFinal(answer, now);
}

/** The operation that has taken the money, if any has. */
function inquireAfter({ flow }: Payment, { name }: TakingBack, { code }: Declined): Interpretation {
  return { inquire: name === 'cancelling' && flow.type === 'hold' ? 'capture' : 'authorise', code };
}

function captureRefusedWith(code: string, { minor: captureMinor }: Money): PaymentFact {
  return { type: 'payment_cancel_started', reason: captureRefused, code, captureMinor };
}

function meaningForUndo(
  payment: Payment,
  state: TakingBack,
  answer: BankResponse,
  now: Instant,
): Interpretation {
  if (answer.outcome === 'approved')
    return { events: [[givenBack(answer, amountAtRisk(payment)), endOf(state)]] };
  return answer.outcome === 'declined' ? inquireAfter(payment, state, answer) : notFinal(answer, now);
}

/**
 * When the bank refuses the reversal, only a charge that its answer proves is refunded; if it refuses that too, the charge counts. A hold
 * that stands expires at the bank.
 */
export function interpretInquiry(
  payment: Payment,
  answer: BankResponse,
  now: Instant,
  code: string,
): Exclude<Interpretation, { readonly inquire: unknown }> {
  const { state } = payment;
  if (state.name !== 'reversing' && state.name !== 'cancelling') return { events: [] };
  const refused = { type: 'payment_reversal_refused', code } as const;
  if (isUncharged(payment, state, answer))
    return {
      events: [[...(state.isRefunding ? [] : [{ ...refused, isUncharged: true } as const]), endOf(state)]],
    };
  if (answer.outcome !== 'approved') return notFinal(answer, now);
  if (!state.isRefunding) return one(refused);
  const captured: PaymentFact = { type: 'payment_captured', amount: amountAtRisk(payment) };
  if (state.name === 'cancelling') return one(captured);
  return { events: [[{ type: 'payment_processed', approval: approvalOf(answer) }], [captured]] };
}

/** Proved by the answer about the operation that would have taken the money. */
function isUncharged({ flow }: Payment, { name }: TakingBack, { outcome }: BankResponse): boolean {
  if (name === 'reversing') return outcome === 'declined' || (outcome === 'approved' && flow.type === 'hold');
  // The approval of a charge is proved, so a bank that no longer knows it has forgotten. A capture may never have been sent.
  return flow.type === 'hold' && (outcome === 'declined' || outcome === 'notFound');
}

function meaningForLate({ flow, amount }: Payment, answer: BankResponse, now: Instant): Interpretation {
  if (answer.outcome !== 'approved') return notFinal(answer, now);
  return one(flow.type === 'instant' ? givenBack(answer, amount) : { type: 'payment_given_back' });
}

function givenBack(answer: Approved, amount: Money) {
  const { rrn, arn } = referencesOf(answer);
  return { type: 'payment_given_back', amount, ...defined({ rrn, arn }) } as const satisfies PaymentFact;
}

/** Nothing is charged any more. */
function endOf(state: TakingBack): PaymentFact {
  if (state.name === 'cancelling') return cancelled(state);
  return { type: 'payment_failed', failure: state.failure, ...classOfSilence(state.failure) };
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
    return one({
      type: 'refund_failed',
      refundId,
      failure: failureOfDecline(answer),
      ...bankWordsOf(answer),
    });
  if (answer.outcome !== 'approved') return notFinal(answer, now);
  const { rrn, arn } = referencesOf(answer);
  const succeeded: PaymentFact = { type: 'refund_succeeded', refundId, ...defined({ rrn, arn }) };
  const isAll = refundedMinor + refund.minor === amount.minor;
  return { events: [isAll ? [succeeded, { type: 'payment_refunded' }] : [succeeded]] };
}

function meaningForAuthorisation(
  payment: Payment,
  state: PaymentState & { name: 'authorising' | 'challenged' },
  answer: BankResponse,
  now: Instant,
): Interpretation {
  const { flow, amount, deadline } = payment;
  const { cancelReason } = state;
  const isUndone = answer.outcome === 'payerNeeded' || answer.outcome === 'notFound';
  if (cancelReason !== undefined && isUndone)
    return one({ type: 'payment_reversal_started', failure: cancelledInTime });

  const sendUntil = sendUntilOf(payment);
  const meaning = interpretAuthorisation(
    { state, sendUntil, deadline, whenLate: deadlineReached },
    answer,
    now,
  );
  if (!('outcome' in meaning)) return meaning;
  switch (meaning.outcome) {
    case 'approved': {
      const processed: PaymentFact = { type: 'payment_processed', approval: meaning.approval };
      if (cancelReason !== undefined)
        return { events: [[processed], [{ type: 'payment_cancel_started', reason: cancelReason }]] };
      if (flow.type === 'hold') return one(processed);
      return { events: [[processed], [{ type: 'payment_captured', amount }]] };
    }
    case 'declined': {
      const { network, code } = meaning;
      if (mayStepUp(payment, meaning, now)) return one({ type: 'payment_stepped_up', network, code });
      const failure = failureOfDecline(meaning);
      return one({
        type: 'payment_failed',
        failure,
        ...classOfDecline(meaning, now),
        ...bankWordsOf(meaning),
      });
    }
    case 'challenged': {
      const { interaction, until } = meaning;
      return one({ type: 'payment_interaction_requested', interaction, until });
    }
    case 'tooLate':
      return one({ type: 'payment_reversal_started', failure: meaning.failure });
  }
}

/** A failed authentication is no response of a network. */
function classOfDecline(answer: Declined, now: Instant) {
  return answer.code.startsWith('3ds') ? {} : { declineClass: declineClassOf(answer, now) };
}

function classOfSilence([, reason]: PaymentFailure) {
  return reason === deadlineReached[1] ? ({ declineClass: 'technical' } as const) : {};
}

/** Why the payment was cancelled, if the merchant did not request it. */
export function reasonOfBank(fact: PaymentFact): string | undefined {
  switch (fact.type) {
    case 'payment_cancelled':
      return fact.reason;
    case 'payment_capture_failed':
      return 'captureFailed';
    default:
      return undefined;
  }
}

function one(fact: PaymentFact): PaymentChange {
  return { events: [[fact]] };
}
