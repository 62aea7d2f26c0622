// The reviewed dump of the schema is what the migrations make, and every table is distributed by the key it should be.
import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { schemaText } from '../../tools/schema-text.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

let db: TestDatabase;
beforeAll(async () => void (db = await createTestDatabase()));
afterAll(() => db.drop());

/**
 * What each table's primary key begins with: the id of the aggregate the row belongs to, or, for what is unique across
 * aggregates, the owner of the name. By this a table could be spread over several machines.
 */
const distributedBy: Record<string, string> = {
  api_key: 'key_id',
  bank: 'bank_id',
  binding: 'customer_id',
  bank_line: 'run_id',
  card: 'card_id',
  card_decline: 'card_key',
  card_stop: 'card_key',
  category: 'category_id',
  customer: 'customer_id',
  data_key: 'purpose',
  deposit: 'deposit_id',
  destination: 'destination_id',
  event: 'aggregate_id',
  external_id: 'party_id',
  idempotency_key: 'owner_id',
  identity: 'identity_id',
  identity_challenge: 'identity_id',
  invoice: 'invoice_id',
  ledger_account: 'account_id',
  ledger_balance: 'account_id',
  ledger_checkpoint: 'account_id',
  ledger_transfer: 'aggregate_id',
  ledger_watermark: 'only_row',
  letter: 'invoice_id',
  migration: 'number',
  party: 'party_id',
  payment: 'invoice_id',
  refund: 'invoice_id',
  recurring_settings: 'party_id',
  payout_fee: 'party_id',
  payout_grant: 'grant_id',
  payout_limit: 'party_id',
  payout_terminal: 'party_id',
  payout_turnover: 'wallet_id',
  security_code: 'session_id',
  security_code_key: 'half_hour',
  series: 'series_id',
  series_attempt: 'series_id',
  shop: 'party_id',
  terminal: 'party_id',
  test_clock: 'party_id',
  webhook: 'webhook_id',
  webhook_attempt: 'webhook_id',
  webhook_feed: 'only_row',
  webhook_key: 'webhook_id',
  webhook_message: 'aggregate_id',
  webhook_queue: 'aggregate_id',
  webhook_series: 'aggregate_id',
  webhook_series_counter: 'only_row',
  wallet: 'wallet_id',
  wallet_transfer: 'transfer_id',
  withdrawal: 'withdrawal_id',
};

test('schema.sql is what the migrations make; npm run schema writes it', async () => {
  const reviewed = await readFile(new URL('../../schema.sql', import.meta.url), 'utf8');
  expect(await db.database.withClient(schemaText)).toBe(reviewed);
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
  ['a permission to be null', 'alter table party alter column name drop not null', '  name text,'],
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
  ['that it is not logged', 'alter table test_clock set unlogged', 'create unlogged table test_clock'],
  ['an index', 'create index party_age on party (created_at)', 'create index party_age on party using btree'],
  [
    'a trigger',
    'create trigger stays before delete on party execute function refuse_change()',
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
])('a change is seen: %s', async (_, change, line) => {
  const changed = await afterChange(change, schemaText);
  expect(changed).toContain(line);
  expect(await db.database.withClient(schemaText)).not.toContain(line);
});

test.each(['create view v as select 1 as one', 'create sequence s', "create type e as enum ('a')"])(
  'an object the dump cannot print is an error: %s',
  async (change) => {
    await expect(afterChange(change, schemaText)).rejects.toThrow(/cannot print the (view|sequence|type)/);
  },
);

test('a table nobody thought about is found, and so is a key that begins with something else', async () => {
  const unlisted = await afterChange('create table extra (extra_id id primary key)', firstKeyColumns);
  expect(unlisted).toEqual({ ...distributedBy, extra: 'extra_id' });
  const keyless = await afterChange('create table extra (extra_id id)', firstKeyColumns);
  expect(keyless).toEqual({ ...distributedBy, extra: null });
  const turned = 'alter table shop drop constraint shop_pkey, add primary key (shop_id, party_id)';
  expect(await afterChange(turned, firstKeyColumns)).toEqual({ ...distributedBy, shop: 'shop_id' });
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

/** What is read while the change is made and not yet taken back. */
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
