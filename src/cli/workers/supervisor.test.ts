import cluster, { type Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openLog } from '../../platform/log.ts';
import { settingsOfWorker, superviseWorkers, warningOf, workersOf } from './supervisor.ts';

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

test('a limit that is smaller than the number of workers is warned of', () => {
  expect(warningOf({ requestsPerSecond: 1 }, 2)).toContain('REQUESTS_PER_SECOND=1 is less than 2 workers');
  expect(warningOf({ requestsPerSecond: 2 }, 2)).toBeUndefined();
  expect(warningOf({ requestsPerSecond: 0 }, 2)).toBeUndefined();
});

/** A worker without a process. It ends when it is signalled. */
class FakeWorker extends EventEmitter {
  readonly process;
  readonly id: number;
  isAlive = true;

  constructor(id: number, pid: number | undefined) {
    super();
    this.id = id;
    const kill: () => unknown = () => setImmediate(() => this.end(0));
    this.process = Object.assign(new EventEmitter(), { pid, kill });
    this.process.once('exit', (code, signal) => this.emit('exit', code, signal));
  }

  send(): void {}

  end(code: number | null, signal: string | null = null): void {
    this.isAlive = false;
    this.emit('exit', code, signal);
  }

  async serve(): Promise<void> {
    this.emit('message', { mandate: 'serving', address: 'http://127.0.0.1:1' });
    await settled();
  }
}

/** What was waited for has been acted on. */
const settled = () => new Promise(setImmediate);

/** Two workers that serve. `endPauses` lets those be replaced that ended. */
async function superviseTwo({ serving = 2 } = {}) {
  const before = new Map(
    (['SIGTERM', 'SIGINT', 'SIGUSR2'] as const).map((signal) => [signal, process.listeners(signal)]),
  );
  const forked: FakeWorker[] = [];
  const pauses: (() => void)[] = [];
  const failing = { forks: 0 };
  const fork = vi.spyOn(cluster, 'fork').mockImplementation(() => {
    const isFailing = failing.forks-- > 0;
    const worker = new FakeWorker(forked.length + 1, isFailing ? undefined : 1);
    forked.push(worker);
    if (isFailing) {
      worker.isAlive = false;
      setImmediate(() => worker.emit('error', new Error('spawn EAGAIN')));
    }
    return worker as unknown as Worker;
  });
  onTestFinished(() => {
    fork.mockRestore();
    cluster.removeAllListeners('message');
    for (const [signal, listeners] of before)
      for (const added of process.listeners(signal))
        if (!listeners.includes(added)) process.removeListener(signal, added);
  });
  const log = openLog({ level: 'silent', human: false });
  const pause = () => new Promise<void>((resolve) => pauses.push(resolve));
  const config = { mode: 'live', databaseConnections: 10, requestsPerSecond: 0 } as const;
  const exitCode = superviseWorkers(config, 2, log, pause);
  for (let place = 0; place < serving; place++) await forked[place]?.serve();
  return {
    forked,
    failing,
    exitCode,
    alive: () => forked.filter(({ isAlive }) => isAlive).map(({ id }) => id),
    async signal(name: 'SIGTERM' | 'SIGUSR2') {
      process.emit(name, name);
      await settled();
      await settled();
    },
    async endPauses() {
      await settled();
      pauses.splice(0).forEach((end) => end());
      await settled();
      await settled();
    },
  };
}

test('a worker that is lost while another is replaced is replaced once', async () => {
  const node = await superviseTwo();
  await node.signal('SIGUSR2');
  expect(node.alive()).toEqual([1, 2, 3]);
  node.forked[1]?.end(1);
  await node.endPauses();
  expect(node.alive()).toEqual([1, 3, 4]);
  await node.forked[2]?.serve();
  await settled();
  expect(node.alive()).toEqual([3, 4]);
  // The first restart is over.
  await node.forked[3]?.serve();
  await node.signal('SIGUSR2');
  expect(node.alive()).toEqual([3, 4, 5]);
});

test('a worker that is lost while its successor starts has no other', async () => {
  const node = await superviseTwo();
  await node.signal('SIGUSR2');
  node.forked[0]?.end(1);
  await node.endPauses();
  expect(node.alive()).toEqual([2, 3]);
  await node.forked[2]?.serve();
  expect(node.alive()).toEqual([2, 3, 4]);
  await node.forked[3]?.serve();
  await settled();
  expect(node.alive()).toEqual([3, 4]);
});

test('a successor that dies at its start is not started again', async () => {
  const node = await superviseTwo();
  await node.signal('SIGUSR2');
  node.forked[2]?.end(1);
  await node.endPauses();
  expect(node.alive()).toEqual([1, 2]);
  await node.signal('SIGTERM');
  expect(await node.exitCode).toBe(0);
});

test('a worker that cannot be forked is tried again', async () => {
  const node = await superviseTwo();
  node.failing.forks = 1;
  node.forked[0]?.end(null, 'SIGKILL');
  await node.endPauses();
  expect(node.alive()).toEqual([2]);
  await node.endPauses();
  expect(node.alive()).toEqual([2, 4]);
});

test('a worker that the stop ends before it listens to signals ends cleanly', async () => {
  const node = await superviseTwo({ serving: 1 });
  for (const worker of node.forked)
    worker.process.kill = () => setImmediate(() => worker.end(null, 'SIGTERM'));
  await node.signal('SIGTERM');
  expect(await node.exitCode).toBe(0);
});
