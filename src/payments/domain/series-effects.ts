// What a change of a payment means for its series. series-writes.ts writes it.
import type { Approval } from '../../acquiring/authorisation/domain/approval.ts';
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { defined } from '../../defined.ts';
import type { Instant } from '../../clock.ts';
import type { Money } from '../../money.ts';
import type { Paid, ReceiptRequest } from '../../receipts/domain/receipt-email.ts';
import {
  countsAsDecline,
  seriesIdOf,
  type ChargeOutcome,
  type NetworkDecline,
} from '../../recurring/domain/series.ts';
import type { Payer } from './payer/payer.ts';
import { approvalIn, evolve, type Payment, type PaymentFact } from './payment.ts';

/** Each at most once, as one change ends a charge or a hold at most once. */
export type SeriesEffects = {
  readonly chargeEnded?: { readonly seriesId: string; readonly ending: ChargeOutcome };
  /** A decline with the payer present. Networks count these too, and a final one stops charges of the card. */
  readonly cardDeclined?: { readonly token: string; readonly answer: NetworkDecline };
  /** A charge without the payer was declined because of a wrong configuration. */
  readonly terminalPaused?: NetworkDecline;
  /** A charge that was held has taken its money, or has let it go. */
  readonly holdEnded?: { readonly seriesId: string; readonly isCaptured: boolean };
  /** The payment can now be a parent, which starts or continues a series. */
  readonly parentMade?: Approval;
  /** Of the charge, the hold or the parent above. */
  readonly receiptDue?: ReceiptRequest;
  /** Of a payment without a series, if its shop wishes it. */
  readonly oneOffReceiptDue?: ReceiptRequest;
};

/** `answer` is the bank's response that led to the change, if any. */
export function seriesEffectsOf(
  payment: Payment,
  facts: readonly PaymentFact[],
  answer: BankResponse | undefined,
): SeriesEffects {
  const { payer } = payment;
  let effects: SeriesEffects = {};
  let after = payment;
  for (const fact of facts) {
    const ending = endingOf(after, fact, answer, facts);
    after = evolve(after, fact);
    if (ending) effects = { ...effects, ...effectsOfEnd(payer, ending) };
    if (isMisconfigured(after) && answer?.outcome === 'declined' && 'seriesId' in payer)
      effects = { ...effects, terminalPaused: answer };
    if (fact.type === 'payment_cancelled' && 'seriesId' in payer)
      effects = { ...effects, holdEnded: { seriesId: payer.seriesId, isCaptured: false } };
    const isHeld = facts.every(({ type }) => type !== 'payment_processed');
    if (fact.type === 'payment_captured')
      effects = { ...effects, ...effectsOfCapture(after, fact.amount, isHeld) };
  }
  return effects;
}

function isMisconfigured({ state }: Payment): boolean {
  return state.name === 'failed' && state.declineClass === 'configuration';
}

function effectsOfEnd(payer: Payer, ending: ChargeOutcome): SeriesEffects {
  if ('seriesId' in payer) return { chargeEnded: { seriesId: payer.seriesId, ending } };
  return isNetworksDecline(ending) ? { cardDeclined: { token: payer.token, answer: ending } } : {};
}

function effectsOfCapture(payment: Payment, amount: Money, isHeld: boolean): SeriesEffects {
  const { payer, makeRecurrent, invoiceId, id: paymentId } = payment;
  const began = makeRecurrent ? seriesIdOf({ invoiceId, paymentId }) : undefined;
  const seriesId = 'seriesId' in payer ? payer.seriesId : began;
  const approval = approvalIn(payment);
  const email = receiptAddressOf(payer);
  const receiptDue = { paid: paidOf(payment, amount, approval), ...defined({ email }) };
  if (seriesId === undefined) return email === undefined ? {} : { oneOffReceiptDue: receiptDue };
  return {
    ...('seriesId' in payer && isHeld ? { holdEnded: { seriesId, isCaptured: true } } : {}),
    ...(makeRecurrent ? { parentMade: approval } : {}),
    receiptDue,
  };
}

/** The approved charge and its receipt, if nothing else follows. */
export function approvedAlone({ chargeEnded, receiptDue, ...more }: SeriesEffects) {
  if (chargeEnded?.ending.outcome !== 'approved' || Object.keys(more).length > 0) return undefined;
  return { ...chargeEnded, receipt: receiptDue };
}

/** Undefined means the address of the consent. */
function receiptAddressOf(payer: Payer): string | undefined {
  return payer.type === 'recurrent' && payer.receiptGoesToConsent ? undefined : payer.contactInfo['email'];
}

function endingOf(
  payment: Payment,
  fact: PaymentFact,
  answer: BankResponse | undefined,
  together: readonly PaymentFact[],
): ChargeOutcome | undefined {
  const isCaptured = together.some(({ type }) => type === 'payment_captured');
  switch (fact.type) {
    case 'payment_processed':
      return {
        outcome: 'approved',
        ...(isCaptured ? { isCaptured: true } : heldUntilOf(payment)),
        ...(answer?.outcome === 'approved' && answer.advice !== undefined ? { advice: answer.advice } : {}),
      };
    case 'payment_stepped_up':
      return answer?.outcome === 'declined' ? answer : undefined;
    case 'payment_failed':
      return answer?.outcome === 'declined' && payment.state.name !== 'reversing'
        ? answer
        : { outcome: 'lost' };
    case 'payment_reversal_started':
      // The bank has never seen the charge, and the reversal keeps it from executing it later.
      return answer?.outcome === 'notFound' ? { outcome: 'unsent' } : undefined;
    default:
      return undefined;
  }
}

/** An instant charge that is cancelled before its approval is known stands until it is reversed. */
function heldUntilOf({ flow, deadline }: Payment): { heldUntil: Instant } {
  return { heldUntil: flow.type === 'hold' ? flow.heldUntil : deadline };
}

/** Not a failed authentication. */
function isNetworksDecline(ending: ChargeOutcome): ending is ChargeOutcome & { outcome: 'declined' } {
  return countsAsDecline(ending) && !('code' in ending && ending.code.startsWith('3ds'));
}

/** What the receipt says about a payment. */
export function paidOf(
  { invoiceId, id: paymentId, createdAt: at }: Payment,
  amount: Money,
  { reference, approvalCode }: Approval,
): Paid {
  return {
    invoiceId,
    paymentId,
    at,
    amount,
    reference,
    ...defined({ approvalCode }),
  };
}
