// Once a minute somebody looks whether payers have their test charges back. What is late is an alarm; what the engine has given
// up is asked for again after an hour, whether or not an operator has looked.
import { laterBy, type Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Logger } from '../platform/log.ts';
import { countPendingVerificationRefunds, resumeOwedReturns } from './store/verification-refunds.ts';

const resumedAfterMs = 60 * 60_000;

export async function watchVerificationRefunds(
  db: Database,
  now: Instant,
  log: Pick<Logger, 'warn' | 'error'>,
): Promise<void> {
  const { pending, overdue } = await countPendingVerificationRefunds(db, now);
  if (overdue > 0) log.error({ pending, overdue }, 'verification refunds overdue');
  const resumed = await resumeOwedReturns(db, now, laterBy(now, -resumedAfterMs));
  if (resumed > 0) log.warn({ resumed }, 'returns that had been given up are asked for again');
}
