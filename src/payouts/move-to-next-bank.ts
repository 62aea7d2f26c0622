// Moves a payout to the next terminal, after a send that is proved to have done nothing. A `notFound` proves no such thing.
import type { Banks } from '../acquiring/banks.ts';
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Logger } from '../platform/log.ts';
import { refreeze } from './domain/payout-sender.ts';
import { movedTo } from './domain/withdrawal.ts';
import { findDestination } from './store/destinations.ts';
import { storeMove } from './store/moves-to-next-bank.ts';
import type { StoredWithdrawal } from './store/withdrawals.ts';

type MoveDeps = {
  readonly db: Database;
  readonly banks: Pick<Banks, 'nextPayoutRoute'>;
  readonly livemode: boolean;
  readonly log: Pick<Logger, 'warn'>;
};

/** Undefined if no other terminal serves the payout, or if another writer was first. Otherwise the caller has to send it. */
export async function moveWithdrawal(
  { db, banks, livemode, log }: MoveDeps,
  stored: StoredWithdrawal,
  now: Instant,
): Promise<StoredWithdrawal | undefined> {
  const { withdrawal } = stored;
  const { id, amount, sender, route, destinationId } = withdrawal;
  const network = (await findDestination(db, null, destinationId))?.destination.card.paymentSystem;
  if (!route || !sender || network === undefined) return undefined;
  const next = await banks.nextPayoutRoute(
    withdrawal.walletPartyId,
    { ...amount, network },
    route.terminal,
    (terms) => refreeze(sender, withdrawal.walletId, network, terms).ok,
  );
  if (!next) return undefined;
  const sent = refreeze(sender, withdrawal.walletId, network, next.terms);
  if (!sent.ok) return undefined;
  const moved = await storeMove(db, stored, movedTo(withdrawal, next.route, sent.value), { livemode, now });
  if (moved)
    log.warn({ withdrawalId: id, from: route.terminal.id, to: next.route.terminal.id }, 'payout moved');
  return moved;
}
