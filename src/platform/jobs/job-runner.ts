// Jobs. A row with work due carries the time (`wake_at`); a node claims it by moving that time forward by a lease, so that a crash
// loses nothing but the lease. A node that makes a job due wakes itself immediately; polls find what other nodes left. The runner
// knows tables and times, no business: every step must be harmless when run twice, because the row's version guards its write.
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
  /** How many of its rows a node works on at once, where that is fewer than usual. */
  readonly maxConcurrency?: number;
  /**
   * Writes the row's next wake_at, or null, with its change of state. The first attempt is 1. `preloaded` is the row as the node knows
   * it that created it and runs its first step immediately.
   */
  readonly step: (
    key: readonly string[],
    now: Instant,
    attempt: number,
    preloaded?: unknown,
  ) => Promise<void>;
};

/** Something small to do every now and then, on every node, harmless when done twice. */
export type PeriodicTask = {
  readonly name: string;
  readonly everyMs: number;
  readonly run: () => Promise<unknown>;
};

export type JobRunner = {
  start(): void;
  /** Looks for due work now instead of at the next poll. */
  wake(): void;
  /**
   * Does work that was written as claimed already (`initialClaim`), by the node that made it: no other node looks at it
   * before the lease is over, and it costs no claim. Answers at once; the work goes on. `preloaded` is handed to the step. Where
   * fewer than usual may be worked on at once and no slot is free, it is made due for whoever has one.
   */
  run(table: string, key: readonly string[], now: Instant, preloaded?: unknown): void;
  /** Looks at one row now, whenever it is due: something outside may have changed. */
  expedite(table: string, key: readonly string[]): Promise<void>;
  /** When nothing runs and no poll is requested. */
  whenIdle(): Promise<void>;
  /** Moves a party's time to an instant, running everything that falls due on the way, in order. */
  advance(partyId: string, to: Instant): Promise<void>;
  stuckJobs(): Promise<StuckJob[]>;
  /** It is due again, for the next poll: a command that asks for it ends soon, and must claim nothing. */
  retry(kind: string, id: string): Promise<boolean>;
  /** Waits for the steps that run; what is left stays due for others. */
  stop(): Promise<void>;
};

type Handler = JobHandler & { readonly sql: DueStatements };

type Claimed = { readonly key: readonly string[]; readonly attempts: number };

export type StuckJob = {
  readonly kind: string;
  /** The parts of its key, with a slash between them. */
  readonly id: string;
  readonly partyId: string;
  readonly since: Instant;
  readonly reason: string;
};

const pollEveryMs = 1_000;
/** Longer than a bank is usually waited for. Whoever comes after it has run out asks under the same id. */
const leaseMs = 60_000;
const claimedAtOnce = 100;
const stepsAtOnce = 8;
/** Of each table: steps wait for banks most of the time, and one slow bank must not hold up the others. */
const slotsOfTable = 32;
/** After this many failures in a row (about an hour: the delays below add up to 57 minutes) an operator has to look. */
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
  /** Tables of which more was due than there were slots for. */
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
        log.warn({ err: error }, 'due jobs could not be read; the next poll tries again');
      }
    }
    // In the same turn in which nothing more was requested, so that no request falls in between.
    polling = undefined;
  }

  async function poll(through: readonly Handler[]): Promise<void> {
    const now = clock.now();
    for (const handler of through) await startDue(handler, now);
    // Parties whose test clock runs ahead have work that is due for them alone.
    for (const { party_id, offset_ms } of await db.run(movedClocks, {})) {
      if (advancing.has(party_id)) continue;
      const theirs = laterBy(now, Number(offset_ms));
      for (const handler of through) await startDue(handler, theirs, party_id);
    }
  }

  /** Claims no more than it begins at once, so that no lease runs out while a row waits for its turn. */
  async function startDue(handler: Handler, now: Instant, partyId?: string): Promise<void> {
    const { table, sql } = handler;
    for (const { limit, claim } of sql.claims) {
      while (freeSlots(handler) >= limit) {
        if (stopping) return;
        const lease = { now, lease_ms: BigInt(leaseMs) };
        // Nobody else's while they are asked for.
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

  /** For a party's clock: what is due at one moment is over before it moves on. */
  async function runAllDue(handler: Handler, now: Instant, partyId: string): Promise<void> {
    for (;;) {
      const lease = { now, lease_ms: BigInt(leaseMs), limit: claimedAtOnce, party_id: partyId };
      const rows = await db.run(handler.sql.claimOfParty, lease);
      await inParallel(rows, stepsAtOnce, (row) => runClaimed(handler, row));
      if (rows.length < claimedAtOnce || stopping) return;
    }
  }

  function runClaimed(handler: Handler, row: ClaimedRow): Promise<void> {
    // Never before the moment it was due for: another node's clock may be ahead of ours.
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
    else log.warn(fields, 'job failed; it will be retried');
    options.countJobRun(table, isStuck ? 'stuck' : 'failed');
    const reason = String(error).slice(0, maxReasonCharacters);
    try {
      if (isStuck) await db.run(sql.markStuck, { key, attempts, now, reason });
      else await db.run(sql.postpone, { key, attempts, wake_at: laterBy(now, retryDelayMs(attempts)) });
    } catch (failure) {
      log.warn({ err: failure, job: table, id: idOf(key) }, 'the lease of a failed job was left to run out');
    }
  }

  /** Due at once instead of when its lease is over, for the next slot that is free here or elsewhere. */
  async function returnToQueue({ table, sql }: Handler, key: readonly string[], now: Instant): Promise<void> {
    try {
      await db.run(sql.expedite, { key, now });
      backlogged.add(table);
    } catch (error) {
      log.warn({ err: error, job: table, id: idOf(key) }, 'job left until its lease is over');
    }
  }

  /** The next stop on a party's way: when something falls due, and in which tables. */
  async function nextStop(partyId: string, to: Instant) {
    const found = await db.run(earliestDue, { party_id: partyId, before: to });
    const [at] = found.map(({ wake_at }) => wake_at).sort();
    return (
      at && { at, ordinals: found.filter(({ wake_at }) => wake_at === at).map(({ ordinal }) => ordinal) }
    );
  }

  /** One move of a party's clock after the other: together they would run things at each other's times. */
  async function advance(partyId: string, to: Instant): Promise<void> {
    const before = advancing.get(partyId) ?? Promise.resolve();
    const move = before.catch(() => undefined).then(() => moveThrough(partyId, to));
    // Meanwhile this node's polls leave the party alone, or the order would be lost.
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
      // What they went on with is of this moment too, and would be claimed again at a later one.
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
      if (!handler) throw new Error(`there is no due work in ${table}`);
      if (stopping) return; // another node takes it up when the lease is over
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
    async retry(kind, id) {
      const handler = handlerOf(kind);
      const rows = handler ? await db.run(handler.sql.retry, { key: id.split('/'), now: clock.now() }) : [];
      return rows.length > 0;
    },
    async stop() {
      stopping = true;
      timers.forEach(clearInterval);
      // A poll on its way may have begun with more.
      await Promise.allSettled([polling, ...advancing.values()]);
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}

/** Not again while it is still at it: what takes longer than its turn would pile up, each holding a connection. */
function runOneAtATime(task: PeriodicTask, log: Logger): () => Promise<void> {
  let isRunning = false;
  return async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await task.run();
    } catch (error) {
      log.warn({ err: error, task: task.name }, 'a periodic task failed; the next turn tries again');
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
