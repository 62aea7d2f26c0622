// The folder of the private database, <data folder>/pg, with data/, run/ (the socket), log/ (seven daily files),
// the password and a copy of the programs. Everything is created completely or not at all.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { codeOf } from '../../error-code.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { buildAside, removeLeftovers, writeOnce } from './atomic-create.ts';
import type { Binaries } from './binaries.ts';
import type { Place, ServerUser } from './run-as.ts';

export type Cluster = {
  readonly folder: string;
  readonly pg: string;
  readonly data: string;
  readonly run: string;
  readonly logs: string;
  readonly password: string;
  readonly user: ServerUser | undefined;
};

const initdbTimeoutMs = 120_000;
const spaceWantedMegabytes = 250;
const ownerAdvice = 'Make the user that runs this program its owner, or set MANDATE_DATA to another folder';
/** Log names repeat every week, but the server empties an old file only if it runs at midnight. */
const logAgeMs = 6 * 24 * 3_600_000;

/** Creates missing folders and the password. createFiles creates the files of PostgreSQL. */
export function openCluster(place: Place): Cluster {
  const { folder, user } = place;
  const pg = join(folder, 'pg');
  const run = join(pg, 'run');
  // The user of PostgreSQL has to pass through the folders above, and must not list them.
  const parentMode = 0o711;
  if (!user) makeFolder(folder, { parentMode });
  makeFolder(pg, { owner: user, parentMode });
  // Root may have created the folder, empty, for this purpose.
  if (user && statSync(pg).uid === 0) chownSync(pg, user.uid, user.gid);
  makeFolder(run, { owner: user });
  removeLeftovers(pg);
  return {
    folder,
    pg,
    data: join(pg, 'data'),
    run,
    logs: join(pg, 'log'),
    password: passwordIn(pg, user),
    user,
  };
}

/** Adds advice to errors of the operating system; other errors stay as they are. */
export function explainRefusal(error: unknown, folder: string): unknown {
  if (!(error instanceof Error)) return error;
  const advice: Record<string, string> = {
    ENOSPC: `Free about ${spaceWantedMegabytes} MB on its disk`,
    EACCES: ownerAdvice,
    EPERM: ownerAdvice,
    EROFS: 'Set MANDATE_DATA to a writable folder',
    ENOENT: 'Set MANDATE_DATA to a folder that can be created',
    ENOTDIR: 'Set MANDATE_DATA to a folder',
    EEXIST: 'Set MANDATE_DATA to a folder',
  };
  const wanted = advice[codeOf(error)];
  if (wanted === undefined) return error;
  return new Error(`The data folder ${folder} cannot be used: ${error.message}. ${wanted}.`, {
    cause: error,
  });
}

/** The major version of PostgreSQL that wrote the data; undefined without data. */
export function dataMajor(cluster: Cluster): number | undefined {
  const file = join(cluster.data, 'PG_VERSION');
  return existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : undefined;
}

export async function createFiles(cluster: Cluster, binaries: Binaries, syncToDisk: boolean): Promise<void> {
  await buildAside(cluster.data, async (aside) => {
    const options = [
      `--pgdata=${aside}`,
      '--username=postgres',
      `--pwfile=${passwordFile(cluster.pg)}`,
      '--auth-local=scram-sha-256',
      '--auth-host=scram-sha-256',
      '--encoding=UTF8',
      '--data-checksums',
      ...localeOptions(binaries.major),
      ...(syncToDisk ? [] : ['--no-sync']),
    ];
    try {
      await promisify(execFile)(join(binaries.folder, 'initdb'), options, {
        cwd: cluster.pg,
        env: serverEnvironment(),
        timeout: initdbTimeoutMs,
        ...(cluster.user && { uid: cluster.user.uid, gid: cluster.user.gid }),
      });
    } catch (error) {
      throw new Error(`PostgreSQL could not create its files in ${cluster.pg}: ${lastLineOf(error)}`, {
        cause: error,
      });
    }
  });
}

/** From 17 on, PostgreSQL's own sort order protects the indexes from changes of the C library. */
function localeOptions(major: number): string[] {
  if (major >= 17) return ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  return [process.platform === 'darwin' ? '--locale=C' : '--locale=C.UTF-8'];
}

/** The server does not inherit the environment: PG* variables would change its behaviour. */
export function serverEnvironment(): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}

export function removeOldLogs(cluster: Cluster): void {
  if (!existsSync(cluster.logs)) return;
  for (const name of readdirSync(cluster.logs).filter((each) => /^postgres-\w{3}\.log$/.test(each))) {
    const file = join(cluster.logs, name);
    const modified = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
    if (modified !== undefined && Date.now() - modified > logAgeMs) rmSync(file, { force: true });
  }
}

/** Removes copies of other versions. Only the process that has just started the server may call it. */
export function removeOldBinaries(cluster: Cluster, binaries: Binaries): void {
  const copies = readdirSync(cluster.pg).filter((name) => name.startsWith('bin-') && !name.includes('.tmp-'));
  for (const name of copies) {
    const copy = join(cluster.pg, name);
    if (join(copy, 'bin') !== binaries.folder) rmSync(copy, { recursive: true, force: true });
  }
}

function passwordFile(pg: string): string {
  return join(pg, 'password');
}

function passwordIn(pg: string, user: ServerUser | undefined): string {
  const file = passwordFile(pg);
  if (!existsSync(file)) {
    if (existsSync(join(pg, 'data', 'PG_VERSION'))) {
      throw new Error(
        `The file ${file} is missing. Restore it: without it the database in the same folder cannot be opened.`,
      );
    }
    writeOnce(file, randomBytes(24).toString('base64url') + '\n', user);
  }
  return readFileSync(file, 'utf8').trim();
}

function lastLineOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stderr = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr : '';
  const line = stderr.split('\n').findLast((each) => /error:|FATAL:/.test(each));
  return line?.replace(/^.*?(error|FATAL): +/, '') ?? error.message;
}
