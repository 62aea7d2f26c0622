import { readdir } from 'node:fs/promises';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
import { openDatabase } from './database.ts';
import { isMigrated, lockNumber, migrate, refuseEarlierSchema } from './migrate.ts';

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  return { ...real, readdir: vi.fn<typeof real.readdir>(real.readdir) };
});

let db: TestDatabase;
beforeEach(async () => void (db = await createTestDatabase('empty')));
afterEach(() => db.drop());

test('an empty database is migrated once, and then nothing is left to apply', async () => {
  const applied = await migrate(db.database);
  expect(applied[0]).toBe('0001_baseline.sql');
  expect(await isMigrated(db.database)).toBe(true);
  expect(await migrate(db.database)).toEqual([]);
});

test('nodes that start together on an empty database apply every file once in all', async () => {
  const nodes = Array.from({ length: 4 }, () =>
    openDatabase({ connection: { url: db.url }, maxConnections: 1 }),
  );
  const applied = (await Promise.all(nodes.map((node) => migrate(node)))).flat();
  await Promise.all(nodes.map((node) => node.end()));
  expect(applied).toEqual([...new Set(applied)]);
  expect(await isMigrated(db.database)).toBe(true);
});

test('a node that found no tables waits for another that is creating them', async () => {
  const node = openDatabase({ connection: { url: db.url }, maxConnections: 1 });
  onTestFinished(() => node.end());
  await db.database.withClient(async (client) => {
    await refuseEarlierSchema(node);
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1)', [lockNumber]);
    const waiting = migrate(node);
    const isWaiting = async () =>
      (
        await client.query(
          `select from pg_locks join pg_database on pg_database.oid = database
           where datname = current_database() and locktype = 'advisory' and not granted`,
        )
      ).rowCount;
    await expect.poll(isWaiting, { timeout: 30_000, interval: 20 }).toBe(1);
    await client.query(
      `create table migration (
         number int primary key, name text not null, sha256 text not null, applied_at timestamptz not null default now())`,
    );
    await client.query('commit');
    expect((await waiting)[0]).toBe('0001_baseline.sql');
  });
});

test('a file edited after it was applied is refused with what to do', async () => {
  await migrate(db.database);
  await db.database.withClient((client) =>
    client.query("update migration set sha256 = 'other' where number = 1"),
  );
  await expect(migrate(db.database)).rejects.toThrow(/0001_baseline.sql was edited.*new one/);
});

test('a database from before the first release is refused with what to do', async () => {
  await refuseEarlierSchema(db.database);
  await migrate(db.database);
  await refuseEarlierSchema(db.database);
  await db.database.withClient((client) =>
    client.query("update migration set name = '0001_house.sql' where number = 1"),
  );
  await expect(refuseEarlierSchema(db.database)).rejects.toThrow(
    /before the first release.*Start again.*DATABASE_URL/,
  );
});

test('a role without the right to create tables can start on a migrated database', async () => {
  await migrate(db.database);
  await db.database.withClient(async (client) => {
    await client.query('revoke create on schema public from public, pg_database_owner, current_user');
    const another = client.query('create table if not exists migration (number int)');
    await expect(another).rejects.toThrow(/permission denied for schema public/);
  });
  expect(await migrate(db.database)).toEqual([]);
});

test('a database without Mandate tables is not ready', async () => {
  await expect(isMigrated(db.database)).rejects.toThrow();
});

test('a newer version unpacked next to a running node does not make that node unready', async () => {
  await migrate(db.database);
  vi.mocked(readdir).mockResolvedValueOnce(['0001_newer.sql'] as never);
  expect(await isMigrated(db.database)).toBe(true);
});

test('migrations of a newer version of the program are left alone', async () => {
  await migrate(db.database);
  await db.database.withClient((client) =>
    client.query("insert into migration (number, name, sha256) values (9999, '9999_newer.sql', 'x')"),
  );
  expect(await migrate(db.database)).toEqual([]);
  expect(await isMigrated(db.database)).toBe(true);
});

test('a table in use is waited for repeatedly, up to the limit', async () => {
  // The limit is a time, however few turns a node has in it.
  const halfHours = [0, 0, 1, 2];
  const hourMs = 3_600_000;
  const nowMs = () => (halfHours.shift() ?? 0) * 0.5 * hourMs;
  const limits = { lockWaitMs: 20, pauseMs: 1, giveUpAfterMs: hourMs, nowMs };
  await migrate(db.database);
  await db.database.withClient(async (client) => {
    await client.query('begin');
    await client.query('lock table migration in access exclusive mode');
    await expect(migrate(db.database, limits)).rejects.toMatchObject({ code: '55P03' });
    expect(halfHours).toEqual([]);
    const waiting = migrate(db.database, limits);
    await client.query('select pg_sleep(0.1)');
    await client.query('commit');
    expect(await waiting).toEqual([]);
  });
});

test('no node waits for a table in use during the pause', async () => {
  const limits = { lockWaitMs: 20, pauseMs: 2_000, giveUpAfterMs: 600_000, nowMs: () => performance.now() };
  await migrate(db.database);
  await db.database.withClient(async (client) => {
    await client.query('begin');
    await client.query('lock table migration in access exclusive mode');
    const nodes = [1, 2, 3].map(() => migrate(db.database, limits));
    const seen = async () => {
      await client.query('select pg_stat_clear_snapshot()');
      const { rows } = await client.query<{ sleeping: number; waits: string | null }>(
        `select (select count(*)::int from pg_stat_activity
                 where datname = current_database() and state = 'active' and wait_event = 'PgSleep') as sleeping,
           (select string_agg(locktype, ' ' order by locktype) from pg_locks
            where not granted and database = (select oid from pg_database where datname = current_database())) as waits`,
      );
      return rows[0];
    };
    await expect
      .poll(seen, { timeout: 30_000, interval: 20 })
      .toEqual({ sleeping: 1, waits: 'advisory advisory' });
    await client.query('commit');
    expect(await Promise.all(nodes)).toEqual([[], [], []]);
  });
});
