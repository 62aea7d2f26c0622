// The PostgreSQL of the torture, on its own small disk if the user may mount one, so that the disk can be filled.
// Kills hit its postmaster, and it starts again on the same files.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import type { NetConnectOpts } from 'node:net';
import { join } from 'node:path';
import { openDatabase, type DatabasePool } from '../../src/platform/database/database.ts';
import { startEmbedded, type EmbeddedServer } from '../../src/sandbox/postgres/server.ts';
import type { Proxy } from './proxy.ts';

const diskMegabytes = 1_200;
const databaseName = 'service';

export type TorturedPostgres = {
  readonly hasOwnDisk: boolean;
  /** The URL for the service, through the proxy. */
  urlBy(proxy: Proxy): string;
  address(): NetConnectOpts;
  /** For the checks: not through the proxy. */
  readonly query: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Applies to sessions that start from now on. */
  setReadOnly(isReadOnly: boolean): Promise<void>;
  /** Fills the disk to the last byte; the result empties it again. */
  fillDisk(): () => void;
  stop(): Promise<void>;
};

export async function startPostgres(folder: string): Promise<TorturedPostgres> {
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  const hasOwnDisk = mount(disk);
  const dataFolder = join(disk, 'postgres');
  const launch = () =>
    startEmbedded({
      dataFolder,
      log: () => {},
      machine: { openFolder: folder },
      // A short write-ahead log is reused soon and leaves space on the disk.
      settings: { max_wal_size: '256MB', max_connections: '60', track_commit_timestamp: 'on' },
    });
  let server: EmbeddedServer = await launch();
  const urlOf = (database: string, host = server.connection.host, port = server.connection.port) => {
    const { user, password } = server.connection;
    return `postgres://${user}:${password}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
  };
  const open = (database: string) =>
    openDatabase({ connection: { url: urlOf(database) }, maxConnections: 2, onConnectionError: () => {} });
  const on = async <T>(database: string, work: (db: DatabasePool) => Promise<T>): Promise<T> => {
    const db = open(database);
    try {
      return await work(db);
    } finally {
      await db.end();
    }
  };
  const administer = (text: string) =>
    on('postgres', (db) => db.withClient(async (client) => void (await client.query(text))));
  await administer(`create database ${databaseName}`);

  return {
    hasOwnDisk,
    urlBy: ({ port }) => urlOf(databaseName, '127.0.0.1', port),
    address() {
      const { host, port } = server.connection;
      return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
    },
    query: (text, values) =>
      on(databaseName, (db) => db.withClient(async (client) => (await client.query(text, values)).rows)),
    kill() {
      process.kill(postmasterIn(dataFolder), 'SIGKILL');
      return Promise.resolve();
    },
    async start() {
      server = await launch();
    },
    setReadOnly: (isReadOnly) =>
      administer(`alter database ${databaseName} set default_transaction_read_only = ${isReadOnly}`),
    fillDisk() {
      const ballast = join(disk, 'ballast');
      const file = openSync(ballast, 'w');
      for (const block of [1 << 20, 1 << 12, 1]) {
        const bytes = Buffer.alloc(block);
        try {
          for (;;) writeSync(file, bytes);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        }
      }
      closeSync(file);
      return () => rmSync(ballast);
    },
    async stop() {
      await server.stop();
      if (hasOwnDisk) execFileSync('umount', ['--lazy', disk]);
    },
  };
}

/** False if the user may not mount. */
function mount(folder: string): boolean {
  try {
    const options = `size=${diskMegabytes}m,mode=755`;
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function postmasterIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true }) as string[];
  const file = files.find((name) => name.endsWith('postmaster.pid'));
  if (file === undefined) throw new Error('no PostgreSQL is running');
  return Number(readFileSync(join(folder, file), 'utf8').split('\n')[0]);
}
