// What a measurement runs: one PostgreSQL that syncs to disk, the simulated bank, the service and the floor, each a process of
// its own, all ended when the measurement ends.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startEmbedded } from '../src/database/embedded/server.ts';
import { openDatabase } from '../src/database/database.ts';
import { migrate } from '../src/database/migrate.ts';
import { openSlowBank, type SlowBank } from './slow-bank.ts';
import { temporaryFolder } from '../test/support/test-cluster.ts';
import { buildProgram } from '../tools/build-program.ts';

const repository = fileURLToPath(new URL('..', import.meta.url));
/** What operators run: the sources as JavaScript, without development tools in the process. */
const program = 'dist/main.js';
const secret = 'a secret of the measurement that is long enough';
const connections = 10;

export type Contender = {
  readonly name: 'service' | 'floor';
  readonly url: string;
  readonly apiKey: string;
  readonly pid: number;
  readonly database: string;
};

export type Field = {
  readonly service: Contender;
  readonly floor: Contender;
  readonly slowBank: SlowBank | undefined;
  /** From the start of the service to its first word that it listens, on a database it has used before. */
  readonly startMs: number;
  /** A statement in one of the databases, by its superuser. */
  query(database: string, text: string): Promise<Record<string, string>[]>;
  postgresPids(): number[];
  /** One more node of the service on the same database. */
  addNode(): Promise<Contender>;
  close(): Promise<void>;
};

export type Wishes = {
  /** A folder into which the service writes what it spent its time on. */
  readonly profileInto?: string;
  /** Puts a relay before the bank that can hold its answers back. */
  readonly slowBank?: boolean;
};

/** Ends what was started when the rest cannot be. */
export async function openField(wishes: Wishes = {}): Promise<Field> {
  const endings: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const end of endings.reverse()) await end();
  };
  try {
    return await start(wishes, endings, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function start(
  wishes: Wishes,
  endings: (() => Promise<void>)[],
  close: () => Promise<void>,
): Promise<Field> {
  await buildProgram(new URL('../dist/', import.meta.url));
  const { folder, remove } = temporaryFolder();
  endings.push(remove);
  const server = await startEmbedded({
    dataFolder: folder,
    log: () => {},
    machine: { openFolder: folder },
    // Counts what is sent; the same for both.
    settings: { shared_preload_libraries: 'pg_stat_statements' },
  });
  endings.push(() => server.stop());
  const { connection } = server;
  const urlOf = (database: string, as?: 'superuser') => {
    const { host, port, user, password } = connection as {
      host: string;
      port: number;
      user: string;
      password: string;
    };
    return `postgres://${as ? 'postgres' : user}:${password}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
  };
  const withDatabase = async <T>(
    database: string,
    work: (run: (text: string) => Promise<any[]>) => Promise<T>,
    as?: 'superuser',
  ) => {
    const db = openDatabase({ connection: { url: urlOf(database, as) }, connectionsMost: 3 });
    try {
      return await work((text) => db.withClient(async (client) => (await client.query(text)).rows));
    } finally {
      await db.end();
    }
  };

  async function run(
    name: string,
    args: string[],
    environment: Record<string, string>,
  ): Promise<{ url: string; pid: number }> {
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(process.execPath, args, {
      cwd: repository,
      env: { PATH, HOME, NODE_ENV: 'production', LOG_LEVEL: 'warn', ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    endings.push(() => end(child));
    const exited = once(child, 'exit').then(([code]) => {
      throw new Error(`the ${name} ended with ${code}`);
    });
    exited.catch(() => undefined);
    // Its log is read to the end: a pipe nobody empties would hold it up.
    const address = new Promise<string>((resolve) => {
      createInterface(child.stdout).on('line', (line) => {
        const [, found] = /"address":"([^"]+)"/.exec(line) ?? [];
        if (found) resolve(found);
      });
    });
    return { url: await Promise.race([address, exited]), pid: child.pid ?? 0 };
  }

  for (const database of ['service', 'floor']) {
    await withDatabase('postgres', (run) => run(`create database ${database}`));
    await withDatabase(database, (run) => run('create extension pg_walinspect'), 'superuser');
  }
  await withDatabase('postgres', (run) => run('create extension pg_stat_statements'), 'superuser');
  const floorDatabase = openDatabase({ connection: { url: urlOf('floor') }, connectionsMost: 3 });
  await migrate(floorDatabase);
  await floorDatabase.end();

  const bank = await run('bank', [program, 'bank'], {
    LOG_LEVEL: 'info',
    MANDATE_DATA: join(folder, 'bank'),
    BANK_SECRET: secret,
  });
  // Only where it is asked for: it takes processor time that the others would have.
  const slowBank = wishes.slowBank ? await openSlowBank(bank.url) : undefined;
  if (slowBank) endings.push(() => slowBank.close());
  const bankUrl = slowBank?.url ?? bank.url;
  const node = async (number: number): Promise<Contender> => {
    const data = join(folder, `node-${number}`);
    const profiling = wishes.profileInto ? ['--cpu-prof', '--cpu-prof-dir', wishes.profileInto] : [];
    const { url, pid } = await run('service', [...profiling, program, 'serve'], {
      LOG_LEVEL: 'info',
      PORT: '0',
      DATABASE_URL: urlOf('service'),
      DATABASE_CONNECTIONS: String(connections),
      MANDATE_DATA: data,
      MANDATE_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
      BANK_URL: bankUrl,
      BANK_SECRET: secret,
      REQUESTS_PER_SECOND: '0',
    });
    const { apiKey } = JSON.parse(readFileSync(join(data, 'sandbox.json'), 'utf8')) as { apiKey: string };
    return { name: 'service', url, pid, apiKey, database: 'service' };
  };
  // Once to make the schema, and then as after every day.
  await node(0);
  await endings.pop()?.();
  const startedMs = performance.now();
  const service = await node(1);
  const startMs = performance.now() - startedMs;
  const tsx = join(repository, 'node_modules/tsx/dist/loader.mjs');
  const floorStarted = await run('floor', ['--import', tsx, 'bench/floor/floor.ts'], {
    DATABASE_URL: urlOf('floor'),
    DATABASE_CONNECTIONS: String(connections),
    BANK_URL: bankUrl,
    BANK_SECRET: secret,
  });
  let nodes = 1;

  return {
    service,
    floor: { name: 'floor', ...floorStarted, apiKey: 'none', database: 'floor' },
    slowBank,
    startMs,
    query: (database, text) => withDatabase(database, (run) => run(text), 'superuser'),
    postgresPids: () => childrenOf(folder),
    addNode: () => node(++nodes),
    close,
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** The postmaster of that folder and its processes. */
function childrenOf(folder: string): number[] {
  const pidFile = findFile(folder, 'postmaster.pid');
  if (!pidFile || !existsSync('/proc')) return [];
  const postmaster = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  const parentOf = (pid: string) => {
    try {
      return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
    } catch {
      return 0; // it has just ended
    }
  };
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === postmaster);
  return [postmaster, ...children.map(Number)];
}

function findFile(folder: string, name: string): string | undefined {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.name === name) return path;
    const deeper = entry.isDirectory() ? findFile(path, name) : undefined;
    if (deeper) return deeper;
  }
  return undefined;
}
