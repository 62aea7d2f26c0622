// npm run bench:size: charges without the payer on a large database (npm run bench:load) in turns with an empty one, in the same
// PostgreSQL. What counts is their ratio; beside it stand the statements that take longer on the large one. The node whose turn it is
// not stands still, so that what each does by itself, such as looking at kept cards, costs itself alone.
import { resolve } from 'node:path';
import { instantAt } from '../src/clock.ts';
import { everyInvariant } from '../src/app/compose.ts';
import { openDatabase } from '../src/platform/database/database.ts';
import { costSince, meanOf, spentSoFar, type Cost } from './harness/costs.ts';
import { median, percentile, type Work } from './harness/load.ts';
import { heading, keepLatest, machine, tableRow } from './harness/report.ts';
import { startProcesses, type Contender } from './harness/processes.ts';
import { openApi, scenarioNamed, type Api } from './workloads/scenarios.ts';
import { measureRound, warmUp } from './harness/round.ts';
import { readOptions, wholeNumber } from '../tools/script-options.ts';

const { options } = readOptions(
  `npm run bench:size -- --folder FOLDER [--only recurring] [--rounds 5] [--seconds 3] [--clients 16] [--warm-up 40]`,
  {
    folder: { type: 'string' },
    only: { type: 'string', default: 'recurring' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    clients: { type: 'string', default: '16' },
    'warm-up': { type: 'string', default: '40' },
  },
);
if (options.folder === undefined) {
  console.error('say with --folder where the large database is; --help says what there is');
  process.exit(2);
}
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
  // What a run that was broken off left in doubt at a bank that is gone counts against the card.
  await processes.query('service', 'delete from card_decline');
  // What fell due while the database stood still would be made up for now. As the loader left it: a look a day at each.
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
  for (const { contender } of sides) stand(contender);
  await processes.query('postgres', 'select pg_stat_statements_reset()');
  for (let round = 0; round < rounds; round++) {
    // Who goes first changes, so that a machine that slows down or recovers favours neither.
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const { contender } = side;
      const work = works.get(contender) as Work;
      process.kill(contender.pid, 'SIGCONT');
      const before = await spentSoFar(processes, contender);
      const { rate, latenciesMs } = await measureRound(processes, contender, work, { clients, ms: roundMs });
      side.costs.push(await costSince(before, processes, contender, latenciesMs.length));
      side.rates.push(rate);
      side.latenciesMs.push(...latenciesMs);
      stand(contender);
    }
    const [large = 0, empty = 1] = sides.map(({ rates }) => rates.at(-1));
    ratios.push(large / empty);
  }
  letAllGoOn();
  await report();
} finally {
  letAllGoOn();
  await Promise.all(apis.map((api) => api.close()));
  await processes.close();
}

function stand({ pid }: Contender): void {
  process.kill(pid, 'SIGSTOP');
}

function letAllGoOn(): void {
  for (const { contender } of sides) {
    try {
      process.kill(contender.pid, 'SIGCONT');
    } catch {
      // It has ended, and its failure is reported elsewhere.
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
    '| database | a second | of turns | p50 ms | p99 ms | CPU of the service, ms | of PostgreSQL, ms | statements | bytes of log |',
    '| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows,
    '',
    'The statements that cost the large one most, beside what they cost the empty one, in ms of its processor or disk for each piece of work:',
    '',
    '| large | empty | statement |',
    '| ---: | ---: | --- |',
    ...(await dearest()),
    '',
    'What is done every minute, in ms: the invariants of the books over what is new, and what /metrics asks.',
    '',
    '| large | empty | |',
    '| ---: | ---: | --- |',
    ...(await everyMinute()),
    '',
    `ratio big/empty=${median(ratios).toFixed(2)} (the median of turns ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')})`,
    '',
  ];
  console.log(lines.join('\n'));
  keepLatest('latest-size.md', lines);
}

async function dearest(): Promise<string[]> {
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
