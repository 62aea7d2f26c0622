// mandate jobs: stuck jobs are listed and retried.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandLine, migrateDatabase } from '../../../test/support/processes/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await migrateDatabase(environment());
});
afterAll(() => db.drop());

const environment = () => ({
  DATABASE_URL: db.url,
  MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
});
const run = (...args: string[]) => commandLine(['jobs', ...args], environment());

test.each(['payer_email', 'letter'])('a stuck payer email can be retried as kind %s', async (kind) => {
  await db.database.withClient((client) =>
    client.query(
      `insert into payer_email (invoice_id, payment_id, party_id, series_id, status, created_at, recipient, paid_at,
         amount_minor, currency, reference, stuck_at, stuck_reason)
       values ($1, '1', 'P', 'S', 'waiting', now(), 'payer@example.com', now(), 100, 'RUB', 'R', now(), 'EmailNotAccepted: 451')`,
      [kind],
    ),
  );
  const listed = await run('stuck', '--json');
  expect(JSON.parse(listed.output)).toMatchObject([{ kind: 'payer_email', id: `${kind}/1`, partyId: 'P' }]);

  const retried = await run('retry', kind, `${kind}/1`);
  expect(retried.output).toContain(`payer_email ${kind}/1 is due again`);
  expect(JSON.parse((await run('stuck', '--json')).output)).toEqual([]);
});

test('all stuck jobs of a kind are retried at once', async () => {
  await db.database.withClient((client) =>
    client.query(
      `insert into payer_email (invoice_id, payment_id, party_id, series_id, status, created_at, recipient, paid_at,
         amount_minor, currency, reference, stuck_at, stuck_reason)
       select 'I' || n, '1', 'P', 'S', 'waiting', now(), 'payer@example.com', now(), 100, 'RUB', 'R', now(), 'EmailNotAccepted: 451'
       from generate_series(1, 1001) n`,
    ),
  );
  expect((await run('retry', 'payment', '--all')).output).toContain('0 stuck jobs of kind "payment"');
  const retried = await run('retry', 'payer_email', '--all');
  expect(retried.output).toContain('1001 stuck jobs of kind "payer_email" are due again');
  expect(JSON.parse((await run('stuck', '--json')).output)).toEqual([]);
});

test('an unknown kind is refused, with those there are', async () => {
  const refused = await run('retry', 'widrawal', '--all');
  expect(refused).toMatchObject({ code: 1, output: '' });
  expect(refused.errors).toMatch(/Unknown kind "widrawal"\. Use one of: .*withdrawal/);
});

test.each([[['payment']], [['payment', 'I/1', '--all']]])('retry %j is refused', async (words) => {
  const refused = await run('retry', ...words);
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.errors).toContain('Give either the ID of a job or --all.');
});
