// Runs jobs: a node claims a due row by moving its `wake_at` forward by a lease, so a crash loses only the lease. The runner knows tables
// and times; every step must be harmless when run twice, because the row's version guards its write.
import { laterBy, type Instant } from '../../clock.ts';
import type { Logger } from '../log.ts';
import { failingJobs, stuckJobs, type FailingJob, type StuckJob } from './failed-jobs.ts';
import { dueIn, dueOnClocks } from './job-claims.ts';
import { leaseMs, openJobTable, type JobHandler, type JobTableDeps } from './job-table.ts';
import { openLoop, type Loop } from './loop.ts';
import { logFailure, watchDatabase } from './outages.ts';
import { openPartyClocks } from './advance-test-clock.ts';

/** By table, each with party_id, wake_at, attempts, stuck_at and stuck_reason. `Rows` is what a node knows of a row it has written. */
export type JobHandlers<Rows> = { readonly [Table in keyof Rows]: JobHandler<Rows[Table]> };

/** A small task that every node repeats, also while another node runs it. */
export type PeriodicTask = {
  readonly name: string;
  readonly everyMs: number;
  readonly run: () => Promise<unknown>;
};

export type JobRunner<Rows = object> = Pick<Loop, 'attend' | 'whenIdle' | 'isStopping' | 'stop'> & {
  start(): void;
  /** Polls for due jobs now instead of at the next interval. */
  wake(): void;
  /**
   * Starts a job whose row this node wrote as claimed (`initialClaim`), or found due within a lease. If the table limits concurrency
   * and no slot is free, the job becomes due for any node.
   */
  run<Table extends keyof Rows & string>(
    table: Table,
    key: readonly string[],
    now: Instant,
    row?: Rows[Table],
  ): void;
  /** The same, and resolves when it has run. */
  runToEnd(...started: Parameters<JobRunner<Rows>['run']>): Promise<void>;
  /** Runs one row's job now, whenever it is due: something outside may have changed. */
  expedite(table: string, key: readonly string[]): Promise<void>;
  /** Moves a party's time to an instant and runs everything that falls due on the way, in order. */
  advance(partyId: string, to: Instant): Promise<void>;
  /** Of jobs, as the lists below name them. */
  readonly kinds: readonly string[];
  stuckJobs(): Promise<StuckJob[]>;
  /** Jobs whose last run failed, or found no place, and which are tried again. */
  failingJobs(): Promise<FailingJob[]>;
  /** Makes the job due for the next poll. It claims nothing, because the command that calls it ends soon. */
  retry(kind: string, id: string): Promise<boolean>;
  /** Those that are stuck now. Returns how many there were. */
  retryAll(kind: string): Promise<number>;
};

const pollEveryMs = 1_000;

export function openJobRunner<Rows extends object>({
  handlers,
  periodicTasks,
  ...options
}: Omit<JobTableDeps, 'loop'> & {
  readonly handlers: JobHandlers<Rows>;
  readonly periodicTasks: readonly PeriodicTask[];
}): JobRunner<Rows> {
  const { db, clock, log } = options;
  const requested = new Set<string>();
  const seen = watchDatabase(log);
  const loop = openLoop(poll, seen.failed);
  const tables = Object.entries<JobHandler>(handlers).map(([name, handler]) =>
    openJobTable(name, handler, { ...options, loop }, () => requestPoll([name])),
  );
  const names = tables.map(({ name }) => name);
  const [due, dueOnMovedClocks] = [dueIn(names), dueOnClocks(names)];
  const tableOf = (kind: string) => tables.find(({ name }) => name === kind);
  const retryOne = async ({ sql }: (typeof tables)[number], key: readonly string[]) =>
    (await db.run(sql.retry, { key, now: clock.now() })).length > 0;
  const clocks = openPartyClocks(tables, { db, clock, loop });
  const wake = () => requestPoll(tables.map(({ name }) => name));

  function requestPoll(which: readonly string[]): void {
    for (const name of which) requested.add(name);
    loop.wake();
  }

  const runToEnd: JobRunner<Rows>['runToEnd'] = async (name, key, now, row) => {
    if (loop.isStopping()) return; // another node claims it when the lease expires
    const { step } = handlers[name];
    await tableOf(name)?.start(key, now, (job) => step({ ...job, row: row as Rows[typeof name] }));
  };

  async function poll(): Promise<void> {
    const polled = tables.filter(({ name }) => requested.has(name));
    requested.clear();
    const now = clock.now();
    const polledAt = (ordinal: number) => polled.find((table) => table === tables[ordinal]);
    let isAnyClockAhead = false;
    for (const { ordinal } of await db.run(due, { now })) {
      if (ordinal === null) isAnyClockAhead = true;
      else await polledAt(ordinal)?.startDue(now);
    }
    // A party whose test clock runs ahead has jobs that are due on that clock alone. They hold up those of no other.
    for (const found of isAnyClockAhead ? await db.run(dueOnMovedClocks, { now }) : []) {
      const { party_id, offset_ms, ordinal } = found;
      if (clocks.isMoving(party_id)) continue;
      await polledAt(ordinal)?.startDue(laterBy(now, Number(offset_ms)), party_id);
    }
    seen.answered();
  }

  return {
    start() {
      loop.every(pollEveryMs, wake);
      for (const task of periodicTasks) loop.every(task.everyMs, oneAtATime(task, log));
      wake();
    },
    wake,
    run: (...started) => void runToEnd(...started),
    runToEnd,
    async expedite(kind, key) {
      const table = tableOf(kind);
      if (!table) return;
      await db.run(table.sql.expedite, { key, now: clock.now() });
      // Also if it was due already: a poll passes over a row that another transaction holds at that moment.
      wake();
    },
    attend: loop.attend,
    whenIdle: loop.whenIdle,
    isStopping: loop.isStopping,
    advance: clocks.advance,
    kinds: tables.map(({ name }) => name),
    stuckJobs: () => stuckJobs(db, tables),
    failingJobs: () => failingJobs(db, tables, clock),
    async retry(kind, id) {
      const table = tableOf(kind);
      return table !== undefined && (await retryOne(table, id.split('/')));
    },
    async retryAll(kind) {
      const table = tableOf(kind);
      let retried = 0;
      for (let before = -1; table && retried > before;) {
        before = retried;
        // The longest stuck come first, a thousand at a time.
        for (const { key } of await db.run(table.sql.stuck, {})) if (await retryOne(table, key)) retried += 1;
      }
      return retried;
    },
    async stop() {
      await Promise.all([loop.stop(), clocks.whenStill()]);
      // A move of a clock may have started more.
      await loop.whenIdle();
    },
  };
}

/** Skips a turn while the task still runs: slow runs would pile up, each with a connection. */
function oneAtATime({ name, run }: PeriodicTask, log: Logger): () => void {
  let running: Promise<unknown> | undefined;
  return () => {
    running ??= Promise.resolve()
      .then(run)
      .catch((error: unknown) => logFailure(log, error, { task: name }, 'periodic task failed'))
      .finally(() => (running = undefined));
  };
}

export function initialClaim(now: Instant): { wake_at: Instant; attempts: number } {
  return { wake_at: laterBy(now, leaseMs), attempts: 1 };
}
