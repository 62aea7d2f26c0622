// A page has the events that a snapshot does not show, whichever transactions ran in it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
import { statement } from '../database/statement.ts';
import { unseenEvents } from './unseen.ts';

const readPage = statement({
  name: 'read_page_of_unseen',
  parameters: { seen: 'text', limit: 'int4' },
  row: { transaction: 'text' },
  text: `select written_in::text as transaction from (${unseenEvents({
    columns: 'aggregate_id',
    where: `aggregate = 'invoice'`,
  })}) as page`,
});

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  // Two events of each transaction from 1 to 12, one of them of another kind in every third.
  await db.database.withClient((client) =>
    client.query(
      `insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts, written_in)
       select 'a' || number || '-' || part, 1, case when part = 2 and number % 3 = 0 then 'customer' else 'invoice' end, 'P', now(),
         '[]', number::text::xid8
       from generate_series(1, 12) as number, generate_series(1, 2) as part`,
    ),
  );
});
afterAll(() => db.drop());

async function page(seen: string, limit: number): Promise<number[]> {
  const rows = await db.database.run(readPage, { seen, limit });
  return rows.map(({ transaction }) => Number(transaction));
}

test.each([
  ['nothing', '1:1:', [1, 1, 2, 2, 3, 4, 4, 5, 5, 6, 7, 7, 8, 8, 9, 10, 10, 11, 11, 12]],
  ['all', '13:13:', []],
  ['up to a transaction', '9:9:', [9, 10, 10, 11, 11, 12]],
  ['all but those that ran', '3:13:3,7', [3, 7, 7]],
  ['what was committed next to one that ran', '2:10:2', [2, 2, 10, 10, 11, 11, 12]],
])('after a snapshot that shows %s', async (_, seen, unseen) => {
  expect(await page(seen, 100)).toEqual(unseen);
});

test('the last transaction of a page is whole', async () => {
  expect(await page('2:10:2', 1)).toEqual([2, 2]);
  expect(await page('2:10:2', 3)).toEqual([2, 2, 10, 10]);
  expect(await page('10:10:', 3)).toEqual([10, 10, 11, 11]);
});
