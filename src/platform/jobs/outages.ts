// What workers log of a failure. An outage has one line when it begins and one when it ends, because hundreds of jobs may wait for it.
import type { Logger } from '../log.ts';

type Failures = Pick<Logger, 'warn' | 'debug'>;

/** The database or a bank could not be reached, and those who watch it say so. Such an error says so itself: it has `isOutage`. */
function isOutage(error: unknown): error is Error {
  return error instanceof Error && 'isOutage' in error && error.isOutage === true;
}

/** An error that no outage explains keeps its stack. One that lasts is a line for each job, because it may be no outage at all. */
export function logFailure(
  log: Failures,
  error: unknown,
  fields: object,
  event: string,
  isLasting = false,
): void {
  if (!isOutage(error)) log.warn({ err: error, ...fields }, event);
  else log[isLasting ? 'warn' : 'debug']({ ...fields, because: error.message }, event);
}

/** Follows the polls of a worker, each of which asks the database. */
export function watchDatabase(log: Failures) {
  let isAway = false;
  return {
    answered(): void {
      if (isAway) log.warn('database back');
      isAway = false;
    },
    failed(error: unknown): void {
      if (!isOutage(error)) return logFailure(log, error, {}, 'job poll failed');
      if (!isAway) log.warn({ because: error.message }, 'database away');
      isAway = true;
    },
  };
}
