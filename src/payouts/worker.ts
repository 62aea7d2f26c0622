// The job of a withdrawal: asks its bank while it holds no connection, and writes what the response proves.
// A send is claimed once, and every write is guarded by the version.
import type { BankReturn } from '../acquiring/domain/bank-port.ts';
import type { Banks } from '../acquiring/banks.ts';
import { laterBy, type Clock, type Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { LeasedJob } from '../platform/jobs/job-table.ts';
import type { Logger } from '../platform/log.ts';
import { blockedOutcome, interpret } from './domain/bank-actions.ts';
import { payoutOf } from './domain/bank-operations.ts';
import { findWithdrawal, reschedule, storeEnd, type StoredWithdrawal } from './store/withdrawals.ts';
import { evolve, operationIdOf, type Withdrawal, type WithdrawalEnd } from './domain/withdrawal.ts';
import { askBank } from './ask-bank.ts';
import { returnWithdrawal } from './return-withdrawal.ts';
import { hearLateAnswer } from '../acquiring/exchange-log/hear-late-answer.ts';
import { unproved } from '../acquiring/send-or-inquire.ts';
import { defined } from '../defined.ts';

export type WithdrawalJobDeps = {
  readonly db: Database;
  readonly banks: Banks;
  readonly livemode: boolean;
  readonly log: Pick<Logger, 'error' | 'warn'>;
};

/** If this node stops before it has written the return, the bank is asked again after this. */
const returnLeaseMs = 60_000;

export async function runWithdrawalJob(
  deps: WithdrawalJobDeps,
  { key: [id = ''], clock, leasedUntil, row }: LeasedJob<StoredWithdrawal>,
): Promise<void> {
  const { db, livemode, log } = deps;
  const loaded = row ?? (await findWithdrawal(db, null, id));
  if (!loaded) return;
  const { state } = loaded.withdrawal;
  if (state.status === 'failed' || (state.status === 'succeeded' && state.returned))
    return reschedule(db, loaded, null);

  if (state.status === 'succeeded') return lookForReturn(deps, loaded, clock);
  const { stored, answer } = await askBank(deps, loaded, {
    isNew: row !== undefined,
    leasedUntil,
    clock,
  });
  if (answer === 'taken') return;
  const { withdrawal } = stored;
  const meaning =
    answer === 'blocked'
      ? blockedOutcome(withdrawal, clock.now())
      : interpret(withdrawal, answer, clock.now());
  if ('unknown' in meaning) throw unproved(meaning.unknown, answer === 'blocked' ? undefined : answer);
  if ('again' in meaning) return reschedule(db, stored, meaning.again);
  const returned = answer !== 'blocked' && answer.outcome === 'approved' ? answer.returned : undefined;
  const endedAt = clock.now();
  const wakeAt = returned && laterBy(endedAt, returnLeaseMs);
  const ended = await storeEnd(db, stored, meaning.fact, {
    livemode,
    now: endedAt,
    ...defined({ wakeAt, answer: answer === 'blocked' ? undefined : answer }),
  });
  if (!ended) {
    if (answer !== 'blocked') await hearLateAnswer({ db, clock, log }, operationIdOf(withdrawal), answer);
    return logContradiction({ db, log }, withdrawal, meaning.fact);
  }
  if (returned)
    await recordReturn(
      deps,
      { ...stored, withdrawal: ended, version: stored.version + 1 },
      returned,
      clock.now(),
    );
}

/** The bank has called about a payout that had succeeded. */
async function lookForReturn(deps: WithdrawalJobDeps, stored: StoredWithdrawal, clock: Clock): Promise<void> {
  const { withdrawal } = stored;
  const payout = payoutOf(withdrawal);
  const bank = await deps.banks.bankOf(payout.terminal);
  const answer = await bank.inquire(payout);
  if (answer.outcome === 'unknown' || answer.outcome === 'notSent') throw unproved(answer.why, answer);
  const returned = answer.outcome === 'approved' ? answer.returned : undefined;
  if (!returned) return reschedule(deps.db, stored, null);
  await recordReturn(deps, stored, returned, clock.now());
}

async function recordReturn(
  { db, livemode, log }: WithdrawalJobDeps,
  stored: StoredWithdrawal,
  returned: BankReturn,
  now: Instant,
): Promise<void> {
  const { at, code, minor } = returned;
  const { currency } = stored.withdrawal.amount;
  const fact = { type: 'withdrawal_returned', returned: { at, code, amount: { minor, currency } } } as const;
  await returnWithdrawal({ db, livemode, log }, stored, fact, now);
}

/**
 * Another node writes the same, because the bank has one answer per ID. An operator may have stored another outcome, and a payout that has
 * moved has none yet: then two banks may have paid.
 */
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
