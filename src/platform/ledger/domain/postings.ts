// Which transfers each event of the business leads to: the chart of docs/decisions/0012-ledger.md in code. Each function
// answers a whole journal, so that a room cannot forget a leg or mistake an account; it writes it with recordJournal, in the
// statement of its own change.
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
  /** The bank it went through. */
  readonly acquirerId: string;
};

/** The money is held on the card: it will be ours and then the shop's, if it is captured. */
export function holdApproved(payment: LedgerPayment, amount: Money): Journal {
  const { uncleared, settlement } = accountsOf(payment, amount);
  return ofPayment(payment, [
    { phase: 'pending', step: 'hold', debit: uncleared, credit: settlement, minor: amount.minor },
  ]);
}

/** Captured in part, the rest of the hold returns. */
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

/** An instant payment: authorised and captured in one. */
export function saleApproved(payment: LedgerPayment, amount: Money, feeMinor: bigint): Journal {
  const { uncleared, settlement } = accountsOf(payment, amount);
  return ofPayment(payment, [
    { phase: 'single', step: 'sale', debit: uncleared, credit: settlement, minor: amount.minor },
    ...processingFee(payment, amount, feeMinor),
  ]);
}

export type LedgerRefund = LedgerPayment & { readonly refundId: string };

/**
 * The shop's money is set aside before the bank is asked, its fee with it: once the bank has paid, nothing can be lacking
 * any more.
 */
export function refundRequested(refund: LedgerRefund, amount: Money, feeMinor: bigint): FundsCheckedJournal {
  const { uncleared, settlement, kind } = accountsOf(refund, amount);
  const fee = feeIncome({ ...kind, fee: 'refund' });
  return {
    ...ofRefund(refund, [
      { phase: 'pending', step: 'refund', debit: settlement, credit: uncleared, minor: amount.minor },
      ...unlessZero({
        phase: 'pending',
        step: 'refund_fee',
        debit: settlement,
        credit: fee,
        minor: feeMinor,
      }),
    ]),
    checksFunds: true,
  };
}

/** The fee is the one it was requested with. */
export function refundSucceeded(refund: LedgerRefund, feeMinor: bigint): Journal {
  return ofRefund(refund, resolutions('post', 'refund', feeMinor));
}

export function refundFailed(refund: LedgerRefund, feeMinor: bigint): Journal {
  return ofRefund(refund, resolutions('void', 'refund', feeMinor));
}

export type LedgerBinding = {
  readonly livemode: boolean;
  readonly customerId: string;
  readonly bindingId: string;
  readonly acquirerId: string;
};

/** The test charge, and at once the return of it that we owe: until the bank has confirmed that, it is pending. */
export function bindingCharged(binding: LedgerBinding, amount: Money): Journal {
  const kind = { livemode: binding.livemode, currency: amount.currency };
  const uncleared = acquirerUncleared({ ...kind, acquirerId: binding.acquirerId });
  const clearing = bindingClearing(kind);
  return ofBinding(binding, [
    { phase: 'single', step: 'charge', debit: uncleared, credit: clearing, minor: amount.minor },
    { phase: 'pending', step: 'return', debit: clearing, credit: uncleared, minor: amount.minor },
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
  amount: Money,
): Journal {
  const kind = { livemode: deposit.livemode, currency: amount.currency };
  const nostro = bankNostro({ ...kind, bankAccountId: deposit.bankAccountId });
  const wallet = walletAccount({ ...kind, walletId: deposit.walletId });
  return ofDeposit(deposit, [
    { phase: 'single', step: 'deposit', debit: nostro, credit: wallet, minor: amount.minor },
  ]);
}

export function depositedFromShop(
  deposit: LedgerDeposit & { readonly partyId: string; readonly shopId: string },
  amount: Money,
): FundsCheckedJournal {
  const { partyId, shopId } = deposit;
  const kind = { livemode: deposit.livemode, currency: amount.currency };
  const settlement = settlementAccount({ ...kind, partyId, shopId });
  const wallet = walletAccount({ ...kind, walletId: deposit.walletId });
  return {
    ...ofDeposit(deposit, [
      { phase: 'single', step: 'deposit', debit: settlement, credit: wallet, minor: amount.minor },
    ]),
    checksFunds: true,
  };
}

/** From one wallet to another, which may be another party's. */
export function walletTransferred(
  transfer: {
    readonly livemode: boolean;
    readonly transferId: string;
    readonly senderId: string;
    readonly receiverId: string;
  },
  amount: Money,
): FundsCheckedJournal {
  const kind = { livemode: transfer.livemode, currency: amount.currency };
  const sender = walletAccount({ ...kind, walletId: transfer.senderId });
  const receiver = walletAccount({ ...kind, walletId: transfer.receiverId });
  return {
    aggregateId: transfer.transferId,
    operationId: 'transfer',
    entries: [{ phase: 'single', step: 'transfer', debit: sender, credit: receiver, minor: amount.minor }],
    checksFunds: true,
  };
}

export type LedgerWithdrawal = {
  readonly livemode: boolean;
  readonly withdrawalId: string;
  readonly walletId: string;
  readonly acquirerId: string;
};

/** The fee comes on top of the amount; the wallet must have both. */
export function withdrawalCreated(
  withdrawal: LedgerWithdrawal,
  amount: Money,
  feeMinor: bigint,
): FundsCheckedJournal {
  const kind = { livemode: withdrawal.livemode, currency: amount.currency };
  const wallet = walletAccount({ ...kind, walletId: withdrawal.walletId });
  const transit = payoutInTransit({ ...kind, acquirerId: withdrawal.acquirerId });
  const fee = feeIncome({ ...kind, fee: 'payout' });
  return {
    ...ofWithdrawal(withdrawal, [
      { phase: 'pending', step: 'payout', debit: wallet, credit: transit, minor: amount.minor },
      ...unlessZero({ phase: 'pending', step: 'payout_fee', debit: wallet, credit: fee, minor: feeMinor }),
    ]),
    checksFunds: true,
  };
}

/** The fee is the one it was created with. While the outcome is unknown nothing is written: the money stays set aside. */
export function withdrawalSucceeded(withdrawal: LedgerWithdrawal, feeMinor: bigint): Journal {
  return ofWithdrawal(withdrawal, resolutions('post', 'payout', feeMinor));
}

export function withdrawalFailed(withdrawal: LedgerWithdrawal, feeMinor: bigint): Journal {
  return ofWithdrawal(withdrawal, resolutions('void', 'payout', feeMinor));
}

function accountsOf(payment: LedgerPayment, { currency }: Money) {
  const { livemode, partyId, shopId, acquirerId } = payment;
  const kind = { livemode, currency };
  return {
    kind,
    uncleared: acquirerUncleared({ ...kind, acquirerId }),
    settlement: settlementAccount({ ...kind, partyId, shopId }),
  };
}

/** Taken from what was captured, and never more than that: a capture cannot be refused any more. */
function processingFee(payment: LedgerPayment, amount: Money, feeMinor: bigint): Entry[] {
  const { settlement, kind } = accountsOf(payment, amount);
  const fee = feeIncome({ ...kind, fee: 'processing' });
  const minor = feeMinor < amount.minor ? feeMinor : amount.minor;
  return unlessZero({ phase: 'single', step: 'fee', debit: settlement, credit: fee, minor });
}

function resolutions(phase: 'post' | 'void', step: 'refund' | 'payout', feeMinor: bigint): Entry[] {
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
