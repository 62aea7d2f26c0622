// Writes the results of many deliveries together: one statement for all that arrive during the previous one.
import type { Clock } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { openLoop } from '../../platform/jobs/loop.ts';
import { logFailure } from '../../platform/jobs/outages.ts';
import type { Logger } from '../../platform/log.ts';
import { queueFields, write, type QueueWrite } from './queues.store.ts';

export type OutcomeDeps = {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly countDelivery: (outcome: 'delivered' | 'failed' | 'parked') => void;
};

/** The returned function says whether the claim was still valid. After a failed write the lease expires, and the queue is claimed again. */
export function openOutcomeWriter(deps: OutcomeDeps): (entry: QueueWrite) => Promise<boolean> {
  type Waiting = { readonly entry: QueueWrite; readonly resolve: (isOurs: boolean) => void };
  const { db, clock, log } = deps;
  const waiting: Waiting[] = [];
  let batch: Waiting[] = [];

  async function writeWaiting(): Promise<void> {
    batch = waiting.splice(0);
    const entries = batch.map(({ entry }) => entry);
    const outcomes = await write(db, entries, clock.now());
    batch.forEach(({ resolve }, index) => resolve(outcomes[index] ?? false));
  }

  function fail(error: unknown): void {
    for (const { entry, resolve } of batch) {
      const what = entry.attempt
        ? 'webhook delivery result could not be stored'
        : 'webhook queue update failed';
      logFailure(log, error, queueFields(entry.queue), what);
      resolve(false);
    }
  }

  const { wake } = openLoop(writeWaiting, fail);
  return (entry) => {
    report(entry, deps);
    return new Promise((resolve) => {
      waiting.push({ entry, resolve });
      wake();
    });
  };
}

function report(entry: QueueWrite, { log, countDelivery }: OutcomeDeps): void {
  if (entry.outcome === 'retry') countDelivery('failed');
  else if (entry.outcome === 'park') {
    countDelivery('parked');
    const fields = { attempts: entry.queue.failures + 1, lastFailure: entry.failure };
    log.warn({ ...queueFields(entry.queue), ...fields }, 'webhook queue parked');
  } else if (entry.attempt) countDelivery('delivered');
}
