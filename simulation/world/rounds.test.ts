import { expect, test } from 'vitest';
import { instantAt, epochMsOf } from '../../src/clock.ts';
import { blockedOutcome } from '../../src/payouts/domain/bank-actions.ts';
import type { Withdrawal } from '../../src/payouts/domain/withdrawal.ts';
import { roundsFor } from './rounds.ts';

/** After so many failures a job is stuck. */
const failures = 15;

/** How often the job of a payout runs that is blocked from its first second on. */
function runsOfBlocked(): number {
  const createdAt = instantAt(Date.UTC(2026, 0, 19, 10));
  const withdrawal = { createdAt } as Withdrawal;
  let now = createdAt;
  for (let runs = 1; ; runs++) {
    const outcome = blockedOutcome(withdrawal, now);
    if (!('again' in outcome)) return runs - 1 + failures;
    now = instantAt(epochMsOf(outcome.again));
  }
}

test('payouts that are held back may each have the rounds of a day for themselves', () => {
  const runs = runsOfBlocked();
  expect(runs).toBeGreaterThan(40);
  for (const payouts of [0, 1, 25, 100]) expect(roundsFor(payouts)).toBeGreaterThanOrEqual(payouts * runs);
});
