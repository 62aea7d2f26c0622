// A statement that stands whole calls record_exchanges. The part of the statements that are put together writes the same.
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database/test-database.ts';
import { recordExchanges } from './exchange-rows.ts';

let db: TestDatabase;
beforeAll(async () => void (db = await createTestDatabase()));
afterAll(() => db.drop());

const part = `with changed as (select), exchanged as (${recordExchanges('changed').replace(':exchanges', '$1::json')}) select`;
const call = 'select record_exchanges($1::json)';

const begun = {
  aggregate_id: '1A',
  operation: '1.a',
  bank_id: 'bank',
  terminal_id: 'terminal',
  kind: 'authorise',
  amount_minor: 6000,
  currency: 'RUB',
  digest: '\\x01',
  card_token: 'token',
  wire_keys: { id: '1A.1.a', merchant: 'M' },
  not_after: '2026-01-19T11:00:00Z',
  begun_at: '2026-01-19T10:00:00Z',
  state: 'begun',
};
const heard = (state: string) => ({
  ...begun,
  state,
  answer: { outcome: state, reference: 'R' },
  far_reference: 'F',
  heard_at: '2026-01-19T10:01:00Z',
});
const later = {
  ...heard('declined'),
  bank_id: 'other',
  terminal_id: 'other',
  digest: '\\x02',
  wire_keys: { id: '1A.1.a', merchant: 'N' },
  not_after: null,
  answer: null,
  far_reference: 'G',
  heard_at: '2026-01-19T10:02:00Z',
};
const another = { ...begun, operation: '1.c', kind: 'capture' };

/** Rolled back afterwards. */
function rowsAfter(write: string, lists: readonly unknown[]): Promise<unknown[]> {
  return db.database.withClient(async (client: pg.ClientBase) => {
    await client.query('begin');
    try {
      for (const list of lists) await client.query(write, [JSON.stringify(list)]);
      return (await client.query('select * from exchange order by operation')).rows;
    } finally {
      await client.query('rollback');
    }
  });
}

test.each<[string, unknown[], { state: string; bank_id: string }]>([
  ['is begun', [[begun]], { state: 'begun', bank_id: 'bank' }],
  ['is begun twice', [[begun], [begun]], { state: 'begun', bank_id: 'bank' }],
  ['is declined at another bank', [[begun], [later]], { state: 'declined', bank_id: 'other' }],
  ['was given up', [[heard('givenUp')], [later]], { state: 'declined', bank_id: 'other' }],
  ['was challenged', [[heard('challenged')], [later]], { state: 'declined', bank_id: 'other' }],
  ['is approved, and stays', [[heard('approved')], [later]], { state: 'approved', bank_id: 'bank' }],
  ['is declined, and stays', [[heard('declined')], [later]], { state: 'declined', bank_id: 'bank' }],
  ['is taken back, and stays', [[heard('takenBack')], [later]], { state: 'takenBack', bank_id: 'bank' }],
  ['is settled, and stays', [[heard('settled')], [later]], { state: 'settled', bank_id: 'bank' }],
  ['is one of two', [[begun, another], []], { state: 'begun', bank_id: 'bank' }],
])('both write the same when an operation %s', async (_, lists, first) => {
  const rows = await rowsAfter(call, lists);
  expect(rows[0]).toMatchObject(first);
  expect(rows).toEqual(await rowsAfter(part, lists));
});
