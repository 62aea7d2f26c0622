// The ledger transfers of a payment's facts. One statement writes the facts and the transfers.
import { feeOf, noFee } from '../../platform/ledger/domain/fee.ts';
import type { FundsCheckedJournal, Journal } from '../../platform/ledger/domain/ledger.ts';
import {
  captureFailed,
  chargeGivenBack,
  holdApproved,
  holdCaptured,
  holdReleased,
  refundFailed,
  refundRequested,
  refundReturned,
  refundSucceeded,
  saleApproved,
  type LedgerPayment,
} from '../../platform/ledger/domain/postings.ts';
import type { Payment, PaymentFact, RefundInProgress } from './payment.ts';

/** For facts that follow `before` and are written together. Undefined if they move no money. */
export function journalOf(
  before: Payment,
  facts: readonly PaymentFact[],
): Journal | FundsCheckedJournal | undefined {
  const payment = ledgerPayment(before);
  const wasHeld = 'approval' in before.state;
  const captured = facts.find(({ type }) => type === 'payment_captured');
  if (captured?.type === 'payment_captured') {
    const feeMinor = feeOf(captured.amount.minor, before.fees.processing ?? noFee);
    return wasHeld
      ? holdCaptured(payment, captured.amount, feeMinor)
      : saleApproved(payment, captured.amount, feeMinor);
  }
  for (const fact of facts) {
    switch (fact.type) {
      case 'payment_given_back':
        return fact.amount && chargeGivenBack(payment, fact.amount, { wasHeld });
      case 'payment_capture_failed':
        return captureFailed({ ...payment, isAside: fact.isAside ?? false }, fact.amount, fact.feeMinor);
      case 'refund_returned':
        return refundReturned({ ...payment, refundId: fact.refundId }, fact.amount, fact.feeMinor);
      case 'payment_processed':
        return holdApproved(payment, before.amount);
      case 'payment_cancelled':
        return holdReleased(payment);
      case 'refund_started': {
        const { id: refundId, amount, feeMinor, waitsUntil } = fact.refund;
        return waitsUntil === undefined
          ? refundRequested({ ...payment, refundId }, amount, feeMinor)
          : undefined;
      }
      case 'refund_funded': {
        const { minor, feeMinor } = refundOf(before);
        const amount = { minor, currency: before.amount.currency };
        return refundRequested({ ...payment, refundId: fact.refundId }, amount, feeMinor);
      }
      case 'refund_succeeded':
        return refundSucceeded({ ...payment, refundId: fact.refundId }, refundOf(before).feeMinor);
      case 'refund_failed': {
        const { feeMinor, waitsUntil } = refundOf(before);
        return waitsUntil === undefined
          ? refundFailed({ ...payment, refundId: fact.refundId }, feeMinor)
          : undefined;
      }
      default:
    }
  }
  return undefined;
}

function refundOf({ state }: Payment): RefundInProgress {
  if (state.name !== 'refunding')
    throw new Error(`A payment in state ${state.name} has no refund in progress.`);
  return state.refund;
}

function ledgerPayment({ livemode, partyId, shopId, invoiceId, id, terminal }: Payment): LedgerPayment {
  return { livemode, partyId, shopId, invoiceId, paymentId: id, acquirerId: terminal.bankId };
}
