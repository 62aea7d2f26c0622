// The one way to PostgreSQL: run a prepared statement, or several in a transaction. A connection is held only for that, and never while
// the program waits for a bank or a merchant.
import pg from 'pg';
import { codeOf } from '../../error-code.ts';
import { keepIdle, type ConnectionPool } from './idle-connections.ts';
import { parameterOf, readRow, typeParsers, type Columns, type Statement, type Values } from './statement.ts';

export type Database = {
  run<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    parameters: Values<P>,
  ): Promise<Values<R>[]>;
  /**
   * Retries deadlocks and serialisation failures from the start. Inside another transaction it is a savepoint, which can fail
   * without failing the whole.
   */
  transaction<T>(work: (tx: Database) => Promise<T>): Promise<T>;
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
  /** For what is not a statement of the program: migrations and the schema dump. */
  withClient<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>;
  connections(): { total: number; idle: number; waiting: number };
  end(): Promise<void>;
};

/** The database cannot be reached or accepts no writes. Nothing was done there, so the request can safely be repeated. */
export class DatabaseUnavailable extends Error {
  constructor(cause: unknown, what = 'cannot be reached') {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`The database ${what}: ${why}. Check that PostgreSQL runs, and DATABASE_URL if it is set.`, {
      cause,
    });
  }
}

export type Connection =
  { readonly url: string } | { host: string; port: number; user: string; password: string; database: string };

const waitForConnectionMs = 5_000;
const statementTimeoutMs = 10_000;
/** Longer than the server's own limit: it ends the wait on a connection that has gone silent, as after a fail-over. */
const usualSilenceTimeoutMs = 12_000;
/** For a migration that rewrites a whole table, together with `set local statement_timeout = 0`. */
const longestSilenceTimeoutMs = 24 * 3_600_000;
const idleInTransactionTimeoutMs = 5_000;
const transactionTries = 5;
/** A part of the node's connections. They serve reads that take a fraction of a millisecond. */
const lookupConnections = 2;

export function openDatabase(options: {
  connection: Connection;
  maxConnections: number;
  /** Called when the server is gone, before one more try: restarts the private server. */
  restartServer?: () => Promise<void>;
  onConnectionError?: (error: Error) => void;
  /** Tests set it shorter. */
  silenceTimeoutMs?: number;
  prepares?: boolean;
}): DatabasePool {
  return databaseOn({
    prepares: options.prepares ?? true,
    pool: poolOf(options, Math.max(1, options.maxConnections - lookupConnections)),
    lookupPool: poolOf(options, lookupConnections),
    ...(options.restartServer ? { restartServer: options.restartServer } : {}),
  });
}

export function databaseOn(options: {
  pool: ConnectionPool;
  lookupPool: ConnectionPool;
  restartServer?: () => Promise<void>;
  /** False behind a pooler that gives every transaction another connection and does not support prepared statements. */
  prepares?: boolean;
}): DatabasePool {
  const { pool, lookupPool, prepares = true } = options;
  const runOn: RunOn = (client, statement, parameters) =>
    runStatement(client, statement, parameters, prepares);

  async function acquire(from: ConnectionPool): Promise<pg.PoolClient> {
    try {
      return await from.connect();
    } catch (error) {
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
  ): Promise<T> {
    const client = await acquire(from);
    let useless: Error | undefined;
    try {
      return await work(client);
    } catch (error) {
      // The caller has timed out but the connection still awaits the response, so no other caller can use it.
      if (isSilence(error)) useless = error;
      if (!isOfStandby(error)) throw error;
      // The next connection may reach the server that replaced this one.
      useless = error;
      throw new DatabaseUnavailable(error, 'accepts no writes');
    } finally {
      client.release(useless);
    }
  }

  const withClient: DatabasePool['withClient'] = (work) => withClientOf(pool, work);

  async function transaction<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    return retried(async () => {
      const effects: (() => void)[] = [];
      const value = await withClient((client) => inTransaction(client, effects, work, runOn));
      for (const effect of effects) effect();
      return value;
    });
  }

  const alone: Database = {
    run: (statement, parameters) => withClient((client) => runOn(client, statement, parameters)),
    transaction,
    withSavepoint: (work) => retried(() => work(alone)),
    afterCommit: (effect) => effect(),
  };
  return {
    ...alone,
    withClient,
    lookups: {
      run: (statement, parameters) =>
        withClientOf(lookupPool, (client) => runOn(client, statement, parameters)),
    },
    connections: () => ({
      total: pool.totalCount + lookupPool.totalCount,
      idle: pool.idleCount + lookupPool.idleCount,
      waiting: pool.waitingCount + lookupPool.waitingCount,
    }),
    end: async () => void (await Promise.all([pool.end(), lookupPool.end()])),
  };
}

function poolOf(
  options: {
    connection: Connection;
    onConnectionError?: (error: Error) => void;
    silenceTimeoutMs?: number;
  },
  maxConnections: number,
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
    application_name: 'mandate',
    query_timeout: silenceTimeoutMs,
    keepAlive: true,
    options: settings,
  });
  // A connection that dies while idle emits an error, which would end the process if there were no listener.
  const listener = (error: Error) => onConnectionError?.(error);
  pool.on('error', listener);
  pool.on('connect', (client) => client.on('error', listener));
  return keepIdle(pool);
}

/**
 * The driver lets the last `options` of the URL replace these settings, so they are appended to it: the server obeys the last value.
 * The rest of the URL stays as it is, because the driver decodes a URL with a bare % differently.
 */
function withSettings(url: string, settings: string): string {
  return url.replace(/([?&]options=[^&#]*)(?!.*[?&]options=)/, `$1+${settings.replaceAll(' ', '+')}`);
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
): Promise<T> {
  const tx: Database = {
    run: (statement, parameters) => runOn(client, statement, parameters),
    transaction: (inner) => withinSavepoint(client, () => inner(tx)),
    withSavepoint: (inner) => withinSavepoint(client, () => inner(tx)),
    afterCommit: (effect) => effects.push(effect),
  };
  await client.query('begin');
  try {
    const value = await work(tx);
    const ended = await client.query('commit');
    // After a failed statement PostgreSQL responds to a commit with a rollback, which the driver does not report as an error.
    if (ended.command !== 'COMMIT')
      throw new Error('The commit was rolled back because a statement of the transaction had failed.');
    return value;
  } catch (error) {
    if (!isSilence(error)) await client.query('rollback').catch(() => undefined);
    throw error;
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

async function runStatement<P extends Columns, R extends Columns>(
  client: pg.ClientBase,
  statement: Statement<P, R>,
  parameters: Values<P>,
  prepares: boolean,
): Promise<Values<R>[]> {
  // Always the same members, so that V8 uses one object shape for all statements.
  const query = {
    name: prepares ? statement.name : undefined,
    text: statement.text,
    values: valuesOf(statement, parameters),
    // The driver times out by its own clock, whatever limit the server has.
    query_timeout: statement.timeoutMs,
  };
  try {
    const { rows } = await client.query<Values<R>>(query);
    if (statement.codecs.length > 0) for (const row of rows) readRow(statement, row);
    return rows;
  } catch (error) {
    // The driver's own stack shows only its socket.
    if (error instanceof Error) Error.captureStackTrace(error, runStatement);
    throw error;
  }
}

function valuesOf(
  { name: statement, parameterNames, parameters: types }: Statement,
  parameters: Values<Columns>,
) {
  return parameterNames.map((name) => {
    const value = parameters[name];
    // The driver would send null and hide the mistake.
    if (value === undefined) throw new Error(`Statement ${statement} was run without :${name}.`);
    return parameterOf(value, types[name]);
  });
}

/** Whether the server accepts no writes, as a standby. */
export function isReadOnly(database: DatabasePool): Promise<boolean> {
  return database.withClient(async (client) => {
    const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
    return rows[0]?.transaction_read_only === 'on';
  });
}

/** Allows 24 hours instead of the limit that ends the wait on a silent connection. */
export function withoutTimeout(text: string, values?: unknown[]): pg.QueryConfig & { query_timeout: number } {
  return { text, query_timeout: longestSilenceTimeoutMs, ...(values ? { values } : {}) };
}

/** No server listens there: the private server was stopped or killed. */
function isServerGone(error: unknown): boolean {
  return ['ENOENT', 'ECONNREFUSED'].includes(codeOf(error));
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

/** The driver's message for a query that timed out; it has no code. */
function isSilence(error: unknown): error is Error {
  return error instanceof Error && error.message === 'Query read timeout';
}

/** PostgreSQL's refusal to write on a standby or a server set to read-only. */
function isOfStandby(error: unknown): error is Error {
  return error instanceof Error && codeOf(error) === '25006';
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
