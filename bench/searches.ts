// npm run bench:search: the first page of every filter, the sums of Today, and an export, on a large database.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { percentile } from './harness/load.ts';
import { heading, keepLatest, machine, tableRow } from './harness/report.ts';
import { startProcesses } from './harness/processes.ts';
import { openApi } from './workloads/scenarios.ts';
import { writeSearchRows } from './workloads/search-rows.ts';
import { readOptions, refuse, wholeNumber } from '../tools/script-options.ts';

const { options } = readOptions(
  `npm run bench:search -- --folder FOLDER [--requests 100] [--days 90]
Measures searches, sums and an export of payments on a large database. The first time it writes the rows of the searches.
  --folder FOLDER  the large database, created with npm run bench:load
  --requests N     requests for each filter
  --days N         how many days the searches without an exact key and the sums go back
Example: npm run bench:search -- --folder /var/tmp/large`,
  {
    folder: { type: 'string' },
    requests: { type: 'string', default: '100' },
    days: { type: 'string', default: '90' },
  },
);
if (options.folder === undefined) refuse('--folder is missing: the large database');
const requests = wholeNumber('--requests', options.requests);
const days = wholeNumber('--days', options.days);

type Sample = Readonly<Record<string, string>>;
type Filter = readonly [name: string, column: string, isExact?: true];
const exact = true;

const ofPayment: readonly Filter[] = [
  ['invoiceID', 'invoice_id', exact],
  ['rrn', 'rrn', exact],
  ['customerID', 'customer_id', exact],
  ['payerEmail', 'email', exact],
  ['paymentStatus', 'status'],
  ['paymentFlow', 'flow'],
  ['paymentAmount', 'amount_minor'],
  ['payerIP', 'ip'],
  ['payerFingerprint', 'fingerprint'],
  ['first6', 'first6'],
  ['last4', 'last4'],
  ['bankCardPaymentSystem', 'payment_system'],
  ['approvalCode', 'approval_code'],
];
const filters: Readonly<Record<string, readonly Filter[]>> = {
  payments: [...ofPayment, ['externalID', 'external_id', exact], ['paymentAmountFrom', 'amount_minor']],
  invoices: [
    ...ofPayment,
    ['externalID', `'invoice-' || invoice_id`, exact],
    ['invoiceStatus', `'paid'`],
    ['invoiceAmount', '6000'],
  ],
  refunds: [
    ['invoiceID', 'invoice_id', exact],
    ['rrn', 'rrn', exact],
    ['externalID', `'refund-' || invoice_id`, exact],
    ['refundStatus', `'succeeded'`],
    ['approvalCode', 'approval_code'],
  ],
};

const processes = await startProcesses({
  folder: resolve(options.folder),
  // A table that is written in one transaction needs no log.
  settings: { shared_buffers: '1GB', wal_level: 'minimal', max_wal_senders: '0', max_wal_size: '4GB' },
});
try {
  const began = performance.now();
  await processes.withClient('service', writeSearchRows);
  console.log(`the rows of searches are there after ${seconds(began)} s`);
  const node = await processes.node('service');
  const api = openApi(node);
  const toTime = new Date(Date.now() + 60_000).toISOString();
  const fromTime = new Date(Date.now() - days * 86_400_000).toISOString();
  const range = `fromTime=${fromTime}&toTime=${toTime}`;
  const lines: string[] = [];
  for (const [what, all] of Object.entries(filters)) {
    const of = `/v2/analytics/shops/TEST/${what}?limit=50`;
    lines.push(await measured(api, `${what}, all`, () => `${of}&${range}`));
    for (const [name, column, isExact] of all) {
      const samples = await processes.withClient('service', (client) => sampleOf(client, what, column));
      const pathOf = (index: number) =>
        `${of}${isExact ? '' : `&${range}`}&${name}=${encodeURIComponent(samples[index % samples.length] ?? '')}`;
      lines.push(await measured(api, `${what} by ${name}`, pathOf));
    }
  }
  lines.push(...(await pagesOfToday(api, range)));
  const exported = await exportOf(api, node.pid, { fromTime, toTime });
  await report(lines, exported);
  await api.close();
} finally {
  await processes.close();
}

/** Values that occur, each from another row. */
async function sampleOf(client: ClientBase, what: string, column: string): Promise<string[]> {
  const { rows } = await client.query<Sample>(
    `select (${column})::text as value from search_payment ${what === 'refunds' ? `where status = 'refunded'` : ''}
     order by md5(invoice_id) limit ${requests}`,
  );
  return rows.map(({ value = '' }) => value);
}

async function measured(
  api: ReturnType<typeof openApi>,
  name: string,
  pathOf: (index: number) => string,
): Promise<string> {
  const ms: number[] = [];
  let refused = 0;
  for (let index = -3; index < requests; index++) {
    const since = performance.now();
    await api.call('GET', pathOf(Math.max(0, index))).catch((error: unknown) => {
      if (!String(error).includes('searchTooWide')) throw error;
      refused += 1;
    });
    if (index >= 0) ms.push(performance.now() - since);
  }
  const cells = [name, ...[0.5, 0.95, 1].map((share) => percentile(ms, share).toFixed(1)), String(refused)];
  console.log(cells.join('\t'));
  return tableRow(cells);
}

/** What the first page of the console reads, one after another. */
async function pagesOfToday(api: ReturnType<typeof openApi>, range: string): Promise<string[]> {
  const split = `${range}&splitUnit=week`;
  const reads = [
    `payments/split-count?${split}`,
    `payments/split-amount?${split}`,
    `payments/attempts?${range}`,
    `payments/declines?${range}`,
    `payments/recoveries?${range}&by=days`,
    `refunds/amount?${range}`,
    `payouts?${range}`,
    'balances/current',
  ].map((path) => `/v2/analytics/${path}`);
  const lines: string[] = [];
  for (const path of reads) lines.push(await measured(api, path.split('?')[0] ?? '', () => path));
  const ms: number[] = [];
  for (let time = 0; time < requests; time++) {
    const since = performance.now();
    for (const path of reads) await api.call('GET', path);
    ms.push(performance.now() - since);
  }
  const cells = [
    'Today, all of these',
    ...[0.5, 0.95, 1].map((share) => percentile(ms, share).toFixed(1)),
    '0',
  ];
  console.log(cells.join('\t'));
  return [...lines, tableRow(cells)];
}

async function exportOf(
  api: ReturnType<typeof openApi>,
  pid: number,
  range: { readonly fromTime: string; readonly toTime: string },
): Promise<string> {
  const before = residentMb(pid);
  let most = before;
  const began = performance.now();
  const { id } = await api.call('POST', '/v2/analytics/exports', {
    of: 'payments',
    shopID: 'TEST',
    ...range,
  });
  for (;;) {
    most = Math.max(most, residentMb(pid));
    const found = await api.call('GET', `/v2/analytics/exports/${id}`);
    if (found.status === 'failed') throw new Error(`the export failed: ${found.error}`);
    if (found.status === 'ready') {
      const made = seconds(began);
      const fetching = performance.now();
      let bytes = 0;
      for await (const part of (await fetch(found.url)).body as unknown as AsyncIterable<Uint8Array>) {
        bytes += part.length;
        most = Math.max(most, residentMb(pid));
      }
      const fetched = seconds(fetching);
      return `An export of ${found.rows} payments, ${(bytes / 1e6).toFixed(0)} MB, is made in ${made} s and fetched in ${fetched} s. The node has ${before} MB before and ${most} MB at most.`;
    }
    await sleep(100);
  }
}

function residentMb(pid: number): number {
  const [, kb] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kb) / 1_024);
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1_000).toFixed(1);
}

async function report(rows: readonly string[], exported: string): Promise<void> {
  const [size] = await processes.query(
    'service',
    `select (select count(*) from search_payment)::text as payments, (select count(*) from search_sum)::text as sums,
       pg_size_pretty(pg_database_size('service')) as size`,
  );
  const lines = [
    heading('Searches at size'),
    '',
    `${machine()}; ${requests} requests each, one at a time, over ${days} days. ` +
      `The database has ${size?.['payments']} payments and ${size?.['sums']} sums, ${size?.['size']}.`,
    '',
    '| ms | p50 | p95 | most | too wide |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...rows,
    '',
    exported,
    '',
  ];
  console.log(lines.join('\n'));
  keepLatest('latest-search.md', lines);
}
