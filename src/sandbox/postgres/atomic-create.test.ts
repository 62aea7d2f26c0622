import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/database/test-cluster.ts';
import { makeFolder } from './atomic-create.ts';

test('other users may pass through the parents of a folder, and not list them', () => {
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  makeFolder(join(folder, 'data', 'pg'), 0o700, undefined);
  const modeOf = (...path: string[]) => statSync(join(folder, ...path)).mode & 0o777;
  expect([modeOf('data'), modeOf('data', 'pg')]).toEqual([0o711, 0o700]);
});
