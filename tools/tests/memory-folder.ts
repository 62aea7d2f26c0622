// Puts the temporary files of a test run in memory where the machine has such a folder. A run creates about a hundred databases,
// and files on a disk cost ten times the processor time.
import { accessSync, constants, readFileSync, statfsSync } from 'node:fs';

const folder = '/dev/shm';
const gibibyte = 2 ** 30;
/** Several times what a run needs, because other programs need memory too. */
const wantedBytes = 4 * gibibyte;

/** Sets TMPDIR, unless it is set. Call it before anything reads the folder of temporary files. */
export function keepTemporaryFilesInMemory(): void {
  const inMemory = memoryFolder();
  if (inMemory !== undefined) process.env['TMPDIR'] ||= inMemory;
}

/** Undefined where the folder is too small or may not hold programs: outside Linux, and in most containers. */
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

/** Reads the list of mounts, where the last entry for a folder counts. */
export function mayHoldPrograms(mounts: string): boolean {
  const [, , kind, options = ''] =
    mounts
      .split('\n')
      .map((line) => line.split(' '))
      .findLast(([, place]) => place === folder) ?? [];
  return kind === 'tmpfs' && !options.split(',').includes('noexec');
}
