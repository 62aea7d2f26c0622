// The job of a withdrawal: sends the payout or queries its status while it holds no connection, and writes what the response
// proves. Running it twice is harmless: the payout has one ID, and every write is guarded by the version.
import type { BankResponse } from '../acquiring/domain/bank-port.ts';
import type { Banks } from '../acquiring/banks.ts';
import { runningFrom, type Clock, type Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Logger } from '../platform/log.ts';
import { findDestination } from './store/destinations.ts';
import { findWallet } from '../wallets/store/wallets.ts';
import { blockedOutcome, interpret } from './domain/bank-actions.ts';
import { findWithdrawal, reschedule, storeEnd, type StoredWithdrawal } from './store/withdrawals.ts';
import { evolve, operationIdOf, type Withdrawal, type WithdrawalEnd } from './domain/withdrawal.ts';
import { OutcomeUnknown, sendOrInquire } from '../acquiring/send-or-inquire.ts';

export type WithdrawalJobDeps = {
  readonly db: Database;
  readonly clock: Clock;
  readonly banks: Banks;
  readonly livemode: boolean;
  readonly log: Pick<Logger, 'error'>;
};

export async function runWithdrawalJob(
  { db, clock: ownClock, banks, livemode, log }: WithdrawalJobDeps,
  [id = '']: readonly string[],
  now: Instant,
  attempt: number,
  /** Given when the node that created the withdrawal runs its job immediately. */
  preloaded?: StoredWithdrawal,
): Promise<void> {
  const stored = preloaded ?? (await findWithdrawal(db, null, id));
  if (!stored) return;
  const { withdrawal } = stored;
  if (withdrawal.state.status !== 'sending') return reschedule(db, stored, null);

  // A bank may be slow. Its response counts from when it arrives, so the clock keeps running.
  const clock = runningFrom(now, ownClock);
  const answer = await ask({ db, banks }, withdrawal, attempt);
  const meaning =
    answer === 'blocked'
      ? blockedOutcome(withdrawal, clock.now())
      : interpret(withdrawal, answer, clock.now());
  if ('unknown' in meaning) throw new OutcomeUnknown(meaning.unknown);
  if ('again' in meaning) return reschedule(db, stored, meaning.again);
  if (!(await storeEnd(db, stored, meaning.fact, { livemode, now: clock.now() })))
    await logContradiction({ db, log }, withdrawal, meaning.fact);
}

/** Until the bank has received the payout, a block by the operator still stops it. */
async function ask(
  { db, banks }: Pick<WithdrawalJobDeps, 'db' | 'banks'>,
  withdrawal: Withdrawal,
  attempt: number,
): Promise<BankResponse | 'blocked'> {
  const { route, amount, cardToken } = withdrawal;
  if (!route) throw new Error(`withdrawal ${withdrawal.id} has no route`);
  const { terminal } = route;
  const bank = await banks.bankOf(terminal);
  const operationId = operationIdOf(withdrawal);
  return sendOrInquire<BankResponse | 'blocked'>(attempt === 1, {
    send: () => bank.send({ kind: 'payout', operationId, terminal, amount, card: { token: cardToken } }),
    inquire: () => bank.inquire(operationId, terminal),
    refuse: async () => ((await isBlocked(db, withdrawal)) ? 'blocked' : undefined),
  });
}

async function isBlocked(db: Database, { walletId, destinationId }: Withdrawal): Promise<boolean> {
  const wallet = await findWallet(db, null, walletId);
  const destination = (await findDestination(db, null, destinationId))?.destination;
  return !wallet || wallet.isBlocked || !destination || destination.isBlocked;
}

/** Another node writes the same, because the bank has one answer per ID. An operator may have stored another outcome. */
async function logContradiction(
  { db, log }: Pick<WithdrawalJobDeps, 'db' | 'log'>,
  withdrawal: Withdrawal,
  fact: WithdrawalEnd,
): Promise<void> {
  const { id, partyId, walletId } = withdrawal;
  const stored = (await findWithdrawal(db, null, id))?.withdrawal.state.status;
  const fromBank = evolve(withdrawal, fact).state.status;
  if (stored === fromBank) return;
  const operationId = operationIdOf(withdrawal);
  log.error(
    { withdrawalId: id, operationId, partyId, walletId, stored, fromBank },
    'payout outcome contradicts the stored result',
  );
}
