// Moves a payout to the next terminal, while it is certain that nothing was done: after its first send alone, and never on a `notFound`.
import type { Banks } from '../acquiring/banks.ts';
import type { BankResponse } from '../acquiring/domain/bank-port.ts';
import { isProvedUndone } from '../acquiring/domain/routing/reroute.ts';
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Logger } from '../platform/log.ts';
import { refreeze } from './domain/payout-sender.ts';
import { movedTo } from './domain/withdrawal.ts';
import { findDestination } from './store/destinations.ts';
import { storeMove } from './store/moves.ts';
import type { StoredWithdrawal } from './store/withdrawals.ts';

type MoveDeps = {
  readonly db: Database;
  readonly banks: Pick<Banks, 'nextPayoutRoute'>;
  readonly livemode: boolean;
  readonly log: Pick<Logger, 'warn'>;
};

/** A later attempt cannot know what the first has sent before its node stopped. */
export function mayMove(answer: BankResponse, attempt: number): boolean {
  return attempt === 1 && isProvedUndone(answer);
}

/** Undefined if no other terminal serves the payout, or if another node has claimed it. */
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
  const moved = movedTo(withdrawal, next.route, sent.value);
  if (!(await storeMove(db, { ...stored, withdrawal }, moved, { livemode, now }))) return undefined;
  log.warn({ withdrawalId: id, from: route.terminal.id, to: next.route.terminal.id }, 'payout moved');
  return { ...stored, withdrawal: moved };
}
