// Which transfers each business event leads to: the chart of docs/decisions/0012-ledger.md in code. Each function returns a whole
// journal, so that a module cannot forget a leg or mistake an account.
import type { Money } from '../../../money.ts';
import type { Account } from './account.ts';
import {
  acquirerReceivable,
  acquirerUncleared,
  bankNostro,
  bindingClearing,
  feeIncome,
  payoutInTransit,
  reconSuspense,
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

export function depositedFromSuspense(
  deposit: LedgerDeposit & { readonly acquirerId: string },
  { minor, currency }: Money,
): FundsCheckedJournal {
  const debit = reconSuspense({ ...deposit, currency });
  const credit = walletAccount({ ...deposit, currency });
  const entries: Entry[] = [{ phase: 'single', step: 'deposit', debit, credit, minor }];
  return { ...ofDeposit(deposit, entries), checksFunds: true };
}

/** A deposit made by mistake goes back to the account it came from. The wallet must have the money. */
export function depositReversed(
  deposit: LedgerDeposit,
  source: Account,
  { minor, currency }: Money,
): FundsCheckedJournal {
  const debit = walletAccount({ ...deposit, currency });
  const entries: Entry[] = [{ phase: 'single', step: 'reversal', debit, credit: source, minor }];
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

export type LedgerTopUp = {
  readonly livemode: boolean;
  readonly topUpId: string;
  readonly partyId: string;
  readonly shopId: string;
  readonly bankAccountId: string;
};

/** The merchant has paid money in for the shop. */
export function shopToppedUp(topUp: LedgerTopUp, { minor, currency }: Money): Journal {
  const debit = bankNostro({ ...topUp, currency });
  const credit = settlementAccount({ ...topUp, currency });
  return ofTopUp(topUp, [{ phase: 'single', step: 'top_up', debit, credit, minor }]);
}

/** A top-up booked by mistake. The shop must have the money: its overdraft is for refunds alone. */
export function topUpReversed(topUp: LedgerTopUp, { minor, currency }: Money): FundsCheckedJournal {
  const debit = settlementAccount({ ...topUp, currency });
  const credit = bankNostro({ ...topUp, currency });
  const entries: Entry[] = [{ phase: 'single', step: 'reversal', debit, credit, minor }];
  return { ...ofTopUp(topUp, entries), checksFunds: true };
}

export type LedgerWithdrawal = {
  readonly livemode: boolean;
  readonly withdrawalId: string;
  readonly walletId: string;
  readonly acquirerId: string;
  /** How often it went to another acquirer before it was sent. */
  readonly moves?: number;
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
  return ofWithdrawal(withdrawal, [
    ...completions('post', 'payout', feeMinor),
    ...movesOf(withdrawal, 'post'),
  ]);
}

export function withdrawalFailed(withdrawal: LedgerWithdrawal, feeMinor: bigint): Journal {
  return ofWithdrawal(withdrawal, [
    ...completions('void', 'payout', feeMinor),
    ...movesOf(withdrawal, 'void'),
  ]);
}

/** The money stays reserved, now for the other acquirer. */
export function withdrawalMoved(
  from: LedgerWithdrawal,
  to: LedgerWithdrawal,
  { minor, currency }: Money,
): Journal {
  const debit = payoutInTransit({ ...from, currency });
  const credit = payoutInTransit({ ...to, currency });
  return ofWithdrawal(to, [{ phase: 'pending', step: `moved${to.moves}`, debit, credit, minor }]);
}

function movesOf({ moves = 0 }: LedgerWithdrawal, phase: 'post' | 'void'): Entry[] {
  return Array.from({ length: moves }, (_, at) => ({ phase, step: `moved${at + 1}` }));
}

/** To the wallet, or aside if the wallet is blocked. The fee is kept. */
export function withdrawalReturned(
  withdrawal: LedgerWithdrawal & { readonly isAside: boolean },
  { minor, currency }: Money,
): Journal {
  const debit = payoutInTransit({ ...withdrawal, currency });
  const credit = withdrawal.isAside
    ? reconSuspense({ ...withdrawal, currency })
    : walletAccount({ ...withdrawal, currency });
  return ofWithdrawal(withdrawal, [{ phase: 'single', step: 'returned', debit, credit, minor }]);
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

function ofTopUp({ topUpId }: LedgerTopUp, entries: Entry[]): Journal {
  return { aggregateId: topUpId, operationId: 'top_up', entries };
}

function ofWithdrawal({ withdrawalId }: LedgerWithdrawal, entries: Entry[]): Journal {
  return { aggregateId: withdrawalId, operationId: 'withdrawal', entries };
}
