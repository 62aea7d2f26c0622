// npm run bench: how fast the service is, beside a floor that does the same writes and nothing else. Both run on this machine,
// against the same PostgreSQL and the same bank, in short turns; what counts is their ratio. `--quick` takes under a minute.
import { resolve } from 'node:path';
import { closedLoop, median, openLoop, type Measured, type Work } from './load.ts';
import { costSince, meanOf, residentMb, spentSoFar, type Cost } from './costs.ts';
import { isPgbenchThere, runPgbench } from './pgbench.ts';
import { openField, type Contender } from './processes.ts';
import { measureWebhooks, type WebhooksResult } from './webhooks.ts';
import { writeReport, type Result, type SlowBankResult } from './report.ts';
import { openApi, scenarios, type Api, type Scenario } from './scenarios.ts';
import { turnOf, warmUp } from './turn.ts';
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
/** Enough to keep the service busy while each of them waits for the bank. */
const patientClients = 128;

const field = await openField({
  ...(options.profile ? { profileInto: resolve(options.profile) } : {}),
  slowBank: bankLatencyMs > 0,
});
// Once to make the schema, and then as after every day.
await (await field.node('service')).stop();
const service = await field.node('service');
const floor = await field.floor();
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
    await warmUp(field, works, { clients, msOf: warmUpMsOf });
    results.push(await race(scenario, works));
  }
  if (isChosen('pgbench') && isPgbenchThere && begins('pgbench'))
    pgbenchRate = await runPgbench(field, floor.database, pgbenchSeconds);
  if (isChosen('webhooks') && begins('webhooks')) webhooks = await webhooksBesideCharges();
} finally {
  await Promise.all([...apis.values()].map((api) => api.close()));
  await field.close();
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
  const work = await scenarios.find(({ name }) => name === 'recurring')?.prepare(api);
  if (!work) throw new Error('there is nothing to tell of');
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
      const before = await spentSoFar(field, one);
      const turn = await turnOf(field, one, work, { clients, ms: roundMs });
      measured.get(one)?.push(turn);
      costs.get(one)?.push(await costSince(before, field, one, turn.latenciesMs.length));
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
    ...(work && isSlow ? { withSlowBank: await withSlowBank(work) } : {}),
    service: all,
    ratios,
    costs: [...costs].map(([one, turns]) => ({ of: one.name, ...meanOf(turns) })),
    ...(floors ? { floor: together(floors) } : {}),
    ...(half ? { half } : {}),
  };
}

async function withSlowBank(work: Work): Promise<SlowBankResult> {
  const { slowBank } = field;
  const api = apis.get(service);
  if (!slowBank || !api) throw new Error('there is no slow bank');
  const many = { clients: patientClients, ms: roundMs * 2 };
  const quick = await closedLoop(work, many);
  slowBank.latencyMs = api.firstPollAfterMs = bankLatencyMs;
  try {
    const { rate } = await closedLoop(work, many);
    const half = await openLoop(work, { rate: quick.rate / 2, ms: roundMs * 2 });
    const share = rate / quick.rate;
    return { latencyMs: bankLatencyMs, clients: patientClients, rate, share, half };
  } finally {
    slowBank.latencyMs = api.firstPollAfterMs = 0;
  }
}

function together(turns: readonly Measured[]): Measured {
  return {
    rate: median(turns.map(({ rate }) => rate)),
    latenciesMs: turns.flatMap(({ latenciesMs }) => latenciesMs),
  };
}
