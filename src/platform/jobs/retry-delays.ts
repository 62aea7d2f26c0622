// The back-off of failed jobs: how long until the next run, and when a job is stuck.

export const longestRetryMs = 600_000;
/** After one failure more the job is stuck: after about an hour, as the delays add up to 57 minutes. */
const retryDelaysMs = Array.from({ length: 14 }, (_, n) => Math.min(1_000 * 2 ** n, longestRetryMs));

/** Undefined: the job is stuck. The first attempt is 1. */
export function retryDelayMs(failedAttempts: number): number | undefined {
  return retryDelaysMs[failedAttempts - 1];
}
