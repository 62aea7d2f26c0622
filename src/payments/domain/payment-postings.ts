// The ledger transfers of a payment's facts. One statement writes both, and each function returns a whole journal.
import type { Money } from '../../money.ts';
import {
  acquirerReceivable,
  acquirerUncleared,
  feeIncome,
  settlementAccount,
} from '../../platform/ledger/domain/account.ts';
import {
  completions,
  unlessZero,
  type Entry,
  type FundsCheckedJournal,
  type Journal,
} from '../../platform/ledger/domain/ledger.ts';
import { feeOf, noFee } from '../../platform/ledger/domain/fee.ts';
import type { Payment, PaymentFact, RefundInProgress, UndoFact } from './payment.ts';

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

/** Of a charge that does not decide the payment. */
export function journalOfUndo(payment: Payment, fact: UndoFact): Journal | undefined {
  if (fact.type !== 'payment_undone' || !fact.amount) return undefined;
  const { entries } = chargeGivenBack(ledgerPayment(payment), fact.amount, { wasHeld: false });
  return { aggregateId: payment.invoiceId, operationId: `payment/${payment.id}/${fact.operation}`, entries };
}

function refundOf({ state }: Payment): RefundInProgress {
  if (state.name !== 'refunding')
    throw new Error(`A payment in state ${state.name} has no refund in progress.`);
  return state.refund;
}

function ledgerPayment({ livemode, partyId, shopId, invoiceId, id, terminal }: Payment): LedgerPayment {
  return { livemode, partyId, shopId, invoiceId, paymentId: id, acquirerId: terminal.bankId };
}

export type LedgerPayment = {
  readonly livemode: boolean;
  readonly partyId: string;
  readonly shopId: string;
  readonly invoiceId: string;
  readonly paymentId: string;
  /** The bank that processed it. */
  readonly acquirerId: string;
};

/** The money is held on the card and becomes the shop's if it is captured. */
export function holdApproved(payment: LedgerPayment, amount: Money): Journal {
  const { uncleared, settlement } = accountsOf(payment, amount);
  return ofPayment(payment, [
    { phase: 'pending', step: 'hold', debit: uncleared, credit: settlement, minor: amount.minor },
  ]);
}

/** Captured, also in part: the rest of the hold is released. */
export function holdCaptured(payment: LedgerPayment, amount: Money, feeMinor: bigint): Journal {
  return ofPayment(payment, [
    { phase: 'post', step: 'hold', minor: amount.minor },
    ...processingFee(payment, amount, feeMinor),
  ]);
}

/** Cancelled, expired or reversed. */
export function holdReleased(payment: LedgerPayment): Journal {
  return ofPayment(payment, [{ phase: 'void', step: 'hold' }]);
}

/** An instant payment: authorised and captured in one step. */
export function saleApproved(payment: LedgerPayment, amount: Money, feeMinor: bigint): Journal {
  const { uncleared, settlement } = accountsOf(payment, amount);
  return ofPayment(payment, [
    { phase: 'single', step: 'sale', debit: uncleared, credit: settlement, minor: amount.minor },
    ...processingFee(payment, amount, feeMinor),
  ]);
}

/**
 * The bank did not reverse a charge that never counted, and has refunded it. Nothing was posted for it, so both are posted, and they are
 * zero together.
 */
export function chargeGivenBack(
  payment: LedgerPayment,
  amount: Money,
  { wasHeld }: { readonly wasHeld: boolean },
): Journal {
  const { uncleared, settlement } = accountsOf(payment, amount);
  const { minor } = amount;
  return ofPayment(payment, [
    ...(wasHeld ? [{ phase: 'void', step: 'hold' } as const] : []),
    { phase: 'single', step: 'undone_charge', debit: uncleared, credit: settlement, minor },
    { phase: 'single', step: 'undone_refund', debit: settlement, credit: uncleared, minor },
  ]);
}

/**
 * The bank does not pay what it had captured. The shop gives back the amount without its fee; if its balance is too small, the amount
 * stays receivable, for the operator to claim.
 */
export function captureFailed(
  payment: LedgerPayment & { readonly isAside: boolean },
  amount: Money,
  feeMinor: bigint,
): FundsCheckedJournal {
  const { uncleared, settlement } = accountsOf(payment, amount);
  const { currency } = amount;
  const debit = payment.isAside ? acquirerReceivable({ ...payment, currency }) : settlement;
  const fee = feeIncome({ ...payment, currency, fee: 'processing' });
  const entries: Entry[] = [
    { phase: 'single', step: 'uncaptured', debit, credit: uncleared, minor: amount.minor },
    ...unlessZero({ phase: 'single', step: 'uncaptured_fee', debit: fee, credit: debit, minor: feeMinor }),
  ];
  return { ...ofPayment(payment, entries), checksFunds: true };
}

export type LedgerRefund = LedgerPayment & { readonly refundId: string };

/**
 * Reserves the shop's money and the fee before the bank gets the request, so that neither can be missing once the bank has paid.
 * Only a refund may take the balance to the shop's overdraft limit.
 */
export function refundRequested(refund: LedgerRefund, amount: Money, feeMinor: bigint): FundsCheckedJournal {
  const { uncleared, settlement } = accountsOf(refund, amount);
  const fee = feeIncome({ ...refund, currency: amount.currency, fee: 'refund' });
  const entries: Entry[] = [
    {
      phase: 'pending',
      step: 'refund',
      debit: settlement,
      credit: uncleared,
      minor: amount.minor,
      mayOverdraw: true,
    },
    ...unlessZero({ phase: 'pending', step: 'refund_fee', debit: settlement, credit: fee, minor: feeMinor }),
  ];
  return { ...ofRefund(refund, entries), checksFunds: true };
}

/** The fee is the one at the time of the request. */
export function refundSucceeded(refund: LedgerRefund, feeMinor: bigint): Journal {
  return ofRefund(refund, completions('post', 'refund', feeMinor));
}

export function refundFailed(refund: LedgerRefund, feeMinor: bigint): Journal {
  return ofRefund(refund, completions('void', 'refund', feeMinor));
}

/** The payer's bank has sent the money of a refund back. The shop has it again, with the fee. */
export function refundReturned(refund: LedgerRefund, amount: Money, feeMinor: bigint): Journal {
  const { uncleared, settlement } = accountsOf(refund, amount);
  const fee = feeIncome({ ...refund, currency: amount.currency, fee: 'refund' });
  return ofRefund(refund, [
    { phase: 'single', step: 'returned', debit: uncleared, credit: settlement, minor: amount.minor },
    ...unlessZero({ phase: 'single', step: 'returned_fee', debit: fee, credit: settlement, minor: feeMinor }),
  ]);
}

function accountsOf({ livemode, acquirerId, partyId, shopId }: LedgerPayment, { currency }: Money) {
  return {
    uncleared: acquirerUncleared({ livemode, currency, acquirerId }),
    settlement: settlementAccount({ livemode, currency, partyId, shopId }),
  };
}

/** Deducted from what was captured, and never more than that: a capture can no longer be refused. */
function processingFee(payment: LedgerPayment, amount: Money, feeMinor: bigint): Entry[] {
  const { settlement } = accountsOf(payment, amount);
  const fee = feeIncome({ livemode: payment.livemode, currency: amount.currency, fee: 'processing' });
  const minor = feeMinor < amount.minor ? feeMinor : amount.minor;
  return unlessZero({ phase: 'single', step: 'fee', debit: settlement, credit: fee, minor });
}

function ofPayment({ invoiceId, paymentId }: LedgerPayment, entries: Entry[]): Journal {
  return { aggregateId: invoiceId, operationId: `payment/${paymentId}`, entries };
}

function ofRefund({ invoiceId, paymentId, refundId }: LedgerRefund, entries: Entry[]): Journal {
  return { aggregateId: invoiceId, operationId: `payment/${paymentId}/refund/${refundId}`, entries };
}
