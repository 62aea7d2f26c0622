// Money into a wallet: from a bank account of the house, or from the balance of a shop. The deposit and its journal are one
// statement, so a deposit that is there has succeeded.
import type { Instant } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { depositedFromBank, depositedFromShop } from '../ledger/postings.ts';
import type { Deposit, WalletTerms } from './wallet.ts';
import { storeDeposit } from './wallet.store.ts';

type NewDeposit = {
  readonly id: string;
  readonly realm: 'test' | 'live';
  readonly minor: bigint;
  readonly now: Instant;
  readonly description?: string;
};

export async function depositFromBank(
  db: Database,
  wallet: WalletTerms,
  given: NewDeposit & { readonly bankAccountId: string },
): Promise<Deposit> {
  const { realm, bankAccountId } = given;
  const deposit = depositOf(wallet, given, bankAccountId);
  const of = { realm, depositId: deposit.id, walletId: wallet.id, bankAccountId };
  await storeDeposit(db, deposit, depositedFromBank(of, deposit.amount));
  return deposit;
}

/** False when the shop lacks the money: then nothing was done. */
export async function depositFromShop(
  db: Database,
  wallet: WalletTerms,
  given: NewDeposit & { readonly shopId: string },
): Promise<boolean> {
  const { realm, shopId } = given;
  const deposit = depositOf(wallet, given, shopId);
  const of = { realm, depositId: deposit.id, walletId: wallet.id, partyId: wallet.partyId, shopId };
  return storeDeposit(db, deposit, depositedFromShop(of, deposit.amount));
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
