// What an operator may do about a payment the engine has given up. Pure. Where the bank can still be asked for something, that
// is asked; what it will never say, the operator says, who has found it out in another way.
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { cancelled } from './bank-actions.ts';
import { deadlineReached, threeDsNotFinished, type PaymentFailure } from './payment-failure.ts';
import { evolve, type Payment, type PaymentFact } from './payment.ts';

export type ManualOutcome = 'captured' | 'cancelled' | 'failed' | 'succeeded';

/** What became of the refund under way is all an operator can say of it. */
const refundUnconfirmed: PaymentFailure = ['timeout'];

/** How a payment can end, or the refund that is under way, by what an operator says; empty when nothing is open. */
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
      return ['succeeded', 'failed'];
    default:
      return [];
  }
}

/** The facts of the one event, or of two, with which it ends; undefined when it cannot end so. */
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
    default:
      return undefined;
  }
}

export type Release =
  | { readonly fact: PaymentFact }
  /** Why the hold is not let go. */
  | { readonly not: 'it is not being captured' | 'the bank has captured it' | 'the bank does not say' };

/** Lets a hold go that the bank will not capture. `answer` is what it says now of the capture. */
export function releaseOf({ state }: Payment, answer: BankResponse, reason: string): Release {
  if (state.name !== 'capturing') return { not: 'it is not being captured' };
  switch (answer.outcome) {
    case 'declined':
    case 'notFound':
      return { fact: released(reason) };
    case 'approved':
      return { not: 'the bank has captured it' };
    default:
      return { not: 'the bank does not say' };
  }
}

function released(reason: string): PaymentFact {
  return { type: 'payment_cancel_started', reason };
}

function cancelledAfter(payment: Payment, reason: string) {
  const { state } = evolve(payment, released(reason));
  if (state.name !== 'cancelling') throw new Error(`what is released is ${state.name}`);
  return cancelled(state);
}
