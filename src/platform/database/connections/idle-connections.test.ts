import type { Socket } from 'node:net';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database/test-database.ts';
import type { ConnectionPool } from './idle-connections.ts';
import { keepIdle } from './idle-connections.ts';

const most = 2;

let db: TestDatabase;
let driver: pg.Pool;
let pool: ConnectionPool;

beforeAll(async () => void (db = await createTestDatabase()));
afterAll(() => db.drop());
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  driver = new pg.Pool({ connectionString: db.url, max: most });
  driver.on('error', () => undefined);
  driver.on('connect', (client) => client.on('error', () => undefined));
  pool = keepIdle(driver);
});
afterEach(async () => {
  if (!driver.ended) await pool.end();
  vi.useRealTimers();
});

async function take(): Promise<{ client: pg.PoolClient; pid: number }> {
  const client = await pool.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return { client, pid: rows[0]?.pid ?? 0 };
}

const socketOf = (client: pg.PoolClient) =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;
const counts = () => [pool.totalCount, pool.idleCount, pool.waitingCount];

test('an idle connection is reused without the driver', async () => {
  const asked = vi.spyOn(driver, 'connect');
  const first = await take();
  first.client.release();
  expect(counts()).toEqual([1, 1, 0]);
  const second = await take();
  expect(second.pid).toBe(first.pid);
  expect(counts()).toEqual([1, 0, 0]);
  expect(asked).toHaveBeenCalledTimes(1);
  second.client.release();
});

test('a connection never has two users', async () => {
  const taken = [await take(), await take()];
  expect(new Set(taken.map(({ pid }) => pid)).size).toBe(2);
  for (const { client } of taken) client.release();
  const again = [await take(), await take()];
  expect(new Set(again.map(({ pid }) => pid)).size).toBe(2);
  for (const { client } of again) client.release();
});

test('a second release of a connection is refused', async () => {
  const { client } = await take();
  client.release();
  expect(() => client.release()).toThrow('was released twice');
  expect(counts()).toEqual([1, 1, 0]);
});

test('a waiting caller gets the next released connection', async () => {
  const taken = [await take(), await take()];
  const waiting = take();
  expect(counts()).toEqual([2, 0, 1]);
  taken[0]?.client.release();
  const third = await waiting;
  expect(third.pid).toBe(taken[0]?.pid);
  expect(counts()).toEqual([2, 0, 0]);
  third.client.release();
  taken[1]?.client.release();
});

test('a connection that the server has ended is not reused', async () => {
  const first = await take();
  const over = new Promise((resolve) => first.client.once('end', resolve));
  first.client.release();
  await db.database.withClient((client) => client.query('select pg_terminate_backend($1)', [first.pid]));
  await over;
  expect(counts()).toEqual([0, 0, 0]);
  const second = await take();
  expect(second.pid).not.toBe(first.pid);
  second.client.release();
});

test('a connection that broke in use, or is released with an error, is not kept', async () => {
  const first = await take();
  const over = new Promise((resolve) => first.client.once('end', resolve));
  await db.database.withClient((client) => client.query('select pg_terminate_backend($1)', [first.pid]));
  await over;
  first.client.release();
  expect(counts()).toEqual([0, 0, 0]);
  const second = await take();
  second.client.release(new Error('silent'));
  expect(counts()).toEqual([0, 0, 0]);
});

test.each([undefined, false])(
  'one in use during a renewal is ended at its release(%s)',
  async (isUseless) => {
    const { client } = await take();
    pool.renew();
    client.release(isUseless);
    expect(counts()).toEqual([0, 0, 0]);
  },
);

test('a connection released with an error is destroyed', async () => {
  const { client } = await take();
  // As after a statement without a response.
  void client.query('select pg_sleep(60)').catch(() => undefined);
  client.release(new Error('silent'));
  expect(counts()).toEqual([0, 0, 0]);
  expect(socketOf(client).destroyed).toBe(true);
});

test('a renewed pool ends its idle connections immediately, and those in use when they are released', async () => {
  const taken = [await take(), await take()];
  taken[0]?.client.release();
  pool.renew();
  // Destroyed: a graceful end would wait for a server that is gone.
  expect(socketOf(taken[0]!.client).destroyed).toBe(true);
  expect(counts()).toEqual([1, 0, 0]);
  expect((await taken[1]!.client.query('select 1')).rowCount).toBe(1);
  taken[1]?.client.release();
  expect(counts()).toEqual([0, 0, 0]);
  const fresh = await take();
  expect(taken.map(({ pid }) => pid)).not.toContain(fresh.pid);
  fresh.client.release();
});

test('a connection that was idle for a whole interval is ended', async () => {
  const [first, second] = [await take(), await take()];
  first.client.release();
  second.client.release();
  const used = await take();
  used.client.release();
  // Both were needed in this interval, one in the next, none in the last.
  vi.advanceTimersByTime(10_000);
  expect(counts()).toEqual([2, 2, 0]);
  const again = await take();
  again.client.release();
  vi.advanceTimersByTime(10_000);
  expect(counts()).toEqual([1, 1, 0]);
  vi.advanceTimersByTime(10_000);
  expect(counts()).toEqual([0, 0, 0]);
  const last = await take();
  expect([first.pid, second.pid]).not.toContain(last.pid);
  last.client.release();
});

test('the end waits for connections in use', async () => {
  const [first, second] = [await take(), await take()];
  first.client.release();
  const ended = pool.end();
  await expect(pool.connect()).rejects.toThrow('after calling end');
  second.client.release();
  await ended;
  expect(counts()).toEqual([0, 0, 0]);
});

test('the end waits until the server has ended the sessions', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { client, pid } = await take();
  const text = 'select from pg_stat_activity where pid = $1';
  const listed = () => db.database.withClient(async (other) => (await other.query(text, [pid])).rowCount);
  client.release();
  process.kill(pid, 'SIGSTOP');
  let isOver = false;
  const ended = pool.end().then(() => (isOver = true));
  try {
    expect(await listed()).toBe(1);
    expect(isOver).toBe(false);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await ended;
  expect(await listed()).toBe(0);
});

test('the end does not wait permanently for a silent server', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { client, pid } = await take();
  client.release();
  process.kill(pid, 'SIGSTOP');
  try {
    const ended = pool.end();
    await vi.advanceTimersByTimeAsync(2_000);
    await ended;
    expect(socketOf(client).destroyed).toBe(true);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
});
