// Which transfers each business event leads to: the chart of docs/decisions/0012-ledger.md in code. Each function returns a whole
// journal, so that a module cannot forget a leg or mistake an account.
import type { Money } from '../../../money.ts';
import {
  acquirerUncleared,
  bankNostro,
  bindingClearing,
  feeIncome,
  payoutInTransit,
  settlementAccount,
  walletAccount,
} from './account.ts';
import type { FundsCheckedJournal, Entry, Journal } from './ledger.ts';

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

export type LedgerRefund = LedgerPayment & { readonly refundId: string };

/** Reserves the shop's money and the fee before the bank gets the request, so that neither can be missing once the bank has paid. */
export function refundRequested(refund: LedgerRefund, amount: Money, feeMinor: bigint): FundsCheckedJournal {
  const { uncleared, settlement } = accountsOf(refund, amount);
  const fee = feeIncome({ ...refund, currency: amount.currency, fee: 'refund' });
  const entries: Entry[] = [
    { phase: 'pending', step: 'refund', debit: settlement, credit: uncleared, minor: amount.minor },
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

export type LedgerBinding = {
  readonly livemode: boolean;
  readonly customerId: string;
  readonly bindingId: string;
  readonly acquirerId: string;
};

/** The verification charge and its refund, which is pending until the bank has confirmed it. */
export function bindingCharged(binding: LedgerBinding, { minor, currency }: Money): Journal {
  const uncleared = acquirerUncleared({ ...binding, currency });
  const clearing = bindingClearing({ ...binding, currency });
  return ofBinding(binding, [
    { phase: 'single', step: 'charge', debit: uncleared, credit: clearing, minor },
    { phase: 'pending', step: 'return', debit: clearing, credit: uncleared, minor },
  ]);
}

export function bindingReturned(binding: LedgerBinding): Journal {
  return ofBinding(binding, [{ phase: 'post', step: 'return' }]);
}

export type LedgerDeposit = {
  readonly livemode: boolean;
  readonly depositId: string;
  readonly walletId: string;
};

export function depositedFromBank(
  deposit: LedgerDeposit & { readonly bankAccountId: string },
  { minor, currency }: Money,
): Journal {
  const debit = bankNostro({ ...deposit, currency });
  const credit = walletAccount({ ...deposit, currency });
  return ofDeposit(deposit, [{ phase: 'single', step: 'deposit', debit, credit, minor }]);
}

export function depositedFromShop(
  deposit: LedgerDeposit & { readonly partyId: string; readonly shopId: string },
  { minor, currency }: Money,
): FundsCheckedJournal {
  const debit = settlementAccount({ ...deposit, currency });
  const credit = walletAccount({ ...deposit, currency });
  const entries: Entry[] = [{ phase: 'single', step: 'deposit', debit, credit, minor }];
  return { ...ofDeposit(deposit, entries), checksFunds: true };
}

/** From one wallet to another, which may be another party's. */
export function walletTransferred(
  transfer: {
    readonly livemode: boolean;
    readonly transferId: string;
    readonly senderId: string;
    readonly receiverId: string;
  },
  { minor, currency }: Money,
): FundsCheckedJournal {
  const { livemode, transferId, senderId, receiverId } = transfer;
  const debit = walletAccount({ livemode, currency, walletId: senderId });
  const credit = walletAccount({ livemode, currency, walletId: receiverId });
  const entries: Entry[] = [{ phase: 'single', step: 'transfer', debit, credit, minor }];
  return { aggregateId: transferId, operationId: 'transfer', entries, checksFunds: true };
}

export type LedgerWithdrawal = {
  readonly livemode: boolean;
  readonly withdrawalId: string;
  readonly walletId: string;
  readonly acquirerId: string;
};

/** The fee is added to the amount, and the wallet must have both. */
export function withdrawalCreated(
  withdrawal: LedgerWithdrawal,
  { minor, currency }: Money,
  feeMinor: bigint,
): FundsCheckedJournal {
  const wallet = walletAccount({ ...withdrawal, currency });
  const transit = payoutInTransit({ ...withdrawal, currency });
  const fee = feeIncome({ ...withdrawal, currency, fee: 'payout' });
  const entries: Entry[] = [
    { phase: 'pending', step: 'payout', debit: wallet, credit: transit, minor },
    ...unlessZero({ phase: 'pending', step: 'payout_fee', debit: wallet, credit: fee, minor: feeMinor }),
  ];
  return { ...ofWithdrawal(withdrawal, entries), checksFunds: true };
}

/** The fee is the one it was created with. While the outcome is unknown nothing is written: the money stays reserved. */
export function withdrawalSucceeded(withdrawal: LedgerWithdrawal, feeMinor: bigint): Journal {
  return ofWithdrawal(withdrawal, completions('post', 'payout', feeMinor));
}

export function withdrawalFailed(withdrawal: LedgerWithdrawal, feeMinor: bigint): Journal {
  return ofWithdrawal(withdrawal, completions('void', 'payout', feeMinor));
}

function accountsOf(payment: LedgerPayment, { currency }: Money) {
  return {
    uncleared: acquirerUncleared({ ...payment, currency }),
    settlement: settlementAccount({ ...payment, currency }),
  };
}

/** Deducted from what was captured, and never more than that: a capture can no longer be refused. */
function processingFee(payment: LedgerPayment, amount: Money, feeMinor: bigint): Entry[] {
  const { settlement } = accountsOf(payment, amount);
  const fee = feeIncome({ ...payment, currency: amount.currency, fee: 'processing' });
  const minor = feeMinor < amount.minor ? feeMinor : amount.minor;
  return unlessZero({ phase: 'single', step: 'fee', debit: settlement, credit: fee, minor });
}

function completions(phase: 'post' | 'void', step: 'refund' | 'payout', feeMinor: bigint): Entry[] {
  return [{ phase, step }, ...(feeMinor === 0n ? [] : [{ phase, step: `${step}_fee` }])];
}

function unlessZero(entry: Entry & { minor: bigint }): Entry[] {
  return entry.minor === 0n ? [] : [entry];
}

function ofPayment({ invoiceId, paymentId }: LedgerPayment, entries: Entry[]): Journal {
  return { aggregateId: invoiceId, operationId: `payment/${paymentId}`, entries };
}

function ofRefund({ invoiceId, paymentId, refundId }: LedgerRefund, entries: Entry[]): Journal {
  return { aggregateId: invoiceId, operationId: `payment/${paymentId}/refund/${refundId}`, entries };
}

function ofBinding({ customerId, bindingId }: LedgerBinding, entries: Entry[]): Journal {
  return { aggregateId: customerId, operationId: `binding/${bindingId}`, entries };
}

function ofDeposit({ depositId }: LedgerDeposit, entries: Entry[]): Journal {
  return { aggregateId: depositId, operationId: 'deposit', entries };
}

function ofWithdrawal({ withdrawalId }: LedgerWithdrawal, entries: Entry[]): Journal {
  return { aggregateId: withdrawalId, operationId: 'withdrawal', entries };
}
