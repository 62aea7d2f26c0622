// npm run bench:reconcile: measures time and memory of a reconciliation with transaction reports of growing length.
// A report is read from a file; one line in a thousand differs.
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { readBookFile } from '../src/acquiring/reconciliation/report-file.ts';
import { systemClock } from '../src/clock.ts';
import { reconciliationSources } from '../src/app/sources/reconciliation-sources.ts';
import { reconcile } from '../src/acquiring/reconciliation/reconcile.ts';
import { openPrivateDatabase } from './harness/private-database.ts';
import { readOptions, wholeNumber } from '../tools/script-options.ts';

const { words } = readOptions(
  `npm run bench:reconcile -- [LINES]…
Measures time and memory of a reconciliation with a transaction report. It takes a few minutes.
  LINES  length of each report, shortest first; 20000 200000 by default
Example: npm run bench:reconcile -- 20000 2000000`,
  {},
  { maxWords: 100 },
);
const lengths = words.map((word) => wholeNumber('the number of lines', word));
const linesOfPayment = 2;
const paymentsAtOnce = 10_000;
const megabyte = 1024 * 1024;

/** Payment `n`, captured in one step and refunded in part, with its events and ledger transfers. */
const seed = `
  with payment_number as (select 'inv' || lpad(n::text, 9, '0') as id from generate_series($1::int, $2::int) as n
  ), made as (
    insert into payment (invoice_id, payment_id, party_id, shop_id, version, status, created_at, amount_minor, currency,
      captured_minor, refunded_minor, terms, state)
    select id, '1', 'P', 'TEST', 3, 'captured', '2026-01-19T10:00:00Z', 6000, 'RUB', 6000, 1500,
      '{"flow":{"type":"instant"},"payer":{"card":{"mask":"424242******4242"}},"terminal":{"bankId":"BANK"}}', '{}'
    from payment_number
  ), refunded as (
    insert into refund (invoice_id, payment_id, refund_id, party_id, created_at, status, amount_minor, currency, fee_minor)
    select id, '1', '100', 'P', '2026-01-19T10:01:00Z', 'succeeded', 1500, 'RUB', 0 from payment_number
  ), logged as (
    insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
    select id, sequence, 'invoice', 'P', '2026-01-19T10:00:01Z',
      json_build_array(json_build_object('type', type, 'paymentId', '1', 'terms', repeat('x', size)))
    from payment_number, (values (2, 'payment_started', 900), (3, 'payment_processed', 100), (4, 'payment_captured', 10))
      as fact (sequence, type, size)
  )
  insert into ledger_transfer (aggregate_id, operation_id, step, phase, completes_pending, debit_account, debit_shard, credit_account,
    credit_shard, posted_minor, pending_minor, happened_at)
  select id, 'payment/1/refund/100', 'refund', 'post', true, 'test:RUB:a', 0, 'test:RUB:b', 0, 1500, -1500,
    '2026-01-19T10:01:01Z' from payment_number`;

const { db, folder, close } = await openPrivateDatabase({ connections: 4 });
try {
  let payments = 0;
  for (const lines of lengths.length > 0 ? lengths : [20_000, 200_000]) {
    const wanted = Math.ceil(lines / linesOfPayment);
    for (; payments < wanted; payments += paymentsAtOnce) {
      const most = Math.min(payments + paymentsAtOnce, wanted);
      await db.withClient((client) => client.query(seed, [payments + 1, most]));
    }
    payments = wanted;
    const file = join(folder, 'book.jsonl');
    await writeBook(file, wanted);
    console.log(await measured(file));
  }
} finally {
  await close();
}

async function measured(file: string): Promise<string> {
  let maxHeap = 0;
  let maxResident = 0;
  const sample = () => {
    const { heapUsed, rss } = process.memoryUsage();
    maxHeap = Math.max(maxHeap, heapUsed);
    maxResident = Math.max(maxResident, rss);
  };
  const beganMs = performance.now();
  const { lines, equal, sums } = await reconcile({
    db,
    clock: systemClock,
    comparison: reconciliationSources,
    book: { grows: false, entriesAfter: () => readBookFile(file) },
    bankId: 'BANK',
    period: {},
    pendingHours: 24,
    maxList: 100,
    report: sample,
  });
  const seconds = (performance.now() - beganMs) / 1_000;
  const different = sums.reduce((all, { number }) => all + number, 0);
  return (
    `${lines} lines in ${seconds.toFixed(1)} s, ${Math.round(lines / seconds)} a second: ${equal} equal, ${different} different; ` +
    `heap at most ${Math.round(maxHeap / megabyte)} MB, resident ${Math.round(maxResident / megabyte)} MB`
  );
}

async function writeBook(file: string, wanted: number): Promise<void> {
  const out = createWriteStream(file);
  for (let n = 1; n <= wanted; n++) {
    const name = `inv${String(n).padStart(9, '0')}.1`;
    const common = { currency: 'RUB', at: '2026-01-20T10:00:00Z', cardMask: '424242******4242' };
    const amount = n % 500 === 0 ? 6_001 : 6_000;
    const sale = {
      ...common,
      sequence: 2 * n - 1,
      operationId: `${name}.a`,
      kind: 'authorise',
      amount,
      sign: 1,
    };
    const refund = {
      ...common,
      sequence: 2 * n,
      operationId: `${name}.100`,
      kind: 'refund',
      amount: 1_500,
      sign: -1,
    };
    const whole = { ...refund, originalOperationId: `${name}.a` };
    if (!out.write(`${JSON.stringify(sale)}\n${JSON.stringify(whole)}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
}
