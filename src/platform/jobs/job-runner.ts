// Runs jobs: a node claims a due row by moving its `wake_at` forward by a lease, so a crash loses only the lease. The runner knows tables
// and times; every step must be harmless when run twice, because the row's version guards its write.
import type { Logger } from '../log.ts';
import { epochMsOf, latest, laterBy, type Clock, type Instant } from '../../clock.ts';
import type { Database } from '../database/database.ts';
import {
  dueStatements,
  earliestDueIn,
  movedClocks,
  moveTestClock,
  type ClaimedRow,
  type DueStatements,
} from './job-claims.ts';

export type JobHandler = {
  /** The table whose rows fall due; it has party_id, wake_at, attempts, stuck_at and stuck_reason. */
  readonly table: string;
  /** The columns of its primary key. */
  readonly keys: readonly string[];
  /** How many of its rows a node works on concurrently, if fewer than usual. */
  readonly maxConcurrency?: number;
  /**
   * Writes the row's next wake_at, or null, with its change of state. Attempts count from 1; `preloaded` is the row as the node that
   * created it knows it.
   */
  readonly step: (
    key: readonly string[],
    now: Instant,
    attempt: number,
    preloaded?: unknown,
  ) => Promise<void>;
};

/** A small task that every node repeats. Running it twice is harmless. */
export type PeriodicTask = {
  readonly name: string;
  readonly everyMs: number;
  readonly run: () => Promise<unknown>;
};

export type JobRunner = {
  start(): void;
  /** Polls for due jobs now instead of at the next interval. */
  wake(): void;
  /**
   * Starts a job whose row this node wrote as claimed (`initialClaim`), and passes `preloaded` to its step. If the table limits
   * concurrency and no slot is free, the job becomes due for any node.
   */
  run(table: string, key: readonly string[], now: Instant, preloaded?: unknown): void;
  /** Runs one row's job now, whenever it is due: something outside may have changed. */
  expedite(table: string, key: readonly string[]): Promise<void>;
  /** Counts other work as running: `whenIdle` and `stop` wait for it. It must not fail. */
  attend(work: Promise<void>): void;
  /** Resolves when nothing runs and no poll is requested. */
  whenIdle(): Promise<void>;
  /** Moves a party's time to an instant and runs everything that falls due on the way, in order. */
  advance(partyId: string, to: Instant): Promise<void>;
  stuckJobs(): Promise<StuckJob[]>;
  /** Jobs whose last run failed and which are tried again. */
  failingJobs(): Promise<FailingJob[]>;
  /** Makes the job due for the next poll. It claims nothing, because the command that calls it ends soon. */
  retry(kind: string, id: string): Promise<boolean>;
  /** Waits for the steps that run. What is left stays due for other nodes. */
  stop(): Promise<void>;
};

type Handler = JobHandler & { readonly sql: DueStatements };

type Claimed = { readonly key: readonly string[]; readonly attempts: number };

export type StuckJob = {
  readonly kind: string;
  /** The parts of its key, joined with slashes. */
  readonly id: string;
  readonly partyId: string;
  readonly since: Instant;
  readonly reason: string;
};

export type FailingJob = Omit<StuckJob, 'since'> & { readonly attempts: number; readonly nextTryAt: Instant };

const pollEveryMs = 1_000;
/** Longer than the usual wait for a bank. A node that claims the row after it expires sends under the same operation ID. */
const leaseMs = 60_000;
const claimedAtOnce = 100;
const stepsAtOnce = 8;
/** Per table: steps wait for banks most of the time, and one slow bank must not hold up the others. */
const slotsOfTable = 32;
/** After this many failures in a row a job is stuck: after about an hour, as the delays below add up to 57 minutes. */
const maxAttempts = 15;
const firstRetryMs = 1_000;
const longestRetryMs = 600_000;
const maxReasonCharacters = 500;

export function openJobRunner(options: {
  db: Database;
  clock: Clock;
  log: Logger;
  handlers: readonly JobHandler[];
  periodicTasks: readonly PeriodicTask[];
  countJobRun: (table: string, outcome: 'done' | 'failed' | 'stuck') => void;
}): JobRunner {
  const { db, clock, log } = options;
  const handlers = options.handlers.map((handler): Handler => ({
    ...handler,
    sql: dueStatements(handler.table, handler.keys),
  }));
  const earliestDue = earliestDueIn(options.handlers.map(({ table }) => table));
  const timers: NodeJS.Timeout[] = [];
  const advancing = new Map<string, Promise<void>>();
  const running = new Set<Promise<void>>();
  const busySlots = new Map<string, number>();
  /** Tables with more due rows than free slots. */
  const backlogged = new Set<string>();
  let stopping = false;
  const pollRequested = new Set<string>();
  let polling: Promise<void> | undefined;

  function wake(): void {
    requestPoll(handlers.map(({ table }) => table));
  }

  function requestPoll(tables: readonly string[]): void {
    for (const table of tables) pollRequested.add(table);
    if (stopping || pollRequested.size === 0) return;
    polling ??= pollWhileRequested();
  }

  async function pollWhileRequested(): Promise<void> {
    while (pollRequested.size > 0 && !stopping) {
      const through = handlers.filter(({ table }) => pollRequested.has(table));
      pollRequested.clear();
      try {
        await poll(through);
      } catch (error) {
        log.warn({ err: error }, 'job poll failed');
      }
    }
    // Cleared in the same turn in which nothing more was requested, so that no request falls in between.
    polling = undefined;
  }

  async function poll(through: readonly Handler[]): Promise<void> {
    const now = clock.now();
    for (const handler of through) await startDue(handler, now);
    // A party whose test clock runs ahead has jobs that are due on that clock alone.
    for (const { party_id, offset_ms } of await db.run(movedClocks, {})) {
      if (advancing.has(party_id)) continue;
      const theirs = laterBy(now, Number(offset_ms));
      for (const handler of through) await startDue(handler, theirs, party_id);
    }
  }

  /** Claims no more than it starts immediately, so that no lease expires while a row waits. */
  async function startDue(handler: Handler, now: Instant, partyId?: string): Promise<void> {
    const { table, sql } = handler;
    for (const { limit, claim } of sql.claims) {
      while (freeSlots(handler) >= limit) {
        if (stopping) return;
        const lease = { now, lease_ms: BigInt(leaseMs) };
        // Reserves the slots while the claim runs.
        busySlots.set(table, busyIn(table) + limit);
        const rows = await (
          partyId === undefined
            ? db.run(claim, lease)
            : db.run(sql.claimOfParty, { ...lease, limit, party_id: partyId })
        ).finally(() => busySlots.set(table, busyIn(table) - limit));
        for (const row of rows) inSlot(handler, runClaimed(handler, row));
        if (rows.length < limit) return;
      }
    }
    backlogged.add(table);
  }

  const handlerOf = (table: string) => handlers.find((one) => one.table === table);
  const busyIn = (table: string): number => busySlots.get(table) ?? 0;
  const freeSlots = ({ table, maxConcurrency = slotsOfTable }: JobHandler): number =>
    maxConcurrency - busyIn(table);

  function inSlot({ table }: JobHandler, run: Promise<void>): void {
    busySlots.set(table, busyIn(table) + 1);
    track(run, () => {
      busySlots.set(table, busyIn(table) - 1);
      if (backlogged.delete(table)) requestPoll([table]);
    });
  }

  function track(run: Promise<void>, over: () => void = () => {}): void {
    const doing = run.finally(() => {
      running.delete(doing);
      over();
    });
    running.add(doing);
  }

  /** For a party's clock: everything due at one moment ends before the clock moves on. */
  async function runAllDue(handler: Handler, now: Instant, partyId: string): Promise<void> {
    for (;;) {
      const lease = { now, lease_ms: BigInt(leaseMs), limit: claimedAtOnce, party_id: partyId };
      const rows = await db.run(handler.sql.claimOfParty, lease);
      await inParallel(rows, stepsAtOnce, (row) => runClaimed(handler, row));
      if (rows.length < claimedAtOnce || stopping) return;
    }
  }

  function runClaimed(handler: Handler, row: ClaimedRow): Promise<void> {
    // Never before the moment it was due for: another node's clock may be ahead.
    const now = latest(laterBy(clock.now(), Number(row.offset_ms)), row.due_at);
    return runStep(handler, row, now);
  }

  async function runStep(
    handler: Handler,
    claimed: Claimed,
    now: Instant,
    preloaded?: unknown,
  ): Promise<void> {
    try {
      await handler.step(claimed.key, now, claimed.attempts, preloaded);
      options.countJobRun(handler.table, 'done');
    } catch (error) {
      await postpone(handler, claimed, now, error);
    }
  }

  async function postpone(
    { table, sql }: Handler,
    { key, attempts }: Claimed,
    now: Instant,
    error: unknown,
  ): Promise<void> {
    const isStuck = attempts >= maxAttempts;
    const fields = { err: error, job: table, id: idOf(key), attempts };
    if (isStuck) log.error(fields, 'job stuck');
    else log.warn(fields, 'job failed');
    options.countJobRun(table, isStuck ? 'stuck' : 'failed');
    const reason = String(error).slice(0, maxReasonCharacters);
    try {
      if (isStuck) await db.run(sql.markStuck, { key, attempts, now, reason });
      else
        await db.run(sql.postpone, { key, attempts, wake_at: laterBy(now, retryDelayMs(attempts)), reason });
    } catch (failure) {
      log.warn({ err: failure, job: table, id: idOf(key) }, 'job update failed');
    }
  }

  /** Makes the job due now instead of when its lease expires, for the next free slot of any node. */
  async function returnToQueue({ table, sql }: Handler, key: readonly string[], now: Instant): Promise<void> {
    try {
      await db.run(sql.expedite, { key, now });
      backlogged.add(table);
    } catch (error) {
      log.warn({ err: error, job: table, id: idOf(key) }, 'job return to queue failed');
    }
  }

  /** The next time at which something falls due for a party, and in which tables. */
  async function nextStop(partyId: string, to: Instant) {
    const found = await db.run(earliestDue, { party_id: partyId, before: to });
    const [at] = found.map(({ wake_at }) => wake_at).sort();
    return (
      at && { at, ordinals: found.filter(({ wake_at }) => wake_at === at).map(({ ordinal }) => ordinal) }
    );
  }

  /** Moves of one party's clock run one after the other: together they would run jobs at each other's times. */
  async function advance(partyId: string, to: Instant): Promise<void> {
    const before = advancing.get(partyId) ?? Promise.resolve();
    const move = before.catch(() => undefined).then(() => moveThrough(partyId, to));
    // Meanwhile this node's polls skip the party, or the order would be lost.
    advancing.set(partyId, move);
    try {
      await move;
    } finally {
      if (advancing.get(partyId) === move) advancing.delete(partyId);
    }
  }

  async function moveThrough(partyId: string, to: Instant): Promise<void> {
    for (;;) {
      const stop = await nextStop(partyId, to);
      const offsetMs = epochMsOf(stop?.at ?? to) - epochMsOf(clock.now());
      await db.run(moveTestClock, { party_id: partyId, offset_ms: BigInt(Math.max(0, offsetMs)) });
      if (stop === undefined || stopping) return;
      const earlier = new Set(running);
      for (const ordinal of stop.ordinals) {
        const due = handlers[ordinal];
        if (due) await runAllDue(due, stop.at, partyId);
      }
      // Jobs that these have started belong to this moment too; a later stop would claim them again.
      await Promise.all([...running].filter((one) => !earlier.has(one)));
    }
  }

  return {
    start() {
      timers.push(setInterval(wake, pollEveryMs));
      for (const task of options.periodicTasks) {
        const run = runOneAtATime(task, log);
        timers.push(setInterval(() => void run(), task.everyMs));
      }
      wake();
    },
    wake,
    run(table, key, now, preloaded) {
      const handler = handlerOf(table);
      if (!handler) throw new Error(`Table "${table}" has no job handler.`);
      if (stopping) return; // another node claims it when the lease expires
      const run = () => runStep(handler, { key, attempts: 1 }, now, preloaded);
      if (handler.maxConcurrency === undefined) track(run());
      else if (freeSlots(handler) > 0) inSlot(handler, run());
      else track(returnToQueue(handler, key, now));
    },
    async expedite(table, key) {
      const handler = handlerOf(table);
      const rows = handler ? await db.run(handler.sql.expedite, { key, now: clock.now() }) : [];
      if (rows.length > 0) wake();
    },
    attend: (work) => track(work),
    async whenIdle() {
      while (polling || running.size > 0) await Promise.all([polling, ...running]);
    },
    advance,
    async stuckJobs() {
      const lists = await Promise.all(
        handlers.map(async ({ table, sql }) =>
          (await db.run(sql.stuck, {})).map((row) => ({
            kind: table,
            id: idOf(row.key),
            partyId: row.party_id,
            since: row.stuck_at,
            reason: row.stuck_reason,
          })),
        ),
      );
      return lists.flat();
    },
    async failingJobs() {
      const soon = laterBy(clock.now(), longestRetryMs + leaseMs);
      const lists = await Promise.all(
        handlers.map(async ({ table, sql }) =>
          (await db.run(sql.failing, { soon })).map((row) => ({
            kind: table,
            id: idOf(row.key),
            partyId: row.party_id,
            attempts: row.attempts,
            nextTryAt: row.wake_at,
            reason: row.stuck_reason,
          })),
        ),
      );
      return lists.flat();
    },
    async retry(kind, id) {
      const handler = handlerOf(kind);
      const rows = handler ? await db.run(handler.sql.retry, { key: id.split('/'), now: clock.now() }) : [];
      return rows.length > 0;
    },
    async stop() {
      stopping = true;
      timers.forEach(clearInterval);
      // A poll in progress may have started more.
      await Promise.allSettled([polling, ...advancing.values()]);
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}

/** Skips a turn while the task still runs: slow runs would pile up, each with a connection. */
function runOneAtATime(task: PeriodicTask, log: Logger): () => Promise<void> {
  let isRunning = false;
  return async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await task.run();
    } catch (error) {
      log.warn({ err: error, task: task.name }, 'periodic task failed');
    } finally {
      isRunning = false;
    }
  };
}

export function initialClaim(now: Instant): { wake_at: Instant; attempts: number } {
  return { wake_at: laterBy(now, leaseMs), attempts: 1 };
}

function idOf(key: readonly string[]): string {
  return key.join('/');
}

function retryDelayMs(attempts: number): number {
  return Math.min(firstRetryMs * 2 ** (attempts - 1), longestRetryMs);
}

async function inParallel<T>(
  items: readonly T[],
  limit: number,
  run: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of waiting) await run(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
}
