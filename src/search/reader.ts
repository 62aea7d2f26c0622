// Copies what changes to the tables of searches, half a second behind, and does the portions of a rebuild in between.
import type { Database } from '../platform/database/database.ts';
import { openLoop } from '../platform/jobs/loop.ts';
import { logFailure } from '../platform/jobs/outages.ts';
import type { Logger } from '../platform/log.ts';
import { readListChanges } from './lists/position.store.ts';
import { readChanges } from './position.store.ts';

const readEveryMs = 500;

export function openSearchReader({ db, log }: { readonly db: Database; readonly log: Logger }) {
  const failed = (error: unknown) => logFailure(log, error, {}, 'event log could not be read for searches');
  const searches = openLoop(read, failed);
  // Apart: a rebuild or a failure of lists keeps no payment back, and has none copied before its outcome.
  const lists = openLoop(readLists, failed);
  const loops = [searches, lists];

  /** What the turn before saw. Undefined after one that another followed at once. */
  let settled: string | undefined;

  async function read(): Promise<void> {
    const done = await readChanges(db, settled);
    settled = done?.more ? undefined : done?.snapshot;
    if (done?.more) searches.wake();
  }

  async function readLists(): Promise<void> {
    const done = await readListChanges(db);
    if (done?.more) lists.wake();
  }

  return {
    start() {
      for (const loop of loops) {
        loop.every(readEveryMs, loop.wakeIfStill);
        loop.wake();
      }
    },
    /** Resolves when all that was written before is copied, or another node copies it. */
    async whenIdle() {
      // What waits for its bank in the first turn is copied in the second.
      for (let turn = 0; turn < 2; turn++) {
        for (const loop of loops) loop.wake();
        await Promise.all(loops.map((loop) => loop.whenIdle()));
      }
    },
    stop: () => Promise.all(loops.map((loop) => loop.stop())),
  };
}
