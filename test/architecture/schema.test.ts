// The reviewed schema dump is what the migrations create, the baseline is the schema before it, and tables have the right keys.
import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { schemaText } from '../../tools/documents/schema-text.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { distributedBy } from './distribution.ts';

let db: TestDatabase;
beforeAll(async () => void (db = await createTestDatabase()));
afterAll(() => db.drop());

test('schema.sql is what the migrations create; npm run schema writes it', async () => {
  const reviewed = await readFile(new URL('../../schema.sql', import.meta.url), 'utf8');
  expect(await db.database.withClient(schemaText)).toBe(reviewed);
});

test('the baseline creates the schema that was dumped before it', async () => {
  const recorded = await readFile(new URL('schema-0.1.0.sql', import.meta.url), 'utf8');
  const made = await onEmptyDatabase(async (client) => {
    await client.query(await migrationText('0001_baseline.sql'));
    return schemaText(client);
  });
  expect(made).toBe(recorded);
});

test('the renames turn the mode of shops, keys and accounts into livemode', async () => {
  const modes = await onEmptyDatabase(async (client) => {
    await client.query(await migrationText('0001_baseline.sql'));
    for (const mode of ['test', 'live']) {
      await client.query(`
        insert into shop (party_id, shop_id, realm, name, url, category_id, currency, created_at)
        values ('P', '${mode}', '${mode}', 'Shop', 'https://shop.example', 1, 'RUB', now());
        insert into api_key (key_id, party_id, name, realm, scopes, secret_hash, hash_generation, created_at)
        values ('${mode}', 'P', 'till', '${mode}', '*', '', 1, now());
        insert into ledger_account (account_id, realm, currency, code, has_floor, lanes)
        values ('${mode}:RUB:fee.income', '${mode}', 'RUB', 'fee.income', false, 16)`);
    }
    await client.query(await migrationText('0002_plain_words.sql'));
    const { rows } = await client.query<{ id: string; livemode: boolean }>(`
      select shop_id as id, livemode from shop union all select key_id, livemode from api_key
      union all select account_id, livemode from ledger_account order by id, livemode`);
    return rows.map(({ id, livemode }) => [id, livemode]);
  });
  expect(modes).toEqual([
    ['live', true],
    ['live', true],
    ['live:RUB:fee.income', true],
    ['test', false],
    ['test', false],
    ['test:RUB:fee.income', false],
  ]);
});

test('every primary key begins with the column its table is distributed by', async () => {
  expect(await db.database.withClient(firstKeyColumns)).toEqual(distributedBy);
});

test.each([
  ['a column', 'alter table party add column nickname text', '  nickname text,'],
  [
    'a default',
    'alter table party alter column name set default $$x$$',
    "  name text default 'x'::text not null,",
  ],
  [
    'a dropped not-null',
    'alter table party alter column is_blocked drop not null',
    'is_blocked boolean default false,',
  ],
  [
    'a check',
    "alter table party add constraint short check (name <> 'A')",
    "constraint short check (name <> 'A'",
  ],
  [
    'a reference',
    'alter table party add constraint one foreign key (party_id) references party',
    'constraint one for',
  ],
  ['an unlogged table', 'alter table test_clock set unlogged', 'create unlogged table test_clock'],
  ['a storage parameter', 'alter table party set (fillfactor = 70)', ') with (fillfactor=70);'],
  ['an index', 'create index party_age on party (created_at)', 'create index party_age on party using btree'],
  [
    'a trigger',
    'create trigger stays before delete on party execute function forbid_change()',
    'create trigger stays',
  ],
  ['a function', 'create function one() returns int language sql as $$ select 1 $$', 'function public.one()'],
  [
    'a domain',
    "create domain code as text check (value ~ '^[A-Z]')",
    "create domain code as text check (value ~ '^[A",
  ],
  [
    'a generated column',
    'alter table party add column short text generated always as (left(name, 3)) stored',
    'generated always as',
  ],
])('a change shows in the dump: %s', async (_, change, line) => {
  const changed = await afterChange(change, schemaText);
  expect(changed).toContain(line);
  expect(await db.database.withClient(schemaText)).not.toContain(line);
});

test.each(['create view v as select 1 as one', 'create sequence s', "create type e as enum ('a')"])(
  'an object that the dump cannot print is an error: %s',
  async (change) => {
    await expect(afterChange(change, schemaText)).rejects.toThrow(/cannot print the (view|sequence|type)/);
  },
);

test('a table without a rule is found, and so is a key with another first column', async () => {
  const unlisted = await afterChange('create table extra (extra_id id primary key)', firstKeyColumns);
  expect(unlisted).toEqual({ ...distributedBy, extra: 'extra_id' });
  const keyless = await afterChange('create table extra (extra_id id)', firstKeyColumns);
  expect(keyless).toEqual({ ...distributedBy, extra: null });
  const turned = 'alter table shop drop constraint shop_pkey, add primary key (shop_id, party_id)';
  expect(await afterChange(turned, firstKeyColumns)).toEqual({ ...distributedBy, shop: 'shop_id' });
});

test('every table with jobs has an index of due rows and one of stuck rows', async () => {
  expect(await db.database.withClient(missingJobIndexes)).toEqual([]);
  const bare = 'create table errand (errand_id id primary key, wake_at timestamptz, stuck_at timestamptz)';
  const missing = ['errand: stuck_at', 'errand: wake_at'];
  expect(await afterChange(bare, missingJobIndexes)).toEqual(missing);
  const whole = `${bare}; create index errand_due on errand (wake_at); create index errand_stuck on errand (stuck_at)`;
  expect(await afterChange(whole, missingJobIndexes)).toEqual(missing);
});

/** Null for a table without a primary key. */
async function firstKeyColumns(client: pg.ClientBase): Promise<Record<string, string | null>> {
  const { rows } = await client.query<{ name: string; first: string | null }>(`
    select relname as name,
      (select attname from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
       where indrelid = pg_class.oid and indisprimary) as first
    from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`);
  return Object.fromEntries(rows.map(({ name, first }) => [name, first]));
}

/** Columns of jobs without a partial index of the rows in which they have a value. */
async function missingJobIndexes(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`
    select relname || ': ' || attname as name
    from pg_class join pg_attribute on attrelid = pg_class.oid
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and attname in ('wake_at', 'stuck_at')
      and not exists (select from pg_index where indrelid = pg_class.oid and attnum = any (indkey)
        and pg_get_expr(indpred, indrelid) = '(' || attname || ' IS NOT NULL)')
    order by name`);
  return rows.map(({ name }) => name);
}

/** What is read with the change, before it is rolled back. */
function afterChange<T>(change: string, read: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  return db.database.withClient(async (client) => {
    await client.query('begin');
    try {
      await client.query(change);
      return await read(client);
    } finally {
      await client.query('rollback');
    }
  });
}

function migrationText(name: string): Promise<string> {
  return readFile(new URL(`../../src/platform/database/migrations/${name}`, import.meta.url), 'utf8');
}

async function onEmptyDatabase<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  const empty = await createTestDatabase('empty');
  onTestFinished(() => empty.drop());
  return empty.database.withClient(work);
}
