// npm run bench: how fast the service is, beside a floor that does the same writes and nothing else. Both run on this machine,
// against the same PostgreSQL and the same bank, in short turns; what counts is their ratio. `--quick` takes under a minute.
import { resolve } from 'node:path';
import { median, openLoop, steadyRate, type Measured, type Work } from './harness/load.ts';
import { costSince, meanOf, residentMb, spentSoFar, type Cost } from './harness/costs.ts';
import { isPgbenchThere, runPgbench } from './workloads/pgbench.ts';
import { startProcesses, type Contender } from './harness/processes.ts';
import { measureWebhooks, type WebhooksResult } from './workloads/webhooks.ts';
import { writeReport, type Result, type SlowBankResult } from './harness/speed-report.ts';
import {
  eagerPolling,
  openApi,
  scenarioNamed,
  scenarios,
  type Api,
  type Scenario,
} from './workloads/scenarios.ts';
import { measureRound, warmUp } from './harness/round.ts';
import { readOptions, wholeNumber } from '../tools/script-options.ts';

const { options } = readOptions(
  `npm run bench -- [--quick] [--only NAME]… [--clients 16] [--rounds 3] [--seconds 3]
  [--warm-up 6] [--bank-latency 200] [--profile FOLDER]
scenarios: ${[...scenarios.map(({ name }) => name), 'pgbench', 'webhooks'].join(', ')}; results go to bench/results/`,
  {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    clients: { type: 'string', default: '16' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    'warm-up': { type: 'string' },
    'bank-latency': { type: 'string' },
    profile: { type: 'string' },
  },
);
const clients = wholeNumber('--clients', options.clients);
const rounds = wholeNumber('--rounds', options.rounds ?? '3');
const roundMs = 1_000 * wholeNumber('--seconds', options.seconds ?? (options.quick ? '2' : '3'));
/** Until the compiler has seen enough: the service runs faster for the better part of a minute, the floor for some seconds. */
const warmUpMs = 1_000 * wholeNumber('--warm-up', options['warm-up'] ?? (options.quick ? '5' : '6'), 0);
const warmUpMsOf = ({ name }: Contender) => (name === 'service' ? warmUpMs : warmUpMs / 4);
const quick = ['charge', 'recurring'];
const isChosen = (name: string) => (options.only ?? (options.quick ? quick : [name])).includes(name);
const chosen = scenarios.filter(({ name }) => isChosen(name));

/** Long enough for ten connections to prepare their statements on a busy machine, and then do something. */
const pgbenchSeconds = 5;

/** However many scenarios there are: what has not begun by then is left out, and it is said so. */
const lastBeginningMs = 265_000;
const bankLatencyMs = wholeNumber('--bank-latency', options['bank-latency'] ?? '0', 0);
/** So long that what was begun has ended when its client asks for the first time, however long the bank took. */
const patienceMs = 1_000;

const processes = await startProcesses({
  ...(options.profile ? { profileInto: resolve(options.profile) } : {}),
  slowBank: bankLatencyMs > 0,
});
// Once to make the schema, and then as after every day.
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
  if (isChosen('webhooks') && begins('webhooks')) webhooks = await webhooksBesideCharges();
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
  console.error(isLate ? `${name} is left out: the five minutes are over` : `${name} …`);
  return !isLate;
}

async function webhooksBesideCharges(): Promise<WebhooksResult> {
  const api = apis.get(service) as Api;
  const work = await scenarioNamed('recurring').prepare(api);
  return measureWebhooks(api, work, { clients, ms: roundMs * 2 });
}

async function race({ name, asksBank }: Scenario, works: ReadonlyMap<Contender, Work>): Promise<Result> {
  const measured = new Map<Contender, Measured[]>([...works.keys()].map((one) => [one, []]));
  const ratios: number[] = [];
  const costs = new Map<Contender, Cost[]>([...works.keys()].map((one) => [one, []]));
  for (let round = 0; round < rounds; round++) {
    // Who goes first changes, so that a machine that slows down or recovers favours neither.
    const order = [...works].sort(([a], [b]) => (round % 2 === 0 ? 1 : -1) * a.name.localeCompare(b.name));
    for (const [one, work] of order) {
      const before = await spentSoFar(processes, one);
      const finished = await measureRound(processes, one, work, { clients, ms: roundMs });
      measured.get(one)?.push(finished);
      costs.get(one)?.push(await costSince(before, processes, one, finished.latenciesMs.length));
    }
    const [ours = 0, least = 0] = [service, floor].map((one) => measured.get(one)?.at(-1)?.rate);
    if (least > 0) ratios.push(ours / least);
  }
  const all = together(measured.get(service) ?? []);
  const floors = measured.get(floor);
  const work = works.get(service);
  const half = work && (await openLoop(work, { rate: Math.max(1, all.rate / 2), ms: roundMs }));
  const isSlow = bankLatencyMs > 0 && asksBank;
  return {
    name,
    residentMb: residentMb(service.pid),
    ...(isSlow ? { withSlowBank: await withSlowBank(works, all.rate) } : {}),
    service: all,
    ratios,
    costs: [...costs].map(([one, turns]) => ({ of: one.name, ...meanOf(turns) })),
    ...(floors ? { floor: together(floors) } : {}),
    ...(half ? { half } : {}),
  };
}

/** In turns with one that answers at once. Of either clients ask once, or it would be their questions that are measured. */
async function withSlowBank(works: ReadonlyMap<Contender, Work>, usualRate: number): Promise<SlowBankResult> {
  const { slowBank } = processes;
  const work = works.get(service);
  if (!slowBank || !work) throw new Error('there is no slow bank');
  const bankTakes = (latencyMs: number, polling: Api['polling']) => {
    slowBank.latencyMs = latencyMs;
    for (const api of apis.values()) api.polling = polling;
  };
  const ms = roundMs * 2;
  // Enough that the service is never without work while they wait for the bank and for their time to ask.
  const waiting = (usualRate * (bankLatencyMs + patienceMs)) / 1_000;
  const patient = Math.ceil(waiting * 1.3);
  const atOnce = { latencyMs: 0, rates: [] as number[] };
  const late = { latencyMs: bankLatencyMs, rates: [] as number[] };
  try {
    // Makes the series that so many need.
    await steadyRate(work, { clients: patient, ms: 0 });
    for (let round = 0; round < rounds; round++)
      for (const { latencyMs, rates } of round % 2 === 0 ? [atOnce, late] : [late, atOnce]) {
        bankTakes(latencyMs, { firstAfterMs: latencyMs + patienceMs, everyMs: patienceMs });
        rates.push(await steadyRate(work, { clients: patient, ms }));
      }
    bankTakes(bankLatencyMs, { ...eagerPolling, firstAfterMs: bankLatencyMs });
    const rate = median(atOnce.rates) / 2;
    const halves = new Map<Contender, Measured>();
    for (const [one, its] of works) halves.set(one, await openLoop(its, { rate, ms }));
    return {
      latencyMs: bankLatencyMs,
      clients: patient,
      rate: median(late.rates),
      shares: late.rates.map((found, round) => found / (atOnce.rates[round] ?? Number.NaN)),
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
