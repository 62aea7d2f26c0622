// pgbench is not installed everywhere; what it is given to run is tried here all the same.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSeries, script } from '../../bench/workloads/pgbench.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';

let db: TestDatabase;
beforeAll(async () => void (db = await createTestDatabase()));
afterAll(() => db.drop());

test('the statements given to pgbench are a whole charge', async () => {
  const charge = script
    .replaceAll(/^\\set.*$/gm, '')
    .replaceAll(/(?<!:):n\b/g, '77')
    .replaceAll(/(?<!:):s\b/g, '1');
  const rows = await db.database.withClient(async (client) => {
    await makeSeries(client);
    await client.query(charge);
    const told = await client.query(`
      select status, (select count(*)::int from event where aggregate = 'invoice' or sequence > 1) as events, (select count(*)::int from payer_email) as letters
      from payment`);
    return told.rows;
  });
  expect(rows).toEqual([{ status: 'captured', events: 6, letters: 1 }]);
});
