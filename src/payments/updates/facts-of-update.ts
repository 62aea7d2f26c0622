// What an update of the bank means for a payment and its refunds. Pure; a known update means nothing, so it may come twice.
import type { OperationUpdate } from '../../acquiring/domain/bank-updates.ts';
import { laterBy, type Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import type { Money } from '../../money.ts';
import { feeOf, noFee } from '../../platform/ledger/domain/fee.ts';
import type { DatedFact } from '../domain/exchanges/bank-exchanges.ts';
import { failureOfDecline } from '../../acquiring/authorisation/domain/payment-failure.ts';
import {
  firstChargeIdOf,
  isUndoFact,
  operationIdOf,
  undoNames,
  type Payment,
  type PaymentFact,
} from '../domain/payment.ts';

export type UpdateMeaning =
  | { readonly fact: PaymentFact }
  | { readonly outcome: 'nothing'; readonly isUndone?: true }
  | { readonly outcome: 'tooEarly' }
  | { readonly outcome: 'contradiction'; readonly why: string };

const nothing: UpdateMeaning = { outcome: 'nothing' };
const undone: UpdateMeaning = { outcome: 'nothing', isUndone: true };
const tooEarly: UpdateMeaning = { outcome: 'tooEarly' };
const contradiction = (why: string): UpdateMeaning => ({ outcome: 'contradiction', why });

/** `facts` are all of this payment and its refunds, in order. */
export function factsOf(
  update: OperationUpdate,
  payment: Payment,
  facts: readonly DatedFact[],
): UpdateMeaning {
  const types = facts.map(({ fact }) => fact.type);
  switch (update.what) {
    case 'captureFailed':
      return ofCaptureFailed(update, payment, types);
    case 'refundFailed':
      return ofRefundFailed(update, payment, facts);
    case 'approvedLate':
      return ofApprovedLate(update, payment, facts);
    case 'holdEnded':
      return ofHoldEnded(update, payment);
    case 'networkIds':
      return nothing;
    case 'payoutReturned':
      return contradiction('the operation is not a payout');
  }
}

function ofCaptureFailed(
  { operationId, amount, code }: OperationUpdate,
  payment: Payment,
  types: readonly PaymentFact['type'][],
): UpdateMeaning {
  const { state, flow, fees } = payment;
  if (operationId !== operationIdOf(payment, flow.type === 'instant' ? 'authorise' : 'capture'))
    return contradiction('the operation captures nothing');
  if (types.includes('payment_capture_failed')) return nothing;
  // A charge that is cancelled may stand after all, if the bank refuses every way back.
  const mayBeCaptured = isUndecided(payment) || state.name === 'capturing' || state.name === 'cancelling';
  if (!types.includes('payment_captured')) return mayBeCaptured ? tooEarly : nothing;
  // If the refund fails, the shop still has what the bank does not pay.
  if (state.name === 'refunding') return tooEarly;
  if (state.name !== 'captured' || state.refundedMinor > 0n)
    return contradiction(`the payment is ${state.name}, and money of it was refunded`);
  if (isOther(amount, state.amount)) return contradiction('the amount is not the captured one');
  const { minor } = state.amount;
  const feeMinor = feeOf(minor, fees.processing ?? noFee);
  return {
    fact: {
      type: 'payment_capture_failed',
      amount: state.amount,
      feeMinor: feeMinor < minor ? feeMinor : minor,
      ...defined({ code }),
    },
  };
}

function ofRefundFailed(
  update: OperationUpdate,
  payment: Payment,
  facts: readonly DatedFact[],
): UpdateMeaning {
  const { operationId, amount, code } = update;
  const started = facts.flatMap(({ fact }) => (fact.type === 'refund_started' ? [fact.refund] : []));
  const refund = started.find(({ id }) => operationIdOf(payment, { refund: id }) === operationId);
  const wayBack = waysBack.find(({ by }) => operationIdOf(payment, by) === operationId);
  if (wayBack) return ofUndoFailed(wayBack, update, payment, facts);
  if (undoNames.some((name) => operationIdOf(payment, name) === operationId))
    return contradiction(notGivenBack);
  if (!refund) return contradiction('the operation is not a refund');
  const last = facts.findLast(({ fact }) => 'refundId' in fact && fact.refundId === refund.id)?.fact.type;
  if (last === 'refund_failed' || last === 'refund_returned') return nothing;
  if (last !== 'refund_succeeded') return tooEarly;
  if (isOther(amount, refund.amount)) return contradiction('the amount is not the refunded one');
  return {
    fact: {
      type: 'refund_returned',
      refundId: refund.id,
      amount: refund.amount,
      feeMinor: refund.feeMinor,
      refundsMade: started.length,
      failure: failureOfDecline({ network: 'bank', code: code ?? '' }),
    },
  };
}

/** The refunds that undo a charge: what begins and ends them, and what repeats them once. A bank answers their own IDs as before. */
const waysBack = [
  { by: 'undo', begun: 'payment_reversal_refused', ended: 'payment_given_back', again: 'u2' },
  { by: 'late', begun: 'payment_approved_late', ended: 'payment_given_back', again: 'l2' },
  { by: 'f', begun: 'payment_undo_started', ended: 'payment_undone', again: 'f2' },
] as const;

/** The payment stays as it is: for it, nothing was charged. */
function ofUndoFailed(
  { by, begun, ended, again }: (typeof waysBack)[number],
  update: OperationUpdate,
  { state }: Payment,
  facts: readonly DatedFact[],
): UpdateMeaning {
  // The undos of several charges share their types.
  const isOwn = (fact: PaymentFact, type: PaymentFact['type']) =>
    fact.type === type && (!isUndoFact(fact) || fact.operation === by);
  const own = facts.map(({ fact }) => fact).slice(facts.findIndex(({ fact }) => isOwn(fact, begun)));
  if (own.some((fact) => fact.type === 'payment_undo_started' && fact.operation === again)) return nothing;
  const end = own.find((fact) => isOwn(fact, ended));
  const isOpen = again === 'f2' || 'isRefunding' in state || 'isUndoing' in state;
  if (!own[0] || !isOwn(own[0], begun) || (!end && !isOpen)) return contradiction(notGivenBack);
  if (end?.type !== 'payment_given_back' && end?.type !== 'payment_undone') return tooEarly;
  const { amount, settledBecause } = end;
  if (!amount || settledBecause !== undefined) return contradiction(notGivenBack);
  if (isOther(update.amount, amount)) return contradiction('the amount is not the refunded one');
  return {
    fact: { type: 'payment_undo_started', operation: again, amount, ...defined({ code: update.code }) },
  };
}

const notGivenBack = 'the refund that undid the charge failed: the bank has to give the payer their money';

/** A decline that was an approval after all, or a charge that was given up: the payment stays failed, and the money goes back. */
function ofApprovedLate(
  { operationId, at }: OperationUpdate,
  payment: Payment,
  facts: readonly DatedFact[],
): UpdateMeaning {
  if (payment.isSteppedUp && operationId === firstChargeIdOf(payment)) return ofFirstCharge(payment, facts);
  if (operationId !== operationIdOf(payment, 'authorise'))
    return contradiction('the operation charges nothing');
  if (isUndecided(payment)) return tooEarly;
  if (payment.state.name !== 'failed') return nothing;
  if (isGivenBack(facts)) return undone;
  if (isReversedSince(facts, at)) return contradiction(reversedSince);
  return { fact: { type: 'payment_approved_late' } };
}

/** The second charge decides the payment, whatever its state. */
function ofFirstCharge({ flow, amount }: Payment, facts: readonly DatedFact[]): UpdateMeaning {
  if (facts.some(({ fact }) => fact.type === 'payment_undo_started' && fact.operation === 'f')) return undone;
  const refunded = flow.type === 'instant' ? { amount } : {};
  return { fact: { type: 'payment_undo_started', operation: 'f', ...refunded } };
}

/** By an earlier update, or in the place of a refused reversal. The same money is never given back twice. */
function isGivenBack(facts: readonly DatedFact[]): boolean {
  return facts.some(
    ({ fact: { type } }) => type === 'payment_given_back' || type === 'payment_approved_late',
  );
}

/** By how much the clocks of a bank and of Mandate may differ, as the protocol says of signatures. */
const clockSkewMs = 300_000;

const reversedSince = 'its reversal, which the bank approved, came after the approval';

/** Only the bank knows whether its reversal took back the approval or found nothing. A second way back could pay twice. */
function isReversedSince(facts: readonly DatedFact[], at: Instant): boolean {
  const asked = facts.findLast(({ fact }) => fact.type === 'payment_reversal_started');
  if (!asked || asked.at < laterBy(at, clockSkewMs)) return false;
  return facts.every(
    ({ fact }) =>
      fact.type !== 'payment_reversal_refused' &&
      (fact.type !== 'payment_failed' || fact.settledBecause === undefined),
  );
}

function ofHoldEnded({ operationId }: OperationUpdate, payment: Payment): UpdateMeaning {
  const { state, flow } = payment;
  if (flow.type !== 'hold' || operationId !== operationIdOf(payment, 'authorise'))
    return contradiction('the operation holds nothing');
  if (isUndecided(payment)) return tooEarly;
  if (state.name !== 'held') return nothing;
  return { fact: { type: 'payment_cancel_started', reason: 'holdEnded', isReleased: true } };
}

/** Whether the charge was approved is not known yet. */
function isUndecided({ state }: Payment): boolean {
  return ['authorising', 'challenged', 'reversing'].includes(state.name);
}

function isOther(told: Money | undefined, ours: Money): boolean {
  return told !== undefined && (told.minor !== ours.minor || told.currency !== ours.currency);
}
