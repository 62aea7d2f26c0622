import type { Socket } from 'node:net';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
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

test('one that is idle is handed on without asking the driver for it', async () => {
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

test('nobody has one that another has', async () => {
  const taken = [await take(), await take()];
  expect(new Set(taken.map(({ pid }) => pid)).size).toBe(2);
  for (const { client } of taken) client.release();
  const again = [await take(), await take()];
  expect(new Set(again.map(({ pid }) => pid)).size).toBe(2);
  for (const { client } of again) client.release();
});

test('what was given back is not given back again', async () => {
  const { client } = await take();
  client.release();
  expect(() => client.release()).toThrow('given back already');
  expect(counts()).toEqual([1, 1, 0]);
});

test('whoever waits has it next', async () => {
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

test('one that the server has ended is not handed on', async () => {
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

test('one that broke while it was used is not kept, nor one that is given back with an error', async () => {
  const first = await take();
  const over = new Promise((resolve) => first.client.once('end', resolve));
  await db.database.withClient((client) => client.query('select pg_terminate_backend($1)', [first.pid]));
  await over;
  first.client.release();
  expect(counts()).toEqual([0, 0, 0]);
  const second = await take();
  second.client.release(new Error('it says nothing any more'));
  expect(counts()).toEqual([0, 0, 0]);
});

test('nobody trusts those beside one that says nothing any more', async () => {
  const taken = [await take(), await take()];
  taken[0]?.client.release();
  // As after a statement that was not answered.
  void taken[1]?.client.query('select pg_sleep(60)').catch(() => undefined);
  taken[1]?.client.release(new Error('it says nothing any more'));
  expect(counts()).toEqual([0, 0, 0]);
  // At once, without a goodbye that a server which is gone would be waited for.
  for (const { client } of taken) expect(socketOf(client).destroyed).toBe(true);
  const fresh = await take();
  expect(taken.map(({ pid }) => pid)).not.toContain(fresh.pid);
  fresh.client.release();
});

test('what was not needed for a while is ended', async () => {
  const [first, second] = [await take(), await take()];
  first.client.release();
  second.client.release();
  const used = await take();
  used.client.release();
  // Both were needed in this stretch, one in the next, none in the last.
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

test('the end waits for what is still used', async () => {
  const [first, second] = [await take(), await take()];
  first.client.release();
  const ended = pool.end();
  await expect(pool.connect()).rejects.toThrow('after calling end');
  second.client.release();
  await ended;
  expect(counts()).toEqual([0, 0, 0]);
});
