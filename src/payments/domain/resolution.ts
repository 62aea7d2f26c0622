// What an operator can record about a stuck payment, when the bank does not report the outcome.
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { defined } from '../../defined.ts';
import { cancelled } from './bank-actions.ts';
import {
  deadlineReached,
  threeDsNotFinished,
  type PaymentFailure,
} from '../../acquiring/authorisation/domain/payment-failure.ts';
import { evolve, type Payment, type PaymentFact } from './payment.ts';

/** `undone`: a charge that does not decide the payment. It leaves the payment as it is. */
export type ManualOutcome = 'captured' | 'cancelled' | 'failed' | 'succeeded' | 'undone';

/** The refund's outcome is only known from the operator. */
const refundUnconfirmed: PaymentFailure = ['timeout'];

/** The outcomes an operator can record. Empty if nothing is open. */
export function possibleOutcomes({ state }: Payment): readonly ManualOutcome[] {
  switch (state.name) {
    case 'authorising':
    case 'challenged':
    case 'reversing':
      return ['failed'];
    case 'capturing':
      return ['captured', 'cancelled'];
    case 'cancelling':
      return ['cancelled'];
    case 'refunding':
      // Without money reserved nothing was sent, so it cannot have succeeded.
      return state.refund.waitsUntil === undefined ? ['succeeded', 'failed'] : ['failed'];
    case 'failed':
      // The payer has the money of a late approval back.
      return state.isUndoing ? ['failed'] : [];
    default:
      return [];
  }
}

/** The facts of one or two events. Undefined if the payment cannot end this way. */
export function resolutionFacts(
  payment: Payment,
  as: ManualOutcome,
  why: string,
): PaymentFact[][] | undefined {
  if (!possibleOutcomes(payment).includes(as)) return undefined;
  const { state } = payment;
  const settledBecause = why;
  switch (state.name) {
    case 'authorising':
      return [[{ type: 'payment_failed', failure: deadlineReached, settledBecause }]];
    case 'challenged':
      return [[{ type: 'payment_failed', failure: threeDsNotFinished, settledBecause }]];
    case 'reversing':
      return [[{ type: 'payment_failed', failure: state.failure, settledBecause }]];
    case 'capturing':
      if (as === 'captured') return [[{ type: 'payment_captured', amount: state.amount, settledBecause }]];
      return [[released(why)], [{ ...cancelledAfter(payment, why), settledBecause }]];
    case 'cancelling':
      return [[{ ...cancelled(state), settledBecause }]];
    case 'refunding': {
      const { amount, refundedMinor, refund } = state;
      const refundId = refund.id;
      if (as === 'failed')
        return [[{ type: 'refund_failed', refundId, failure: refundUnconfirmed, settledBecause }]];
      const isAll = refundedMinor + refund.minor === amount.minor;
      const succeeded: PaymentFact = { type: 'refund_succeeded', refundId, settledBecause };
      return [isAll ? [succeeded, { type: 'payment_refunded' }] : [succeeded]];
    }
    case 'failed':
      return [[{ type: 'payment_given_back', settledBecause }]];
    default:
      return undefined;
  }
}

export type Release =
  | { readonly fact: PaymentFact }
  | { readonly refusal: 'notCapturing' | 'capturedAtBank' | 'unknownAtBank' };

/** Releases a hold that the bank does not capture. `answer` is the bank's current status of the capture. */
export function releaseOf({ state }: Payment, answer: BankResponse, reason: string): Release {
  if (state.name !== 'capturing') return { refusal: 'notCapturing' };
  switch (answer.outcome) {
    case 'declined':
    case 'notFound':
      return { fact: released(reason, state.amount.minor) };
    case 'approved':
      return { refusal: 'capturedAtBank' };
    default:
      return { refusal: 'unknownAtBank' };
  }
}

function released(reason: string, captureMinor?: bigint): PaymentFact {
  return { type: 'payment_cancel_started', reason, ...defined({ captureMinor }) };
}

function cancelledAfter(payment: Payment, reason: string) {
  const { state } = evolve(payment, released(reason));
  if (state.name !== 'cancelling')
    throw new Error(`A released payment is in state ${state.name}, not cancelling.`);
  return cancelled(state);
}
