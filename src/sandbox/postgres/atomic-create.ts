// Makes a file or folder beside its place and moves it there in one step, so that nobody ever meets a half-made one.
// Several processes may do so at once: the first one wins and the others throw their copy away.
import { codeOf } from '../../error-code.ts';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

type Owner = { readonly uid: number; readonly gid: number };

const mark = '.tmp-';
const leftoverAgeMs = 3_600_000;
const othersTimeoutMs = 10_000;
const pollIntervalMs = 15;

export function asideName(final: string): string {
  return `${final}${mark}${process.pid}-${randomBytes(4).toString('hex')}`;
}

/** For what takes a while to build: somebody who is at it already is given time to finish. */
export async function buildAside(final: string, make: (aside: string) => Promise<void>): Promise<void> {
  await othersDone(final);
  if (existsSync(final)) return;
  const aside = asideName(final);
  try {
    await make(aside);
    moveInto(aside, final);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/** Only to spare the disk: five that start at once took 11 s when each built its own, and one alone takes 2 s. */
async function othersDone(final: string): Promise<void> {
  const deadline = Date.now() + othersTimeoutMs;
  while (!existsSync(final) && isBeingBuilt(final) && Date.now() < deadline) await sleep(pollIntervalMs);
}

function isBeingBuilt(final: string): boolean {
  const start = basename(final) + mark;
  const builders = readdirSync(dirname(final)).filter((name) => name.startsWith(start));
  return builders.some((name) => isAliveBesideUs(Number.parseInt(name.slice(start.length), 10)));
}

/** Our own number is that of a dead predecessor: in a container it is the same after every restart. */
function isAliveBesideUs(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

/** Makes a folder, and those above it with mode 0755, whatever the umask says. */
export function makeFolder(folder: string, mode: number, owner: Owner | undefined): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder), 0o755, undefined);
  const aside = asideName(folder);
  mkdirSync(aside);
  chmodSync(aside, mode);
  giveTo(aside, owner);
  moveInto(aside, folder);
  rmSync(aside, { recursive: true, force: true });
}

/** A file of mode 0600; when somebody else wrote it first, theirs stays. */
export function writeOnce(file: string, content: string, owner: Owner | undefined): void {
  const aside = asideName(file);
  try {
    writeFileSync(aside, content, { mode: 0o600, flag: 'wx', flush: true });
    giveTo(aside, owner);
    linkSync(aside, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** What a killed process left behind. Nothing that takes less than an hour is touched. */
export function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder).filter((each) => basename(each).includes(mark))) {
    const modified = statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs;
    if (modified !== undefined && Date.now() - modified > leftoverAgeMs) {
      rmSync(join(folder, name), { recursive: true, force: true });
    }
  }
}

function giveTo(path: string, owner: Owner | undefined): void {
  if (owner) chownSync(path, owner.uid, owner.gid);
}

function moveInto(aside: string, final: string): void {
  try {
    renameSync(aside, final);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error;
    return;
  }
  // Otherwise a power cut might take the new name back, and with it all that was committed under it since.
  const above = openSync(dirname(final), 'r');
  try {
    fsyncSync(above);
  } finally {
    closeSync(above);
  }
}
