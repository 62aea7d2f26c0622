// The database as nodes see it: PostgreSQL, but each statement waits for the scheduler and one runs at a time.
// A statement that waits for a lock is stopped until the other transaction ends, while others run.
import type pg from 'pg';
import type { ConnectionPool } from '../../../src/platform/database/connections/idle-connections.ts';
import { openBackends, type Backend, type Outcome, type Question, type Stopped } from './backends.ts';
import type { Place } from './cluster.ts';
import type { Faults } from '../faults.ts';
import type { Scheduler } from '../scheduler.ts';
import { fromOutside } from '../stillness.ts';
import type { Trace } from '../trace.ts';

export type WorldDatabase = {
  /** The connections of one node. */
  poolOf(node: string, maxConnections: number): ConnectionPool;
  /** Rolls back the transactions of a node that has died. */
  cutOff(node: string): Promise<void>;
  /** Ends transactions that have waited too long for their next statement, and statements for a lock, as the server does. */
  endOverdue(): Promise<void>;
  /** A query of an observer, which runs immediately and outside the order of events. */
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** The same for a list that the service reads. */
  readonly observers: ConnectionPool;
  statements(): number;
  /** How many changes each write had that was sent together with others. */
  readonly batches: readonly number[];
  /** Job runs that were started. */
  steps(): number;
  /** Whether a statement of that node waits for another transaction. */
  waitsForLock(node: string): boolean;
  end(): Promise<void>;
};

type Session = {
  readonly node: string;
  backend: Backend | undefined;
  /** The `begin` that the session sent, which goes to the server with the next statement. */
  wantsTransaction: string | undefined;
  inTransaction: boolean;
  /** A statement that waits for a lock, and the function that takes its outcome. */
  waiting: { stopped: Stopped; readonly question: Question; settle: (outcome: Outcome) => void } | undefined;
  /** When the last statement went to the server. */
  askedMs: number;
  broken: boolean;
};

/** Each row these statements return is a job run, claimed by the statement or by the node that created the row. */
const beginsSteps = /^(claim_due_\w+|claim_webhook_queues|insert_(payment|binding|withdrawal|destination))$/;
/** Its row count follows from the server's clock, which is the machine's. Nothing that nodes do depends on it. */
const byServersClock = 'advance_ledger_watermark';
/** The rows of an update come in the order of their places in the table, which the machine's vacuum decides. */
const claims = /^claim_/;
/** These take a list of changes. */
const writesTogether = /^(insert_invoice|start_charge|approve_charge|end_payer_email)$/;
const acquireTimeoutMs = 5_000;
/** The limits that the service sets on its connections, by the clock of the world. */
const idleInTransactionMs = 5_000;
const statementMs = 10_000;
/** What PostgreSQL or PgBouncer says before it has executed anything, and ends the connection. */
const refusals = [
  { kind: 'server starts up', code: '57P03', message: 'the database system is starting up' },
  { kind: 'server has no free connection', code: '53300', message: 'sorry, too many clients already' },
  { kind: 'pooler has no server', code: '08P01', message: 'query_wait_timeout' },
] as const;
/** Polls for due jobs, and which of their parameters is the time. */
const pollsForDue = /^claim_(?:due_([a-z_]+?)(?:_of_party|_\d+)?|(webhook_queue)s)$/;
const timeOfPoll = /wake_at <= (?:\(select )?\$(\d+)/;
const dueTables = [
  'invoice',
  'payment',
  'charge_undo',
  'binding',
  'card',
  'series',
  'subscription',
  'payer_email',
  'destination',
  'withdrawal',
  'webhook_queue',
];
const readDue = dueTables
  .map((table) => `select '${table}' as place, min(wake_at) as at from ${table}`)
  .join(' union all ');

function sortRows({ rows }: pg.QueryResult<Record<string, unknown>>): void {
  const textOf = (row: Record<string, unknown>) => Object.values(row).join();
  rows.sort((one, other) => (textOf(one) < textOf(other) ? -1 : 1));
}

export async function openWorldDatabase(options: {
  place: Place;
  scheduler: Scheduler;
  faults: Faults;
  trace: Trace;
}): Promise<WorldDatabase> {
  const { place, scheduler, faults, trace } = options;
  const backends = await openBackends(place);
  const observer = await backends.take();
  const sessions = new Set<Session>();
  let statements = 0;
  const batches: number[] = [];
  let steps = 0;
  /** When something is due in each table. Valid until the next statement goes to the server. */
  let dueMs: ReadonlyMap<string, number> | undefined;

  /** Undefined if it waits for a lock. */
  async function execute(session: Session, question: Question): Promise<Outcome | undefined> {
    session.backend ??= await backends.take();
    dueMs = undefined;
    statements += 1;
    const together = changesIn(question);
    if (together > 1) batches.push(together);
    session.askedMs = scheduler.nowMs();
    if (session.wantsTransaction !== undefined) {
      const text = session.wantsTransaction;
      session.wantsTransaction = undefined;
      await backends.run(session.backend, { text }, false);
      session.inTransaction = true;
    }
    const mayWait = [...sessions].some(
      (other) => other !== session && (other.inTransaction || other.waiting),
    );
    const come = await backends.run(session.backend, question, mayWait);
    if ('outcome' in come) {
      session.waiting = { stopped: come, question, settle: () => {} };
      return undefined;
    }
    note(session, question, come);
    letGoOf(session);
    return come;
  }

  /** Outside a transaction a statement leaves no state in the server process, so any session may use it next. */
  function letGoOf(session: Session): void {
    if (session.inTransaction || !session.backend) return;
    backends.giveBack(session.backend);
    session.backend = undefined;
  }

  function note(session: Session, { name = '', text }: Question, outcome: Outcome): void {
    if ('result' in outcome && claims.test(name)) sortRows(outcome.result);
    if (text === 'commit' || text === 'rollback') session.inTransaction = false;
    if ('result' in outcome && beginsSteps.test(name)) steps += outcome.result.rowCount ?? 0;
  }

  /** Continues the statements that waited for what has ended, one after the other. Their outcomes wait for the scheduler. */
  async function continueWaiting(): Promise<void> {
    dueMs = undefined;
    for (;;) {
      const waiting = [...sessions].flatMap((session) =>
        session.waiting ? [{ session, ...session.waiting }] : [],
      );
      const [free] = await backends.free(waiting.map(({ stopped }) => stopped));
      const next = waiting.find(({ stopped }) => stopped === free);
      if (!next) return;
      const { session, stopped, question, settle } = next;
      const come = await backends.goOn(stopped);
      if ('outcome' in come) {
        session.waiting = { stopped: come, question, settle };
        continue;
      }
      session.waiting = undefined;
      note(session, question, come);
      letGoOf(session);
      scheduler.wait({
        owner: session.node,
        what: `the lock is free for ${nameOf(question)}`,
        run: () => settle(come),
      });
    }
  }

  async function breakOff(session: Session): Promise<void> {
    session.broken = true;
    await hangUp(session);
  }

  /** The server rolls back what was open. */
  async function hangUp(session: Session): Promise<void> {
    const { backend, waiting, inTransaction } = session;
    session.backend = undefined;
    session.waiting = undefined;
    session.inTransaction = false;
    session.wantsTransaction = undefined;
    if (!backend) return;
    if (waiting) await backends.cancel(waiting.stopped);
    if (inTransaction) await fromOutside(backend.client.query('rollback'));
    backends.giveBack(backend);
    if (inTransaction || waiting) await continueWaiting();
  }

  /** Whether a poll would find nothing. Such polls are most of what nodes do, so they get no turn and no statement. */
  function findsNothing(session: Session, { name = '', text, values = [] }: Question): boolean {
    const [, table, queues] = pollsForDue.exec(name) ?? [];
    const at = dueMs?.get(table ?? queues ?? '');
    const [, place] = timeOfPoll.exec(text) ?? [];
    if (at === undefined || place === undefined || session.inTransaction || session.wantsTransaction)
      return false;
    return at > Date.parse(String(values[Number(place) - 1]));
  }

  async function readWhatIsDue(): Promise<void> {
    const due = { name: 'what_is_due', text: readDue };
    const { rows } = await fromOutside(observer.client.query<{ place: string; at: string | null }>(due));
    dueMs = new Map(rows.map(({ place, at }) => [place, at === null ? Infinity : Date.parse(at)]));
  }

  const lost = () => new Error('Connection terminated unexpectedly');

  /** Only what begins something can be refused: a transaction has its server. */
  function refusalOf({ inTransaction }: Session): Error | undefined {
    if (inTransaction) return undefined;
    const found = refusals.find(({ kind }) => faults.happens(kind));
    return found && Object.assign(new Error(found.message), { code: found.code, severity: 'FATAL' });
  }

  /** It rolls all of them back. Alone, none meets another. */
  function deadlockOf({ inTransaction, wantsTransaction }: Session, question: Question): Error | undefined {
    if (inTransaction || wantsTransaction !== undefined || changesIn(question) < 2) return undefined;
    if (!faults.happens('changes sent together deadlock')) return undefined;
    return Object.assign(new Error('deadlock detected'), { code: '40P01', severity: 'ERROR' });
  }

  async function answer(session: Session, question: Question): Promise<pg.QueryResult> {
    if (session.broken) throw lost();
    const what = nameOf(question);
    if (/^begin\b/.test(question.text)) {
      session.wantsTransaction = question.text;
      return nothing;
    }
    if (findsNothing(session, question)) {
      trace.add(`  ${what}: nothing is due`);
      return nothing;
    }
    return new Promise((resolve, reject) => {
      const settle = (outcome: Outcome): void => {
        if ('error' in outcome) {
          const { code, message } = outcome.error as Error & { code?: string };
          trace.add(`  ${what}: ${code ?? message}`);
          reject(outcome.error);
        } else {
          const rows = what === byServersClock ? 'done' : (outcome.result.rowCount ?? 0);
          trace.add(`  ${what}: ${rows}`);
          resolve(outcome.result);
        }
      };
      scheduler.wait({
        owner: session.node,
        what: `asks ${what}`,
        async run() {
          if (session.broken) return settle({ error: lost() });
          const isCommit = question.text === 'commit';
          const isLost = (when: 'before' | 'after') =>
            (isCommit && faults.happens(`connection lost ${when} the commit`)) ||
            faults.happens(`connection lost ${when} the statement`);
          if (isLost('before')) {
            await breakOff(session);
            return settle({ error: lost() });
          }
          const refused = refusalOf(session);
          if (refused) {
            await breakOff(session);
            return settle({ error: refused });
          }
          const deadlock = deadlockOf(session, question);
          if (deadlock) return settle({ error: deadlock });
          const isPoll = pollsForDue.test(what);
          if (isPoll && !dueMs) await readWhatIsDue();
          if (findsNothing(session, question)) {
            trace.add(`  ${what}: nothing is due`);
            return resolve(nothing);
          }
          const outcome = await execute(session, question);
          if (!outcome) {
            trace.add(`  ${what}: waits for a lock`);
            if (session.waiting) session.waiting.settle = settle;
            return;
          }
          const mayFree = !session.inTransaction;
          if (mayFree) await continueWaiting();
          if (isLost('after')) {
            await breakOff(session);
            return settle({ error: lost() });
          }
          settle(outcome);
        },
      });
    });
  }

  function poolOf(node: string, maxConnections: number): ConnectionPool {
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
      const session = {
        node,
        backend: undefined,
        wantsTransaction: undefined,
        inTransaction: false,
        waiting: undefined,
        askedMs: 0,
        broken: false,
      };
      sessions.add(session);
      return session;
    }

    return {
      connect() {
        const session = free.pop() ?? (total < maxConnections ? newSession() : undefined);
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
      // All connections lead to the same server.
      renew: () => undefined,
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
      // Remove all sessions first: the end of one transaction must not continue another of the same node.
      for (const session of own) sessions.delete(session);
      // End those that wait first, because they would continue when the transaction they wait for ends.
      for (const session of own.filter(({ waiting }) => waiting)) await hangUp(session);
      for (const session of own) await hangUp(session);
    },
    async endOverdue() {
      for (const session of sessions) {
        const { node, waiting, inTransaction, askedMs, broken } = session;
        const limitMs = waiting ? statementMs : inTransaction ? idleInTransactionMs : Infinity;
        if (broken || scheduler.nowMs() - askedMs <= limitMs) continue;
        trace.add(`  the server ends a transaction of ${node}`);
        faults.loseConnection();
        await breakOff(session);
        waiting?.settle({ error: lost() });
      }
    },
    async query(text, values) {
      const { rows } = await fromOutside(observer.client.query<Record<string, unknown>>(text, values));
      return rows;
    },
    observers: alwaysGiving(observer.client),
    statements: () => statements,
    batches,
    steps: () => steps,
    waitsForLock: (name) => [...sessions].some(({ node, waiting }) => node === name && waiting !== undefined),
    end: () => backends.end(),
  };
}

/** Reads are lists too. */
function changesIn({ name = '', values }: Question): number {
  return writesTogether.test(name) ? (JSON.parse(String(values?.[0])) as unknown[]).length : 0;
}

function alwaysGiving(client: pg.Client): ConnectionPool {
  const given = {
    query: (question: Question) => fromOutside(client.query(question)),
    release: () => undefined,
  } as unknown as pg.PoolClient;
  return {
    connect: () => Promise.resolve(given),
    renew: () => undefined,
    end: () => Promise.resolve(),
    totalCount: 1,
    idleCount: 0,
    waitingCount: 0,
  };
}

/** The server's response to a statement that changed and found nothing. */
const nothing = { command: '', rowCount: 0, oid: 0, rows: [], fields: [] } satisfies pg.QueryResult;

function nameOf({ name, text }: Question): string {
  return name ?? text.slice(0, 30);
}
