// Keeps temporary files of a test run in memory where the machine has enough. Files on a disk cost ten times the processor time,
// and a run creates about a hundred databases.
import { accessSync, constants, readFileSync, statfsSync } from 'node:fs';

const folder = '/dev/shm';
const gibibyte = 2 ** 30;
/** Several times what a run needs, since other programs need memory too. */
const wantedBytes = 4 * gibibyte;

/** Sets the folder of temporary files for this process and its children, unless TMPDIR is set. */
export function keepTemporaryFilesInMemory(): void {
  const inMemory = memoryFolder();
  if (inMemory !== undefined) process.env['TMPDIR'] ||= inMemory;
}

/** Undefined without a large one that lets programs run: outside Linux, and in most containers. */
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

/** Reads /proc/mounts; the last mount of a folder counts. */
export function mayHoldPrograms(mounts: string): boolean {
  const [, , kind, options = ''] =
    mounts
      .split('\n')
      .map((line) => line.split(' '))
      .findLast(([, place]) => place === folder) ?? [];
  return kind === 'tmpfs' && !options.split(',').includes('noexec');
}
