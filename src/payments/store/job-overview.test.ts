// The lists of an operator find their rows by an index, however many payments there are.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
import { allStatements } from '../../platform/database/statement.ts';
import { waitingPayments } from './job-overview.ts';

const payments = 100_000;

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  // One in a thousand waits for a bank, and one in a hundred is held until another day.
  await sql(`
    insert into invoice (invoice_id, party_id, shop_id, version, status, created_at, due_date, amount_minor, currency,
      product, metadata)
    select lpad(n::text, 23, '0'), 'P' || n % 10, 'S', 1, 'unpaid', now(), now(), 100, 'RUB', 'x', '{}'
    from generate_series(1, ${payments}) as n`);
  await sql(`
    insert into payment (invoice_id, payment_id, party_id, shop_id, version, status, created_at, amount_minor, currency,
      captured_minor, terms, state, wake_at, attempts, stuck_reason)
    select lpad(n::text, 23, '0'), '1', 'P' || n % 10, 'S', 1, status, now(), 100, 'RUB',
      case when status = 'captured' then 100 end, '{}', '{}',
      case status when 'authorising' then now() when 'held' then now() + interval '5 days' end, 2,
      case when status = 'authorising' then 'OutcomeUnknown' end
    from generate_series(1, ${payments}) as n
    cross join lateral (
      select case when n % 1000 = 0 then 'authorising' when n % 100 = 1 then 'held' else 'captured' end as status
    ) as named`);
  await sql('analyze');
}, 120_000);
afterAll(() => db.drop());

const sql = (text: string, values: unknown[] = []) =>
  db.database.withClient((client) => client.query<Record<string, unknown>>(text, values));

async function planOf(name: string, given: Readonly<Record<string, unknown>>): Promise<string> {
  const found = allStatements().find((one) => one.name === name);
  if (!found) throw new Error(`No statement ${name}.`);
  const values = found.parameterNames.map((parameter) => given[parameter] ?? null);
  const { rows } = await sql(`explain (analyze, costs off, timing off) ${found.text}`, values);
  return rows.map((row) => String(row['QUERY PLAN'])).join('\n');
}

const now = '2099-01-01T00:00:00Z';

test('payments that wait are found by the due and stuck jobs', async () => {
  expect(waitingPayments).toBeDefined();
  const { rows } = await sql(`select now() as now, now() + interval '15 minutes' as soon`);
  const plan = await planOf('list_waiting_payments', { ...rows[0], limit: 50 });
  expect(plan).toContain('payment_due');
  expect(plan).toContain('payment_stuck');
  expect(plan).toContain('invoice_pkey');
  expect(plan).not.toMatch(/Seq Scan on (payment|invoice)/);
  expect(plan).toMatch(/^Limit \(actual rows=50/);
});

test('the newest payments are read from the end of the primary key', async () => {
  const plan = await planOf('list_newest_payments', { now, from_id: '0', limit: 50 });
  expect(plan).toContain('Index Scan Backward using payment_pkey');
  expect(plan).not.toMatch(/Seq Scan on (payment|invoice)/);
  const read = [...plan.matchAll(/Scan.* on (?:payment|invoice) \(actual rows=(\d+)/g)].map(([, rows]) =>
    Number(rows),
  );
  expect(Math.max(...read)).toBeLessThan(100);
});

test('the payments of an invoice are found by its ID', async () =>
  expect(await planOf('list_payments_of_invoice', { now, invoice_id: '1'.padStart(23, '0') })).toContain(
    'payment_pkey',
  ));
