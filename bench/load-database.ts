// npm run bench:load: creates a large database for `npm run bench:size`, in the folder of a private PostgreSQL.
// A node takes a few payments, and their rows are copied until there are enough, back to three months ago.
import { statfsSync } from 'node:fs';
import { resolve } from 'node:path';
import { openDatabase } from '../src/platform/database/database.ts';
import { moveWatermark } from '../src/platform/ledger/check-ledger.ts';
import { replicateRows, readPayments, type RecordedPayments } from './workloads/replicated-rows.ts';
import { startProcesses, type Processes } from './harness/processes.ts';
import { openApi, sellOnce, sellInSeries } from './workloads/scenarios.ts';
import { receiptsWritten } from './harness/round.ts';
import { readOptions, refuse, wholeNumber } from '../tools/script-options.ts';

const { options } = readOptions(
  `npm run bench:load -- --folder FOLDER [--payments 200000] [--writers 2]
Creates a large database for npm run bench:size. Five million payments have about 24 million events.
They take 23 GB, and 7 GB more while they are written.
  --folder FOLDER  where the database is kept
  --payments N     payments to write; with 0 it only updates the statistics of an existing database
  --writers N      connections that write at the same time
Example: npm run bench:load -- --folder /var/tmp/large --payments 5000000`,
  {
    folder: { type: 'string' },
    payments: { type: 'string', default: '200000' },
    writers: { type: 'string', default: '2' },
  },
);
if (options.folder === undefined) refuse('--folder is missing: where the database is kept');
const wanted = wholeNumber('--payments', options.payments, 0);
const writers = wholeNumber('--writers', options.writers);
const folder = resolve(options.folder);

/** Disk space of a payment, with its indexes and the log while it is written; measured. */
const bytesOfPayment = 6_000;
const bytesOfLog = 4 * 2 ** 30;
/** Single payments for each series of four: with them, a payment has about five events. */
const salesOfSeries = 4;
const seriesOfBatch = 250;
const spreadMs = 90 * 24 * 3_600_000;

const { bavail, bsize } = statfsSync(resolve(folder, '..'));
const needed = wanted * bytesOfPayment + bytesOfLog;
console.log(`needs ${gigabytes(needed)} GB, ${gigabytes(bavail * bsize)} GB are free`);
if (needed > bavail * bsize) {
  console.error('Not enough disk space. Choose another --folder or fewer --payments.');
  process.exit(1);
}

const processes = await startProcesses({
  folder,
  // After a crash, start again with an empty folder.
  settings: {
    fsync: 'off',
    full_page_writes: 'off',
    autovacuum: 'off',
    shared_buffers: '1GB',
    max_wal_size: '4GB',
    checkpoint_timeout: '10min',
    maintenance_work_mem: '512MB',
  },
});
try {
  const recorded = await recordPayments(processes);
  await copyAll(recorded);
  console.log('updating statistics …');
  await processes.query('service', 'vacuum (analyze)');
  const db = openDatabase({ connection: { url: processes.urlOf('service') }, maxConnections: 3 });
  // Webhooks and the ledger check must not process the loaded rows as new ones.
  await moveWatermark(db, { from: 'start', marginMs: 60_000 });
  await db.end();
  await processes.query('service', 'update webhook_feed set seen = pg_current_snapshot()::text');
  await processes.query('service', 'checkpoint');
  console.log(await sizes());
} finally {
  await processes.close();
}

async function recordPayments(
  processes: Processes,
): Promise<{ sale: RecordedPayments; series: RecordedPayments }> {
  const service = await processes.node('service');
  const api = openApi(service);
  const sold = await sellOnce(api);
  const charged = await sellInSeries(api, 4);
  await receiptsWritten(processes, service.database);
  await api.close();
  await service.stop();
  return processes.withClient('service', async (client) => ({
    sale: await readPayments(client, [sold]),
    series: await readPayments(client, charged),
  }));
}

async function copyAll({
  sale,
  series,
}: {
  sale: RecordedPayments;
  series: RecordedPayments;
}): Promise<void> {
  const ofBatch = seriesOfBatch * (series.payments + salesOfSeries * sale.payments);
  const batches = Math.ceil(wanted / ofBatch);
  const began = performance.now();
  const newestMs = Date.now() - 3_600_000;
  let next = 0;
  let done = 0;
  const writer = () =>
    processes.withClient('service', async (client) => {
      await client.query('set synchronous_commit to off');
      for (let batch = next++; batch < batches; batch = next++) {
        const atMs = newestMs - spreadMs * (1 - (batch + 1) / batches);
        const [from, until] = [batch * seriesOfBatch, (batch + 1) * seriesOfBatch];
        const single = { from: from * salesOfSeries, until: until * salesOfSeries, atMs };
        await replicateRows(client, series, { from, until, atMs });
        await replicateRows(client, sale, single);
        done++;
        if (done % 25 === 0 || done === batches)
          printProgress(done * ofBatch, (performance.now() - began) / 1_000);
      }
    });
  await Promise.all(Array.from({ length: writers }, writer));
}

function printProgress(payments: number, seconds: number): void {
  const left = (seconds / payments) * Math.max(0, wanted - payments);
  console.log(`${payments} payments in ${seconds.toFixed(0)} s, ${left.toFixed(0)} s to go`);
}

async function sizes(): Promise<string> {
  const [row] = await processes.query(
    'service',
    `select (select count(*) from payment)::text as payments, (select count(*) from event)::text as events,
       pg_size_pretty(pg_database_size('service')) as size`,
  );
  return `${row?.['payments']} payments, ${row?.['events']} events, ${row?.['size']}`;
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(1);
}
