// The engine's step of a withdrawal: send the payout, or ask what became of it, without holding a connection, and write what the
// answer proves with what it means for the money. Running it twice is harmless: the bank knows the payout by its one id, and
// every write is guarded by the version.
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
  /** As its maker wrote it, who began this at once. */
  preloaded?: StoredWithdrawal,
): Promise<void> {
  const stored = preloaded ?? (await findWithdrawal(db, null, id));
  if (!stored) return;
  const { withdrawal } = stored;
  if (withdrawal.state.status !== 'sending') return reschedule(db, stored, null);

  // A bank may take its time; what it says is true from when it says it.
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

/** It was allowed when it was made. Until the bank has it, an operator can still say no. */
async function ask(
  { db, banks }: Pick<WithdrawalJobDeps, 'db' | 'banks'>,
  withdrawal: Withdrawal,
  attempt: number,
): Promise<BankResponse | 'blocked'> {
  const { route, amount, cardToken } = withdrawal;
  if (!route) throw new Error(`withdrawal ${withdrawal.id} has no way to a bank`);
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

/** Whoever was quicker has written the same: the bank says one thing under one id. An operator may have said another. */
async function logContradiction(
  { db, log }: Pick<WithdrawalJobDeps, 'db' | 'log'>,
  withdrawal: Withdrawal,
  fact: WithdrawalEnd,
): Promise<void> {
  const { id, partyId, walletId } = withdrawal;
  const written = (await findWithdrawal(db, null, id))?.withdrawal.state.status;
  const proved = evolve(withdrawal, fact).state.status;
  if (written === proved) return;
  const operationId = operationIdOf(withdrawal);
  log.error(
    { withdrawalId: id, operationId, partyId, walletId, written, proved },
    'a payout ended otherwise than it is written down: find out at the bank; mandate reconcile shows it too',
  );
}
