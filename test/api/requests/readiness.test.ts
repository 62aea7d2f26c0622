import { afterEach, expect, test, vi } from 'vitest';
import { whatIsNotReady } from '../../../src/app/readiness.ts';
import type { DatabasePool, ServerState } from '../../../src/platform/database/database.ts';

afterEach(() => void vi.useRealTimers());

const well: ServerState = { isReadOnly: false, commitsWait: false };

function databaseIn(serverState: () => Promise<ServerState>): DatabasePool {
  const run = ({ name }: { name: string }) =>
    Promise.resolve([name === 'read_newest_migration' ? { newest: 9_999 } : { is_mismatch: false }]);
  return { serverState, lookups: { run } } as unknown as DatabasePool;
}

test.each([
  ['nothing when all is well', () => Promise.resolve(well), []],
  [
    'a standby',
    () => Promise.resolve({ ...well, isReadOnly: true }),
    ['database: read-only, like a standby'],
  ],
  [
    'commits that wait for a standby',
    () => Promise.resolve({ ...well, commitsWait: true }),
    ['database: commits wait, as for a missing standby'],
  ],
  ['a database that is not reached', () => Promise.reject(new Error('no')), ['database']],
])('readiness names %s', async (_, state, names) => {
  expect(await whatIsNotReady(databaseIn(state))).toEqual(names);
});

test('readiness answers in time when the database does not', async () => {
  vi.useFakeTimers();
  const found = whatIsNotReady(databaseIn(() => new Promise(() => {})));
  await vi.advanceTimersByTimeAsync(3_000);
  expect(await found).toEqual(['database: no response within 3 s']);
  expect(vi.getTimerCount()).toBe(0);
});
