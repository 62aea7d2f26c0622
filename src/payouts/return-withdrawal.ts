// Records that the money of a payout came back: to its wallet, or aside with an alarm if the wallet is blocked.
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Logger } from '../platform/log.ts';
import { findWallet } from '../wallets/store/wallets.ts';
import type { WithdrawalReturned } from './domain/withdrawal.ts';
import { storeReturn, type StoredWithdrawal } from './store/withdrawals.ts';

/** False on a version conflict: another node or an operator was first. */
export async function returnWithdrawal(
  { db, livemode, log }: { db: Database; livemode: boolean; log: Pick<Logger, 'error'> },
  stored: StoredWithdrawal,
  fact: WithdrawalReturned,
  now: Instant,
): Promise<boolean> {
  const { id, walletId, partyId, route } = stored.withdrawal;
  const wallet = await findWallet(db, null, walletId);
  const isAside = !wallet || wallet.isBlocked;
  const after = await storeReturn(db, stored, fact, { livemode, now, isAside });
  if (after && isAside)
    log.error(
      { withdrawalId: id, walletId, partyId, bankId: route?.bankId },
      'payout returned to a blocked wallet',
    );
  return after !== undefined;
}
