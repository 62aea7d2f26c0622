// What a measurement found, as text: tables, a plot, and the lines that other programs read.
import type { Cost } from './costs.ts';
import { median, percentile, type Measured } from './load.ts';
import { heading, keepLatest, machine, tableRow } from './report.ts';
import { isPgbenchThere } from '../workloads/pgbench.ts';
import type { WebhooksResult } from '../workloads/webhooks.ts';

export type Result = {
  readonly name: string;
  readonly service: Measured;
  readonly floor?: Measured;
  readonly ratios: readonly number[];
  readonly costs: readonly (Cost & { readonly of: string })[];
  /** At half the rate, work arriving whatever becomes of it. */
  readonly half?: Measured;
  readonly withSlowBank?: SlowBankResult;
  /** Of the service, after it. */
  readonly residentMb: number;
};

export type SlowBankResult = {
  readonly latencyMs: number;
  readonly clients: number;
  readonly rate: number;
  /** Of the rate without the latency, and with as many clients; of each turn. */
  readonly shares: readonly number[];
  /** At half the rate without the latency, of both. */
  readonly halves: readonly (Measured & { readonly of: string })[];
};

const plotWidth = 40;

export type Beside = {
  /** Recurring charges a second that PostgreSQL alone writes. */
  readonly pgbenchRate: number | undefined;
  readonly webhooks: WebhooksResult | undefined;
};

export function writeReport(results: readonly Result[], beside: Beside, how: string, startMs: number): void {
  const lines = [
    heading('Speed'),
    '',
    `${machine()}; ${how}.`,
    'Service, floor, bank, PostgreSQL and the clients on the same machine.',
    '',
    ...ratesTable(results),
    '',
    ...plot(results),
    ...costsTable(results),
    '',
    ...slowBankLines(results),
    ...besideLines(beside),
    `The service began to listen ${startMs.toFixed(0)} ms after it was started, on a database that was there.`,
    '',
  ];
  console.log(lines.join('\n'));
  keepLatest('latest.md', lines);
  for (const { name, ratios } of results)
    if (ratios.length > 0) console.log(`ratio ${name}=${median(ratios).toFixed(2)}`);
  const spread = results.find(({ name }) => name === 'withdrawal');
  const hot = results.find(({ name }) => name === 'hot-wallet');
  const recurring = results.find(({ name }) => name === 'recurring');
  if (recurring?.floor && beside.pgbenchRate !== undefined) {
    const of = (rate: number) => (rate / (beside.pgbenchRate ?? 0)).toFixed(2);
    console.log(`recurring/pgbench=${of(recurring.service.rate)} floor/pgbench=${of(recurring.floor.rate)}`);
  }
  if (beside.webhooks) console.log(`webhooks=${beside.webhooks.alone.toFixed(0)}/s`);
  if (spread && hot) console.log(`hot/spread=${(hot.service.rate / spread.service.rate).toFixed(2)}`);
}

function ratesTable(results: readonly Result[]): string[] {
  const row = ({ name, service, floor, ratios, half }: Result) => {
    const at = (share: number) => percentile(service.latenciesMs, share).toFixed(1);
    const halfAt = (share: number) => (half ? percentile(half.latenciesMs, share).toFixed(1) : '');
    return tableRow([
      name,
      service.rate.toFixed(0),
      floor?.rate.toFixed(0) ?? '',
      ratios.length > 0 ? median(ratios).toFixed(2) : '',
      ratios.map((ratio) => ratio.toFixed(2)).join(' '),
      at(0.5),
      at(0.95),
      at(0.99),
      at(0.999),
      halfAt(0.5),
      halfAt(0.99),
    ]);
  };
  return [
    '| scenario | a second | floor | ratio | of turns | p50 ms | p95 | p99 | p99.9 | at half load: p50 | p99 |',
    '| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...results.map(row),
  ];
}

/** How much of the floor the service reaches; the whole width is the floor. */
function plot(results: readonly Result[]): string[] {
  const compared = results.filter(({ ratios }) => ratios.length > 0);
  if (compared.length === 0) return [];
  const bars = compared.map(({ name, ratios }) => {
    const filled = Math.min(plotWidth, Math.round(median(ratios) * plotWidth));
    return `${name.padEnd(12)}${'█'.repeat(filled)}${'·'.repeat(plotWidth - filled)} ${median(ratios).toFixed(2)}`;
  });
  return ['```', ...bars, '```', ''];
}

function costsTable(results: readonly Result[]): string[] {
  const row = (name: string, of: string, cost: Cost, mb: string) =>
    tableRow([
      name,
      of,
      cost.ownMs.toFixed(2),
      cost.databaseMs.toFixed(2),
      cost.statements.toFixed(1),
      cost.writingTransactions.toFixed(2),
      cost.rowsWritten.toFixed(1),
      cost.walBytes.toFixed(0),
      mb,
    ]);
  return [
    'What each costs, and what the floor does for it:',
    '',
    '| scenario | of | CPU of it, ms | of PostgreSQL, ms | statements | transactions that write | rows written | bytes of log | memory after, MB |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...results.flatMap(({ name, costs, residentMb }) =>
      costs.map((cost) => row(name, cost.of, cost, cost.of === 'service' ? residentMb.toFixed(0) : '')),
    ),
  ];
}

function slowBankLines(results: readonly Result[]): string[] {
  return results.flatMap(({ name, withSlowBank: slow }) => {
    if (!slow) return [];
    const added = slow.halves.map(({ of, latenciesMs }) => {
      const at = (share: number) => (percentile(latenciesMs, share) - slow.latencyMs).toFixed(1);
      return `the ${of} adds p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)} ms`;
    });
    return [
      `${name}, with a bank that takes ${slow.latencyMs} ms: ${slow.rate.toFixed(0)} a second with ${slow.clients} clients, ` +
        `${median(slow.shares).toFixed(2)} of what they do without (turns ${slow.shares.map((share) => share.toFixed(2)).join(' ')}); ` +
        `at half that rate ${added.join(', ')}.`,
      '',
    ];
  });
}

function besideLines({ pgbenchRate, webhooks }: Beside): string[] {
  const pgbench = isPgbenchThere
    ? pgbenchRate !== undefined &&
      `pgbench, 10 connections, the statements of the floor's recurring charge alone: ${pgbenchRate.toFixed(0)} a second.`
    : 'pgbench is not there; Debian has it in postgresql-contrib.';
  const told =
    webhooks &&
    `Webhooks: ${webhooks.beside.toFixed(0)} deliveries a second while ${webhooks.charges.toFixed(0)} recurring charges a second were ` +
      `made, five for each; ${webhooks.leftBehind} were left at their end, and sent ${webhooks.caughtUpMs.toFixed(0)} ms later. ` +
      `Sent once more beside nothing: ${webhooks.alone.toFixed(0)} a second.`;
  return [pgbench, told].flatMap((text) => (text ? [text, ''] : []));
}
