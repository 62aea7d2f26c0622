// Puts the temporary files of a test run in memory where the machine has such a folder. A run creates about a hundred databases,
// and files on a disk cost ten times the processor time.
import { accessSync, constants, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { memoryFolder as folder, removeAbandonedFoldersOnce } from '../temporary-folders.ts';

const gibibyte = 2 ** 30;
/** Several times what a run needs, because other programs need memory too. */
const wantedBytes = 4 * gibibyte;

/** What a machine has for temporary files. */
export type Memory = {
  readonly availableBytes: number;
  /** Undefined where the folder in memory is missing or may not hold programs: outside Linux, and in most containers. */
  readonly folder: { readonly totalBytes: number; readonly freeBytes: number } | undefined;
};

/** Sets TMPDIR, unless it is set. Call it before anything reads the folder of temporary files. */
export function keepTemporaryFilesInMemory(): void {
  removeAbandonedFoldersOnce();
  if (process.env['TMPDIR']) return;
  const memory = memoryOfMachine();
  const shortage = shortageOf(memory);
  if (isInMemory(memory)) process.env['TMPDIR'] = folder;
  else if (shortage !== undefined) console.error(`${shortage} Temporary files go to ${tmpdir()}.`);
}

/** Prints the available memory and where temporary files go. False if memory is short. */
export function describeMemory(memory = memoryOfMachine(), chosen = process.env['TMPDIR']): boolean {
  const place = chosen || (isInMemory(memory) ? folder : tmpdir());
  console.log(
    `${megabytes(memory.availableBytes)} MB of memory are available. Temporary files go to ${place}.`,
  );
  const shortage = shortageOf(memory);
  if (shortage === undefined) return true;
  console.error(`${shortage} End other programs, or remove what they have left in ${folder}.`);
  return false;
}

/** Why a machine that has enough memory otherwise has too little now. */
export function shortageOf({ availableBytes, folder: inMemory }: Memory): string | undefined {
  const wanted = `a test run wants ${megabytes(wantedBytes)} MB.`;
  if (availableBytes < wantedBytes)
    return `Memory is short: ${megabytes(availableBytes)} MB are available, and ${wanted}`;
  if (inMemory && inMemory.totalBytes >= wantedBytes && inMemory.freeBytes < wantedBytes)
    return `Memory is short: ${folder} has ${megabytes(inMemory.freeBytes)} MB free, and ${wanted}`;
  return undefined;
}

function isInMemory({ availableBytes, folder: inMemory }: Memory): boolean {
  return inMemory !== undefined && Math.min(inMemory.freeBytes, availableBytes) >= wantedBytes;
}

function memoryOfMachine(): Memory {
  const availableBytes = process.availableMemory();
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    const { blocks, bavail, bsize } = statfsSync(folder);
    const isFit = mayHoldPrograms(readFileSync('/proc/self/mounts', 'utf8'));
    return {
      availableBytes,
      folder: isFit ? { totalBytes: blocks * bsize, freeBytes: bavail * bsize } : undefined,
    };
  } catch {
    return { availableBytes, folder: undefined };
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

function megabytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
