// npm run bench: how fast the service is, beside a floor that does the same writes and nothing else. Both run on this machine,
// against the same PostgreSQL and the same bank, in short turns; what counts is their ratio. `--quick` takes under a minute.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { closedLoop, median, openLoop, percentile, type Measured, type Work } from './load.ts';
import { openField, type Contender, type Field } from './processes.ts';
import { openApi, scenarios, type Api } from './scenarios.ts';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    clients: { type: 'string', default: '16' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  console.log(`npm run bench -- [--quick] [--only NAME]… [--clients 16] [--rounds 5] [--seconds 3]
scenarios: ${scenarios.map(({ name }) => name).join(', ')}; results go to bench/results/`);
  process.exit();
}
const clients = Number(options.clients);
const rounds = Number(options.rounds ?? (options.quick ? 3 : 5));
const roundMs = 1_000 * Number(options.seconds ?? (options.quick ? 2 : 3));
const quick = ['charge', 'recurring'];
const chosen = scenarios.filter(({ name }) =>
  (options.only ?? (options.quick ? quick : [name])).includes(name),
);

type Cost = {
  readonly serviceMs: number;
  readonly databaseMs: number;
  readonly commits: number;
  readonly walBytes: number;
};
type Result = {
  readonly name: string;
  readonly service: Measured;
  readonly floor?: Measured;
  readonly ratios: readonly number[];
  readonly cost: Cost;
  readonly half?: Measured;
};

const field = await openField();
const apis = new Map<Contender, Api>([field.service, field.floor].map((one) => [one, openApi(one)]));
const results: Result[] = [];
try {
  for (const scenario of chosen) {
    console.error(`${scenario.name} …`);
    const contenders = scenario.hasFloor ? [field.service, field.floor] : [field.service];
    const works = new Map<Contender, Work>();
    for (const one of contenders) {
      const work = await scenario.prepare(apis.get(one) as Api);
      works.set(one, work);
      // Connections, prepared statements and the compiler are warm before the first turn.
      await closedLoop(work, { clients, ms: roundMs / 2 });
    }
    results.push(await race(scenario.name, works));
  }
} finally {
  await Promise.all([...apis.values()].map((api) => api.close()));
  await field.close();
}
report();

async function race(name: string, works: ReadonlyMap<Contender, Work>): Promise<Result> {
  const measured = new Map<Contender, Measured[]>([...works.keys()].map((one) => [one, []]));
  const ratios: number[] = [];
  let cost: Cost | undefined;
  for (let round = 0; round < rounds; round++) {
    // Who goes first changes, so that a machine that slows down or recovers favours neither.
    const order = [...works].sort(([a], [b]) => (round % 2 === 0 ? 1 : -1) * a.name.localeCompare(b.name));
    for (const [one, work] of order) {
      const before = await costsSoFar(field, one);
      const turn = await closedLoop(work, { clients, ms: roundMs });
      measured.get(one)?.push(turn);
      if (one.name === 'service')
        cost = costOf(before, await costsSoFar(field, one), turn.latenciesMs.length);
    }
    const [service, floor] = [field.service, field.floor].map((one) => measured.get(one)?.at(-1)?.rate);
    if (service && floor) ratios.push(service / floor);
  }
  const service = together(measured.get(field.service) ?? []);
  const floors = measured.get(field.floor);
  const work = works.get(field.service);
  const half = work && (await openLoop(work, { rate: Math.max(1, service.rate / 2), ms: roundMs }));
  if (!cost) throw new Error('nothing was measured');
  return {
    name,
    service,
    ratios,
    cost,
    ...(floors ? { floor: together(floors) } : {}),
    ...(half ? { half } : {}),
  };
}

function together(turns: readonly Measured[]): Measured {
  return {
    rate: median(turns.map(({ rate }) => rate)),
    latenciesMs: turns.flatMap(({ latenciesMs }) => latenciesMs),
  };
}

type Sums = { cpuTicks: number; databaseTicks: number; commits: number; wal: bigint };

async function costsSoFar(on: Field, { pid, database }: Contender): Promise<Sums> {
  const [row] = await on.query(
    database,
    `select xact_commit::text as commits, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text as wal
     from pg_stat_database where datname = current_database()`,
  );
  return {
    cpuTicks: ticksOf(pid),
    databaseTicks: on.postgresPids().reduce((sum, one) => sum + ticksOf(one), 0),
    commits: Number(row?.['commits']),
    wal: BigInt(row?.['wal'] ?? 0),
  };
}

function costOf(before: Sums, after: Sums, done: number): Cost {
  const msPerTick = 10;
  return {
    serviceMs: ((after.cpuTicks - before.cpuTicks) * msPerTick) / done,
    databaseMs: ((after.databaseTicks - before.databaseTicks) * msPerTick) / done,
    commits: (after.commits - before.commits) / done,
    walBytes: Number(after.wal - before.wal) / done,
  };
}

/** User and system time, in hundredths of a second. Nothing where there is no /proc. */
function ticksOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return 0;
  }
}

function report(): void {
  const lines = [
    `# Speed, ${new Date().toISOString().slice(0, 16)}`,
    '',
    `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}, ${clients} clients, ${rounds} turns of ${roundMs / 1_000} s each,`,
    'service, floor, bank, PostgreSQL and the clients on the same machine.',
    '',
    '| scenario | a second | floor | ratio | of turns | p50 ms | p95 | p99 | p99.9 | at half load: p50 | p99 |',
    '| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...results.map(({ name, service, floor, ratios, half }) => {
      const at = (share: number) => percentile(service.latenciesMs, share).toFixed(1);
      const halfAt = (share: number) => (half ? percentile(half.latenciesMs, share).toFixed(1) : '');
      return `| ${[
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
      ].join(' | ')} |`;
    }),
    '',
    '| scenario | CPU of the service, ms | of PostgreSQL, ms | commits | bytes of log |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...results.map(
      ({ name, cost }) =>
        `| ${name} | ${cost.serviceMs.toFixed(2)} | ${cost.databaseMs.toFixed(2)} | ${cost.commits.toFixed(1)} | ${cost.walBytes.toFixed(0)} |`,
    ),
    '',
  ];
  console.log(lines.join('\n'));
  const folder = new URL('results/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL('latest.md', folder), lines.join('\n'));
  for (const { name, ratios } of results)
    if (ratios.length > 0) console.log(`ratio ${name}=${median(ratios).toFixed(2)}`);
}
