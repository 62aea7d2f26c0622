// The database as nodes see it: PostgreSQL itself, but each statement waits until the scheduler lets it go. One runs at a time.
// A statement that has to wait for a lock stays where it is until the other transaction ends; the others go on meanwhile.
import pg from 'pg';
import type { ConnectionPool } from '../../src/database/database.ts';
import { typeParsers } from '../../src/database/statement.ts';
import type { Place } from './cluster.ts';
import type { Faults } from './faults.ts';
import type { Scheduler } from './scheduler.ts';
import { real } from './take-over.ts';
import type { Trace } from './trace.ts';

export type WorldDatabase = {
  /** The connections of one node. */
  poolOf(node: string, connectionsMost: number): ConnectionPool;
  /** The node is gone, and its transactions with it. */
  cutOff(node: string): Promise<void>;
  /** Of an observer: at once, outside the order of things. */
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  statements(): number;
  /** Steps of due work that were begun. */
  steps(): number;
  /** Whether a statement of that node waits for a transaction of somebody else. */
  waitsForLock(node: string): boolean;
  end(): Promise<void>;
};

/** A connection to the server, which serves one node after the other. */
type Line = { readonly client: pg.Client; readonly pid: number };
type Outcome = { readonly result: pg.QueryResult } | { readonly error: Error };
type Question = { readonly name?: string; readonly text: string; readonly values?: unknown[] };

type Session = {
  readonly node: string;
  line: Line | undefined;
  inTransaction: boolean;
  /** What came of a statement that waits for a lock. */
  blocked: { outcome: Promise<Outcome>; settle: (outcome: Outcome) => void; what: string } | undefined;
  broken: boolean;
};

const lookAgainMs = 1;
/** Each row of their answers is a step of due work: one that was claimed, or that its maker has claimed already. */
const beginsSteps = /^(claim_due_\w+|claim_webhook_queues|insert_(payment|binding|withdrawal|destination))$/;
const acquireTimeoutMs = 5_000;

export async function openWorldDatabase(options: {
  place: Place;
  scheduler: Scheduler;
  faults: Faults;
  trace: Trace;
}): Promise<WorldDatabase> {
  const { place, scheduler, faults, trace } = options;
  const spare: Line[] = [];
  const sessions = new Set<Session>();
  let statements = 0;
  let steps = 0;
  const observer = await newLine();

  async function newLine(): Promise<Line> {
    const client = new pg.Client({ ...place, types: typeParsers, options: '-c TimeZone=UTC' });
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return { client, pid: Number(rows[0]?.pid) };
  }

  async function blockers(pid: number): Promise<number[]> {
    const { rows } = await observer.client.query<{ pids: string }>(
      `select array_to_string(pg_blocking_pids($1), ',') as pids`,
      [pid],
    );
    return (rows[0]?.pids ?? '').split(',').filter(Boolean).map(Number);
  }

  async function isInCircle(pid: number): Promise<boolean> {
    const seen = new Set<number>();
    const open = await blockers(pid);
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === pid) return true;
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(...(await blockers(next)));
    }
    return false;
  }

  /** What came of it, or `blocked` when it waits for a lock that a transaction of somebody else holds. */
  async function outcomeOf(line: Line, outcome: Promise<Outcome>): Promise<Outcome | 'blocked'> {
    for (;;) {
      const come = await Promise.race([outcome, pause()]);
      if (come) return come;
      if ((await blockers(line.pid)).length === 0) continue;
      if (!(await isInCircle(line.pid))) return 'blocked';
      // The server would find that out by itself, at a moment of its own choice.
      await observer.client.query('select pg_cancel_backend($1)', [line.pid]);
      await outcome;
      return { error: Object.assign(new Error('deadlock detected'), { code: '40P01' }) };
    }
  }

  const mayWait = (self: Session) =>
    [...sessions].some((other) => other !== self && (other.inTransaction || other.blocked));

  async function execute(session: Session, question: Question): Promise<Outcome | 'blocked'> {
    session.line ??= spare.pop() ?? (await newLine());
    const { line } = session;
    statements += 1;
    const outcome = line.client.query(question).then(
      (result): Outcome => ({ result }),
      (error: unknown): Outcome => ({ error: error as Error }),
    );
    const come = mayWait(session) ? await outcomeOf(line, outcome) : await outcome;
    if (come === 'blocked') {
      session.blocked = { outcome, settle: () => {}, what: nameOf(question) };
      return come;
    }
    noteTransaction(session, question);
    if ('result' in come && beginsSteps.test(question.name ?? '')) steps += come.result.rowCount ?? 0;
    return come;
  }

  /** Whoever waited for what has just ended goes on; its answer waits to be let go like any other. */
  async function lookAtBlocked(): Promise<void> {
    let ended = 0;
    for (const session of sessions) {
      const { blocked, line } = session;
      if (!blocked || !line) continue;
      const come = await outcomeOf(line, blocked.outcome);
      if (come === 'blocked') continue;
      session.blocked = undefined;
      ended += 1;
      scheduler.wait({
        owner: session.node,
        what: `the lock is free for ${blocked.what}`,
        run: () => blocked.settle(come),
      });
    }
    if (ended > 0) await lookAtBlocked();
  }

  async function breakOff(session: Session): Promise<void> {
    session.broken = true;
    await hangUp(session);
  }

  /** The server rolls back what was open. */
  async function hangUp(session: Session): Promise<void> {
    const { line, blocked, inTransaction } = session;
    session.line = undefined;
    session.blocked = undefined;
    session.inTransaction = false;
    if (!line) return;
    if (blocked) {
      await observer.client.query('select pg_cancel_backend($1)', [line.pid]);
      await blocked.outcome;
    }
    if (inTransaction || blocked) await line.client.query('rollback');
    spare.push(line);
    if (inTransaction) await lookAtBlocked();
  }

  const lost = () => new Error('Connection terminated unexpectedly');

  async function answer(session: Session, question: Question): Promise<pg.QueryResult> {
    if (session.broken) throw lost();
    const what = nameOf(question);
    return new Promise((resolve, reject) => {
      const settle = (outcome: Outcome): void => {
        if ('error' in outcome) {
          const { code, message } = outcome.error as Error & { code?: string };
          trace.add(`  ${what}: ${code ?? message}`);
          reject(outcome.error);
        } else {
          trace.add(`  ${what}: ${outcome.result.rowCount ?? 0}`);
          resolve(outcome.result);
        }
      };
      scheduler.wait({
        owner: session.node,
        what: `asks ${what}`,
        async run() {
          const isCommit = question.text === 'commit';
          const isLost = (when: 'before' | 'after') =>
            (isCommit && faults.happens(`connection lost ${when} the commit`)) ||
            faults.happens(`connection lost ${when} the statement`);
          if (isLost('before')) {
            await breakOff(session);
            return settle({ error: lost() });
          }
          const outcome = await execute(session, question);
          if (outcome === 'blocked') {
            trace.add(`  ${what}: waits for a lock`);
            if (session.blocked) session.blocked.settle = settle;
            return;
          }
          const mayFree = !session.inTransaction;
          if (mayFree) await lookAtBlocked();
          if (isLost('after')) {
            await breakOff(session);
            return settle({ error: lost() });
          }
          settle(outcome);
        },
      });
    });
  }

  function poolOf(node: string, connectionsMost: number): ConnectionPool {
    const free: Session[] = [];
    const queue: ((session: Session) => void)[] = [];
    let total = 0;

    function clientOf(session: Session): pg.PoolClient {
      return {
        query: (question: string | Question, values?: unknown[]) =>
          answer(
            session,
            typeof question === 'string' ? { text: question, ...(values ? { values } : {}) } : question,
          ),
        release: () => void giveBack(session),
        on: () => undefined,
      } as unknown as pg.PoolClient;
    }

    function giveBack(session: Session): void {
      if (session.broken || session.inTransaction) {
        sessions.delete(session);
        total -= 1;
        const next = queue.shift();
        if (next) next(newSession());
        return;
      }
      const next = queue.shift();
      if (next) next(session);
      else free.push(session);
    }

    function newSession(): Session {
      total += 1;
      const session = { node, line: undefined, inTransaction: false, blocked: undefined, broken: false };
      sessions.add(session);
      return session;
    }

    return {
      connect() {
        const session = free.pop() ?? (total < connectionsMost ? newSession() : undefined);
        if (session) return Promise.resolve(clientOf(session));
        return new Promise((resolve, reject) => {
          const timer = setTimeout(() => {
            queue.splice(queue.indexOf(take), 1);
            reject(new Error('timeout exceeded when trying to connect'));
          }, acquireTimeoutMs);
          const take = (given: Session): void => {
            clearTimeout(timer);
            resolve(clientOf(given));
          };
          queue.push(take);
        });
      },
      end: () => Promise.resolve(),
      get totalCount() {
        return total;
      },
      get idleCount() {
        return free.length;
      },
      get waitingCount() {
        return queue.length;
      },
    };
  }

  return {
    poolOf,
    async cutOff(node) {
      const own = [...sessions].filter((session) => session.node === node);
      // All of them first: the end of one transaction must not let another one of the dead go on.
      for (const session of own) sessions.delete(session);
      // And first those that wait: else they would go on for the moment between the end of what they wait for and their own.
      for (const session of own.filter(({ blocked }) => blocked)) await hangUp(session);
      for (const session of own) await hangUp(session);
    },
    async query(text, values) {
      const { rows } = await observer.client.query<Record<string, unknown>>(text, values);
      return rows;
    },
    statements: () => statements,
    steps: () => steps,
    waitsForLock: (name) => [...sessions].some(({ node, blocked }) => node === name && blocked !== undefined),
    async end() {
      const lines = [observer, ...spare, ...[...sessions].flatMap(({ line }) => line ?? [])];
      await Promise.all(lines.map(({ client }) => client.end().catch(() => undefined)));
    },
  };

  function pause(): Promise<undefined> {
    return new Promise((resolve) => void real.setTimeout(() => resolve(undefined), lookAgainMs));
  }
}

function nameOf({ name, text }: Question): string {
  return name ?? text.slice(0, 30);
}

function noteTransaction(session: Session, { text }: Question): void {
  if (text === 'begin') session.inTransaction = true;
  else if (text === 'commit' || text === 'rollback') session.inTransaction = false;
}
