import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
import { StatementClient } from './statement-client.ts';
import { typeParsers } from './statement.ts';

let db: TestDatabase;
let client: pg.Client;
/** What the client wrote to the server, a piece each: the letters of its messages. */
let written: string[];

beforeAll(async () => {
  db = await createTestDatabase();
  await db.database.withClient((one) => one.query('create table mark (name text primary key)'));
});
afterAll(() => db.drop());
beforeEach(async () => {
  client = new StatementClient({ connectionString: db.url, types: typeParsers });
  await client.connect();
  written = [];
  const { stream } = (client as any).connection;
  const write = stream.write.bind(stream);
  stream.write = (bytes: Buffer) => {
    written.push(lettersOf(bytes));
    return write(bytes);
  };
});
afterEach(() => client.end());

function lettersOf(bytes: Buffer): string {
  let letters = '';
  for (let at = 0; at < bytes.length; at += 1 + bytes.readInt32BE(at + 1))
    letters += String.fromCharCode(bytes[at]!);
  return letters;
}

const ask = (question: { name: string; text: string; values: unknown[] }) => client.query(question);
const addMark = (name: string) =>
  ask({ name: 'add_mark', text: 'insert into mark values ($1::text)', values: [name] });

test('the first time a statement is parsed and described, after that it is one short piece', async () => {
  const sum = (a: number, b: number) =>
    ask({ name: 'sum', text: 'select $1::int4 + $2::int4 as sum, null as none', values: [a, b] });
  expect((await sum(1, 2)).rows).toEqual([{ sum: 3, none: null }]);
  expect((await sum(3, 4)).rows).toEqual([{ sum: 7, none: null }]);
  expect(written).toEqual(['PDBES', 'BES']);
});

test('one without rows is described once too', async () => {
  expect((await addMark('a')).rows).toEqual([]);
  await addMark('b');
  expect(written).toEqual(['PDBES', 'BES']);
});

test('one that fails at first is parsed all the same, and not parsed again', async () => {
  await addMark('c');
  const other: pg.Client = new StatementClient({ connectionString: db.url });
  await other.connect();
  const again = { name: 'add_mark', text: 'insert into mark values ($1::text)' };
  await expect(other.query({ ...again, values: ['c'] })).rejects.toMatchObject({ code: '23505' });
  expect((await other.query({ ...again, values: ['d'] })).rows).toEqual([]);
  await other.end();
});

test('one that cannot be parsed says so each time, and the connection goes on', async () => {
  const wrong = { name: 'wrong', text: 'select from nowhere', values: [] };
  await expect(ask(wrong)).rejects.toMatchObject({ code: '42P01' });
  await expect(ask(wrong)).rejects.toMatchObject({ code: '42P01' });
  expect(written).toEqual(['PDBES', 'PDBES']);
  expect((await ask({ name: 'one', text: 'select 1 as one', values: [] })).rows).toEqual([{ one: 1 }]);
});

test('rows come in their order, and a row each', async () => {
  const text = 'select n, n::text as text from generate_series(1, $1::int4) as n order by n desc';
  const { rows } = await ask({ name: 'many', text, values: [3] });
  expect(rows).toEqual([
    { n: 3, text: '3' },
    { n: 2, text: '2' },
    { n: 1, text: '1' },
  ]);
});

test('a table that changes under a prepared statement is an error, not a wrong row', async () => {
  await client.query('create temporary table shape (a int4, b text)');
  await client.query(`insert into shape values (1, 'x')`);
  const read = { name: 'read_shape', text: 'select * from shape', values: [] };
  expect((await ask(read)).rows).toEqual([{ a: 1, b: 'x' }]);
  await client.query('alter table shape drop column a');
  await expect(ask(read)).rejects.toThrow('cached plan must not change result type');
});

test.each([
  ['forgotten', undefined],
  ['an object', {}],
  ['a symbol', Symbol('x')],
])('a parameter that is %s is an error, and the connection goes on', async (_, value) => {
  const text = 'select $1::text as first, $2::text as second';
  const asked = ask({ name: 'pair', text, values: ['a', value] });
  await expect(asked).rejects.toThrow(/^parameter 2 of the statement pair cannot be sent/);
  expect(written).toEqual([]);
  const { rows } = await ask({ name: 'pair', text, values: ['a', null] });
  expect(rows).toEqual([{ first: 'a', second: null }]);
});

test('what has no name goes the way of the driver, transactions and all', async () => {
  await client.query('begin');
  await addMark('e');
  expect((await client.query('rollback')).command).toBe('ROLLBACK');
  const { rows } = await client.query('select count(*)::int4 as count from mark where name = $1', ['e']);
  expect(rows).toEqual([{ count: 0 }]);
});

test('a connection that is cut says so to whoever waits', async () => {
  client.on('error', () => undefined);
  const [self] = (await ask({ name: 'self', text: 'select pg_backend_pid() as pid', values: [] })).rows;
  const waiting = ask({ name: 'wait', text: 'select pg_sleep($1::int4)::text as slept', values: [60] });
  const error = waiting.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  await db.database.withClient((one) => one.query('select pg_terminate_backend($1)', [self.pid]));
  expect(await error).toBeInstanceOf(Error);
});
