// Money into a wallet: from a bank account of the house, or from the balance of a shop. The deposit and its journal are one
// transaction, so a deposit that is there has succeeded.
import type { Instant } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { postJournal } from '../ledger/ledger.store.ts';
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

/** Belongs into a transaction, as the last thing in it. */
export async function depositFromBank(
  tx: Database,
  wallet: WalletTerms,
  given: NewDeposit & { readonly bankAccountId: string },
): Promise<Deposit> {
  const deposit = depositOf(wallet, given, given.bankAccountId);
  await storeDeposit(tx, deposit);
  const { realm, bankAccountId } = given;
  const journal = depositedFromBank(
    { realm, depositId: deposit.id, walletId: wallet.id, bankAccountId },
    deposit.amount,
  );
  await postJournal(tx, journal, given.now);
  return deposit;
}

/** False when the shop lacks the money: then nothing may be committed. */
export async function depositFromShop(
  tx: Database,
  wallet: WalletTerms,
  given: NewDeposit & { readonly shopId: string },
): Promise<boolean> {
  const deposit = depositOf(wallet, given, given.shopId);
  await storeDeposit(tx, deposit);
  const { realm, shopId } = given;
  const { partyId } = wallet;
  const journal = depositedFromShop(
    { realm, depositId: deposit.id, walletId: wallet.id, partyId, shopId },
    deposit.amount,
  );
  return (await postJournal(tx, journal, given.now)) === 'posted';
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
