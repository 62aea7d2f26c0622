// mandate database: what a service's role may do, by exit code, table and JSON.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandLine, migrateDatabase } from '../../../test/support/processes/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
import { serviceRole } from '../../../test/support/database/test-cluster.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await migrateDatabase(environment(db.url));
});
afterAll(() => db.drop());

const environment = (url: string) => ({
  DATABASE_URL: url,
  MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
});
const asService = () => db.url.replace(/\/\/[^:]+:/, `//${serviceRole}:`);
const run = (url: string, ...args: string[]) => commandLine(['database', ...args], environment(url));

test('the role of a service passes, and any command of it works', async () => {
  const { code, output } = await run(asService(), 'check');
  expect(output).toMatch(/^mandate_service +yes +only adds to the log and the ledger$/m);
  expect(output).not.toContain('NO');
  expect(code).toBe(0);
  const listed = await commandLine(['party', 'list'], environment(asService()));
  expect(listed.code, listed.errors).toBe(0);
});

test('the owner of the tables does not', async () => {
  const { code, output } = await run(db.url, 'check');
  expect(code).toBe(1);
  expect(output).toMatch(/NO +owns nothing/);
  expect(output).toContain('mandate database grants');
});

test('JSON names every violation', async () => {
  const { output } = await run(db.url, 'check', '--json');
  expect(JSON.parse(output)).toContainEqual({
    role: 'mandate',
    rule: 'creates nothing in the database and its schema',
    holds: false,
    violations: ['create', 'create schema'],
  });
});

test('an unknown reader ends with 2, before anything is checked', async () => {
  const { code, errors } = await run(asService(), 'check', '--reader', 'absent');
  expect(code).toBe(2);
  expect(errors).toContain('There is no role "absent"');
});

test('the service cannot be its own reader', async () => {
  const { code, errors } = await run(db.url, 'grants', '--service', 'one', '--reader', 'one');
  expect(code).toBe(1);
  expect(errors).toContain('The reader must be another one.');
});
