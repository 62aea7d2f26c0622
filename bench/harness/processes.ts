// The processes of a measurement: a PostgreSQL that syncs to disk, the simulated bank, nodes of the service, and the floor.
// Closing it ends all of them.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import pg, { type ClientBase } from 'pg';
import { startEmbedded } from '../../src/sandbox/postgres/server.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { installBuiltProgram } from '../../test/support/processes/built-program.ts';
import { outputOf, repository, startProgram, type Program } from './program.ts';
import { openSlowBank, type SlowBank } from './slow-bank.ts';
import { temporaryFolder } from '../../test/support/database/test-cluster.ts';

const secret = 'a secret of the measurement that is long enough';
const connections = 10;

export type Contender = Program & {
  readonly name: 'service' | 'floor';
  readonly apiKey: string;
  readonly database: string;
};

export type Processes = {
  /** Starts a node on that database, and creates the database if it does not exist. */
  node(database: string): Promise<Contender>;
  /** Starts the floor on its own database. */
  floor(): Promise<Contender>;
  readonly slowBank: SlowBank | undefined;
  /** The simulated banks themselves. */
  readonly bankUrls: readonly string[];
  /** Of the bank that nodes charge at. */
  readonly bankPid: number;
  /** Runs a subcommand on that database, and returns its exit code and output. */
  mandate(database: string, args: readonly string[]): Promise<{ code: number; output: string }>;
  /** Drops the database and creates it again. */
  emptyDatabase(database: string): Promise<void>;
  /** A superuser's connection. */
  withClient<T>(database: string, work: (client: ClientBase) => Promise<T>): Promise<T>;
  /** A statement run by the superuser. */
  query(database: string, text: string): Promise<Record<string, string>[]>;
  /** PostgreSQL's data folder. */
  readonly dataFolder: string;
  postgresPids(): number[];
  urlOf(database: string): string;
  close(): Promise<void>;
};

export type ProcessOptions = {
  /** A folder for the service's CPU profiles. */
  readonly profileInto?: string;
  /** Puts a relay in front of the bank that can delay its responses. */
  readonly slowBank?: boolean;
  /** Where PostgreSQL keeps its data after the measurement. Without it everything is removed. */
  readonly folder?: string;
  /** Settings of PostgreSQL. */
  readonly settings?: Record<string, string>;
  readonly settingsOfNodes?: Record<string, string>;
  /** So that the report of the bank is of the service alone. */
  readonly bankOfFloor?: boolean;
};

/** If one process cannot start, ends those that did. */
export async function startProcesses(options: ProcessOptions = {}): Promise<Processes> {
  const endings: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    return await start(options, endings, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function start(
  options: ProcessOptions,
  endings: (() => Promise<void>)[],
  close: () => Promise<void>,
): Promise<Processes> {
  const { folder, remove } = temporaryFolder();
  endings.push(remove);
  const server = await startEmbedded({
    dataFolder: options.folder ?? folder,
    log: () => {},
    machine: { openFolder: options.folder ?? folder },
    // Counts the statements, at the same cost for every contender.
    settings: { shared_preload_libraries: 'pg_stat_statements', ...options.settings },
  });
  endings.push(() => server.stop());
  const { host, port, user, password } = server.connection;
  const urlOf = (database: string, as = user) =>
    `postgres://${as}:${password}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
  const withClient = async <T>(database: string, work: (client: ClientBase) => Promise<T>) => {
    // As superuser: the service's own user has time limits.
    const client = new pg.Client({
      connectionString: urlOf(database, 'postgres'),
      options: '-c timezone=UTC',
    });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  };
  const query = (database: string, text: string) =>
    withClient(database, async (client) => (await client.query<Record<string, string>>(text)).rows);

  async function haveDatabase(name: string): Promise<void> {
    const known = await query('postgres', `select from pg_database where datname = '${name}'`);
    if (known.length > 0) return;
    await query('postgres', `create database ${name} owner ${user}`);
    await query(name, 'create extension pg_walinspect');
  }
  await query('postgres', 'create extension if not exists pg_stat_statements');

  async function run(args: readonly string[], environment: Record<string, string>): Promise<Program> {
    const started = await startProgram(args, environment);
    endings.push(() => started.stop());
    return started;
  }

  // The built program, as operators run it: the loader of sources slows functions created at run time.
  const installed = join(folder, 'installed');
  const program = await installBuiltProgram(installed);
  const floorProgram = await buildFloor(installed);
  const openBank = (name: string) =>
    run([program, 'bank'], { MANDATE_DATA: join(folder, name), BANK_SECRET: secret });
  const bank = await openBank('bank');
  const bankOfFloor = options.bankOfFloor ? await openBank('bank-of-floor') : undefined;
  // Only on request: the relay takes processor time from the contenders.
  const slowBank = options.slowBank ? await openSlowBank(bank.url) : undefined;
  if (slowBank) endings.push(() => slowBank.close());
  const bankSettings = { BANK_URL: slowBank?.url ?? bank.url, BANK_SECRET: secret };
  const pool = { DATABASE_CONNECTIONS: String(connections) };
  let nodes = 0;
  const settingsOf = (database: string, data: string) => ({
    ...bankSettings,
    ...pool,
    PORT: '0',
    DATABASE_URL: urlOf(database),
    MANDATE_DATA: data,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    REQUESTS_PER_SECOND: '0',
    CARD_TESTING_LIMITS: 'off',
  });

  return {
    async node(database) {
      await haveDatabase(database);
      const data = join(folder, `node-${++nodes}`);
      const profiling = options.profileInto ? ['--cpu-prof', '--cpu-prof-dir', options.profileInto] : [];
      const settings = { ...settingsOf(database, data), ...options.settingsOfNodes };
      const started = await run([...profiling, program, 'serve'], settings);
      const { apiKey } = JSON.parse(readFileSync(join(data, 'sandbox.json'), 'utf8')) as { apiKey: string };
      return { name: 'service', ...started, apiKey, database };
    },
    async floor() {
      await haveDatabase('floor');
      const floorDatabase = openDatabase({ connection: { url: urlOf('floor') }, maxConnections: 3 });
      await migrate(floorDatabase);
      await floorDatabase.end();
      const started = await run([floorProgram], {
        ...bankSettings,
        ...pool,
        ...(bankOfFloor ? { BANK_URL: bankOfFloor.url } : {}),
        DATABASE_URL: urlOf('floor'),
      });
      return { name: 'floor', ...started, apiKey: 'none', database: 'floor' };
    },
    slowBank,
    bankPid: bank.pid,
    bankUrls: [bank.url, ...(bankOfFloor ? [bankOfFloor.url] : [])],
    mandate: (database, args) =>
      outputOf([program, ...args], settingsOf(database, join(folder, `node-${nodes}`))),
    async emptyDatabase(database) {
      await query('postgres', `drop database if exists ${database}`);
      await haveDatabase(database);
    },
    withClient,
    query,
    dataFolder: server.folder,
    postgresPids: () => childrenOf(server.folder),
    urlOf,
    close,
  };
}

/** Builds the floor next to the program, whose packages it shares, and returns the file to run. */
async function buildFloor(folder: string): Promise<string> {
  const outfile = join(folder, 'floor.js');
  const entry = join(repository, 'bench/floor/floor.ts');
  const asTheProgram = { platform: 'node', format: 'esm', target: 'node20', packages: 'external' } as const;
  await build({ entryPoints: [entry], outfile, bundle: true, ...asTheProgram });
  return outfile;
}

/** The process IDs of the folder's postmaster and its children. */
function childrenOf(folder: string): number[] {
  const pidFile = findFile(folder, 'postmaster.pid');
  if (!pidFile || !existsSync('/proc')) return [];
  const postmaster = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  const parentOf = (pid: string) => {
    try {
      return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
    } catch {
      return 0; // The process has ended.
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
