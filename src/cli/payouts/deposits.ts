// mandate wallet: deposits, and their reversal.
import { livemodeOf } from '../../livemode.ts';
import { defined } from '../../defined.ts';
import {
  depositFromBank,
  depositFromShop,
  depositFromSuspense,
  depositIdOf,
  reverseDeposit as reverse,
  type Made,
  type NewDeposit,
} from '../../wallets/deposit.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Wallet } from '../../wallets/domain/wallet.ts';
import { findWallet } from '../../wallets/store/wallets.ts';
import { requireReason, withFoundation } from '../foundation.ts';
import { minorOf } from '../option-values.ts';

export async function deposit(
  walletId: string,
  options: {
    amount: string;
    fromShop?: string;
    fromBank?: string;
    fromSuspense?: string;
    reference: string;
    description?: string;
  },
): Promise<void> {
  const { fromShop, fromBank, fromSuspense, reference, description } = options;
  if ([fromShop, fromBank, fromSuspense].filter((source) => source !== undefined).length !== 1) {
    throw new Error(
      'The source of the money is missing. Give one of --from-shop, --from-bank and --from-suspense.',
    );
  }
  const minor = minorOf('--amount', options.amount);
  if (minor === 0n) throw new Error('--amount is 0. Deposit at least 1 minor unit.');
  // A script with an unset variable would pass two deposits off as one.
  if (reference.trim() === '') throw new Error('--reference is empty. Give your ID of the deposit.');
  const made = await withFoundation(async ({ config, database, ports }) => {
    const wallet = await findWallet(database, null, walletId);
    if (!wallet) throw new Error(`Wallet ${walletId} not found. Check the ID with the merchant.`);
    const given = {
      id: depositIdOf(wallet.id, reference),
      livemode: livemodeOf(config.mode),
      minor,
      now: ports.clock.now(),
      ...defined({ description }),
    } as const;
    return depositFrom({ fromShop, fromBank, fromSuspense }, database, wallet, given);
  });
  const { id, amount, sourceId, createdAt, reversedAt } = made.deposit;
  if (!made.isNew) {
    const earlier = `This reference belongs to deposit ${id} of ${amount.minor} ${amount.currency} from ${sourceId} at ${createdAt}`;
    if (!made.isAsGiven)
      throw new Error(
        `${earlier}, out of ${made.debitAccount}. Yours is different, so no money was moved. Use another --reference.`,
      );
    if (reversedAt !== undefined)
      throw new Error(
        `${earlier}, and was reversed at ${reversedAt}. No money was moved. Use another --reference.`,
      );
    console.error(`${earlier}. It was not repeated.`);
  }
  console.log(id);
}

async function depositFrom(
  source: { fromShop: string | undefined; fromBank: string | undefined; fromSuspense: string | undefined },
  ...[database, wallet, given]: [Database, Wallet, NewDeposit]
): Promise<Made> {
  const { fromShop, fromBank, fromSuspense } = source;
  if (fromBank !== undefined) return depositFromBank(database, wallet, { ...given, bankAccountId: fromBank });
  const drawn =
    fromSuspense === undefined
      ? await depositFromShop(database, wallet, { ...given, shopId: fromShop ?? '' })
      : await depositFromSuspense(database, wallet, { ...given, acquirerId: fromSuspense });
  if (!drawn)
    throw new Error(
      `${fromSuspense === undefined ? `Shop ${fromShop}` : `The suspense account of bank ${fromSuspense}`} has less than ${given.minor} ${wallet.currency}. No money was moved. Deposit less, or from another source.`,
    );
  return drawn;
}

export async function reverseDeposit(id: string, { reason }: { reason: string }): Promise<void> {
  requireReason(reason);
  const outcome = await withFoundation(({ config, database, ports }) =>
    reverse(database, id, { livemode: livemodeOf(config.mode), reason, now: ports.clock.now() }),
  );
  if (outcome === 'unknown')
    throw new Error(`Deposit ${id} not found. Use the ID that "mandate wallet deposit" printed.`);
  if (outcome === 'insufficient')
    throw new Error(
      `The wallet has less than deposit ${id}, so nothing was taken back. Have the merchant deposit what is missing.`,
    );
  console.log(
    outcome === 'reversedBefore' ? `Deposit ${id} was reversed before.` : `Reversed deposit ${id}.`,
  );
}
