// What changed is copied by key, also before PostgreSQL has statistics of the tables: a reader runs twice a second.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database/test-database.ts';
import { allStatements } from '../platform/database/statement.ts';
import { copyChanged } from './copies.store.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await sql(`alter table invoice set (autovacuum_enabled = off)`);
  await sql(`alter table payment set (autovacuum_enabled = off)`);
  await sql(`
    insert into invoice (invoice_id, party_id, shop_id, version, status, created_at, due_date, amount_minor, currency,
      product, metadata)
    select lpad(n::text, 23, '0'), 'P', 'S', 1, 'paid', now(), now(), 100, 'RUB', 'x', '{}'
    from generate_series(1, 2000) as n`);
  await sql(`
    insert into payment (invoice_id, payment_id, party_id, shop_id, version, status, created_at, amount_minor, currency,
      captured_minor, terms, state, attempts)
    select invoice_id, '1', 'P', 'S', 1, 'captured', now(), 100, 'RUB', 100,
      json_build_object('flow', json_build_object('type', 'instant'), 'payer', json_build_object('parent',
        json_build_object('invoiceId', lpad('1', 23, '0'), 'paymentId', '1'))), '{}', 0
    from invoice`);
});
afterAll(() => db.drop());

const sql = (text: string, values: unknown[] = []) =>
  db.database.withClient((client) => client.query<Record<string, unknown>>(text, values));

test.each(['search_invoice', 'search_payment', 'search_refund', 'search_retry', 'search_payout'])(
  'copies to %s read by key',
  async (table) => {
    expect(copyChanged).toBeDefined();
    const found = allStatements().find(({ name }) => name === `copy_to_${table}`);
    const ids = Array.from({ length: 40 }, (_, n) => String(n + 1).padStart(23, '0'));
    const { rows } = await sql(`explain (analyze, costs off, timing off) ${found?.text ?? ''}`, [
      JSON.stringify(ids),
    ]);
    const plan = rows.map((row) => String(row['QUERY PLAN'])).join('\n');
    expect(plan).not.toMatch(/Seq Scan on (search_|series_attempt|invoice|payment|refund|withdrawal)/);
    expect(plan).toContain('Index Scan using');
  },
);
