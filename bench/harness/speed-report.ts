// Prints the results of a measurement: tables, a plot, and the lines that other programs read.
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
  /** In an open loop at half the rate. */
  readonly half?: Measured;
  readonly withSlowBank?: SlowBankResult;
  readonly readers?: ReadersResult;
  /** Of the service, after the scenario. */
  readonly residentMb: number;
};

export type SlowBankResult = {
  readonly latencyMs: number;
  readonly clients: number;
  readonly rate: number;
  /** Of the rate with as many clients and no latency, for each turn. */
  readonly shares: readonly number[];
  /** Of service and floor, at half the rate without latency. */
  readonly halves: readonly (Measured & { readonly of: string })[];
};

/** The ratios of the turns in which the readers of the log run, and of those in which they do not. */
export type ReadersResult = { readonly running: readonly number[]; readonly stopped: readonly number[] };

const plotWidth = 40;

export type OtherResults = {
  /** Recurring charges per second that PostgreSQL alone writes. */
  readonly pgbenchRate: number | undefined;
  readonly webhooks: WebhooksResult | undefined;
};

export function writeReport(
  results: readonly Result[],
  others: OtherResults,
  how: string,
  startMs: number,
): void {
  const lines = [
    heading('Speed'),
    '',
    `${machine()}; ${how}.`,
    'Service, floor, bank, PostgreSQL and clients run on the same machine.',
    '',
    ...ratesTable(results),
    '',
    ...plot(results),
    ...costsTable(results),
    '',
    ...slowBankLines(results),
    ...readersLines(results),
    ...otherLines(others),
    `The service listened ${startMs.toFixed(0)} ms after its start, on an existing database.`,
    '',
  ];
  console.log(lines.join('\n'));
  keepLatest('latest.md', lines);
  for (const { name, ratios } of results)
    if (ratios.length > 0) console.log(`ratio ${name}=${median(ratios).toFixed(2)}`);
  for (const { name, readers } of results)
    if (readers) console.log(`readers ${name}=${readersCost(readers).toFixed(3)}`);
  const spread = results.find(({ name }) => name === 'withdrawal');
  const hot = results.find(({ name }) => name === 'hot-wallet');
  const recurring = results.find(({ name }) => name === 'recurring');
  if (recurring?.floor && others.pgbenchRate !== undefined) {
    const of = (rate: number) => (rate / (others.pgbenchRate ?? 0)).toFixed(2);
    console.log(`recurring/pgbench=${of(recurring.service.rate)} floor/pgbench=${of(recurring.floor.rate)}`);
  }
  if (others.webhooks) console.log(`webhooks=${others.webhooks.alone.toFixed(0)}/s`);
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

/** The service's share of the floor's rate; the full width is the floor. */
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
    'Costs of the service and the floor:',
    '',
    '| scenario | of | own CPU, ms | PostgreSQL CPU, ms | statements | writing transactions | rows written | bytes of log | memory after, MB |',
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
      `${name}, with a bank latency of ${slow.latencyMs} ms: ${slow.rate.toFixed(0)} a second with ${slow.clients} clients, ` +
        `${median(slow.shares).toFixed(2)} of the rate without latency (turns ${slow.shares.map((share) => share.toFixed(2)).join(' ')}); ` +
        `at half that rate ${added.join(', ')}.`,
      '',
    ];
  });
}

/** How much of the ratio the readers take: the median of the differences of neighbouring turns. */
function readersCost({ running, stopped }: ReadersResult): number {
  return median(running.map((ratio, round) => ratio - (stopped[round] ?? Number.NaN)));
}

function readersLines(results: readonly Result[]): string[] {
  return results.flatMap(({ name, readers }) => {
    if (!readers) return [];
    const ratioOf = (of: readonly number[]) =>
      `${median(of).toFixed(3)} (turns ${of.map((ratio) => ratio.toFixed(2)).join(' ')})`;
    return [
      `${name}, ratio with the readers of the log running ${ratioOf(readers.running)}, without them ${ratioOf(readers.stopped)}: ` +
        `a difference of ${readersCost(readers).toFixed(3)}.`,
      '',
    ];
  });
}

function otherLines({ pgbenchRate, webhooks }: OtherResults): string[] {
  const pgbench = isPgbenchThere
    ? pgbenchRate !== undefined &&
      `pgbench, 10 connections, only the statements of the floor's recurring charge: ${pgbenchRate.toFixed(0)} a second.`
    : 'pgbench is not installed; Debian has it in postgresql-contrib.';
  const deliveries =
    webhooks &&
    `Webhooks: ${webhooks.duringCharges.toFixed(0)} deliveries a second during ${webhooks.charges.toFixed(0)} recurring charges a second, ` +
      `five for each; ${webhooks.leftBehind} were left at the end and delivered within ${webhooks.caughtUpMs.toFixed(0)} ms. ` +
      `Replayed with no other work: ${webhooks.alone.toFixed(0)} a second.`;
  return [pgbench, deliveries].flatMap((text) => (text ? [text, ''] : []));
}
