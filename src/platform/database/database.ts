// The one way to PostgreSQL: run a statement, or run several in a transaction. Statements are prepared once per
// connection; a connection is held for the length of a statement or a transaction and never while waiting for others.
import pg from 'pg';
import { keepIdle, type ConnectionPool } from './idle-connections.ts';
import { parameterOf, readRow, typeParsers, type Columns, type Statement, type Values } from './statement.ts';

export type Database = {
  run<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    parameters: Values<P>,
  ): Promise<Values<R>[]>;
  /**
   * Deadlocks and serialisation failures are retried from the start. Inside another it is a part of that, which may fail
   * by itself without failing the whole.
   */
  transaction<T>(work: (tx: Database) => Promise<T>): Promise<T>;
  /** For work of a single write: tried again as a transaction is; inside another a part of that, which it may not spoil. */
  withSavepoint<T>(work: (db: Database) => Promise<T>): Promise<T>;
  /** Runs the effect once what was written is durable: at once outside a transaction, after the commit inside one. */
  afterCommit(effect: () => void): void;
};

export type DatabasePool = Database & {
  /**
   * For single reads that others wait for, on connections of their own: keys, parties, shops. Whoever holds a connection
   * for a transaction may ask these in the middle of it; were they to wait for the same connections, a full pool of
   * holders would wait for each other for ever.
   */
  readonly lookups: Pick<Database, 'run'>;
  /** For the few things that are not statements of the program: migrations, the schema dump. */
  withClient<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>;
  connections(): { total: number; idle: number; waiting: number };
  end(): Promise<void>;
};

/** The database cannot be reached, or takes no writes: nothing was done there, and the request can safely be repeated. */
export class DatabaseUnavailable extends Error {
  constructor(cause: unknown, what = 'cannot be reached') {
    super(`the database ${what}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

export type Connection =
  { readonly url: string } | { host: string; port: number; user: string; password: string; database: string };

const waitForConnectionMs = 5_000;
const statementTimeoutMs = 10_000;
/** Longer than the server's own limit: it ends the waiting on a connection that has gone silent, as after a fail-over. */
const usualSilenceTimeoutMs = 12_000;
/** For what rewrites a whole table, beside `set local statement_timeout = 0`. */
const longestSilenceTimeoutMs = 24 * 3_600_000;
const idleInTransactionTimeoutMs = 5_000;
const transactionTries = 5;
/** Of the connections of a node; they serve reads of a fraction of a millisecond. */
const lookupConnections = 2;

export function openDatabase(options: {
  connection: Connection;
  maxConnections: number;
  /** Called when the server is gone, before one more try: starts the private server again. */
  revive?: () => Promise<void>;
  onConnectionError?: (error: Error) => void;
  /** Shorter in a test of it. */
  silenceTimeoutMs?: number;
  prepares?: boolean;
}): DatabasePool {
  return databaseOn({
    prepares: options.prepares ?? true,
    pool: poolOf(options, Math.max(1, options.maxConnections - lookupConnections)),
    lookupPool: poolOf(options, lookupConnections),
    ...(options.revive ? { revive: options.revive } : {}),
  });
}

export function databaseOn(options: {
  pool: ConnectionPool;
  lookupPool: ConnectionPool;
  revive?: () => Promise<void>;
  /** False behind a pooler that gives every transaction another connection and does not know prepared statements. */
  prepares?: boolean;
}): DatabasePool {
  const { pool, lookupPool, prepares = true } = options;
  const runOn: RunOn = (client, statement, parameters) =>
    runStatement(client, statement, parameters, prepares);

  async function acquire(from: ConnectionPool): Promise<pg.PoolClient> {
    try {
      return await from.connect();
    } catch (error) {
      if (!options.revive || !isServerGone(error)) throw new DatabaseUnavailable(error);
    }
    try {
      await options.revive();
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
      // Whoever waited has given up, but the connection still waits for that answer: nobody can use it any more.
      if (isSilence(error)) useless = error;
      if (!isOfStandby(error)) throw error;
      // The next one may come to the server that took its place.
      useless = error;
      throw new DatabaseUnavailable(error, 'takes no writes');
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
  // A connection that dies while nothing runs on it emits an error; without a listener that would end the process.
  const listener = (error: Error) => onConnectionError?.(error);
  pool.on('error', listener);
  pool.on('connect', (client) => client.on('error', listener));
  return keepIdle(pool);
}

/**
 * The driver takes the options of an address, the last of them, in place of ours. Ours after those: of two the server heeds the
 * last. The rest stays letter for letter: in an address with a bare % the driver reads encoded signs otherwise.
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
    // After a failed statement PostgreSQL answers a commit with a rollback, and that is not an error to the driver.
    if (ended.command !== 'COMMIT') throw new Error('a transaction with a failed statement was committed');
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
    // Released too: a savepoint left behind would be taken for that of the work around it, which has the same name.
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
  // Of one shape for all: it is made for each statement.
  const question = {
    name: prepares ? statement.name : undefined,
    text: statement.text,
    values: valuesOf(statement, parameters),
    // The driver gives up by its own clock, whatever the server was told.
    query_timeout: statement.timeoutMs,
  };
  try {
    const { rows } = await client.query<Values<R>>(question);
    if (statement.codecs.length > 0) for (const row of rows) readRow(statement, row);
    return rows;
  } catch (error) {
    // Of where it came from the driver knows only its own socket.
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
    // The driver would send null, and nobody would know that something was forgotten.
    if (value === undefined) throw new Error(`the statement ${statement} was run without :${name}`);
    return parameterOf(value, types[name]);
  });
}

/** Whether nothing can be written there, as on a standby. */
export function isReadOnly(database: DatabasePool): Promise<boolean> {
  return database.withClient(async (client) => {
    const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
    return rows[0]?.transaction_read_only === 'on';
  });
}

/** Past the limit that ends the waiting on a silent connection. */
export function withoutTimeout(text: string, values?: unknown[]): pg.QueryConfig & { query_timeout: number } {
  return { text, query_timeout: longestSilenceTimeoutMs, ...(values ? { values } : {}) };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Nobody listens there: the private server was stopped or killed. */
function isServerGone(error: unknown): boolean {
  return ['ENOENT', 'ECONNREFUSED'].includes(codeOf(error));
}

/** Another request was quicker to use an external id. Asked again, what it made is found. */
export function isExternalIdTaken(error: unknown): boolean {
  return (
    codeOf(error) === '23505' &&
    error instanceof Error &&
    'constraint' in error &&
    error.constraint === 'external_id_pkey'
  );
}

/** A statement over several aggregates found that one of them was changed since it was read. Nothing was written. */
export function isVersionConflict(error: unknown): boolean {
  return codeOf(error) === 'MV001';
}

/** The driver's word for it; it has no code. */
function isSilence(error: unknown): error is Error {
  return error instanceof Error && error.message === 'Query read timeout';
}

/** PostgreSQL's refusal to write on a standby, or where it was told not to. */
function isOfStandby(error: unknown): error is Error {
  return error instanceof Error && codeOf(error) === '25006';
}

function isRetriable(error: unknown): boolean {
  return ['40001', '40P01'].includes(codeOf(error));
}
