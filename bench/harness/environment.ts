// The environment of the proofs about backups, standbys and poolers: Debian's PostgreSQL and the program, in their own processes.
// Closing it ends every process and removes every file.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../tools/free-port.ts';
import { makeTemporaryFolder } from '../../tools/temporary-folders.ts';
import { mandateProgram, repository, startProgram } from './program.ts';
import { openApi, type Api } from '../workloads/scenarios.ts';

const secret = 'a secret of the measurement that is long enough';
const programs = ['18', '17', '16', '15']
  .map((major) => `/usr/lib/postgresql/${major}/bin`)
  .find((folder) => existsSync(join(folder, 'pg_basebackup')));

export type Server = { readonly folder: string; readonly port: number };

export type Environment = {
  /** The parent of the servers' folders; the servers may write to it. */
  readonly data: string;
  server(name: string): Promise<Server>;
  initialise(server: Server, settings: readonly string[]): Promise<void>;
  start(server: Server, more?: readonly string[]): Promise<void>;
  stop(server: Server, how: 'fast' | 'immediate'): Promise<void>;
  sql(server: Server, text: string): Promise<string>;
  asPostgres(program: string, args: readonly string[]): Promise<string>;
  /** Starts the simulated bank in its own process, which outlives every node. */
  startBank(): Promise<void>;
  /** Starts a node on that database, and opens a client of its sandbox. */
  startNode(
    databaseUrl: string,
    settings?: Record<string, string>,
  ): Promise<{ readonly api: Api; stop(): Promise<void> }>;
  /** Runs a subcommand; it needs no running node. */
  mandate(
    databaseUrl: string,
    args: readonly string[],
    settings?: Record<string, string>,
  ): Promise<{ code: number; output: string }>;
  onClose(end: () => unknown): void;
  close(): Promise<void>;
};

export function openEnvironment(name: string): Environment {
  if (!programs)
    throw new Error('PostgreSQL 15 to 18 is not in /usr/lib/postgresql. Run "apt-get install postgresql".');
  const folder = makeTemporaryFolder(name);
  chmodSync(folder, 0o755);
  const data = join(folder, 'postgres');
  mkdirSync(data);
  if (isRoot()) execFileSync('chown', ['postgres', data]);
  const endings: (() => unknown)[] = [];
  let bankUrl = '';
  const settingsOfNode = (databaseUrl: string) => ({
    PORT: '0',
    DATABASE_URL: databaseUrl,
    MANDATE_DATA: join(folder, 'node'),
    MANDATE_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    BANK_URL: bankUrl,
    BANK_SECRET: secret,
    REQUESTS_PER_SECOND: '0',
    CARD_TESTING_LIMITS: 'off',
    LOG_LEVEL: 'info',
  });
  const stop: Environment['stop'] = async (server, how) =>
    void (await asPostgres('pg_ctl', ['stop', '-w', '-m', how, '-D', server.folder]));

  return {
    data,
    server: async (name) => ({ folder: join(data, name), port: await freePort() }),
    async initialise(server, settings) {
      const how = ['-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--locale=C'];
      await asPostgres('initdb', ['-D', server.folder, ...how]);
      const own = ["listen_addresses = '127.0.0.1'", `unix_socket_directories = '${data}'`];
      appendFileSync(join(server.folder, 'postgresql.conf'), [...own, ...settings, ''].join('\n'));
    },
    async start(server, more = []) {
      const settings = ['-p', String(server.port), ...more].join(' ');
      const log = `${server.folder}.log`;
      await asPostgres('pg_ctl', ['start', '-w', '-D', server.folder, '-l', log, '-o', settings]);
      endings.push(() => stop(server, 'immediate').catch(() => undefined));
    },
    stop,
    async sql(server, text) {
      const where = ['-h', '127.0.0.1', '-p', String(server.port), '-U', 'postgres'];
      let last = '';
      for (const statement of text.split(';'))
        last = await asPostgres('psql', [...where, '-qAtc', statement]);
      return last.trim();
    },
    asPostgres,
    async startBank() {
      const bank = await startProgram([mandateProgram, 'bank'], {
        MANDATE_DATA: join(folder, 'bank'),
        BANK_SECRET: secret,
      });
      endings.push(() => bank.stop());
      bankUrl = bank.url;
    },
    async startNode(databaseUrl, settings = {}) {
      const node = await startProgram([mandateProgram, 'serve'], {
        ...settingsOfNode(databaseUrl),
        ...settings,
      });
      const facts = JSON.parse(readFileSync(join(folder, 'node/sandbox.json'), 'utf8')) as { apiKey: string };
      const api = openApi({ url: node.url, apiKey: facts.apiKey });
      const stopNode = async () => {
        await api.close().catch(() => undefined);
        await node.stop();
      };
      endings.push(stopNode);
      return { api, stop: stopNode };
    },
    async mandate(databaseUrl, args, settings = {}) {
      const { PATH = '', HOME = '' } = process.env;
      const env = { PATH, HOME, ...settingsOfNode(databaseUrl), ...settings };
      const running = promisify(execFile)(process.execPath, [mandateProgram, ...args], {
        cwd: repository,
        env,
        maxBuffer: 2 ** 28,
      });
      return running.then(
        ({ stdout }) => ({ code: 0, output: stdout }),
        (failed: { code: number; stdout: string; stderr: string }) => ({
          code: failed.code,
          output: failed.stdout + failed.stderr,
        }),
      );
    },
    onClose: (end) => void endings.push(end),
    async close() {
      for (const end of endings.reverse()) await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root. */
async function asPostgres(program: string, args: readonly string[]): Promise<string> {
  const path = join(programs ?? '', program);
  const [command, all] = isRoot()
    ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', path, ...args]]
    : [path, args];
  const child = spawn(command, all, { cwd: tmpdir(), stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()));
  let words = '';
  child.stderr.on('data', (bytes: Buffer) => (words += bytes.toString()));
  // 'close' would never come: a started server keeps these pipes open.
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} exited with code ${code}: ${words}`);
  return output;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
