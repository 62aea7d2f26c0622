// The way out of a master key that live mode refuses.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandLine } from '../../../test/support/processes/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
import { temporaryFolder } from '../../../test/support/database/test-cluster.ts';
import { openDatabase, type Database } from '../../platform/database/database.ts';
import { changeMasterKey } from '../../platform/keys/change-master-key.ts';
import { localMasterKey } from '../../platform/keys/master-key.ts';

const weak = Buffer.alloc(32, 7).toString('base64');
const strong = 'rrSxNkcTsWIbHvNDfqxWxUY/Gi0Pv3gkmjOMdCHrgDs=';
const { folder, remove } = temporaryFolder();
const oldKeyFile = join(folder, 'old');
let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
  writeFileSync(oldKeyFile, `${weak}\n`);
  await run('sandbox', weak, 'migrate');
});
afterAll(async () => {
  await db.drop();
  await remove();
});

const run = (mode: 'live' | 'sandbox', MANDATE_MASTER_KEY: string, ...args: string[]) =>
  commandLine(args, { MANDATE_MODE: mode, DATABASE_URL: db.url, MANDATE_MASTER_KEY, MANDATE_DATA: folder });
const change = (file = oldKeyFile) =>
  run('live', strong, 'keys', 'change-master-key', '--old-key-file', file);

/** On connections that are closed at once. */
async function sql(text: string) {
  const pool = openDatabase({ connection: { url: db.url }, maxConnections: 1 });
  try {
    return await pool.withClient(async (client) => (await client.query(text)).rows as unknown[]);
  } finally {
    await pool.end();
  }
}
const storedKeys = () => sql('select * from data_key order by purpose, key_version');

test('a wrong old key, a file without one and a program that runs change nothing', async () => {
  const before = await storedKeys();
  const other = join(folder, 'other');
  writeFileSync(other, Buffer.alloc(32, 8).toString('base64'));
  expect((await change(other)).errors).toContain('was wrapped by master key');
  writeFileSync(other, 'short');
  expect((await change(other)).errors).toContain('32 bytes in base64');

  const node = openDatabase({ connection: { url: db.url }, maxConnections: 1 });
  await node.withClient((client) => client.query('select 1'));
  expect((await change()).errors).toContain('Another program uses this database');
  await node.end();
  expect(await storedKeys()).toEqual(before);
});

test('a database with a weak master key gets another, and its keys stay the same', async () => {
  expect((await run('live', weak, 'party', 'list')).errors).toContain('is not random');
  expect((await run('live', strong, 'party', 'list')).errors).toContain('was wrapped by master key');
  const { output: publicKeys } = await run('sandbox', weak, 'consent', 'keys');
  await sql("insert into security_code_key (half_hour, wrapped) values (1, 'of the old key')");

  const { code, output, errors } = await change();
  expect([code, errors]).toEqual([0, '']);
  expect(output).toMatch(/^\d+ stored keys are under the new master key/);
  expect((await run('live', strong, 'party', 'list')).code).toBe(0);
  expect((await run('sandbox', strong, 'consent', 'keys')).output).toBe(publicKeys);
  expect((await run('sandbox', weak, 'consent', 'keys')).errors).toContain('was wrapped by master key');
  expect(await sql('select from security_code_key')).toEqual([]);
  expect((await change()).output).toContain('under this master key already');
});

describe('a program that starts', () => {
  const changeWhile = async (startAfter: 'the first key' | 'the commit') => {
    const own = openDatabase({ connection: { url: db.url }, maxConnections: 1 });
    const other = openDatabase({ connection: { url: db.url }, maxConnections: 1 });
    let started: Promise<unknown> | undefined;
    const start = () => (started ??= other.withClient((client) => client.query('select 1')));
    const watched: Database = {
      ...own,
      async transaction(work) {
        const done = await own.transaction((tx) =>
          work({
            ...tx,
            async run(statement, parameters) {
              const rows = await tx.run(statement, parameters);
              if (startAfter === 'the first key' && statement.name === 'rewrap_data_key') await start();
              return rows;
            },
          }),
        );
        await start();
        return done;
      },
    };
    const keyOf = (text: string) => localMasterKey(Buffer.from(text, 'base64'));
    try {
      return await changeMasterKey(watched, keyOf(strong), keyOf(weak)).catch(
        ({ message }: Error) => message,
      );
    } finally {
      await own.end();
      await other.end();
    }
  };

  test('while keys are changed leaves all of them as they were', async () => {
    const before = await storedKeys();
    expect(await changeWhile('the first key')).toContain('Another program uses this database');
    expect(await storedKeys()).toEqual(before);
  });

  test('before the keys are committed is reported', async () => {
    const before = await storedKeys();
    expect(await changeWhile('the commit')).toContain('another program has started meanwhile');
    expect(await storedKeys()).not.toEqual(before);
  });
});
