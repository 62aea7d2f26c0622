// npm run bench: how fast the service is, beside a floor that does the same writes and nothing else. Both run on this machine,
// against the same PostgreSQL and the same bank, in short turns; what counts is their ratio. `--quick` takes under a minute.
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { closedLoop, median, openLoop, percentile, type Measured, type Work } from './load.ts';
import { costSince, meanOf, spentSoFar, type Cost } from './costs.ts';
import { openField, type Contender } from './processes.ts';
import { openApi, scenarios, type Api } from './scenarios.ts';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    clients: { type: 'string', default: '16' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  console.log(`npm run bench -- [--quick] [--only NAME]… [--clients 16] [--rounds 5] [--seconds 3] [--profile FOLDER]
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

type Result = {
  readonly name: string;
  readonly service: Measured;
  readonly floor?: Measured;
  readonly ratios: readonly number[];
  readonly costs: readonly (Cost & { readonly of: string })[];
  readonly half?: Measured;
};

const field = await openField(options.profile ? { profileInto: resolve(options.profile) } : {});
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
  const costs = new Map<Contender, Cost[]>([...works.keys()].map((one) => [one, []]));
  for (let round = 0; round < rounds; round++) {
    // Who goes first changes, so that a machine that slows down or recovers favours neither.
    const order = [...works].sort(([a], [b]) => (round % 2 === 0 ? 1 : -1) * a.name.localeCompare(b.name));
    for (const [one, work] of order) {
      const before = await spentSoFar(field, one);
      const turn = await closedLoop(work, { clients, ms: roundMs });
      measured.get(one)?.push(turn);
      costs.get(one)?.push(await costSince(before, field, one, turn.latenciesMs.length));
    }
    const [service, floor] = [field.service, field.floor].map((one) => measured.get(one)?.at(-1)?.rate);
    if (service && floor) ratios.push(service / floor);
  }
  const service = together(measured.get(field.service) ?? []);
  const floors = measured.get(field.floor);
  const work = works.get(field.service);
  const half = work && (await openLoop(work, { rate: Math.max(1, service.rate / 2), ms: roundMs }));
  return {
    name,
    service,
    ratios,
    costs: [...costs].map(([one, turns]) => ({ of: one.name, ...meanOf(turns) })),
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
    'Each, with what the floor does beside it:',
    '',
    '| scenario | of | CPU of it, ms | of PostgreSQL, ms | statements | transactions that write | rows written | bytes of log |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...results.flatMap(({ name, costs }) =>
      costs.map(
        (cost) =>
          `| ${[
            name,
            cost.of,
            cost.ownMs.toFixed(2),
            cost.databaseMs.toFixed(2),
            cost.statements.toFixed(1),
            cost.writingTransactions.toFixed(2),
            cost.rowsWritten.toFixed(1),
            cost.walBytes.toFixed(0),
          ].join(' | ')} |`,
      ),
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
