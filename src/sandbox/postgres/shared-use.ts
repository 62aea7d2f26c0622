// One connection that a process keeps for as long as it uses the private server, so that the last process to leave can
// tell that it is the last. The tie is a shared advisory lock: a crash lets go of it, and the leaver takes it alone.
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Address } from './address.ts';
import { codeOf } from '../../error-code.ts';

export type Presence = {
  /** True when nobody else uses the server; nobody can come in until this connection ends. */
  takeAlone(): Promise<boolean>;
  leave(): Promise<void>;
  isLost(): boolean;
};

export const databaseName = 'mandate';
export const userName = 'mandate';

const applicationName = 'mandate presence';
/** Numbers that are ours alone. They are taken in the database postgres, where the program takes no others. */
const presenceLock = 7_305_226_101;
const creationLock = 7_305_226_102;

const connectTimeoutMs = 5_000;
const statementTimeoutMs = 60_000;
/** The connections of a pool that was just closed are gone on our side a little before they are on the server's. */
const othersGoneTimeoutMs = 2_000;
const pollIntervalMs = 20;

/** Undefined when the server does not let us in yet, or not any more: look again at who runs it. */
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
    // The connection by itself is no reason for the process to go on living.
    socket.unref();
    return {
      takeAlone() {
        leaving = true;
        socket.ref();
        // A server that goes away under the question was stopped by somebody else, and is not ours to stop.
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
    // The bootstrap user: there are places reserved for it when all others are taken.
    user: 'postgres',
    database: 'postgres',
    password,
    ssl: false,
    stream: () => socket,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    // The statement that creates the user holds its password and must not get into the server's log.
    options: `-c statement_timeout=${statementTimeoutMs} -c log_statement=none -c log_min_error_statement=panic`,
  });
}

async function createDatabase(client: pg.Client, password: string): Promise<void> {
  if (await isComplete(client)) return;
  // Where something fails from here on, the connection is closed, and that gives the lock back.
  await client.query('select pg_advisory_lock($1)', [creationLock]);
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [userName]);
  // Not a superuser: what the program is talked into must stay inside its database. Tests clone databases.
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

/** Our own share is given up first: of two that leave at the same moment, one would otherwise hinder the other. */
async function takeAlone(client: pg.Client): Promise<boolean> {
  await client.query('select pg_advisory_unlock_shared($1)', [presenceLock]);
  const { rows } = await client.query<{ alone: boolean }>('select pg_try_advisory_lock($1) as alone', [
    presenceLock,
  ]);
  if (!rows[0]?.alone) return false;
  const deadline = Date.now() + othersGoneTimeoutMs;
  while (await othersConnected(client)) {
    if (Date.now() > deadline) return false;
    await sleep(pollIntervalMs);
  }
  return true;
}

/** Also a backup or a curious operator. Processes that are just coming wait for our lock and start the server anew. */
async function othersConnected(client: pg.Client): Promise<boolean> {
  const text = `select from pg_stat_activity
    where backend_type = 'client backend' and application_name <> $1 and pid <> pg_backend_pid() limit 1`;
  const { rowCount } = await client.query(text, [applicationName]);
  return rowCount === 1;
}

/** Starting, stopping, crashed a moment ago, or all places taken: states that end by themselves. */
function isPassing(error: unknown): boolean {
  const passing = ['57P01', '57P02', '57P03', '53300', 'ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'];
  // The driver has no code for a connection that closes under it.
  return (
    passing.includes(codeOf(error)) ||
    (error instanceof Error && /terminated|timeout|not queryable/.test(error.message))
  );
}

function explained(error: unknown, address: Address): unknown {
  if (codeOf(error) !== '28P01') return error;
  return new Error(
    `The private PostgreSQL at ${address.host} does not take the password in the file beside it. Restore the file ` +
      'pg/password of the data folder.',
    { cause: error },
  );
}
