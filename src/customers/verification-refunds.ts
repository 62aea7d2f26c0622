// Once a minute, checks whether verification refunds are overdue. Their stuck jobs are resumed after an hour, without an
// operator.
import { laterBy, type Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Logger } from '../platform/log.ts';
import { countPendingVerificationRefunds, resumeStuckRefunds } from './store/verification-refunds.ts';

const resumedAfterMs = 60 * 60_000;

export async function watchVerificationRefunds(
  db: Database,
  now: Instant,
  log: Pick<Logger, 'warn' | 'error'>,
): Promise<void> {
  const { pending, overdue } = await countPendingVerificationRefunds(db, now);
  if (overdue > 0) log.error({ pending, overdue }, 'verification refunds overdue');
  const resumed = await resumeStuckRefunds(db, now, laterBy(now, -resumedAfterMs));
  if (resumed > 0) log.warn({ resumed }, 'stuck verification refunds resumed');
}
