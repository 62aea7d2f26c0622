// mandate webhooks reset-cursor changes events only after a restore into another PostgreSQL.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { commandLine, migrateDatabase } from '../../../test/support/processes/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
  await migrateDatabase(environment());
  await query(
    `insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
     values ('unread', 1, 'invoice', 'P', now(), '[]')`,
  );
});
afterEach(() => db.drop());

const query = (text: string) => db.database.withClient((client) => client.query(text));
const environment = () => ({
  DATABASE_URL: db.url,
  MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
});
const resetCursor = (...more: string[]) => commandLine(['webhooks', 'reset-cursor', ...more], environment());
const state = async () => {
  const { rows } = await query('select written_in, seen from event, webhook_feed');
  return rows as unknown[];
};
const withWrites = (table: string, text: string) =>
  query(`alter table ${table} disable trigger user; ${text}; alter table ${table} enable trigger user`);

test('nothing is reset when the event log belongs to this PostgreSQL', async () => {
  const before = await state();
  expect(await resetCursor()).toEqual({
    code: 1,
    output: '',
    errors:
      'mandate: The event log belongs to this PostgreSQL. Nothing to reset. To reset it anyway, give --force.\n',
  });
  expect(await state()).toEqual(before);
});

test('--force resets in any case', async () => {
  const before = await state();
  expect(await resetCursor('--force')).toMatchObject({ code: 0, errors: '' });
  expect(await state()).not.toEqual(before);
});

test.each([
  ['the cursor', `update webhook_feed set seen = '1000000000:1000000001:'`],
  ['a mismatch that a node found', `update webhook_feed set mismatch_since = now()`],
  ['an event', `update event set written_in = '1000000000'`],
  [
    'a webhook',
    `insert into webhook (webhook_id, party_id, topic, owner_id, event_types, url, created_at, written_in)
     values ('1', 'P', 'InvoicesTopic', 'S', 'InvoicePaid', 'http://localhost/', now(), '1000000000')`,
  ],
])('the cursor is reset when it is %s that shows another PostgreSQL', async (_, text) => {
  await withWrites('event', text);
  const { code, output, errors } = await resetCursor();
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  expect(output).toContain('Reset the cursor:');
  expect((await resetCursor()).errors).toContain('Nothing to reset.');
});
