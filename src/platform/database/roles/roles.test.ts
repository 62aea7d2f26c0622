// The rights that the grants give, and that the check finds every right too many and every right missing.
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  inject,
  onTestFinished,
  test,
} from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database/test-database.ts';
import { createRole } from '../../../../test/support/database/test-cluster.ts';
import { randomText } from '../../../ids.ts';
import { openDatabase, type DatabasePool } from '../database.ts';
import { migrate } from '../migrate.ts';
import { checkDatabase, checkRole, ownRole } from './check-roles.ts';
import { appendOnlyTables, grantsScript } from './grants.ts';

const service = `service_${randomText(8).toLowerCase()}`;
const reader = `reader "${randomText(8)}"`;
let db: TestDatabase;
let asService: DatabasePool;

beforeAll(async () => {
  await createRole(inject('cluster'), service);
  await createRole(inject('cluster'), reader);
  db = await createTestDatabase();
  asService = connect(db, service);
  await grantToBoth();
});
afterAll(async () => {
  await asService.end();
  await db.drop();
});
beforeEach(() => sql(grantsScript({ service })));

/** The reader has rights column by column, which take long to grant. Only tests that give it others grant them again. */
const grantToBoth = () => sql(grantsScript({ service, reader }));
const sql = (text: string) => db.database.withClient((client) => client.query(text));
const connect = ({ url }: TestDatabase, user: string) => {
  const [, database = ''] = /\/\/[^/]*\/([^?]+)/.exec(url) ?? [];
  return openDatabase({ connection: { ...inject('cluster'), user, database }, maxConnections: 3 });
};
const broken = async (kind: 'service' | 'reader') => {
  const found = await checkRole(db.database, kind, kind === 'service' ? service : reader);
  return found.flatMap(({ violations }) => violations);
};

const brokenInDatabase = async (pool: DatabasePool = db.database) =>
  (await checkDatabase(pool)).flatMap(({ violations }) => violations);

test('the granted rights pass every rule', async () => {
  expect(await broken('service')).toEqual([]);
  expect(await broken('reader')).toEqual([]);
  expect(await brokenInDatabase()).toEqual([]);
  expect(await ownRole(asService)).toBe(service);
});

test.each([
  ['update on a table that is only added to', 'grant update on event to ROLE', ['event: update']],
  ['delete on it', 'grant delete on ledger_transfer to ROLE', ['ledger_transfer: delete']],
  ['truncate', 'grant truncate on payment to ROLE', ['payment: truncate']],
  ['triggers', 'grant trigger on invoice to ROLE', ['invoice: trigger']],
  ['a missing table', 'revoke select on payment from ROLE', ['payment: select']],
  ['tables of its own', 'grant create on schema public to ROLE', ['create']],
  ['migrations', 'revoke select on migration from ROLE', ['migration: select']],
])('%s is found for the service', async (_, text, expected) => {
  await sql(text.replace('ROLE', service));
  expect(await broken('service')).toEqual(expected);
});

test.each([
  ['a sealed column', 'grant select (ciphertext) on card to ROLE', ['card.ciphertext']],
  ['a whole table', 'grant select on bank to ROLE', ['bank.secret_ciphertext']],
  ['writing', 'grant insert on invoice to ROLE', ['invoice: insert']],
])('%s is found for the reader', async (_, text, expected) => {
  onTestFinished(async () => void (await grantToBoth()));
  await sql(text.replace('ROLE', `"${reader.replaceAll('"', '""')}"`));
  expect(await broken('reader')).toEqual(expected);
});

describe('a right that comes another way is found:', () => {
  const other = `other_${randomText(8).toLowerCase()}`;
  const asSuperuser = async (text: string) => {
    const pool = connect(db, 'postgres');
    try {
      await pool.withClient((client) => client.query(text));
    } finally {
      await pool.end();
    }
  };
  beforeAll(() => asSuperuser(`create role ${other}`));
  afterEach(() =>
    asSuperuser(`alter role ${service} nosuperuser nocreaterole nobypassrls noreplication inherit;
      alter role ${other} nosuperuser nocreaterole nobypassrls noreplication;
      revoke ${[other, ...ofServer].join(', ')} from ${service};
      revoke pg_execute_server_program from ${other};
      reassign owned by ${other} to current_user; drop owned by ${other}; drop owned by ${service};`),
  );
  const ofServer = [
    'pg_read_all_data',
    'pg_write_all_data',
    'pg_read_server_files',
    'pg_write_server_files',
    'pg_execute_server_program',
  ];

  test.each(ofServer)('membership in %s', async (role) => {
    await asSuperuser(`grant ${role} to ${service}`);
    expect(await broken('service')).toContain(role);
  });

  test('membership in such a role by way of another', async () => {
    await asSuperuser(`grant pg_execute_server_program to ${other}; grant ${other} to ${service}`);
    expect(await broken('service')).toContain('pg_execute_server_program');
  });

  test.each(['superuser', 'createrole', 'bypassrls', 'replication'])('%s', async (attribute) => {
    await asSuperuser(`alter role ${service} ${attribute}`);
    expect(await broken('service')).toContain(attribute);
    await asSuperuser(`alter role ${service} no${attribute};
      alter role ${other} ${attribute}; grant ${other} to ${service}`);
    expect(await broken('service')).toContain(`${attribute} through ${other}`);
  });

  test.each([
    ['update (facts) on event', ['event: update']],
    ['references (invoice_id) on invoice', ['invoice: references']],
    ['insert (number) on migration', ['migration: insert']],
  ])('a grant on a column: %s', async (grant, expected) => {
    await sql(`grant ${grant} to ${service}`);
    expect(await broken('service')).toEqual(expected);
  });

  test('a grant on a column, for the reader', async () => {
    onTestFinished(async () => void (await grantToBoth()));
    await sql(`grant update (metadata) on invoice to "${reader.replaceAll('"', '""')}"`);
    expect(await broken('reader')).toEqual(['invoice: update']);
  });

  test('rights of a role that are not inherited', async () => {
    await asSuperuser(`grant delete on event to ${other}; grant create on schema public to ${other};
      grant set on parameter session_replication_role to ${other};
      alter role ${service} noinherit; grant ${other} to ${service}`);
    expect((await broken('service')).sort()).toEqual([
      `create through ${other}`,
      `event: delete through ${other}`,
      `session_replication_role through ${other}`,
    ]);
  });

  test.each([
    ['table invoice', 'invoice'],
    ['function forbid_change()', 'forbid_change()'],
    ['domain id', 'id'],
    ['schema public', 'schema public'],
  ])('ownership by way of a role: %s', async (what, expected) => {
    const { rows } = await sql('select current_user as name');
    await asSuperuser(`grant ${other} to ${service}; alter ${what} owner to ${other}`);
    expect(await broken('service')).toContain(expected);
    await asSuperuser(`alter ${what} owner to "${rows[0].name}"`);
  });

  test.each([
    ['select * from card', ['peek: card.ciphertext', 'peek: card.fingerprint', 'peek: card.match_hash']],
    ["select encode(ciphertext, 'hex') as text from card", ['peek: card.ciphertext']],
    ['select to_json(bank) as whole from bank', ['peek: bank.secret_ciphertext']],
    ['select text from inner_peek', ['peek: card.ciphertext']],
    ['select card_id, payment_system from card', []],
  ])('what is sealed through a view: %s', async (query, expected) => {
    await sql(`create view inner_peek as select encode(ciphertext, 'hex') as text, card_id from card;
      create view peek as ${query}; grant select on peek to "${reader.replaceAll('"', '""')}"`);
    expect(await broken('reader')).toEqual(expected);
    await sql('drop view peek, inner_peek');
  });

  test('what is sealed in a copy of a table elsewhere', async () => {
    await asSuperuser(`create schema elsewhere; create table elsewhere.copied as select card_id, ciphertext from card;
      grant select on elsewhere.copied to "${reader.replaceAll('"', '""')}"`);
    expect(await broken('reader')).toEqual(['copied.ciphertext']);
    await asSuperuser('drop schema elsewhere cascade');
  });

  test('a function with the rights of the owner', async () => {
    await sql(
      `create function rewrite() returns void security definer language sql as 'update event set facts = facts'`,
    );
    expect(await broken('service')).toEqual(['rewrite()']);
    await sql('drop function rewrite()');
  });

  test('a setting of the role by which triggers do not fire', async () => {
    await asSuperuser(`alter role ${service} set session_replication_role = replica`);
    const pool = connect(db, service);
    expect(await brokenInDatabase(pool)).toEqual(['session_replication_role']);
    await pool.end();
    await asSuperuser(`alter role ${service} reset session_replication_role`);
  });

  test('functions that read files', async () => {
    await asSuperuser(`grant execute on function pg_read_file(text) to ${service}`);
    expect(await broken('service')).toEqual(['pg_read_file']);
  });
});

test('the owner of the tables breaks the rules', async () => {
  const owner = await ownRole(db.database);
  const found = await checkRole(db.database, 'service', owner);
  expect(found.find(({ rule }) => rule.startsWith('owns nothing'))?.violations).toContain('event');
  expect(found.find(({ rule }) => rule.startsWith('creates nothing'))?.violations).toContain('create');
});

test('a superuser breaks the rules', async () => {
  const [first] = await checkRole(db.database, 'service', 'postgres');
  expect(first?.violations).toContain('superuser');
});

test.each(appendOnlyTables)('a missing or switched-off trigger of %s is found', async (table) => {
  await sql(`alter table ${table} disable trigger user`);
  const [triggers] = await checkDatabase(db.database);
  expect(triggers?.violations).toEqual([table]);
  await sql(`alter table ${table} enable trigger user`);
});

test.each([
  ['for each row when (false)', 'before delete or update'],
  ['for each row', 'before update'],
  ['for each row', 'after delete or update'],
])('a trigger that lets changes through is found: %s, %s', async (scope, moment) => {
  const replace = (how: string) =>
    sql(`drop trigger event_is_append_only on event;
      create trigger event_is_append_only ${how} execute function forbid_change()`);
  await replace(`${moment} on event ${scope}`);
  expect(await brokenInDatabase()).toEqual(['event']);
  await replace('before delete or update on event for each row');
  expect(await brokenInDatabase()).toEqual([]);
});

test('a trigger function that refuses nothing is found', async () => {
  const { rows } = await sql("select pg_get_functiondef('forbid_change'::regproc) as text");
  await sql(
    'create or replace function forbid_change() returns trigger language plpgsql as $$begin return new; end$$',
  );
  expect(await brokenInDatabase()).toEqual(['forbid_change()']);
  await sql(rows[0].text);
  expect(await brokenInDatabase()).toEqual([]);
});

test('every table whose rows are never changed is known', async () => {
  const { rows } = await sql(
    "select distinct tgrelid::regclass::text as name from pg_trigger where tgfoid = 'forbid_change'::regproc and tgattr::text = '' and tgqual is null",
  );
  expect(rows.map(({ name }) => name as string).toSorted()).toEqual(appendOnlyTables);
});

describe('a connection of the service', () => {
  test.each([
    ['update event set facts = facts', /permission denied for table event/],
    ['delete from ledger_transfer', /permission denied for table ledger_transfer/],
    ['alter table event disable trigger user', /must be owner of table event/],
    ['drop trigger event_is_append_only on event', /must be owner of relation event/],
    ['truncate event', /permission denied for table event/],
    ['create table more (id int)', /permission denied for schema public/],
    [
      "insert into migration (number, name, sha256) values (99, 'x', 'x')",
      /permission denied for table migration/,
    ],
    ["set session_replication_role = 'replica'", /permission denied to set parameter/],
  ])('cannot %s', async (text, message) => {
    const attempt = asService.withClient((client) => client.query(text));
    await expect(attempt).rejects.toThrow(message);
  });

  test('reads a table that a later migration adds', async () => {
    await sql('create table later (id int)');
    const { rowCount } = await asService.withClient((client) => client.query('insert into later values (1)'));
    expect(rowCount).toBe(1);
    await sql('drop table later');
  });
});

test('a service on tables of an earlier version hears who brings them up to date', async () => {
  const old = await createTestDatabase('empty');
  const pool = connect(old, service);
  await expect(migrate(pool)).rejects.toThrow(
    /may not change them. Run "mandate migrate" with the DATABASE_URL of their owner/,
  );
  await pool.end();
  await old.drop();
});

test('a script for a role that does not exist changes nothing', async () => {
  await sql(`grant truncate on payment to ${service}`);
  await expect(sql(grantsScript({ service, reader: 'absent' }))).rejects.toThrow(
    'There is no role "absent". Create it: createuser --pwprompt absent',
  );
  await sql('rollback').catch(() => undefined);
  expect(await broken('service')).toEqual(['payment: truncate']);
});
