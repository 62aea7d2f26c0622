// The connection that a process keeps while it uses the private server, so that the last process knows it is the last.
// It holds a shared advisory lock, which a crash releases and the last process takes exclusively.
import { Socket } from 'node:net';
import pg from 'pg';
import type { Address } from './address.ts';
import { codeOf } from '../../error-code.ts';

export type Presence = {
  /** True when no other process uses the server. None can join until this connection ends. */
  takeAlone(): Promise<boolean>;
  leave(): Promise<void>;
  isLost(): boolean;
};

export const databaseName = 'mandate';
export const userName = 'mandate';

const applicationName = 'mandate presence';
/** Arbitrary lock numbers, used in the database `postgres`, where the program takes no other locks. */
const presenceLock = 7_305_226_101;
const creationLock = 7_305_226_102;

const connectTimeoutMs = 5_000;
const statementTimeoutMs = 60_000;

/** Undefined while the server is starting or stopping; check again which server runs. */
export async function enter(
  address: Address,
  password: string,
  onLost: (error: Error) => void,
): Promise<Presence | undefined> {
  const socket = new Socket();
  const client = openClient(socket, address, password);
  let lost = false;
  let leaving = false;
  client.on('error', (error) => {
    if (!lost && !leaving) onLost(error);
    lost = true;
  });
  try {
    await client.connect();
    await client.query('select pg_advisory_lock_shared($1)', [presenceLock]);
    await createDatabase(client, password);
    // This connection must not keep the process running.
    socket.unref();
    return {
      takeAlone() {
        leaving = true;
        socket.ref();
        // If the connection ends here, another process has stopped the server.
        return takeAlone(client).catch((error: unknown) => {
          if (isPassing(error)) return false;
          throw error;
        });
      },
      async leave() {
        leaving = true;
        socket.ref();
        await client.end().catch(() => undefined);
        socket.destroy();
      },
      isLost: () => lost,
    };
  } catch (error) {
    leaving = true;
    socket.destroy();
    if (isPassing(error)) return undefined;
    throw explained(error, address);
  }
}

function openClient(socket: Socket, address: Address, password: string): pg.Client {
  return new pg.Client({
    ...address,
    // The bootstrap user, because PostgreSQL reserves connections for it.
    user: 'postgres',
    database: 'postgres',
    password,
    ssl: false,
    stream: () => socket,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    // Keeps the password in the statement that creates the user out of the server's log.
    options: `-c statement_timeout=${statementTimeoutMs} -c log_statement=none -c log_min_error_statement=panic`,
  });
}

async function createDatabase(client: pg.Client, password: string): Promise<void> {
  if (await isComplete(client)) return;
  // After a failure below, closing the connection releases the lock.
  await client.query('select pg_advisory_lock($1)', [creationLock]);
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [userName]);
  // Not a superuser, so that an attack on the program stays inside its database. Tests clone databases.
  if (!rowCount) {
    await client.query(`create role ${userName} login createdb password ${client.escapeLiteral(password)}`);
  }
  if (!(await isComplete(client))) await client.query(`create database ${databaseName} owner ${userName}`);
  await client.query('select pg_advisory_unlock($1)', [creationLock]);
}

async function isComplete(client: pg.Client): Promise<boolean> {
  const text =
    'select from pg_database where datname = $1 and exists (select from pg_roles where rolname = $2)';
  const { rowCount } = await client.query(text, [databaseName, userName]);
  return rowCount === 1;
}

/** Releases its shared lock first; otherwise two processes that leave together would block each other. */
async function takeAlone(client: pg.Client): Promise<boolean> {
  await client.query('select pg_advisory_unlock_shared($1)', [presenceLock]);
  const { rows } = await client.query<{ alone: boolean }>('select pg_try_advisory_lock($1) as alone', [
    presenceLock,
  ]);
  return rows[0]?.alone === true && !(await othersConnected(client));
}

/** Counts any other client, such as a backup. A process that is joining waits for the lock and starts the server again. */
async function othersConnected(client: pg.Client): Promise<boolean> {
  const text = `select from pg_stat_activity
    where backend_type = 'client backend' and application_name <> $1 and pid <> pg_backend_pid() limit 1`;
  const { rowCount } = await client.query(text, [applicationName]);
  return rowCount === 1;
}

/** Temporary states: starting, stopping, just crashed, or no free connection. */
function isPassing(error: unknown): boolean {
  const passing = ['57P01', '57P02', '57P03', '53300', 'ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'];
  // The driver gives no code when a connection closes.
  return (
    passing.includes(codeOf(error)) ||
    (error instanceof Error && /terminated|timeout|not queryable/.test(error.message))
  );
}

function explained(error: unknown, address: Address): unknown {
  if (codeOf(error) !== '28P01') return error;
  return new Error(
    `The private PostgreSQL at ${address.host} rejects the password in pg/password of the data folder. Restore that ` +
      'file.',
    { cause: error },
  );
}
