// Creates folders for this program alone. Node's own recursive way never ends on Node 24 for some paths, such as those below /proc.
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '../error-code.ts';

export type Owner = { readonly uid: number; readonly gid: number };

/** Between the name of a file or folder and what makes its temporary name unique. */
export const asideMark = '.tmp-';

export function asideName(final: string): string {
  return `${final}${asideMark}${process.pid}-${randomBytes(4).toString('hex')}`;
}

type FolderOptions = {
  readonly owner?: Owner | undefined;
  readonly mode?: number;
  readonly parentMode?: number;
};

/** Creates a folder under any umask, and its missing parents. If another process created it first, that folder stays. */
export function makeFolder(
  folder: string,
  { owner, mode = 0o700, parentMode = mode }: FolderOptions = {},
): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder), { mode: parentMode });
  const aside = asideName(folder);
  mkdirSync(aside);
  chmodSync(aside, mode);
  giveTo(aside, owner);
  moveInto(aside, folder);
  rmSync(aside, { recursive: true, force: true });
}

export function giveTo(path: string, owner: Owner | undefined): void {
  if (owner) chownSync(path, owner.uid, owner.gid);
}

export function moveInto(aside: string, final: string): void {
  try {
    renameSync(aside, final);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error;
    return;
  }
  // Without the sync, a power failure could undo the rename and lose everything committed since.
  const above = openSync(dirname(final), 'r');
  try {
    fsyncSync(above);
  } finally {
    closeSync(above);
  }
}
