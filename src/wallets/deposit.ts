// Money into a wallet: from a bank account of the house, or from the balance of a shop. The deposit and its journal are one
// statement, so a deposit that is there has succeeded.
import { createHash } from 'node:crypto';
import type { Instant } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { depositedFromBank, depositedFromShop } from '../ledger/postings.ts';
import type { Deposit, WalletTerms } from './wallet.ts';
import { findDeposit, storeDeposit } from './wallet.store.ts';

type NewDeposit = {
  readonly id: string;
  readonly realm: 'test' | 'live';
  readonly minor: bigint;
  readonly now: Instant;
  readonly description?: string;
};

/** With `isNew` false, one of that id was there before, and nothing was done: the deposit is that one. */
export type Made = { readonly deposit: Deposit; readonly isNew: boolean };

/** Of a deposit that an operator has a name of his own for: said again, it is the same deposit. */
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
  const { realm, bankAccountId } = given;
  const deposit = depositOf(wallet, given, bankAccountId);
  const of = { realm, depositId: deposit.id, walletId: wallet.id, bankAccountId };
  const stored = await storeDeposit(db, deposit, depositedFromBank(of, deposit.amount));
  return madeOf(db, deposit, stored === 'stored');
}

/** Undefined when the shop lacks the money: then nothing was done. */
export async function depositFromShop(
  db: Database,
  wallet: WalletTerms,
  given: NewDeposit & { readonly shopId: string },
): Promise<Made | undefined> {
  const { realm, shopId } = given;
  const deposit = depositOf(wallet, given, shopId);
  const of = { realm, depositId: deposit.id, walletId: wallet.id, partyId: wallet.partyId, shopId };
  const stored = await storeDeposit(db, deposit, depositedFromShop(of, deposit.amount));
  return stored === 'insufficient' ? undefined : madeOf(db, deposit, stored === 'stored');
}

async function madeOf(db: Database, deposit: Deposit, isNew: boolean): Promise<Made> {
  if (isNew) return { deposit, isNew };
  const earlier = await findDeposit(db, deposit.id);
  if (!earlier) throw new Error(`deposit ${deposit.id} was neither made nor found`);
  return { deposit: earlier, isNew };
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
    ...(description === undefined ? {} : { description }),
  };
}
