// The ledger transfers of a payment's facts. One statement writes the facts and the transfers.
import { feeOf, noFee } from '../../platform/ledger/domain/fee.ts';
import type { FundsCheckedJournal, Journal } from '../../platform/ledger/domain/ledger.ts';
import {
  holdApproved,
  holdCaptured,
  holdReleased,
  refundFailed,
  refundRequested,
  refundSucceeded,
  saleApproved,
  type LedgerPayment,
} from '../../platform/ledger/domain/postings.ts';
import type { Payment, PaymentFact } from './payment.ts';

/** For facts that follow `before` and are written together. Undefined if they move no money. */
export function journalOf(
  before: Payment,
  facts: readonly PaymentFact[],
): Journal | FundsCheckedJournal | undefined {
  const payment = ledgerPayment(before);
  const wasHeld = before.state.name !== 'authorising' && before.state.name !== 'challenged';
  const captured = facts.find(({ type }) => type === 'payment_captured');
  if (captured?.type === 'payment_captured') {
    const feeMinor = feeOf(captured.amount.minor, before.fees.processing ?? noFee);
    return wasHeld
      ? holdCaptured(payment, captured.amount, feeMinor)
      : saleApproved(payment, captured.amount, feeMinor);
  }
  for (const fact of facts) {
    switch (fact.type) {
      case 'payment_processed':
        return holdApproved(payment, before.amount);
      case 'payment_cancelled':
        return holdReleased(payment);
      case 'refund_started': {
        const { id: refundId, amount, feeMinor } = fact.refund;
        return refundRequested({ ...payment, refundId }, amount, feeMinor);
      }
      case 'refund_succeeded':
        return refundSucceeded({ ...payment, refundId: fact.refundId }, refundFeeMinor(before));
      case 'refund_failed':
        return refundFailed({ ...payment, refundId: fact.refundId }, refundFeeMinor(before));
      default:
    }
  }
  return undefined;
}

function refundFeeMinor({ state }: Payment): bigint {
  if (state.name !== 'refunding')
    throw new Error(`A payment in state ${state.name} has no refund in progress.`);
  return state.refund.feeMinor;
}

function ledgerPayment({ livemode, partyId, shopId, invoiceId, id, terminal }: Payment): LedgerPayment {
  return { livemode, partyId, shopId, invoiceId, paymentId: id, acquirerId: terminal.bankId };
}
