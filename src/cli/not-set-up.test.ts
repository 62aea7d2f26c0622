// A command creates nothing where nothing is, unless it is declared to: not in an empty database, not with a wrong master key.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/support/database/test-cluster.ts';
import { createTestDatabase, type TestDatabase } from '../../test/support/database/test-database.ts';
import { commandLine } from '../../test/support/processes/command-line.ts';
import { commandsUnder, isRunnable, wordsOfExample } from '../../test/support/processes/commands.ts';
import { createProgram } from './program.ts';

/** These open no database. */
const withoutDatabase = [
  'bank conformance',
  'config',
  'consent print',
  'consent verify',
  'database grants',
  'import encrypt',
  'import key',
  'mail test',
  'sandbox',
];
/** These also work without keys and with another master key: for API keys, roles, tables as text, and the master key. */
const withAnyMasterKey = ['keys list', 'keys revoke', 'keys change-master-key', 'database check', 'pan-scan'];

const commands = commandsUnder(createProgram()).filter(isRunnable);
const others = commands.filter(({ creates }) => creates === undefined);
const masterKey = Buffer.alloc(32, 1).toString('base64');
const otherKey = Buffer.alloc(32, 2).toString('base64');

const temporary = temporaryFolder();
/** Empty: the temporary folder also holds the name of its owner. */
const folder = join(temporary.folder, 'empty');
mkdirSync(folder);
afterAll(temporary.remove);

type Situation = {
  readonly kind: 'empty' | 'migrated';
  /** Without one, MANDATE_MASTER_KEY is not set. */
  readonly key?: string;
  readonly prepare?: (db: TestDatabase) => Promise<unknown>;
  readonly says: RegExp;
  readonly exempt?: readonly string[];
};

const withKeys = (db: TestDatabase) => migrate(db.url, masterKey);

const situations: readonly (readonly [string, Situation])[] = [
  ['an empty database', { kind: 'empty', key: masterKey, says: /no Mandate tables.*"mandate migrate"/ }],
  [
    'a database that lacks a migration',
    {
      kind: 'migrated',
      key: masterKey,
      prepare: (db) => sql(db, 'delete from migration where number = (select max(number) from migration)'),
      says: /older than this version.*"mandate migrate"/,
      exempt: withAnyMasterKey,
    },
  ],
  [
    'a database without keys',
    { kind: 'migrated', key: masterKey, says: /no keys for .*"mandate migrate"/, exempt: withAnyMasterKey },
  ],
  [
    'a wrong master key',
    {
      kind: 'migrated',
      key: otherKey,
      prepare: withKeys,
      says: /was wrapped by master key [0-9a-f]{16}, but the master key in use is/,
      exempt: withAnyMasterKey,
    },
  ],
  [
    'no master key',
    {
      kind: 'migrated',
      prepare: withKeys,
      says: /No master key in .*master\.key\. Set MANDATE_DATA or MANDATE_MASTER_KEY/,
      exempt: withAnyMasterKey,
    },
  ],
];

describe.each(situations)('with %s', (name, { kind, key, prepare, says, exempt = [] }) => {
  const data = join(folder, name.replaceAll(' ', '-'));
  let db: TestDatabase;
  let before: unknown;
  beforeAll(async () => {
    db = await createTestDatabase(kind);
    await prepare?.(db);
    before = await contentOf(db);
  });
  afterAll(() => db.drop());

  test.each(others.map((command) => [command.path(), command] as const))(
    'mandate %s changes nothing',
    async (path, command) => {
      const { code, errors } = await commandLine(wordsOfExample(command.examples[0] ?? ''), {
        DATABASE_URL: db.url,
        MANDATE_DATA: data,
        ...(key === undefined ? {} : { MANDATE_MASTER_KEY: key }),
      });
      expect({ content: await contentOf(db), files: filesIn(folder) }).toEqual({
        content: before,
        files: [],
      });
      if ([...withoutDatabase, ...exempt].includes(path)) return;
      expect(errors.replaceAll('\n', ' ')).toMatch(says);
      expect(code).toBe(2);
    },
  );
});

describe('without DATABASE_URL and data folder', () => {
  test.each(others.map((command) => [command.path(), command] as const))(
    'mandate %s creates nothing',
    async (path, command) => {
      const { code, errors } = await commandLine(wordsOfExample(command.examples[0] ?? ''), {
        MANDATE_DATA: join(folder, 'none'),
      });
      expect(filesIn(folder)).toEqual([]);
      if (withoutDatabase.includes(path)) return;
      expect(errors).toMatch(/No database in .*none\. Set DATABASE_URL or MANDATE_DATA.*"mandate serve"/);
      expect(code).toBe(2);
    },
  );
});

test('three commands are declared to create something', () =>
  expect(commands.flatMap((command) => (command.creates === undefined ? [] : [command.path()]))).toEqual([
    'serve',
    'migrate',
    'bank',
  ]));

test('what migrate creates, the other commands use, and with no other master key', async () => {
  const db = await createTestDatabase('empty');
  try {
    expect(await migrate(db.url, masterKey)).toMatchObject({ code: 0, errors: '' });
    const list = (key: string) =>
      commandLine(['jobs', 'stuck'], { DATABASE_URL: db.url, MANDATE_MASTER_KEY: key });
    expect(await list(masterKey)).toMatchObject({ code: 0, output: 'No job is stuck.\n' });
    expect(await list(otherKey)).toMatchObject({ code: 2, output: '' });
  } finally {
    await db.drop();
  }
});

function migrate(url: string, key: string) {
  return commandLine(['migrate'], { DATABASE_URL: url, MANDATE_MASTER_KEY: key });
}

function sql(db: TestDatabase, text: string) {
  return db.database.withClient((client) => client.query<{ name: string; kind: string }>(text));
}

/** Everything that is not PostgreSQL's own, with the rows of each table. */
async function contentOf(db: TestDatabase): Promise<unknown> {
  const relations = await sql(
    db,
    `select relname as name, relkind as kind from pg_class where relnamespace not in ('pg_catalog'::regnamespace, 'pg_toast'::regnamespace)
       and relnamespace <> 'information_schema'::regnamespace order by 1`,
  );
  const tables = relations.rows.flatMap(({ name, kind }) => (kind === 'r' ? [name] : []));
  // One statement that the connection keeps: to plan one for each table takes longer than the command that is tested.
  const text = tables.map((name) => `select '${name}' as name, whole_row::text from "${name}" as whole_row`);
  const rows = await db.database.withClient((client) =>
    client.query({ name: `rows of ${tables.length} tables`, text: text.join(' union all ') }),
  );
  return [relations.rows, tables.length === 0 ? [] : rows.rows];
}

function filesIn(root: string): string[] {
  return readdirSync(root, { recursive: true }).map(String);
}
