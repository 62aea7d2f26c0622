// What every statement declares about its parameters and columns matches PostgreSQL's description on the migrated schema.
import type pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Columns, Statement } from '../../src/platform/database/statement.ts';
import type { TestService } from '../support/service/test-service.ts';
import { differences } from './describe-statement.ts';

let service: TestService;
let statements: readonly Statement[];

beforeAll(async () => {
  // Other tests register their own statements; with fresh modules only the program's exist. Building a service loads every store and
  // creates the statements of jobs, one set per table.
  vi.resetModules();
  await import('../../src/app/sources/reconciliation-sources.ts');
  await import('../../src/app/purges.ts');
  await import('../../src/payments/store/job-overview.ts');
  await import('../../src/platform/keys/change-master-key.ts');
  const { startTestService } = await import('../support/service/test-service.ts');
  const { allStatements } = await import('../../src/platform/database/statement.ts');
  service = await startTestService();
  statements = allStatements();
});
afterAll(() => service.close());

test('every statement takes and returns what it declares', async () => {
  expect(statements.length).toBeGreaterThan(30);
  const found = await service.database.withClient(async (client) => {
    const lists: string[][] = [];
    for (const statement of statements) lists.push(await differences(client, statement));
    return lists.flat();
  });
  expect(found).toEqual([]);
});

test('a statement that appends an event takes its time from the row, and advances it', () => {
  const appending = statements.filter(({ text }) => /insert into event|append_events?\(/.test(text));
  expect(appending.length).toBeGreaterThan(15);
  const moves = /set [^;]*\bchanged_at = |insert into \w+ \([^)]*\bchanged_at\b|\bcreated_at as changed_at\b/;
  expect(appending.filter(({ text }) => !moves.test(text)).map(({ name }) => name)).toEqual([]);
  const own = appending.filter(
    ({ text }) =>
      !/insert into event .*\s+select [^;]*?\bchanged_at,|append_events?\([^()]*\bchanged_at, [^,()]*\)/.test(
        text,
      ),
  );
  expect(own.map(({ name }) => name)).toEqual([]);
});

test('JSON columns are always read by a codec', () => {
  const believed = statements.flatMap(({ name, row }) =>
    Object.entries(row).flatMap(([column, type]) =>
      type === 'json' || type === 'json?' ? [`${name}: ${column}`] : [],
    ),
  );
  expect(believed).toEqual([]);
  expect(statements.filter(({ codecs }) => codecs.length > 0).length).toBeGreaterThan(50);
});

/** Many statements are composed of fragments; here a reviewer sees what PostgreSQL gets. */
test('every statement is as reviewed; npx vitest run test/architecture/statements -u writes them', async () => {
  const texts = statements.map(
    ({ name, text }) => `-- ${name}\n${text.trim().replaceAll(/^[ \t]+/gm, '')};\n`,
  );
  await expect(texts.toSorted().join('\n')).toMatchFileSnapshot('statements.sql');
});

test('asked by many at once, a statement reads each table by the index that it uses for one', async () => {
  const byName = new Map(statements.map((one) => [one.name, one]));
  const read = statements.filter(({ name }) => byName.has(`${name}_together`));
  expect(read.length).toBeGreaterThan(10);
  await service.database.withClient(async (client) => {
    for (const { name, text } of read) {
      const alone = await scansOf(client, text);
      expect(alone.filter((scan) => scan.startsWith('Seq'))).toEqual([]);
      const together = await scansOf(client, byName.get(`${name}_together`)?.text ?? '');
      expect([name, together]).toEqual([name, alone]);
    }
  });
});

test('statements of tests are left out, and those of jobs are included', () => {
  const names = statements.map(({ name }) => name);
  expect(names.filter((name) => /^test_/.test(name))).toEqual([]);
  expect(names).toContain('claim_due_invoice');
});

test.each<[string, Columns, string[]]>([
  ['select party_id, created_at from party', { party_id: 'text', created_at: 'timestamptz?' }, []],
  ['select party_id from party', { party_id: 'int4' }, ['gives party_id: declared int4, in truth text']],
  [
    'select name from party',
    { title: 'text' },
    ['title: declared text', 'name: declared not, in truth text'],
  ],
  ['select 1 as one', { one: 'int4', two: 'int4' }, ['gives two: declared int4, in truth not there']],
  ['select 1.5 as half', { half: 'int4' }, ['in truth type number 1700']],
  ['delete from party returning party_id', {}, ['gives party_id: declared not, in truth text']],
  ['delete from party', { party_id: 'text' }, ['gives party_id: declared text, in truth not there']],
  ['select nothing from party', {}, ['cannot be prepared: error: column "nothing" does not exist']],
])('a wrong declaration is found: %s', async (text, row, expected) => {
  const statement = { name: 'control', text, parameterNames: [], parameters: {}, row, codecs: [] };
  const found = await service.database.withClient((client) => differences(client, statement));
  expect(found).toEqual(expected.map((part) => expect.stringContaining(part)));
});

test('a wrong declaration of a parameter is found without running the statement', async () => {
  const text = 'update party set name = $1::text where party_id = $2::text';
  const control = { name: 'control', text, parameterNames: ['name', 'party_id'], row: {}, codecs: [] };
  const parameters = { name: 'text', party_id: 'int8' } as const;
  const found = await service.database.withClient((client) =>
    differences(client, { ...control, parameters }),
  );
  expect(found).toEqual(['control takes party_id: declared int8, in truth text']);
});

type Plan = { 'Node Type': string; 'Relation Name'?: string; 'Index Name'?: string; Plans?: Plan[] };

/** How the plan that PostgreSQL keeps reads the tables, sorted. Without statistics, as on the day of a new installation. */
async function scansOf(client: pg.ClientBase, text: string): Promise<string[]> {
  const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
    `explain (generic_plan, format json) ${text}`,
  );
  const within = ({ Plans = [], ...plan }: Plan): string[] => [
    ...(plan['Relation Name'] === undefined
      ? []
      : [[plan['Node Type'], plan['Relation Name'], plan['Index Name']].join(' ')]),
    ...Plans.flatMap(within),
  ];
  return rows.flatMap((row) => row['QUERY PLAN'].flatMap(({ Plan }) => within(Plan))).sort();
}
