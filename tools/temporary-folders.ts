// Folders for the temporary files of tests, simulations and measurements, each with the process that owns it.
// Every run first removes folders whose owner has died, because databases of killed runs fill the memory.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

/** The folder in memory, where the machine has it. */
export const memoryFolder = '/dev/shm';
const prefix = 'mandate-';
const ownerFile = 'owner.lock';
const serverStopsWithinMs = 10_000;
const pollIntervalMs = 20;

/** A process ID may belong to another process later, so the time of its start is needed too. */
type Owner = { readonly pid: number; readonly startTime: string; readonly namespace: string };

/** The projects of a test run load this module several times. */
const shared = globalThis as { hasRemovedAbandonedFolders?: boolean };

/** An empty folder that belongs to this process. Only its user may enter it. */
export function makeTemporaryFolder(name: string): string {
  if (isMainThread) removeAbandonedFoldersOnce();
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${name}-`));
  writeFileSync(join(folder, ownerFile), ownerText(process.pid), { mode: 0o600 });
  return folder;
}

/** Says what it removed. Call it before anything asks how much memory is free. */
export function removeAbandonedFoldersOnce(): void {
  if (shared.hasRemovedAbandonedFolders) return;
  shared.hasRemovedAbandonedFolders = true;
  const said = removeAbandonedFolders([tmpdir(), memoryFolder]);
  if (said !== undefined) console.error(said);
}

/** Returns a line about the folders whose owner has died, or undefined if there were none. */
export function removeAbandonedFolders(places: readonly string[]): string | undefined {
  let bytes = 0;
  let removed = 0;
  const left: string[] = [];
  for (const folder of [...new Set(places)].flatMap(abandonedFoldersIn)) {
    const size = bytesIn(folder);
    if (!remove(folder)) left.push(folder);
    else {
      removed++;
      bytes += size;
    }
  }
  if (removed + left.length === 0) return undefined;
  const megabytes = Math.round(bytes / 2 ** 20);
  const rest = left.length === 0 ? '' : ` These could not be removed: ${left.join(', ')}.`;
  return `Removed temporary folders of killed runs: ${removed} (${megabytes} MB).${rest}`;
}

/** What the lock file says of a process. */
export function ownerText(pid: number): string {
  return `${pid} ${statusOf(pid)?.startTime ?? '-'} ${namespace()}\n`;
}

function abandonedFoldersIn(place: string): string[] {
  return namesIn(place)
    .filter((name) => name.startsWith(prefix))
    .map((name) => join(realpathSync(place), name))
    .filter((folder) => isOurs(folder) && isAbandoned(folder));
}

/** Another user could write any process ID into a folder, to have us end that process. */
function isOurs(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found !== undefined && found.isDirectory() && found.uid === process.getuid?.();
}

/** In doubt a folder is left alone, as one whose owner is just writing the file, or is of another container. */
function isAbandoned(folder: string): boolean {
  const owner = ownerOf(folder);
  if (owner === undefined || owner.namespace !== namespace()) return false;
  if (!isTaken(owner.pid)) return true;
  if (owner.startTime === '-') return false;
  const status = statusOf(owner.pid);
  if (status === undefined) return !isTaken(owner.pid);
  return status.isZombie || status.startTime !== owner.startTime;
}

function ownerOf(folder: string): Owner | undefined {
  const [, pid, startTime, namespace] = /^(\d+) (\d+|-) (\S+)\n$/.exec(textOf(join(folder, ownerFile))) ?? [];
  if (pid === undefined || startTime === undefined || namespace === undefined) return undefined;
  return { pid: Number(pid), startTime, namespace };
}

/** Process IDs mean nothing in another container, which may share the folder. */
function namespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '-';
  }
}

/** Undefined for a process that has ended, and where there is no /proc. */
function statusOf(pid: number): { readonly startTime: string; readonly isZombie: boolean } | undefined {
  const text = textOf(`/proc/${pid}/stat`);
  // The name of the program is in parentheses and may contain some.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, startTime] = [fields[0], fields[19]];
  return startTime === undefined ? undefined : { startTime, isZombie: state === 'Z' };
}

function isTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** False if something is still there. */
function remove(folder: string): boolean {
  try {
    if (!pidFilesIn(folder).every(stopServer)) return false;
    for (const place of mountsIn(folder)) execFileSync('umount', ['--lazy', place], { stdio: 'ignore' });
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    return true;
  } catch {
    // The watchdog of the killed run may have been quicker.
    return !existsSync(folder);
  }
}

/** Ends a PostgreSQL that a killed program has left, if it works in the folder of the file. */
export function stopServer(pidFile: string): boolean {
  const pid = Number.parseInt(textOf(pidFile), 10);
  const isRunning = () => isTaken(pid) && statusOf(pid)?.isZombie !== true;
  if (!(pid > 1) || !isRunning()) return true;
  const folder = workingFolderOf(pid);
  if (folder === undefined) return !isRunning();
  if (folder !== dirname(pidFile)) return true;
  process.kill(pid, 'SIGQUIT');
  for (let waitedMs = 0; isRunning() && waitedMs < serverStopsWithinMs; waitedMs += pollIntervalMs)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pollIntervalMs);
  return !isRunning();
}

function workingFolderOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

function pidFilesIn(folder: string): string[] {
  return filesIn(folder).filter((file) => file.endsWith('/postmaster.pid'));
}

/** The torture has a disk of its own in its folder. */
function mountsIn(folder: string): string[] {
  return textOf('/proc/self/mounts')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((place) => place.startsWith(`${folder}/`))
    .reverse();
}

function bytesIn(folder: string): number {
  return filesIn(folder)
    .map((file) => (lstatSync(file, { throwIfNoEntry: false })?.blocks ?? 0) * 512)
    .reduce((sum, bytes) => sum + bytes, 0);
}

/** Links are not followed. */
function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)],
    );
  } catch {
    return [];
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
