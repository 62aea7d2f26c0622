import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../test/support/database/test-cluster.ts';
import { makeFolder } from './make-folder.ts';

function modesIn(options: Parameters<typeof makeFolder>[1]): number[] {
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  makeFolder(join(folder, 'above', 'data'), options);
  const modeOf = (...path: string[]) => statSync(join(folder, ...path)).mode & 0o777;
  return [modeOf('above'), modeOf('above', 'data')];
}

test('a folder and its missing parents are for their owner alone', () => {
  expect(modesIn({})).toEqual([0o700, 0o700]);
});

test('other users may pass through the parents if they have to, and not list them', () => {
  expect(modesIn({ parentMode: 0o711 })).toEqual([0o711, 0o700]);
});

test('a folder that exists stays as it is', () => {
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const before = statSync(folder);
  makeFolder(folder, { parentMode: 0o711 });
  expect(statSync(folder)).toMatchObject({ ino: before.ino, mode: before.mode });
});

test('where no folder can be created, it ends with an error', () => {
  expect(() => makeFolder('/dev/null/above/data')).toThrow('ENOTDIR');
  if (process.platform === 'linux') expect(() => makeFolder('/proc/none/data')).toThrow('ENOENT');
});
