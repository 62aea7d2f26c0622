// Copies what changes to the tables of searches, half a second behind, and does the portions of a rebuild in between.
import type { Database } from '../platform/database/database.ts';
import { openLoop } from '../platform/jobs/loop.ts';
import { logFailure } from '../platform/jobs/outages.ts';
import type { Logger } from '../platform/log.ts';
import { readListChanges } from './lists/position.store.ts';
import { readChanges } from './position.store.ts';

const readEveryMs = 500;

export function openSearchReader({ db, log }: { readonly db: Database; readonly log: Logger }) {
  const loop = openLoop(read, (error) =>
    logFailure(log, error, {}, 'event log could not be read for searches'),
  );

  async function read(): Promise<void> {
    const done = await readChanges(db);
    const listed = await readListChanges(db);
    if (done?.more || listed?.more) loop.wake();
  }

  return {
    start() {
      loop.every(readEveryMs, loop.wakeIfStill);
      loop.wake();
    },
    /** Resolves when all that was written before is copied, or another node copies it. */
    async whenIdle() {
      loop.wake();
      await loop.whenIdle();
    },
    stop: () => loop.stop(),
  };
}
