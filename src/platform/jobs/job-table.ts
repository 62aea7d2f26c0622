// The jobs of one table: claimed for free slots, run, and after a failure retried later or stuck.
import { latest, laterBy, runningFrom, type Clock, type Instant } from '../../clock.ts';
import type { Database } from '../database/database.ts';
import type { Logger } from '../log.ts';
import { dueStatements, onlyGroup, type ClaimedRow } from './job-claims.ts';
import type { Loop } from './loop.ts';
import { logFailure } from './outages.ts';
import { retryDelayMs } from './retry-delays.ts';

export type Job<Row = never> = {
  readonly key: readonly string[];
  /** Begins at the time the job is due, or later. It runs on, because the response of a slow bank counts from when it arrives. */
  readonly clock: Clock;
  /** From 1. */
  readonly attempt: number;
  /** Given when the node that wrote the row runs its job immediately. */
  readonly row?: Row | undefined;
};

/** The lease distinguishes a run from others of its row. */
export type LeasedJob<Row = never> = Job<Row> & {
  readonly leasedUntil: Instant;
  /** A step that has moved its row's lease says so: only the run that has the lease can mark its job as stuck. */
  readonly leaseMoved: (until: Instant) => void;
  /** A test clock is moved, and stands still until all that this step starts has ended. Rows claimed with it wait for the step. */
  readonly movesClock: boolean;
};

export type JobHandler<Row = never> = {
  /** The columns of the primary key. */
  readonly keys: readonly string[];
  /** What its rows wait for, such as their bank, as SQL of a row. One that is slow holds up no other. */
  readonly group?: string;
  /** How many rows of a group a node works on concurrently, if fewer than usual. */
  readonly maxConcurrency?: number;
  /** The same if more than usual: rows that wait for no bank, and are written together. */
  readonly writtenTogether?: number;
  /** Writes the row's next wake_at, or null, with its change of state. */
  readonly step: (job: LeasedJob<Row>) => Promise<void>;
};

/** A step throws it if what it needs has no place for it now, and it has done nothing. That is no failure. */
export class NoPlaceNow extends Error {
  override readonly name = 'NoPlaceNow';
  readonly againInMs: number;

  constructor(why: string, againInMs: number) {
    super(why);
    this.againInMs = againInMs;
  }
}

/** A claim of this node. */
type Claim = Pick<ClaimedRow, 'key' | 'attempts' | 'leased_until'> & {
  readonly now: Instant;
  readonly movesClock?: boolean;
};

export type JobOutcome = 'done' | 'failed' | 'stuck' | 'put back';

export type JobTableDeps = {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly loop: Loop;
  readonly countJobRun: (table: string, outcome: JobOutcome) => void;
  /** A job has run, and what it wrote can be read. */
  readonly onRun?: (table: string, key: readonly string[]) => void;
};

export type JobTable = ReturnType<typeof openJobTable>;

/** Longer than the usual wait for a bank. A node that claims the row after it expires sends under the same operation ID. */
export const leaseMs = 60_000;
/** In each group. Steps wait for banks most of the time. */
const usualConcurrency = 32;
const maxReasonCharacters = 500;
/** After eight minutes. */
const lastingAttempts = 10;

export function openJobTable(name: string, handler: JobHandler, deps: JobTableDeps, requestPoll: () => void) {
  const { db, clock, loop } = deps;
  const { keys, group, maxConcurrency, step } = handler;
  const sql = dueStatements(name, keys, group);
  const table = { ...deps, name, sql };
  const slots = openSlots(slotsOf(handler), loop, requestPoll);

  function runClaimed({ offset_ms, due_at, ...claimed }: ClaimedRow & Pick<Claim, 'movesClock'>) {
    // Never before the moment it was due for: another node's clock may be ahead.
    const now = latest(laterBy(clock.now(), Number(offset_ms)), due_at);
    return runStep(table, step, { ...claimed, now });
  }

  return {
    name,
    sql,
    runClaimed,
    /** On the clock of a party, or of all. Claims no more than it starts immediately, so that no lease expires while a row waits. */
    async startDue(now: Instant, partyId?: string): Promise<void> {
      for (;;) {
        const [free, full] = [slots.free(), slots.full()];
        // Without groups a claim would read past all that is due, for nothing.
        if (group === undefined && full.length > 0) return;
        if (free === 0) slots.pollWhenFree();
        const sized = sql.claims.find(({ limit }) => limit <= free);
        if (!sized || loop.isStopping()) return;
        const { limit, claim } = sized;
        const lease = { now, lease_ms: BigInt(leaseMs), full };
        const claimed =
          partyId === undefined
            ? db.run(claim, lease)
            : db.run(sql.claimOfParty, { ...lease, limit, party_id: partyId });
        const rows = await slots.reserve(limit, claimed);
        for (const row of rows) slots.take(row.slot_group, runClaimed(row));
        if (rows.length < limit) return;
      }
    },
    /** The row is claimed already, or due within a lease. Without a slot for it the job becomes due now, for the next free slot of any node. */
    start(key: readonly string[], now: Instant, stepOfRow: JobHandler['step']): Promise<void> {
      const leased_until = laterBy(now, leaseMs);
      const isFree = maxConcurrency === undefined || (slots.free() > 0 && slots.full().length === 0);
      const started = isFree
        ? runStep(table, stepOfRow, { key, attempts: 1, now, leased_until })
        : returnToQueue(table, key, now, slots.pollWhenFree);
      if (isFree && maxConcurrency !== undefined) slots.take(onlyGroup, started);
      else loop.attend(started);
      return started;
    },
  };
}

/** Of rows that are written together, a few are not worth a claim and a transaction. */
function slotsOf({ maxConcurrency, writtenTogether }: JobHandler) {
  const least = writtenTogether === undefined ? 1 : Math.floor(writtenTogether / 4);
  return { max: maxConcurrency ?? writtenTogether ?? usualConcurrency, least };
}

/** So many in each group. It is full while fewer than the least that are claimed are free. */
function openSlots(
  { max, least }: { readonly max: number; readonly least: number },
  loop: Loop,
  requestPoll: () => void,
) {
  const busy = new Map<string, number>();
  let reserved = 0;
  /** More rows may be due than slots were free, of any group. */
  let isBacklogged = false;
  const count = (group: string, change: 1 | -1) => void busy.set(group, (busy.get(group) ?? 0) + change);
  const isFull = (taken: number) => taken > max - least;
  return {
    full: () => [...busy].flatMap(([group, taken]) => (isFull(taken) ? [group] : [])),
    /** In each group that is not full: all rows of a claim may be of one. */
    free: () => max - reserved - Math.max(0, ...[...busy.values()].filter((taken) => !isFull(taken))),
    reserve<Rows>(many: number, claimed: Promise<Rows>): Promise<Rows> {
      reserved += many;
      return claimed.finally(() => (reserved -= many));
    },
    take(group: string, run: Promise<void>): void {
      count(group, 1);
      const freed = run.finally(() => {
        const wasFull = isFull(busy.get(group) ?? 0);
        count(group, -1);
        // Claims pass over the rows of a full group alone, also one that is in progress now.
        if (!wasFull && !isBacklogged) return;
        isBacklogged = false;
        requestPoll();
      });
      loop.attend(freed);
    },
    pollWhenFree: () => void (isBacklogged = true),
  };
}

type Table = JobTableDeps & Pick<JobTable, 'name' | 'sql'>;

async function runStep(table: Table, step: JobHandler['step'], claim: Claim): Promise<void> {
  const { key, attempts, now, leased_until: leasedUntil, movesClock = false } = claim;
  const clock = runningFrom(now, table.clock);
  const lease = { until: leasedUntil };
  const leaseMoved = (until: Instant) => void (lease.until = until);
  try {
    await step({ key, clock, attempt: attempts, leasedUntil, leaseMoved, movesClock });
    table.countJobRun(table.name, 'done');
  } catch (error) {
    if (error instanceof NoPlaceNow) await putBack(table, claim, error, clock.now());
    else await postpone(table, { ...claim, leased_until: lease.until }, error);
  } finally {
    table.onRun?.(table.name, key);
  }
}

async function returnToQueue(
  { db, log, name, sql }: Table,
  key: readonly string[],
  now: Instant,
  pollWhenFree: () => void,
): Promise<void> {
  try {
    await db.run(sql.expedite, { key, now });
    pollWhenFree();
  } catch (error) {
    logFailure(log, error, { job: name, id: idOf(key) }, 'job return to queue failed');
  }
}

async function putBack(
  { db, log, countJobRun, name, sql }: Table,
  { key, attempts }: Claim,
  error: NoPlaceNow,
  now: Instant,
): Promise<void> {
  countJobRun(name, 'put back');
  const wake_at = laterBy(now, error.againInMs);
  try {
    await db.run(sql.putBack, { key, attempts, wake_at, reason: error.message });
  } catch (failure) {
    logFailure(log, failure, { job: name, id: idOf(key) }, 'job update failed');
  }
}

async function postpone(
  { db, log, countJobRun, name, sql }: Table,
  { key, attempts, now, leased_until }: Claim,
  error: unknown,
): Promise<void> {
  const delayMs = retryDelayMs(attempts);
  const fields = { job: name, id: idOf(key) };
  if (delayMs === undefined) log.error({ err: error, ...fields, attempts }, 'job stuck');
  else logFailure(log, error, { ...fields, attempts }, 'job failed', attempts === lastingAttempts);
  countJobRun(name, delayMs === undefined ? 'stuck' : 'failed');
  const failed = { key, attempts, reason: String(error).slice(0, maxReasonCharacters) };
  try {
    if (delayMs === undefined) await db.run(sql.markStuck, { ...failed, leased_until, now });
    else await db.run(sql.postpone, { ...failed, wake_at: laterBy(now, delayMs) });
  } catch (failure) {
    logFailure(log, failure, fields, 'job update failed');
  }
}

/** The parts of its key, joined with slashes. */
export function idOf(key: readonly string[]): string {
  return key.join('/');
}
