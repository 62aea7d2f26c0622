// npm run bench:search: the first page of every filter, the pages of the console, and an export, on a large database.
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
  `npm run bench:search -- --folder FOLDER [--requests 100] [--warm-up 20] [--days 90]
Measures searches, the pages of the console and an export of payments on a large database. The first time it writes the rows of the searches.
  --folder FOLDER  the large database, created with npm run bench:load
  --requests N     requests for each filter
  --warm-up N      requests for each filter before the first is measured
  --days N         how many days the searches without an exact key and the sums go back
Example: npm run bench:search -- --folder /var/tmp/large`,
  {
    folder: { type: 'string' },
    requests: { type: 'string', default: '100' },
    'warm-up': { type: 'string', default: '20' },
    days: { type: 'string', default: '90' },
  },
);
if (options.folder === undefined) refuse('--folder is missing: the large database');
const requests = wholeNumber('--requests', options.requests);
const warmUp = wholeNumber('--warm-up', options['warm-up'], 0);
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
  const rows: Row[] = [];
  for (const [what, all] of Object.entries(filters)) {
    const of = `/v2/analytics/shops/TEST/${what}?limit=50`;
    rows.push(rowOf(api, `${what}, all`, () => [`${of}&${range}`]));
    rows.push(rowOf(api, `${what} of all shops`, () => [`/v2/analytics/${what}?limit=50&${range}`]));
    for (const [name, column, isExact] of all) {
      const samples = await processes.withClient('service', (client) => sampleOf(client, what, column));
      const pathOf = (index: number) =>
        `${of}${isExact ? '' : `&${range}`}&${name}=${encodeURIComponent(samples[index % samples.length] ?? '')}`;
      rows.push(rowOf(api, `${what} by ${name}`, (index) => [pathOf(index)]));
    }
  }
  const ofBrowser = await openConsole(node);
  rows.push(...pagesOfToday(api, range), ...(await pagesOfPayments(ofBrowser, range)));
  for (const row of rows) await warm(row);
  const lines: string[] = [];
  for (const row of rows) lines.push(await measured(row));
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

type Reader = Pick<ReturnType<typeof openApi>, 'call'>;
/** What is read one after another, and timed as one. */
type Row = { readonly name: string; readonly read: (index: number) => Promise<void> };

function rowOf(api: Reader, name: string, pathsOf: (index: number) => readonly string[]): Row {
  return {
    name,
    read: async (index) => {
      for (const path of pathsOf(index)) await api.call('GET', path);
    },
  };
}

/** True if it was refused because there is too much to look through. */
async function isTooWide({ read }: Row, index: number): Promise<boolean> {
  try {
    await read(index);
    return false;
  } catch (error) {
    if (!String(error).includes('searchTooWide')) throw error;
    return true;
  }
}

/** Every row before any is measured, or the first ones would be of a node that has compiled nothing. */
async function warm(row: Row): Promise<void> {
  for (let index = 0; index < warmUp; index++) await isTooWide(row, index);
}

async function measured(row: Row): Promise<string> {
  const ms: number[] = [];
  let refused = 0;
  for (let index = 0; index < requests; index++) {
    const since = performance.now();
    if (await isTooWide(row, index)) refused += 1;
    ms.push(performance.now() - since);
  }
  const cells = [
    row.name,
    ...[0.5, 0.95, 1].map((share) => percentile(ms, share).toFixed(1)),
    String(refused),
  ];
  console.log(cells.join('\t'));
  return tableRow(cells);
}

/** What the first page of the console reads. */
function pagesOfToday(api: Reader, range: string): Row[] {
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
  return [
    ...reads.map((path) => rowOf(api, path.split('?')[0] ?? '', () => [path])),
    rowOf(api, 'Today, all of these', () => reads),
  ];
}

/** As a browser asks for them, with the cookie of a session. */
async function pagesOfPayments(ofBrowser: Reader, range: string): Promise<Row[]> {
  const list = `/v2/analytics/shops/TEST/payments?limit=50&${range}`;
  const samples = await processes.withClient('service', (client) =>
    sampleOf(client, 'payments', `invoice_id || '/payments/' || payment_id`),
  );
  const payment = (index: number) => `/v2/processing/invoices/${samples[index % samples.length] ?? ''}`;
  const pageOf = (index: number) => {
    const path = payment(index);
    return [path, path.replace(/\/payments.*/, ''), `${path}/timeline`, `${path}/refunds`];
  };
  return [
    rowOf(ofBrowser, 'console: the list of payments', () => ['/v2/processing/shops', list]),
    rowOf(ofBrowser, 'console: the list of failed payments', () => [`${list}&paymentStatus=failed`]),
    rowOf(ofBrowser, 'console: the page of a payment', pageOf),
    rowOf(ofBrowser, 'console: the timeline of a payment', (index) => [`${payment(index)}/timeline`]),
  ];
}

/** Opens a session by a link, as `mandate console link` makes it. */
async function openConsole(node: Awaited<ReturnType<typeof processes.node>>): Promise<Reader> {
  const [shop] = await processes.query('service', `select party_id from shop where shop_id = 'TEST' limit 1`);
  const { output } = await processes.mandate('service', [
    'console',
    'link',
    '--party',
    shop?.['party_id'] ?? '',
  ]);
  const link = /#(\S+)/.exec(output)?.[1];
  const { origin } = new URL(node.url);
  const headers = { origin, 'content-type': 'application/json' };
  const body = JSON.stringify({ link });
  const opened = await fetch(`${origin}/console/api/session`, { method: 'POST', headers, body });
  const cookie = opened.headers.get('set-cookie')?.split(';')[0];
  if (!opened.ok || cookie === undefined) throw new Error(`The console does not open: ${output}`);
  return {
    async call(method, path) {
      const answer = await fetch(`${origin}/console/api${path}`, { method, headers: { cookie } });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return JSON.parse(text);
    },
  };
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
    `${machine()}; ${requests} requests each, one at a time, after ${warmUp} to warm up, over ${days} days. ` +
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
