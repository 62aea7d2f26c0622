// What an operator does about a stuck payout: record the outcome that the bank has reported. No bank is contacted.
import type { Clock, Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { operatorDecided } from './domain/payout-failure.ts';
import type { WithdrawalEnd } from './domain/withdrawal.ts';
import { claimStuckJob, storeEnd } from './store/withdrawals.ts';

export type ManualOutcome = 'succeeded' | 'failed';

export type Decision = {
  /** Since when it was stuck as the operator asked the bank. After another retry the payout may have been sent. */
  readonly since?: Instant | undefined;
  readonly as: ManualOutcome;
  readonly reason: string;
};

/** Only a stuck withdrawal: while a node works on one, it may send it. */
export async function resolveWithdrawal(
  { db, clock, livemode }: { readonly db: Database; readonly clock: Clock; readonly livemode: boolean },
  id: string,
  { since, as, reason }: Decision,
): Promise<void> {
  await db.transaction(async (tx) => {
    const stored = await claimStuckJob(tx, id, since);
    if (!stored)
      throw new Error(
        `Withdrawal ${id} has no stuck job${since ? ` since ${since}` : ''}. List stuck jobs with "mandate jobs stuck". ` +
          'If it is stuck again, ask the bank again: it may have been sent.',
      );
    if (stored.withdrawal.state.status !== 'sending')
      throw new Error(`Withdrawal ${id} has ended. Ask its bank again with "mandate jobs retry".`);
    if (!(await storeEnd(tx, stored, factOf(as, reason), { livemode, now: clock.now() })))
      throw new Error(
        `Another writer changed withdrawal ${id}. Check its status, and run the command again.`,
      );
  });
}

function factOf(as: ManualOutcome, reason: string): WithdrawalEnd {
  return as === 'succeeded'
    ? { type: 'withdrawal_succeeded', reference: 'operator', reason }
    : { type: 'withdrawal_failed', failure: operatorDecided, reason };
}
