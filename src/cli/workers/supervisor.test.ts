import { expect, test } from 'vitest';
import { settingsOfWorker, workersOf } from './supervisor.ts';

const node = { workers: 1, databaseConnections: 10, requestsPerSecond: 50 } as const;

test('each worker needs four connections', () => {
  expect(workersOf(node, 8)).toBe(1);
  expect(workersOf({ ...node, workers: 2 }, 8)).toBe(2);
  expect(() => workersOf({ ...node, workers: 3 }, 8)).toThrow('needs DATABASE_CONNECTIONS of 12 or more');
});

test('auto is as many as cores and connections allow', () => {
  expect(workersOf({ ...node, workers: 'auto' }, 8)).toBe(2);
  expect(workersOf({ ...node, workers: 'auto', databaseConnections: 100 }, 8)).toBe(8);
  expect(workersOf({ ...node, workers: 'auto', databaseConnections: 5 }, 8)).toBe(1);
});

test('workers share out what a node may use, and none is without', () => {
  expect(settingsOfWorker(node, 2)).toEqual({
    WORKERS: '2',
    DATABASE_CONNECTIONS: '5',
    REQUESTS_PER_SECOND: '25',
  });
  expect(settingsOfWorker({ ...node, requestsPerSecond: 0 }, 2)).toMatchObject({ REQUESTS_PER_SECOND: '0' });
  expect(settingsOfWorker({ ...node, requestsPerSecond: 1 }, 2)).toMatchObject({ REQUESTS_PER_SECOND: '1' });
});
