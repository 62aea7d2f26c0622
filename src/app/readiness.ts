// What keeps a node from serving, for load balancers and operators.
import type { DatabasePool } from '../platform/database/database.ts';
import { isMigrated } from '../platform/database/migrate.ts';
import { feedState } from '../webhooks/feed/feed.store.ts';

/** Load balancers wait for a few seconds. */
const answerWithinMs = 3_000;

/** The names of what is not ready. It answers in time even if the database does not. */
export async function whatIsNotReady(
  database: DatabasePool,
  workers?: { isComplete(): boolean },
): Promise<string[]> {
  if (workers && !workers.isComplete()) return ['workers: not all have started'];
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<string[]>((resolve) => {
    timer = setTimeout(() => resolve(['database: no response within 3 s']), answerWithinMs);
  });
  const found = findWhatIsNotReady(database).catch(() => ['database']);
  return Promise.race([found, tooLate]).finally(() => clearTimeout(timer));
}

async function findWhatIsNotReady(database: DatabasePool): Promise<string[]> {
  const { isReadOnly, commitsWait } = await database.serverState();
  if (isReadOnly) return ['database: read-only, like a standby'];
  if (commitsWait) return ['database: commits wait, as for a missing standby'];
  if (!(await isMigrated(database.lookups))) return ['migrations'];
  const { isMismatch } = await feedState(database.lookups);
  return isMismatch ? ['webhooks: the event log comes from another PostgreSQL'] : [];
}
