import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { makeTemporaryFolder, ownerText, removeAbandonedFolders } from './temporary-folders.ts';

/** Larger than any process ID. */
const deadPid = 4_194_305;
const isLinux = process.platform === 'linux';

let place: string;
beforeEach(() => void (place = mkdtempSync(join(tmpdir(), 'places-'))));
afterEach(() => rmSync(place, { recursive: true }));

/** A folder with that lock file, as a run leaves it. */
function leave(name: string, lock: string | undefined, megabytes = 1): string {
  const folder = join(place, name);
  mkdirSync(join(folder, 'pg', 'data'), { recursive: true });
  writeFileSync(join(folder, 'pg', 'data', 'rows'), Buffer.alloc(megabytes * 2 ** 20, 1));
  if (lock !== undefined) writeFileSync(join(folder, 'owner.lock'), lock);
  return folder;
}

test('folders of dead owners are removed, and one line says how many and how large they were', () => {
  const folders = [leave('mandate-a', ownerText(deadPid), 2), leave('mandate-b', ownerText(deadPid), 3)];
  expect(removeAbandonedFolders([place, place])).toBe('Removed temporary folders of killed runs: 2 (5 MB).');
  expect(folders.filter((folder) => existsSync(folder))).toEqual([]);
  expect(removeAbandonedFolders([place])).toBeUndefined();
});

test('a folder whose owner lives is left alone', () => {
  const folder = makeTemporaryFolder('test');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const lock = readFileSync(join(folder, 'owner.lock'), 'utf8');
  expect(basename(folder)).toMatch(/^mandate-test-/);
  expect(lock.split(' ')[0]).toBe(String(process.pid));
  const ours = leave('mandate-ours', lock);
  expect(removeAbandonedFolders([place])).toBeUndefined();
  expect(existsSync(ours)).toBe(true);
});

test.runIf(isLinux)('a folder is removed if its owner’s process ID now belongs to a later process', () => {
  const folder = leave('mandate-old', ownerText(process.pid).replace(/ \d+ /, ' 1 '));
  expect(removeAbandonedFolders([place])).toContain(' runs: 1 ');
  expect(existsSync(folder)).toBe(false);
});

test.each([
  ['no lock file', undefined],
  ['an empty lock file', ''],
  ['a lock file that is being written', ownerText(deadPid).slice(0, -1)],
  ['a lock file of another form', 'the owner\n'],
  ['a lock file of another container', ownerText(deadPid).replace(/\S+\n$/, 'pid:[1]\n')],
])('a folder with %s is left alone', (_, lock) => {
  const folder = leave('mandate-unclear', lock);
  expect(removeAbandonedFolders([place])).toBeUndefined();
  expect(existsSync(folder)).toBe(true);
});

test.runIf(isLinux)('without the time of the owner’s start its process ID decides', () => {
  const folder = leave('mandate-unknown', ownerText(process.pid).replace(/ \d+ /, ' - '));
  expect(removeAbandonedFolders([place])).toBeUndefined();
  expect(existsSync(folder)).toBe(true);
});

test('folders of other programs, and links, are left alone', () => {
  const other = leave('other-run', ownerText(deadPid));
  symlinkSync(other, join(place, 'mandate-link'));
  expect(removeAbandonedFolders([place, join(place, 'missing')])).toBeUndefined();
  expect(existsSync(join(other, 'pg/data/rows'))).toBe(true);
});
