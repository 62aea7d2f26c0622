// Deposits into a wallet, from a bank account of the operator or from the balance of a shop. One statement writes the deposit
// and its journal, so every stored deposit has succeeded.
import { createHash } from 'node:crypto';
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { accountsIn, type Journal } from '../platform/ledger/domain/ledger.ts';
import { accountFrom } from '../platform/ledger/domain/account.ts';
import {
  depositedFromBank,
  depositedFromShop,
  depositedFromSuspense,
  depositReversed,
} from './domain/wallet-postings.ts';
import type { Deposit, WalletTerms } from './domain/wallet.ts';
import { findDeposit, storeDeposit, storeReversal } from './store/wallets.ts';
import { defined } from '../defined.ts';

export type NewDeposit = {
  readonly id: string;
  readonly livemode: boolean;
  readonly minor: bigint;
  readonly now: Instant;
  readonly description?: string;
};

/** If `isNew` is false, a deposit with that ID existed and nothing was done. `deposit` is the existing one. */
export type Made =
  | { readonly deposit: Deposit; readonly isNew: true }
  | {
      readonly deposit: Deposit;
      readonly isNew: false;
      /** The same amount from the same account. */
      readonly isAsGiven: boolean;
      readonly debitAccount: string;
    };

/** Derived from the operator's own reference, so that a repeat is the same deposit. */
export function depositIdOf(walletId: string, name: string): string {
  return createHash('sha256')
    .update(JSON.stringify([walletId, name]))
    .digest('hex')
    .slice(0, 32);
}

export async function depositFromBank(
  db: Database,
  wallet: WalletTerms,
  given: NewDeposit & { readonly bankAccountId: string },
): Promise<Made> {
  const { livemode, bankAccountId } = given;
  const deposit = depositOf(wallet, given, bankAccountId);
  const of = { livemode, depositId: deposit.id, walletId: wallet.id, bankAccountId };
  const journal = depositedFromBank(of, deposit.amount);
  const stored = await storeDeposit(db, deposit, journal);
  return stored === 'stored' ? { deposit, isNew: true } : madeBefore(db, deposit, journal);
}

/** Undefined if the shop has too little money. Then nothing was done. */
export async function depositFromShop(
  db: Database,
  wallet: WalletTerms,
  given: NewDeposit & { readonly shopId: string },
): Promise<Made | undefined> {
  const { livemode, shopId } = given;
  const deposit = depositOf(wallet, given, shopId);
  const of = { livemode, depositId: deposit.id, walletId: wallet.id, partyId: wallet.partyId, shopId };
  const journal = depositedFromShop(of, deposit.amount);
  const stored = await storeDeposit(db, deposit, journal);
  if (stored === 'insufficient') return undefined;
  return stored === 'stored' ? { deposit, isNew: true } : madeBefore(db, deposit, journal);
}

/** Money of a payout that came back when the wallet was blocked. Undefined if less is aside; then nothing was done. */
export async function depositFromSuspense(
  db: Database,
  wallet: WalletTerms,
  given: NewDeposit & { readonly acquirerId: string },
): Promise<Made | undefined> {
  const { livemode, acquirerId } = given;
  const deposit = depositOf(wallet, given, acquirerId);
  const of = { livemode, depositId: deposit.id, walletId: wallet.id, acquirerId };
  const journal = depositedFromSuspense(of, deposit.amount);
  const stored = await storeDeposit(db, deposit, journal);
  if (stored === 'insufficient') return undefined;
  return stored === 'stored' ? { deposit, isNew: true } : madeBefore(db, deposit, journal);
}

/** Takes the whole deposit back, to where it came from. The wallet must still have the money. */
export async function reverseDeposit(
  db: Database,
  depositId: string,
  { livemode, reason, now }: { livemode: boolean; reason: string; now: Instant },
): Promise<'reversed' | 'reversedBefore' | 'insufficient' | 'unknown'> {
  const found = await findDeposit(db, depositId);
  if (!found) return 'unknown';
  const { deposit, debitAccount } = found;
  if (deposit.reversedAt !== undefined) return 'reversedBefore';
  const { walletId, amount } = deposit;
  const source = accountFrom(debitAccount, { livemode, currency: amount.currency });
  const journal = depositReversed({ livemode, depositId, walletId }, source, amount);
  return storeReversal(db, deposit, { journal, reason, now });
}

async function madeBefore(db: Database, given: Deposit, journal: Journal): Promise<Made> {
  const earlier = await findDeposit(db, given.id);
  if (!earlier) throw new Error(`deposit ${given.id} was neither created nor found`);
  const { deposit, debitAccount } = earlier;
  const isFromThere = accountsIn(journal).some(({ id }) => id === debitAccount);
  const isAsGiven = isFromThere && deposit.amount.minor === given.amount.minor;
  return { deposit, isNew: false, isAsGiven, debitAccount };
}

function depositOf(wallet: WalletTerms, given: NewDeposit, sourceId: string): Deposit {
  const { id, minor, now, description } = given;
  return {
    id,
    partyId: wallet.partyId,
    walletId: wallet.id,
    identityId: wallet.identityId,
    sourceId,
    createdAt: now,
    amount: { minor, currency: wallet.currency },
    ...defined({ description }),
  };
}
