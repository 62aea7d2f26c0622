// npm run bench:size: measures a scenario on a large database in turns with an empty one, in the same PostgreSQL.
// The node whose turn it is not is stopped, so that its background jobs cost the other nothing.
import { resolve } from 'node:path';
import { instantAt } from '../src/clock.ts';
import { everyInvariant } from '../src/app/composition/invariants.ts';
import { openDatabase } from '../src/platform/database/database.ts';
import { costSince, meanOf, spentSoFar, type Cost } from './harness/costs.ts';
import { median, percentile, type Work } from './harness/load.ts';
import { heading, keepLatest, machine, tableRow } from './harness/report.ts';
import { startProcesses, type Contender } from './harness/processes.ts';
import { openApi, scenarioNamed, type Api } from './workloads/scenarios.ts';
import { measureRound, warmUp } from './harness/round.ts';
import { readOptions, refuse, wholeNumber } from '../tools/script-options.ts';

const { options } = readOptions(
  `npm run bench:size -- --folder FOLDER [--only recurring] [--rounds 5] [--seconds 3] [--clients 16] [--warm-up 40]
Measures recurring charges on a large database in turns with an empty one, and prints the ratio of their rates.
It also lists the statements that cost the large one most.
  --folder FOLDER  the large database, created with npm run bench:load
  --only NAME      another scenario of npm run bench
  --rounds N       turns of each database
  --seconds N      length of a turn
  --clients N      clients at the same time
  --warm-up N      seconds before the first turn
Example: npm run bench:size -- --folder /var/tmp/large --rounds 8`,
  {
    folder: { type: 'string' },
    only: { type: 'string', default: 'recurring' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    clients: { type: 'string', default: '16' },
    'warm-up': { type: 'string', default: '40' },
  },
);
if (options.folder === undefined) refuse('--folder is missing: the large database');
const scenario = scenarioNamed(options.only);
const rounds = wholeNumber('--rounds', options.rounds);
const roundMs = 1_000 * wholeNumber('--seconds', options.seconds);
const clients = wholeNumber('--clients', options.clients);
const warmUpMs = 1_000 * wholeNumber('--warm-up', options['warm-up'], 0);

const processes = await startProcesses({ folder: resolve(options.folder) });
const apis: Api[] = [];
const ratios: number[] = [];
type Side = {
  readonly contender: Contender;
  readonly rates: number[];
  readonly latenciesMs: number[];
  readonly costs: Cost[];
};
const sides: Side[] = [];
try {
  await processes.emptyDatabase('empty');
  await (await processes.node('empty')).stop();
  // An interrupted run may have left charges with an unknown outcome, which count against the card.
  await processes.query('service', 'delete from card_decline');
  // Jobs of cards that fell due while the database was stopped would all run now. Spread them over a day again.
  await processes.query(
    'service',
    `update card set wake_at = now() + random() * interval '1 day' where wake_at < now() + interval '1 hour'`,
  );
  await processes.query('service', 'vacuum analyze card');
  for (const database of ['service', 'empty'])
    sides.push({ contender: await processes.node(database), rates: [], latenciesMs: [], costs: [] });
  const works = new Map<Contender, Work>();
  for (const side of sides) {
    const api = openApi(side.contender);
    apis.push(api);
    works.set(side.contender, await scenario.prepare(api));
  }
  await warmUp(processes, works, { clients, msOf: () => warmUpMs });
  for (const { contender } of sides) pause(contender);
  await processes.query('postgres', 'select pg_stat_statements_reset()');
  for (let round = 0; round < rounds; round++) {
    // The order alternates, so that a machine that slows down or recovers favours neither.
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const { contender } = side;
      const work = works.get(contender) as Work;
      process.kill(contender.pid, 'SIGCONT');
      const before = await spentSoFar(processes, contender);
      const { rate, latenciesMs } = await measureRound(processes, contender, work, { clients, ms: roundMs });
      side.costs.push(await costSince(before, processes, contender, latenciesMs.length));
      side.rates.push(rate);
      side.latenciesMs.push(...latenciesMs);
      pause(contender);
    }
    const [large = 0, empty = 1] = sides.map(({ rates }) => rates.at(-1));
    ratios.push(large / empty);
  }
  resumeAll();
  await report();
} finally {
  resumeAll();
  await Promise.all(apis.map((api) => api.close()));
  await processes.close();
}

function pause({ pid }: Contender): void {
  process.kill(pid, 'SIGSTOP');
}

function resumeAll(): void {
  for (const { contender } of sides) {
    try {
      process.kill(contender.pid, 'SIGCONT');
    } catch {
      // The node has ended; its exit is reported elsewhere.
    }
  }
}

async function report(): Promise<void> {
  const [size] = await processes.query(
    'service',
    `select pg_size_pretty(pg_database_size('service')) as size,
       (select reltuples::bigint::text from pg_class where relname = 'payment') as payments,
       (select reltuples::bigint::text from pg_class where relname = 'event') as events`,
  );
  const rows = sides.map(({ contender, rates, latenciesMs, costs }) => {
    const { ownMs, databaseMs, statements, walBytes } = meanOf(costs);
    const at = (share: number) => percentile(latenciesMs, share).toFixed(0);
    const cells = [
      contender.database === 'empty' ? 'empty' : 'large',
      median(rates).toFixed(0),
      rates.map((rate) => rate.toFixed(0)).join(' '),
      at(0.5),
      at(0.99),
      ownMs.toFixed(2),
      databaseMs.toFixed(2),
      statements.toFixed(1),
      walBytes.toFixed(0),
    ];
    return tableRow(cells);
  });
  const lines = [
    heading('Speed at size'),
    '',
    `${machine()}; ${options.only}, ` +
      `${clients} clients, ${rounds} turns of ${roundMs / 1_000} s each after ${warmUpMs / 1_000} s to warm up. ` +
      `The large database has about ${size?.['payments']} payments and ${size?.['events']} events, ${size?.['size']}.`,
    '',
    '| database | a second | of turns | p50 ms | p99 ms | service CPU, ms | PostgreSQL CPU, ms | statements | bytes of log |',
    '| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows,
    '',
    'Statements that cost the large database most, in ms of execution time for each piece of work:',
    '',
    '| large | empty | statement |',
    '| ---: | ---: | --- |',
    ...(await costliest()),
    '',
    'Checks that run every minute, in ms: the invariants of the ledger over new rows, and GET /metrics.',
    '',
    '| large | empty | |',
    '| ---: | ---: | --- |',
    ...(await everyMinute()),
    '',
    `ratio big/empty=${median(ratios).toFixed(2)} (median of the turns ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')})`,
    '',
  ];
  console.log(lines.join('\n'));
  keepLatest('latest-size.md', lines);
}

async function costliest(): Promise<string[]> {
  const [large = 1, empty = 1] = sides.map(({ latenciesMs }) => latenciesMs.length);
  const found = await processes.query(
    'postgres',
    `select left(regexp_replace(query, '\\s+', ' ', 'g'), 90) as statement,
       coalesce(sum(total_exec_time) filter (where datname = 'service'), 0) / ${large} as large,
       coalesce(sum(total_exec_time) filter (where datname = 'empty'), 0) / ${empty} as empty
     from pg_stat_statements join pg_database on oid = dbid where datname in ('service', 'empty')
     group by 1 order by 2 desc limit 12`,
  );
  return found.map(
    ({ statement, large: ofLarge, empty: ofEmpty }) =>
      `| ${Number(ofLarge).toFixed(3)} | ${Number(ofEmpty).toFixed(3)} | \`${statement?.replaceAll('|', '\\|')}\` |`,
  );
}

async function everyMinute(): Promise<string[]> {
  const times = new Map<string, number[]>();
  const timed = async (name: string, work: () => Promise<unknown>) => {
    const since = performance.now();
    await work();
    times.set(name, [...(times.get(name) ?? []), performance.now() - since]);
  };
  for (const { contender } of sides) {
    const db = openDatabase({ connection: { url: processes.urlOf(contender.database) }, maxConnections: 3 });
    const since = instantAt(Date.now() - 60_000);
    for (const one of everyInvariant)
      await timed(`${one.id} ${one.says}`, () => db.run(one.find, { recent: true, since }));
    await db.end();
    await timed('GET /metrics', async () => (await fetch(`${contender.url}/metrics`)).text());
  }
  return [...times]
    .sort(([, [a = 0]], [, [b = 0]]) => b - a)
    .slice(0, 8)
    .map(([name, both]) => `| ${both.map((ms) => ms.toFixed(0)).join(' | ')} | ${name} |`);
}
