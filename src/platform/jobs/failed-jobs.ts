// What an operator sees of jobs that fail.
import { laterBy, type Clock, type Instant } from '../../clock.ts';
import type { Database } from '../database/database.ts';
import { idOf, leaseMs, type JobTable } from './job-table.ts';
import { longestRetryMs } from './retry-delays.ts';

export type StuckJob = {
  readonly kind: string;
  readonly id: string;
  readonly partyId: string;
  readonly since: Instant;
  readonly reason: string;
};

export type FailingJob = Omit<StuckJob, 'since'> & { readonly attempts: number; readonly nextTryAt: Instant };

export async function stuckJobs(db: Database, tables: readonly JobTable[]): Promise<StuckJob[]> {
  const lists = tables.map(async ({ name, sql }) =>
    (await db.run(sql.stuck, {})).map((row) => ({ ...namesOf(name, row), since: row.stuck_at })),
  );
  return (await Promise.all(lists)).flat();
}

export async function failingJobs(
  db: Database,
  tables: readonly JobTable[],
  clock: Clock,
): Promise<FailingJob[]> {
  const soon = laterBy(clock.now(), longestRetryMs + leaseMs);
  const lists = tables.map(async ({ name, sql }) =>
    (await db.run(sql.failing, { soon })).map((row) => ({
      ...namesOf(name, row),
      attempts: row.attempts,
      nextTryAt: row.wake_at,
    })),
  );
  return (await Promise.all(lists)).flat();
}

function namesOf(
  kind: string,
  row: { readonly key: readonly string[]; readonly party_id: string; readonly stuck_reason: string },
) {
  return { kind, id: idOf(row.key), partyId: row.party_id, reason: row.stuck_reason };
}
