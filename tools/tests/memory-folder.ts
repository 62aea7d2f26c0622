// Where a test run keeps what it throws away: in memory, if the machine has a folder there. Files on a disk cost ten times the processor
// time, and a run makes some hundred databases.
import { accessSync, constants, readFileSync, statfsSync } from 'node:fs';

const folder = '/dev/shm';
const gibibyte = 2 ** 30;
/** What is free has to be several times what a run needs, for others need some as well. */
const wantedBytes = 4 * gibibyte;

/** For whatever asks for the folder of temporary files from now on, unless a person has named one. */
export function keepTemporaryFilesInMemory(): void {
  const inMemory = memoryFolder();
  if (inMemory !== undefined) process.env['TMPDIR'] ||= inMemory;
}

/** Undefined where there is none that is large and lets programs run: systems other than Linux, and most containers. */
function memoryFolder(): string | undefined {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(folder);
    const freeBytes = Math.min(bavail * bsize, process.availableMemory());
    return mayHoldPrograms(readFileSync('/proc/self/mounts', 'utf8')) && freeBytes >= wantedBytes
      ? folder
      : undefined;
  } catch {
    return undefined;
  }
}

/** By what the system says of its mounts, the last of a place counts. */
export function mayHoldPrograms(mounts: string): boolean {
  const [, , kind, options = ''] =
    mounts
      .split('\n')
      .map((line) => line.split(' '))
      .findLast(([, place]) => place === folder) ?? [];
  return kind === 'tmpfs' && !options.split(',').includes('noexec');
}
