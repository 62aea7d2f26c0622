// npm run bench: measures the service in short turns with the floor, which does the same writes and nothing else.
// Both use the same PostgreSQL and the same bank, so the ratio of their rates counts.
import { resolve } from 'node:path';
import { median, openLoop, steadyRate, type Measured, type Work } from './harness/load.ts';
import { costSince, meanOf, residentMb, spentSoFar, type Cost } from './harness/costs.ts';
import { isPgbenchThere, runPgbench } from './workloads/pgbench.ts';
import { startProcesses, type Contender } from './harness/processes.ts';
import { measureWebhooks, type WebhooksResult } from './workloads/webhooks.ts';
import { writeReport, type ReadersResult, type Result, type SlowBankResult } from './harness/speed-report.ts';
import {
  eagerPolling,
  openApi,
  scenarioNamed,
  scenarios,
  type Api,
  type Scenario,
} from './workloads/scenarios.ts';
import { searchRead, startReader, stopReader } from './harness/readers.ts';
import { measureRound, warmUp } from './harness/round.ts';
import { readOptions, wholeNumber } from '../tools/script-options.ts';

const { options } = readOptions(
  `npm run bench -- [--quick] [--only NAME]… [--clients 16] [--rounds 3] [--seconds 3]
  [--warm-up 6] [--bank-latency 200] [--readers] [--profile FOLDER]
Measures the service in turns with the floor, and prints the ratios of their rates. It takes five minutes at most.
Results go to bench/results/.
  --quick           charge and recurring only, with shorter turns: under a minute
  --only NAME       a scenario to measure; repeat it for more
  --clients N       clients at the same time
  --rounds N        turns of each
  --seconds N       length of a turn
  --warm-up N       seconds before the first turn
  --bank-latency N  also measures charges with a bank that takes so many milliseconds; 0 by default
  --readers         also measures in turns with and without what reads the log: the search reader with its sums
  --profile FOLDER  where to write CPU profiles of the service
Scenarios: ${[...scenarios.map(({ name }) => name), 'pgbench', 'webhooks'].join(', ')}.
Example: npm run bench -- --only recurring --warm-up 60`,
  {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    clients: { type: 'string', default: '16' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    'warm-up': { type: 'string' },
    'bank-latency': { type: 'string' },
    readers: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
);
const clients = wholeNumber('--clients', options.clients);
const rounds = wholeNumber('--rounds', options.rounds ?? '3');
const roundMs = 1_000 * wholeNumber('--seconds', options.seconds ?? (options.quick ? '2' : '3'));
/** The service gets faster for most of a minute while its code is compiled, the floor for a few seconds. */
const warmUpMs = 1_000 * wholeNumber('--warm-up', options['warm-up'] ?? (options.quick ? '5' : '6'), 0);
const warmUpMsOf = ({ name }: Contender) => (name === 'service' ? warmUpMs : warmUpMs / 4);
const quick = ['charge', 'recurring'];
const isChosen = (name: string) => (options.only ?? (options.quick ? quick : [name])).includes(name);
const chosen = scenarios.filter(({ name }) => isChosen(name));

/** Long enough that ten connections on a busy machine prepare their statements and then do work. */
const pgbenchSeconds = 5;

/** Scenarios that have not started by then are left out, with a message. */
const lastBeginningMs = 265_000;
const bankLatencyMs = wholeNumber('--bank-latency', options['bank-latency'] ?? '0', 0);
/** Longer than a charge takes after the bank's response, so that a client's first poll finds it final. */
const pollAfterMs = 1_000;

const processes = await startProcesses({
  ...(options.profile ? { profileInto: resolve(options.profile) } : {}),
  slowBank: bankLatencyMs > 0,
});
// The first start creates the schema; the second one is measured.
await (await processes.node('service')).stop();
const service = await processes.node('service');
const floor = await processes.floor();
const apis = new Map<Contender, Api>([service, floor].map((one) => [one, openApi(one)]));
const results: Result[] = [];
let pgbenchRate: number | undefined;
let webhooks: WebhooksResult | undefined;
try {
  for (const scenario of chosen) {
    if (!begins(scenario.name)) continue;
    const contenders = scenario.hasFloor ? [service, floor] : [service];
    const works = new Map<Contender, Work>();
    for (const one of contenders) works.set(one, await scenario.prepare(apis.get(one) as Api));
    await warmUp(processes, works, { clients, msOf: warmUpMsOf });
    results.push(await race(scenario, works));
  }
  if (isChosen('pgbench') && isPgbenchThere && begins('pgbench'))
    pgbenchRate = await runPgbench(processes, floor.database, pgbenchSeconds);
  if (isChosen('webhooks') && begins('webhooks')) webhooks = await webhooksDuringCharges();
} finally {
  await Promise.all([...apis.values()].map((api) => api.close()));
  await processes.close();
}
writeReport(
  results,
  { pgbenchRate, webhooks },
  `${clients} clients, ${rounds} turns of ${roundMs / 1_000} s each after ${warmUpMsOf(service) / 1_000} s to warm up, the floor ${warmUpMsOf(floor) / 1_000} s`,
  service.startMs,
);

function begins(name: string): boolean {
  const isLate = performance.now() > lastBeginningMs;
  console.error(isLate ? `${name} is left out: the run has reached its five minutes` : `${name} …`);
  return !isLate;
}

async function webhooksDuringCharges(): Promise<WebhooksResult> {
  const api = apis.get(service) as Api;
  const work = await scenarioNamed('recurring').prepare(api);
  return measureWebhooks(api, work, { clients, ms: roundMs * 2 });
}

async function race({ name, asksBank }: Scenario, works: ReadonlyMap<Contender, Work>): Promise<Result> {
  const measured = new Map<Contender, Measured[]>([...works.keys()].map((one) => [one, []]));
  const ratios: number[] = [];
  const costs = new Map<Contender, Cost[]>([...works.keys()].map((one) => [one, []]));
  for (let round = 0; round < rounds; round++) {
    // The order alternates, so that a machine that slows down or recovers favours neither.
    const order = [...works].sort(([a], [b]) => (round % 2 === 0 ? 1 : -1) * a.name.localeCompare(b.name));
    for (const [one, work] of order) {
      const before = await spentSoFar(processes, one);
      const finished = await measureRound(processes, one, work, { clients, ms: roundMs });
      measured.get(one)?.push(finished);
      costs.get(one)?.push(await costSince(before, processes, one, finished.latenciesMs.length));
    }
    const [ofService = 0, ofFloor = 0] = [service, floor].map((one) => measured.get(one)?.at(-1)?.rate);
    if (ofFloor > 0) ratios.push(ofService / ofFloor);
  }
  const all = together(measured.get(service) ?? []);
  const floors = measured.get(floor);
  const work = works.get(service);
  const half = work && (await openLoop(work, { rate: Math.max(1, all.rate / 2), ms: roundMs }));
  const isSlow = bankLatencyMs > 0 && asksBank;
  return {
    name,
    residentMb: residentMb(service.pid),
    ...(options.readers && floors ? { readers: await withAndWithoutReaders(works) } : {}),
    ...(isSlow ? { withSlowBank: await withSlowBank(works, all.rate) } : {}),
    service: all,
    ratios,
    costs: [...costs].map(([one, turns]) => ({ of: one.name, ...meanOf(turns) })),
    ...(floors ? { floor: together(floors) } : {}),
    ...(half ? { half } : {}),
  };
}

/** The floor, and the service twice. What the reader copies of a turn is in that turn's rate, also what it copies after the last charge. */
async function withAndWithoutReaders(works: ReadonlyMap<Contender, Work>): Promise<ReadersResult> {
  const { database } = service;
  const rates = { floor: [] as number[], running: [] as number[], stopped: [] as number[] };
  const turn = async (name: keyof typeof rates) => {
    const one = name === 'floor' ? floor : service;
    if (name === 'stopped') await stopReader(processes, database);
    const work = works.get(one) as Work;
    const allRead = () => (one === service ? searchRead(processes, database) : Promise.resolve());
    const finished = await measureRound(processes, one, work, { clients, ms: roundMs }, allRead);
    if (name === 'stopped') await startReader(processes, database);
    rates[name].push(finished.rate);
  };
  for (let round = 0; round < rounds; round++)
    for (const name of round % 2 === 0
      ? (['running', 'floor', 'stopped'] as const)
      : (['stopped', 'floor', 'running'] as const))
      await turn(name);
  const ofFloor = (of: readonly number[]) =>
    of.map((rate, round) => rate / (rates.floor[round] ?? Number.NaN));
  return { running: ofFloor(rates.running), stopped: ofFloor(rates.stopped) };
}

/** In turns with a bank without latency. Clients poll both late, or their polls would be measured. */
async function withSlowBank(works: ReadonlyMap<Contender, Work>, usualRate: number): Promise<SlowBankResult> {
  const { slowBank } = processes;
  const work = works.get(service);
  if (!slowBank || !work) throw new Error('The slow bank was not started.');
  const bankTakes = (latencyMs: number, polling: Api['polling']) => {
    slowBank.latencyMs = latencyMs;
    for (const api of apis.values()) api.polling = polling;
  };
  const ms = roundMs * 2;
  // Enough that the service always has work while clients wait for the bank and for their first poll.
  const waiting = (usualRate * (bankLatencyMs + pollAfterMs)) / 1_000;
  const manyClients = Math.ceil(waiting * 1.3);
  const quick = { latencyMs: 0, rates: [] as number[] };
  const slow = { latencyMs: bankLatencyMs, rates: [] as number[] };
  try {
    // Creates the series that so many clients need.
    await steadyRate(work, { clients: manyClients, ms: 0 });
    for (let round = 0; round < rounds; round++)
      for (const { latencyMs, rates } of round % 2 === 0 ? [quick, slow] : [slow, quick]) {
        bankTakes(latencyMs, { firstAfterMs: latencyMs + pollAfterMs, everyMs: pollAfterMs });
        rates.push(await steadyRate(work, { clients: manyClients, ms }));
      }
    bankTakes(bankLatencyMs, { ...eagerPolling, firstAfterMs: bankLatencyMs });
    const rate = median(quick.rates) / 2;
    const halves = new Map<Contender, Measured>();
    for (const [one, its] of works) halves.set(one, await openLoop(its, { rate, ms }));
    return {
      latencyMs: bankLatencyMs,
      clients: manyClients,
      rate: median(slow.rates),
      shares: slow.rates.map((found, round) => found / (quick.rates[round] ?? Number.NaN)),
      halves: [...halves].map(([one, half]) => ({ of: one.name, ...half })),
    };
  } finally {
    bankTakes(0, eagerPolling);
  }
}

function together(turns: readonly Measured[]): Measured {
  return {
    rate: median(turns.map(({ rate }) => rate)),
    latenciesMs: turns.flatMap(({ latenciesMs }) => latenciesMs),
  };
}
