// Finds, starts and stops the server process.
// It runs in its own session, so it outlives a killed parent and the next process finds it.
import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from './address.ts';
import { codeOf } from '../../error-code.ts';
import { asideName } from '../../platform/make-folder.ts';
import type { Binaries } from './binaries.ts';
import { serverEnvironment, type Cluster } from './cluster.ts';

/** A live server of this cluster. It accepts connections once it is ready, unless it is stopping. */
export type Postmaster = { readonly pid: number; readonly ready: boolean; readonly address: Address };

export type Launch = {
  readonly pid: number | undefined;
  hasEnded(): boolean;
  /** The last error message of the server. */
  lastWords(): string;
  /** Call it after every attempt, whatever the result. */
  forgetOutput(): void;
};

const stopTimeoutMs = 60_000;
const pollIntervalMs = 10;

export function findPostmaster(cluster: Cluster): Postmaster | undefined {
  const [pidLine, , , portLine, socketFolder, , , status] = textOf(pidFile(cluster)).split('\n');
  const pid = Number(pidLine);
  const port = Number(portLine);
  if (!pid || !isOurs(pid, cluster)) return undefined;
  return { pid, ready: status?.trim() === 'ready', address: { host: socketFolder || '127.0.0.1', port } };
}

/**
 * The lock files of a killed server name its process ID. PostgreSQL refuses to start while any process has that ID,
 * even a zombie; this function checks whether it is a server.
 */
export function removeStaleLocks(cluster: Cluster): void {
  const socketLocks = readdirSync(cluster.run).filter((name) => name.endsWith('.lock'));
  for (const file of [pidFile(cluster), ...socketLocks.map((name) => join(cluster.run, name))]) {
    const text = textOf(file);
    const pid = Number(text.split('\n')[0]);
    // PostgreSQL handles a free ID correctly. A file without an ID belongs to a process that is starting.
    if (pid && isTaken(pid) && !isOurs(pid, cluster) && textOf(file) === text) rmSync(file, { force: true });
  }
}

export function launch(
  cluster: Cluster,
  binaries: Binaries,
  address: Address,
  settings: Record<string, string>,
): Launch {
  const output = asideName(join(cluster.pg, 'start.log'));
  const descriptor = openSync(output, 'wx', 0o600);
  let error: Error | undefined;
  // Not pg_ctl: it takes twice as long, and its child becomes a zombie if this process has ID 1.
  const child = spawn(join(binaries.folder, 'postgres'), serverArguments(cluster, address, settings), {
    cwd: cluster.pg,
    env: serverEnvironment(),
    detached: true,
    stdio: ['ignore', descriptor, descriptor],
    ...(cluster.user && { uid: cluster.user.uid, gid: cluster.user.gid }),
  });
  child.on('error', (cause) => (error = cause));
  child.unref();
  closeSync(descriptor);
  return {
    pid: child.pid,
    hasEnded: () => error !== undefined || child.exitCode !== null || child.signalCode !== null,
    lastWords: () =>
      error?.message ?? fatalLine([output, ...newestLog(cluster)]) ?? 'it ended without a message',
    forgetOutput: () => rmSync(output, { force: true }),
  };
}

/** Resolves when the server has stopped with consistent files. Open transactions are rolled back. */
export async function stopPostmaster(cluster: Cluster): Promise<void> {
  const running = findPostmaster(cluster);
  if (!running) return;
  signal(running.pid, 'SIGINT');
  const deadline = Date.now() + stopTimeoutMs;
  while (findPostmaster(cluster)?.pid === running.pid) {
    if (Date.now() > deadline) {
      throw new Error(
        `PostgreSQL (process ${running.pid}) has not stopped within ${stopTimeoutMs / 1000} s. It continues to stop in ` +
          `the background. Its log is in ${cluster.logs}.`,
      );
    }
    await sleep(pollIntervalMs);
  }
}

function serverArguments(cluster: Cluster, address: Address, settings: Record<string, string>): string[] {
  const overSocket = address.host === cluster.run;
  const all: Record<string, string> = {
    listen_addresses: overSocket ? '' : address.host,
    // Quoted, because the setting is a list separated by commas.
    unix_socket_directories: overSocket ? `"${cluster.run}"` : '',
    unix_socket_permissions: '0700',
    // The packaged server has an OpenSSL without updates, and its connections never leave the machine.
    ssl: 'off',
    // A statement takes about 1 ms, and compiling it 50 ms.
    jit: 'off',
    logging_collector: 'on',
    log_directory: cluster.logs,
    log_filename: 'postgres-%a.log',
    log_file_mode: '0600',
    log_rotation_age: '1d',
    log_rotation_size: '0',
    log_truncate_on_rotation: 'on',
    log_timezone: 'UTC',
    // Omits the details, which quote rows that violate a constraint.
    log_error_verbosity: 'terse',
    ...settings,
  };
  const pairs = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return ['-D', cluster.data, '-p', String(address.port), ...pairs];
}

function pidFile(cluster: Cluster): string {
  return join(cluster.data, 'postmaster.pid');
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return '';
  }
}

/** The file may be older than its server's end, so the ID may belong to a zombie or another program. */
function isOurs(pid: number, cluster: Cluster): boolean {
  if (!isTaken(pid)) return false;
  if (process.platform !== 'linux') return true;
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const end = text.lastIndexOf(')');
    if (text.slice(text.indexOf('(') + 1, end) !== 'postgres' || text[end + 2] === 'Z') return false;
  } catch {
    return false; // The process has ended.
  }
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster.data);
  } catch {
    return true; // It belongs to another user, so only its name can be checked.
  }
}

function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

function newestLog(cluster: Cluster): string[] {
  if (!existsSync(cluster.logs)) return [];
  const files = readdirSync(cluster.logs).map((name) => join(cluster.logs, name));
  return files.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs).slice(0, 1);
}

function fatalLine(files: readonly string[]): string | undefined {
  const lines = files.flatMap((file) =>
    existsSync(file) ? readFileSync(file, 'utf8').split('\n').reverse() : [],
  );
  const line = lines.find((each) => /FATAL|PANIC/.test(each)) ?? lines.find((each) => each !== '');
  return line?.replace(/^.*?(FATAL|PANIC): +/, '');
}
