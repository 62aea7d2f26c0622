// Connections to PostgreSQL, and the rule that only one of its processes moves at a time. One that waits for a lock is stopped by a
// signal; when locks are free those that had waited for them go on one after the other. Left alone they would go on side by
// side, and who is first would be the machine's affair.
import pg from 'pg';
import { typeParsers } from '../../../src/platform/database/statement.ts';
import type { Place } from './cluster.ts';
import { real } from '../take-over.ts';
import { defined } from '../../../src/defined.ts';

export type Outcome = { readonly result: pg.QueryResult } | { readonly error: Error };
export type Question = { readonly name?: string; readonly text: string; readonly values?: unknown[] };

/** A connection, and the process of the server at its other end. */
export type Backend = { readonly client: pg.Client; readonly pid: number };

/** A statement that waits for a lock which another transaction holds. Its process stands still. */
export type Stopped = { readonly backend: Backend; readonly outcome: Promise<Outcome> };

export type Backends = {
  /** One that nobody uses. */
  take(): Promise<Backend>;
  giveBack(backend: Backend): void;
  /** `mayWait`: whether anybody else has anything open that it could have to wait for. */
  run(backend: Backend, question: Question, mayWait: boolean): Promise<Outcome | Stopped>;
  /** Of these the ones whose locks are free, in the order given. */
  free(stopped: readonly Stopped[]): Promise<readonly Stopped[]>;
  /** It goes on: to its end, or to the next lock. */
  goOn(stopped: Stopped): Promise<Outcome | Stopped>;
  /** It ends without having done anything. */
  cancel(stopped: Stopped): Promise<void>;
  end(): Promise<void>;
};

/** Few statements wait for a lock, and on a busy machine every look takes time from the one that is looked at. */
const firstLookMs = 4;
const longestLookMs = 64;

export async function openBackends(place: Place): Promise<Backends> {
  const all = new Set<Backend>();
  const spare: Backend[] = [];
  const standing = new Set<number>();
  // From another database: what it has open must not decide what is swept from the world's pages.
  const watcher = new pg.Client({ ...place, database: 'postgres' });
  watcher.on('error', () => undefined);
  await watcher.connect();

  async function open(): Promise<Backend> {
    const client = new pg.Client({ ...place, types: typeParsers, options: '-c TimeZone=UTC' });
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const backend = { client, pid: Number(rows[0]?.pid) };
    all.add(backend);
    return backend;
  }

  /** Whom each of them waits for. */
  async function blockersOf(pids: readonly number[]): Promise<number[][]> {
    const { rows } = await watcher.query<{ blockers: string }>(
      `select array_to_string(pg_blocking_pids(pid), ',') as blockers
       from unnest($1::int[]) with ordinality as waiting (pid, place) order by place`,
      [pids],
    );
    return rows.map(({ blockers }) => blockers.split(',').filter(Boolean).map(Number));
  }

  /** Whether, in the end, somebody who is waited for waits for that one himself. */
  async function isInCircle(pid: number): Promise<boolean> {
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
    standing.add(pid);
    process.kill(pid, 'SIGSTOP');
  }

  function move({ pid }: Backend): void {
    standing.delete(pid);
    process.kill(pid, 'SIGCONT');
  }

  async function outcomeOf(backend: Backend, outcome: Promise<Outcome>): Promise<Outcome | Stopped> {
    for (let lookMs = firstLookMs; ; lookMs = Math.min(2 * lookMs, longestLookMs)) {
      const come = await within(lookMs, outcome);
      if (come) return come;
      // Nobody else moves: it waits for a transaction that stays as it is.
      const [blockers = []] = await blockersOf([backend.pid]);
      if (blockers.length === 0) continue;
      if (!(await isInCircle(backend.pid))) {
        stand(backend);
        return { backend, outcome };
      }
      // The server would find that out by itself, at a moment of its own choice.
      await cancelStatement(backend);
      await outcome;
      return { error: Object.assign(new Error('deadlock detected'), { code: '40P01' }) };
    }
  }

  async function cancelStatement({ pid }: Backend): Promise<void> {
    await watcher.query('select pg_cancel_backend($1)', [pid]);
  }

  async function cancel({ backend, outcome }: Stopped): Promise<void> {
    // In this order: it finds the wish to end before anything else, also when its lock is free by now.
    await cancelStatement(backend);
    move(backend);
    await outcome;
  }

  return {
    take: async () => spare.pop() ?? (await open()),
    giveBack: (backend) => void spare.push(backend),
    async run(backend, { name, text, values }, mayWait) {
      // Without how long the driver would wait: that is no time of the world.
      const outcome = backend.client
        .query({ text, ...defined({ name }), ...(values ? { values } : {}) })
        .then(
          (result): Outcome => ({ result }),
          (error: unknown): Outcome => ({ error: error as Error }),
        );
      return mayWait ? outcomeOf(backend, outcome) : outcome;
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
      for (const pid of standing) process.kill(pid, 'SIGCONT');
      for (const { client } of all) client.end().catch(() => undefined);
      await watcher.end();
    },
  };
}

/** Undefined when it has not come by then. */
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
