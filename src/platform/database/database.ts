// The one way to PostgreSQL: run a prepared statement, or several in a transaction. A connection is held only for that, and never while
// the program waits for a bank or a merchant.
import pg from 'pg';
import { codeOf } from '../../error-code.ts';
import { openBatchedReads, type BatchedReads } from './batches/batched-reads.ts';
import { openBatchedWrites, type BatchedWrites } from './batches/batched-writes.ts';
import { listOf, mayWait, type BatchDeps } from './batches/lines.ts';
import { isReadStatement } from './batches/read-statement.ts';
import { valuesOf } from './batches/values-of.ts';
import { isWriteStatement } from './batches/write-statement.ts';
import { holdUnanswered } from './connections/unanswered.ts';
import { keepIdle, type ConnectionPool } from './connections/idle-connections.ts';
import { programName } from './connections/program-name.ts';
import { readRow, statement, typeParsers, type Columns, type Statement, type Values } from './statement.ts';
import {
  DatabaseUnavailable,
  explained,
  isServerGone,
  isSilence,
  isUnavailable,
  CommitUnknown,
} from './connections/unavailable.ts';

export type Database = {
  /** Outside a transaction, a read or write statement is sent together with those of other callers. */
  run<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    parameters: Values<P>,
  ): Promise<Values<R>[]>;
  /**
   * Retries deadlocks and serialisation failures from the start. Inside another transaction it is a savepoint, which can fail
   * without failing the whole, and never a snapshot, which reads of one moment alone.
   */
  transaction<T>(work: (tx: Database) => Promise<T>, of?: 'snapshot'): Promise<T>;
  /** For a single write: retried as a transaction is. Inside a transaction it is a savepoint. */
  withSavepoint<T>(work: (db: Database) => Promise<T>): Promise<T>;
  /** Runs the effect once what was written is durable: immediately outside a transaction, after the commit inside one. */
  afterCommit(effect: () => void): void;
};

export type DatabasePool = Database & {
  /**
   * For single reads of keys, parties and shops, on connections of their own. A transaction can read through these while all other
   * connections are in use; otherwise transactions could wait for each other permanently.
   */
  readonly lookups: Pick<Database, 'run'>;
  /** Asked on a new connection, so it is about the server that is reached now, whatever the other connections wait for. */
  serverState(): Promise<ServerState>;
  /** For what is not a statement of the program: migrations and the schema dump. */
  withClient<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>;
  connections(): { total: number; idle: number; waiting: number };
  end(): Promise<void>;
};

export type ServerState = {
  /** As on a standby. */
  readonly isReadOnly: boolean;
  /** Whether a commit has waited for long to reach a standby or the disk. */
  readonly commitsWait: boolean;
};

export type Connection =
  | { readonly url: string }
  | { host: string; port: number; user: string; password: string; database: string };

const waitForConnectionMs = 5_000;
const statementTimeoutMs = 10_000;
/** Longer than the server's own limit: it ends the wait on a connection that has gone silent, as after a fail-over. */
const usualSilenceTimeoutMs = 12_000;
/** For a migration that rewrites a whole table, together with `set local statement_timeout = 0`. */
const longestSilenceTimeoutMs = 24 * 3_600_000;
const idleInTransactionTimeoutMs = 5_000;
/** It reads between writes on other connections. Each may wait for its connection, and then for as long as statements may take. */
const idleInSnapshotTimeoutMs = 45_000;
const beginSnapshot = `begin isolation level repeatable read, read only;
  set local idle_in_transaction_session_timeout = ${idleInSnapshotTimeoutMs}`;
const transactionTries = 5;
/** Differs between a server and the one that replaces it. */
const whichServer = 'select pg_postmaster_start_time()::text as server';

const readServerState = statement({
  name: 'read_server_state',
  parameters: { waiting_ms: 'int4' },
  row: { is_read_only: 'bool', commits_wait: 'bool' },
  // The process of a commit is seen to wait for SyncRep, or for the write-ahead log on its own disk.
  text: `select current_setting('transaction_read_only') = 'on' as is_read_only,
           exists (select from pg_stat_activity
             where datname = current_database() and usename = current_user and wait_event ~* '^(syncrep|wal)'
               and query_start < clock_timestamp() - :waiting_ms * interval '1 ms') as commits_wait`,
});

/** A part of the node's connections. They serve reads that take a fraction of a millisecond. */
const lookupConnections = 2;

export function openDatabase(options: {
  connection: Connection;
  maxConnections: number;
  /** Called when the server is gone, before one more try: restarts the private server. */
  restartServer?: () => Promise<void>;
  onConnectionError?: (error: Error) => void;
  /** Tests set another one. */
  silenceTimeoutMs?: number;
  longCommitMs?: number;
  prepares?: boolean;
}): DatabasePool {
  const pools: ConnectionPool[] = [];
  const renew = () => renewAll(pools);
  let lastServer: string | undefined;
  const onServer = (server: string) => {
    if (lastServer !== undefined && lastServer !== server) renew();
    lastServer = server;
  };
  const open = (maxConnections: number) => poolOf(options, maxConnections, { onLoss: renew, onServer });
  const pool = open(Math.max(1, options.maxConnections - lookupConnections));
  const lookupPool = open(lookupConnections);
  pools.push(pool, lookupPool);
  return databaseOn({ ...options, pool, lookupPool, probePool: open(1) });
}

export function databaseOn(options: {
  pool: ConnectionPool;
  lookupPool: ConnectionPool;
  /** For one connection that is opened to ask about the server, and closed then. */
  probePool: ConnectionPool;
  restartServer?: () => Promise<void>;
  silenceTimeoutMs?: number;
  longCommitMs?: number;
  /** False behind a pooler that gives every transaction another connection and does not support prepared statements. */
  prepares?: boolean;
}): DatabasePool {
  const { pool, lookupPool, probePool, prepares = true, silenceTimeoutMs = usualSilenceTimeoutMs } = options;
  // Half of the time that callers wait: the commits they gave up on have waited for longer, and others never wait so long.
  const { longCommitMs = silenceTimeoutMs / 2 } = options;
  const renew = () => renewAll([pool, lookupPool]);
  const runOn: RunOn = (client, statement, parameters) =>
    runStatement(client, statement, parameters, prepares);

  async function acquire(from: ConnectionPool): Promise<pg.PoolClient> {
    try {
      return await from.connect();
    } catch (error) {
      if (isServerGone(error)) renew();
      if (!options.restartServer || !isServerGone(error)) throw new DatabaseUnavailable(error);
    }
    try {
      await options.restartServer();
      return await from.connect();
    } catch (error) {
      throw new DatabaseUnavailable(error);
    }
  }

  async function withClientOf<T>(
    from: ConnectionPool,
    work: (client: pg.PoolClient) => Promise<T>,
    mayHaveCommitted: boolean,
  ): Promise<T> {
    const client = await acquire(from);
    let useless: Error | undefined;
    try {
      return await work(client);
    } catch (error) {
      const isExplained = error instanceof DatabaseUnavailable || error instanceof CommitUnknown;
      const cause = isExplained ? error.cause : error;
      if (isUnavailable(cause)) useless = cause;
      throw explained(error, mayHaveCommitted);
    } finally {
      // The next connections may reach the server that replaced this one.
      if (useless) renew();
      if (useless && from === pool && isSilence(useless)) unanswered.hold(client, useless);
      else client.release(useless ?? from === probePool);
    }
  }

  const withClient: DatabasePool['withClient'] = (work) => withClientOf(pool, work, true);
  const batchesOn = (from: ConnectionPool) => {
    const queryOn: BatchDeps['query'] = (client, asked, values) => query(client, asked, values, prepares);
    return {
      reads: openBatchedReads({ withClient: (work) => withClientOf(from, work, false), query: queryOn }),
      writes: openBatchedWrites({ withClient: (work) => withClientOf(from, work, true), query: queryOn }),
    };
  };
  const lookups: DatabasePool['lookups'] = {
    run: runAlone((work) => withClientOf(lookupPool, work, false), runOn, batchesOn(lookupPool)),
  };

  async function serverState(): Promise<ServerState> {
    const parameters = { waiting_ms: longCommitMs };
    const [row] = await withClientOf(
      probePool,
      (client) => runOn(client, readServerState, parameters),
      false,
    );
    return { isReadOnly: row?.is_read_only ?? false, commitsWait: row?.commits_wait ?? false };
  }
  const unanswered = holdUnanswered(async () => (await serverState()).commitsWait);

  async function transaction<T>(work: (tx: Database) => Promise<T>, of?: 'snapshot'): Promise<T> {
    const begin = of === undefined ? 'begin' : beginSnapshot;
    return retried(async () => {
      const effects: (() => void)[] = [];
      const value = await withClient((client) => inTransaction(client, effects, work, runOn, begin));
      for (const effect of effects) effect();
      return value;
    });
  }

  const alone: Database = {
    run: runAlone(withClient, runOn, batchesOn(pool)),
    transaction,
    withSavepoint: (work) => retried(() => work(alone)),
    afterCommit: (effect) => effect(),
  };
  return {
    ...alone,
    withClient,
    lookups,
    serverState,
    connections: () => ({
      total: pool.totalCount + lookupPool.totalCount,
      idle: pool.idleCount + lookupPool.idleCount,
      waiting: pool.waitingCount + lookupPool.waitingCount,
    }),
    async end() {
      const ended = [pool.end(), lookupPool.end(), probePool.end()];
      unanswered.releaseAll();
      await Promise.all(ended);
    },
  };
}

function renewAll(pools: readonly ConnectionPool[]): void {
  for (const pool of pools) pool.renew();
}

function poolOf(
  options: {
    connection: Connection;
    onConnectionError?: (error: Error) => void;
    silenceTimeoutMs?: number;
  },
  maxConnections: number,
  { onLoss, onServer }: { onLoss: () => void; onServer: (server: string) => void },
): ConnectionPool {
  const { connection, onConnectionError, silenceTimeoutMs = usualSilenceTimeoutMs } = options;
  const settings = [
    '-c TimeZone=UTC',
    `-c statement_timeout=${statementTimeoutMs}`,
    `-c idle_in_transaction_session_timeout=${idleInTransactionTimeoutMs}`,
  ].join(' ');
  const pool = new pg.Pool({
    ...('url' in connection ? { connectionString: withSettings(connection.url, settings) } : connection),
    max: maxConnections,
    connectionTimeoutMillis: waitForConnectionMs,
    types: typeParsers,
    application_name: programName,
    query_timeout: silenceTimeoutMs,
    keepAlive: true,
    options: settings,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, which its types do not say
    onConnect: async (client: pg.ClientBase) => {
      const { rows } = await client.query<{ server: string }>(whichServer);
      onServer(rows[0]?.server ?? '');
    },
  });
  // A connection that dies while idle emits an error, which would end the process if there were no listener.
  const listener = (error: Error) => {
    onLoss();
    onConnectionError?.(error);
  };
  pool.on('error', listener);
  pool.on('connect', (client) => client.on('error', listener));
  return keepIdle(pool);
}

/**
 * The driver prefers the URL's last `options` and last name to ours, so ours are appended: programs find each other by name. The rest
 * of the URL stays as it is, because the driver decodes a URL with a bare % differently.
 */
function withSettings(url: string, settings: string): string {
  const encoded = (text: string) => text.replaceAll(' ', '+');
  return url
    .replace(/([?&]options=[^&#]*)(?!.*[?&]options=)/, `$1+${encoded(settings)}`)
    .replace(/\?[^#]*/, `$&&application_name=${encoded(programName)}`);
}

async function retried<T>(transact: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transact();
    } catch (error) {
      if (!isRetriable(error) || attempt === transactionTries) throw error;
    }
  }
}

async function inTransaction<T>(
  client: pg.ClientBase,
  effects: (() => void)[],
  work: (tx: Database) => Promise<T>,
  runOn: RunOn,
  begin: string,
): Promise<T> {
  const tx: Database = {
    run: (statement, parameters) => runOn(client, statement, parameters),
    transaction: (inner) => withinSavepoint(client, () => inner(tx)),
    withSavepoint: (inner) => withinSavepoint(client, () => inner(tx)),
    afterCommit: (effect) => effects.push(effect),
  };
  let isCommitting = false;
  try {
    await client.query(begin);
    const value = await work(tx);
    isCommitting = true;
    const ended = await client.query('commit');
    // After a failed statement PostgreSQL responds to a commit with a rollback, which the driver does not report as an error.
    if (ended.command !== 'COMMIT')
      throw new Error('The commit was rolled back because a statement of the transaction had failed.');
    return value;
  } catch (error) {
    if (!isUnavailable(error)) await client.query('rollback').catch(() => undefined);
    throw explained(error, isCommitting);
  }
}

async function withinSavepoint<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('savepoint part');
  try {
    const value = await work();
    await client.query('release savepoint part');
    return value;
  } catch (error) {
    // Released too: a savepoint left behind would be taken for the outer one, which has the same name.
    await client.query('rollback to savepoint part; release savepoint part').catch(() => undefined);
    throw error;
  }
}

type RunOn = <P extends Columns, R extends Columns>(
  client: pg.ClientBase,
  statement: Statement<P, R>,
  parameters: Values<P>,
) => Promise<Values<R>[]>;

/** How a statement runs outside a transaction. */
function runAlone(
  withClient: DatabasePool['withClient'],
  runOn: RunOn,
  { reads, writes }: { reads: BatchedReads; writes: BatchedWrites },
): Database['run'] {
  return async (statement, parameters) => {
    type Rows = Values<typeof statement.row>[];
    if (isReadStatement(statement)) return (await reads(statement, valuesOf(statement, parameters))) as Rows;
    if (isWriteStatement(statement))
      return (await writes(statement, valuesOf(statement, parameters))) as Rows;
    return withClient((client) => runOn(client, statement, parameters));
  };
}

async function runStatement<P extends Columns, R extends Columns>(
  client: pg.ClientBase,
  statement: Statement<P, R>,
  parameters: Values<P>,
  prepares: boolean,
): Promise<Values<R>[]> {
  const values = valuesOf(statement, parameters);
  const rows = isWriteStatement(statement)
    ? await query<Values<R>>(client, statement.together, [listOf(statement, [{ values }], mayWait)], prepares)
    : await query<Values<R>>(client, statement, values, prepares);
  if (statement.codecs.length > 0) for (const row of rows) readRow(statement, row);
  return rows;
}

/** Returns the rows as the driver gives them. */
async function query<Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  statement: Statement,
  values: readonly unknown[],
  prepares: boolean,
): Promise<Row[]> {
  // Always the same members, so that V8 uses one object shape for all statements.
  const asked = {
    name: prepares ? statement.name : undefined,
    text: statement.text,
    values: values as unknown[],
    // The driver times out by its own clock, whatever limit the server has.
    query_timeout: statement.timeoutMs,
  };
  try {
    return (await client.query<Row>(asked)).rows;
  } catch (error) {
    // The driver's own stack shows only its socket.
    if (error instanceof Error) Error.captureStackTrace(error, query);
    throw error;
  }
}

/** Allows 24 hours instead of the limit that ends the wait on a silent connection. */
export function withoutTimeout(text: string, values?: unknown[]): pg.QueryConfig & { query_timeout: number } {
  return { text, query_timeout: longestSilenceTimeoutMs, ...(values ? { values } : {}) };
}

/** Another request was quicker to use an external ID. A retry finds what it created. */
export function isExternalIdTaken(error: unknown): boolean {
  return (
    codeOf(error) === '23505' &&
    error instanceof Error &&
    'constraint' in error &&
    error.constraint === 'external_id_pkey'
  );
}

/** A statement over several aggregates found one of them changed since it was read. Nothing was written. */
export function isVersionConflict(error: unknown): boolean {
  return codeOf(error) === 'MV001';
}

function isRetriable(error: unknown): boolean {
  return ['40001', '40P01'].includes(codeOf(error));
}

/** For a change decided on what was read and written only while that still holds. Each failed try is another writer's success. */
export async function retryOnConflict<Result>(
  what: string,
  attempt: () => Promise<Result>,
  maxTries = 100,
): Promise<Exclude<Result, 'versionConflict'>> {
  for (let tries = 0; tries < maxTries; tries++) {
    const result = await attempt();
    if (result !== 'versionConflict') return result as Exclude<Result, 'versionConflict'>;
  }
  throw new Error(`${what} was changed by other writers ${maxTries} times in a row`);
}
