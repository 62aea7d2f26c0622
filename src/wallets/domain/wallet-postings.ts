// The ledger transfers of deposits and of transfers between wallets.
import type { Money } from '../../money.ts';
import {
  bankNostro,
  reconSuspense,
  settlementAccount,
  walletAccount,
  type Account,
} from '../../platform/ledger/domain/account.ts';
import type { Entry, FundsCheckedJournal, Journal } from '../../platform/ledger/domain/ledger.ts';

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

function ofDeposit({ depositId }: LedgerDeposit, entries: Entry[]): Journal {
  return { aggregateId: depositId, operationId: 'deposit', entries };
}
