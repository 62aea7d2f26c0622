// Connections to PostgreSQL, of whose processes only one runs at a time: one that waits for a lock is stopped by a signal.
// Otherwise several would continue at the same time when a lock is free, and the machine would decide the order.
import pg from 'pg';
import { typeParsers } from '../../../src/platform/database/statement.ts';
import type { Place } from './cluster.ts';
import { fromOutside } from '../stillness.ts';
import { real } from '../take-over.ts';
import { defined } from '../../../src/defined.ts';

export type Outcome = { readonly result: pg.QueryResult } | { readonly error: Error };
export type Question = { readonly name?: string; readonly text: string; readonly values?: unknown[] };

/** A connection and its server process. */
export type Backend = { readonly client: pg.Client; readonly pid: number };

/** A statement that waits for another transaction's lock. Its server process is stopped. */
export type Stopped = { readonly backend: Backend; readonly outcome: Promise<Outcome> };

export type Backends = {
  /** A connection that is not in use. */
  take(): Promise<Backend>;
  giveBack(backend: Backend): void;
  /** `mayWait`: whether another session has a transaction open that could hold a lock. */
  run(backend: Backend, question: Question, mayWait: boolean): Promise<Outcome | Stopped>;
  /** Those whose locks are free, in the order given. */
  free(stopped: readonly Stopped[]): Promise<readonly Stopped[]>;
  /** Continues it to its end or to the next lock. */
  goOn(stopped: Stopped): Promise<Outcome | Stopped>;
  /** Ends it without an effect. */
  cancel(stopped: Stopped): Promise<void>;
  end(): Promise<void>;
};

/** Polls seldom: few statements wait for a lock, and a poll slows the polled statement down on a busy machine. */
const firstLookMs = 4;
const longestLookMs = 64;

export async function openBackends(place: Place): Promise<Backends> {
  const all = new Set<Backend>();
  const spare: Backend[] = [];
  const suspended = new Set<number>();
  // From another database, so that its snapshots do not decide which dead rows are removed in the world's.
  const watcher = new pg.Client({ ...place, database: 'postgres' });
  watcher.on('error', () => undefined);
  await watcher.connect();

  async function open(): Promise<Backend> {
    const client = new pg.Client({ ...place, types: typeParsers, options: '-c TimeZone=UTC' });
    client.on('error', () => undefined);
    await fromOutside(client.connect());
    const { rows } = await fromOutside(client.query<{ pid: number }>('select pg_backend_pid() as pid'));
    const backend = { client, pid: Number(rows[0]?.pid) };
    all.add(backend);
    return backend;
  }

  /** The processes that each of them waits for. */
  async function blockersOf(pids: readonly number[]): Promise<number[][]> {
    const { rows } = await fromOutside(
      watcher.query<{ blockers: string }>(
        `select array_to_string(pg_blocking_pids(pid), ',') as blockers
         from unnest($1::int[]) with ordinality as waiting (pid, place) order by place`,
        [pids],
      ),
    );
    return rows.map(({ blockers }) => blockers.split(',').filter(Boolean).map(Number));
  }

  /** Whether a process that it waits for, directly or not, waits for it. */
  async function isInDeadlock(pid: number): Promise<boolean> {
    const seen = new Set<number>();
    for (let asked = [pid]; asked.length > 0;) {
      const next = new Set((await blockersOf(asked)).flat());
      if (next.has(pid)) return true;
      asked = [...next].filter((one) => !seen.has(one));
      for (const one of asked) seen.add(one);
    }
    return false;
  }

  function stand({ pid }: Backend): void {
    suspended.add(pid);
    process.kill(pid, 'SIGSTOP');
  }

  function move({ pid }: Backend): void {
    suspended.delete(pid);
    process.kill(pid, 'SIGCONT');
  }

  async function outcomeOf(backend: Backend, outcome: Promise<Outcome>): Promise<Outcome | Stopped> {
    for (let lookMs = firstLookMs; ; lookMs = Math.min(2 * lookMs, longestLookMs)) {
      const come = await fromOutside(within(lookMs, outcome));
      if (come) return come;
      // No other process runs, so the transaction it waits for stays as it is.
      const [blockers = []] = await blockersOf([backend.pid]);
      if (blockers.length === 0) continue;
      if (!(await isInDeadlock(backend.pid))) {
        stand(backend);
        return { backend, outcome };
      }
      // The server would detect the deadlock at a moment that the world does not decide.
      await cancelStatement(backend);
      await fromOutside(outcome);
      return { error: Object.assign(new Error('deadlock detected'), { code: '40P01' }) };
    }
  }

  async function cancelStatement({ pid }: Backend): Promise<void> {
    await fromOutside(watcher.query('select pg_cancel_backend($1)', [pid]));
  }

  async function cancel({ backend, outcome }: Stopped): Promise<void> {
    // In this order: the process sees the cancellation first, even if its lock is free by now.
    await cancelStatement(backend);
    move(backend);
    await fromOutside(outcome);
  }

  return {
    take: async () => spare.pop() ?? (await open()),
    giveBack: (backend) => void spare.push(backend),
    async run(backend, { name, text, values }, mayWait) {
      // Without the driver's timeout, which does not follow the world's time.
      const outcome = backend.client
        .query({ text, ...defined({ name }), ...(values ? { values } : {}) })
        .then(
          (result): Outcome => ({ result }),
          (error: unknown): Outcome => ({ error: error as Error }),
        );
      return mayWait ? outcomeOf(backend, outcome) : fromOutside(outcome);
    },
    async free(stopped) {
      if (stopped.length === 0) return [];
      const blockers = await blockersOf(stopped.map(({ backend }) => backend.pid));
      return stopped.filter((_, place) => blockers[place]?.length === 0);
    },
    goOn({ backend, outcome }) {
      move(backend);
      return outcomeOf(backend, outcome);
    },
    cancel,
    async end() {
      for (const pid of suspended) process.kill(pid, 'SIGCONT');
      for (const { client } of all) client.end().catch(() => undefined);
      await watcher.end();
    },
  };
}

/** Undefined if the outcome does not come in time. */
async function within(ms: number, outcome: Promise<Outcome>): Promise<Outcome | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<undefined>((resolve) => {
    timer = real.setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([outcome, tooLate]);
  } finally {
    real.clearTimeout(timer);
  }
}
