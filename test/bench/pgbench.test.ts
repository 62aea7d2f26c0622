// Runs the script of pgbench without pgbench, which is not installed everywhere.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSeries, script } from '../../bench/workloads/pgbench.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';

let db: TestDatabase;
beforeAll(async () => void (db = await createTestDatabase()));
afterAll(() => db.drop());

test('the statements that pgbench runs make a complete charge', async () => {
  const charge = script
    .replaceAll(/^\\set.*$/gm, '')
    .replaceAll(/(?<!:):n\b/g, '77')
    .replaceAll(/(?<!:):s\b/g, '1');
  const rows = await db.database.withClient(async (client) => {
    await makeSeries(client);
    await client.query(charge);
    const found = await client.query(`
      select status, (select count(*)::int from event where aggregate = 'invoice' or sequence > 1) as events, (select count(*)::int from payer_email) as emails
      from payment`);
    return found.rows;
  });
  expect(rows).toEqual([{ status: 'captured', events: 6, emails: 1 }]);
});
