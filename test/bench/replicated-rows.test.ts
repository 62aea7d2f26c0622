// The loader of large databases writes what the service would write: copied payments pass every check.
// REPLICATED_PAYMENTS=400 makes 2,000 payments.
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { replicateRows, readPayments, type RecordedPayments } from '../../bench/workloads/replicated-rows.ts';
import { settledFindings } from '../../simulation/checks/index.ts';
import { epochMsOf } from '../../src/clock.ts';
import { everyInvariant } from '../../src/app/composition/invariants.ts';
import { checkLedger } from '../../src/platform/ledger/check-ledger.ts';
import { readBook } from '../support/checks/ledger-check.ts';
import { startPaymentWorld, type PaymentWorld } from '../support/worlds/payment-world.ts';
import { recurringWorld } from '../support/worlds/recurring.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const copies = Number(process.env['REPLICATED_PAYMENTS'] ?? 60);

let world: PaymentWorld;
let reader: pg.Client;
let sale: RecordedPayments;
let series: RecordedPayments;
beforeAll(async () => {
  world = await startPaymentWorld();
  reader = new pg.Client({ connectionString: world.service.testDatabase.url, options: '-c timezone=UTC' });
  await reader.connect();
  const { database, clock, jobs } = world.service;
  const sold = await world.paid('4242424242424242');
  const { parent, invoice, charged } = recurringWorld(world);
  const root = await parent();
  const invoices = [root.invoiceID];
  for (let charge = 0; charge < 3; charge++) {
    clock.advance(dayMs);
    const next = await invoice();
    invoices.push(next.id);
    if ((await charged(root, next)) !== 'captured')
      throw new Error(`The charge of invoice ${next.id} was not captured.`);
  }
  jobs.wake();
  await jobs.whenIdle();
  const atMs = epochMsOf(clock.now()) - 30 * dayMs;
  await database.withClient(async (client) => {
    sale = await readPayments(client, [sold.id]);
    series = await readPayments(client, invoices);
    for (let from = 0; from < copies; from += copies / 4) {
      const until = from + copies / 4;
      await replicateRows(client, sale, { from, until, atMs: atMs + from * hourMs });
      await replicateRows(client, series, { from, until, atMs: atMs + from * hourMs });
    }
  });
});
afterAll(async () => {
  await reader.end();
  await world.close();
});

/** Without the service's time limits: the check for card numbers reads every row. */
const query = async (text: string, values?: unknown[]) => (await reader.query(text, values)).rows;

test('payments that belong together are copied with all their rows', async () => {
  expect([sale.payments, sale.events, series.payments, series.events]).toEqual([1, 4, 4, 23]);
  const [row] =
    await query(`select (select count(*) from payment)::int as payments, (select count(*) from event)::int as events,
    (select count(*) from series)::int as series, (select count(distinct card_key) from series)::int as cards`);
  expect(row).toEqual({
    payments: 5 * (copies + 1),
    events: 27 * (copies + 1),
    series: copies + 1,
    cards: copies + 1,
  });
});

test('the ledger check finds no violation', async () => {
  const findings = await checkLedger(world.service.database, 'all', everyInvariant);
  expect(findings.filter(({ violations }) => violations > 0n)).toEqual([]);
  expect(findings.find(({ checked }) => checked > BigInt(copies))).toBeDefined();
});

test('the simulation checks find nothing, and find a row that is changed', async () => {
  const own = await readBook(world.bank.url, world.bankSecret, epochMsOf(world.service.clock.now()));
  const known = new Set(own.map(({ operationId }) => operationId));
  const copied = await query(`select invoice_id || '.1.a' as id, amount_minor::int as amount from payment`);
  const [model] = own;
  const bankBook = () =>
    Promise.resolve([
      ...own,
      ...copied
        .filter(({ id }) => !known.has(id))
        .map(({ id, amount }, index) => ({
          ...model!,
          sequence: own.length + index + 1,
          operationId: id,
          amount,
        })),
    ]);
  const seen = { query, bankBook, acknowledged: [], received: [] };
  expect(await settledFindings(seen)).toEqual([]);

  await query(`update payment set captured_minor = captured_minor - 1 where invoice_id =
    (select invoice_id from payment where invoice_id <> '${series.names[0]!.text}' order by created_at limit 1)`);
  const broken = await settledFindings({ ...seen });
  expect(broken.map(({ check }) => check)).toContain('postings');
}, 300_000);
