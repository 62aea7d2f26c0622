// Creates files and folders under a temporary name and renames them, so that no process sees a half-written one.
// Several processes may do so in parallel: the first wins, and the others delete their copies.
import { codeOf } from '../../error-code.ts';
import { asideMark, asideName, giveTo, moveInto, type Owner } from '../../platform/make-folder.ts';
import { isAliveBesideUs } from '../alive.ts';
import { existsSync, linkSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const leftoverAgeMs = 3_600_000;
const othersTimeoutMs = 10_000;
const pollIntervalMs = 15;

/** For a folder that takes time to build: waits first for a process that is already building it. */
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

/** Only saves disk work: five parallel builds took 11 s, one build takes 2 s. */
async function othersDone(final: string): Promise<void> {
  const deadline = Date.now() + othersTimeoutMs;
  while (!existsSync(final) && isBeingBuilt(final) && Date.now() < deadline) await sleep(pollIntervalMs);
}

function isBeingBuilt(final: string): boolean {
  const start = basename(final) + asideMark;
  const builders = readdirSync(dirname(final)).filter((name) => name.startsWith(start));
  return builders.some((name) => isAliveBesideUs(Number.parseInt(name.slice(start.length), 10)));
}

/** Writes a file with mode 0600. If another process wrote it first, that file stays. */
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

/** Removes temporary files of killed processes, if older than one hour. */
export function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder).filter((each) => basename(each).includes(asideMark))) {
    const modified = statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs;
    if (modified !== undefined && Date.now() - modified > leftoverAgeMs) {
      rmSync(join(folder, name), { recursive: true, force: true });
    }
  }
}
