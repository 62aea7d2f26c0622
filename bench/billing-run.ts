// npm run bench:billing: measures subscriptions that all fall due at one moment, and proves that each was charged once.
// The floor of npm run bench charges before and after them, so their ratio counts.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import {
  costliestStatements,
  costSince,
  processorMs,
  processorsSoFar,
  spentSoFar,
  writtenTables,
  type Cost,
} from './harness/costs.ts';
import { openLoop, percentile } from './harness/load.ts';
import { startProcesses, type Contender } from './harness/processes.ts';
import { heading, keepLatest, machine, tableRow } from './harness/report.ts';
import { measureRound, receiptsWritten } from './harness/round.ts';
import {
  areUncharged,
  copySubscriptions,
  countBegun,
  countInvoices,
  makeDue,
  recordSubscription,
  wrongCharges,
} from './workloads/due-subscriptions.ts';
import { openApi, scenarioNamed, sellOnce, type Api } from './workloads/scenarios.ts';
import { readOptions, wholeNumber } from '../tools/script-options.ts';

const { options } = readOptions(
  `npm run bench:billing -- [--due 5000] [--bank-latency 20] [--payers 2] [--floor-seconds 5] [--warm-up 1500] [--workers 1] [--kill] [--statements 0] [--node-options '…']
Measures how fast subscriptions that are due at one moment are charged, and proves that each was charged exactly once.
  --due N            subscriptions that fall due; 100000 for a full run
  --bank-latency N   milliseconds that the bank takes
  --payers N         payments a second with a payer present meanwhile; 0 for none
  --floor-seconds N  how long the floor charges before and after
  --warm-up N        subscriptions that are charged before the measurement
  --workers N        processes of the node
  --kill             kill the node in between; another one continues
  --statements N     print so many of the costliest statements, also those within functions, and the tables
  --profile FOLDER   where to write CPU profiles of the service
  --node-options …   NODE_OPTIONS of the service, if not those of deploy/mandate.service
Example: npm run bench:billing -- --due 20000 --kill`,
  {
    due: { type: 'string', default: '5000' },
    'bank-latency': { type: 'string', default: '20' },
    payers: { type: 'string', default: '2' },
    'floor-seconds': { type: 'string', default: '5' },
    'warm-up': { type: 'string', default: '1500' },
    workers: { type: 'string', default: '1' },
    kill: { type: 'boolean', default: false },
    statements: { type: 'string', default: '0' },
    profile: { type: 'string' },
    'node-options': { type: 'string', default: '--max-semi-space-size=32' },
  },
);
const due = wholeNumber('--due', options.due);
const bankLatencyMs = wholeNumber('--bank-latency', options['bank-latency'], 0);
const payers = wholeNumber('--payers', options.payers, 0);
const floorMs = 1_000 * wholeNumber('--floor-seconds', options['floor-seconds']);
const warmUp = wholeNumber('--warm-up', options['warm-up'], 0);
const workers = wholeNumber('--workers', options.workers);
const statements = wholeNumber('--statements', options.statements, 0);
const floorClients = 16;
const lookEveryMs = 250;
const progressEveryMs = 5_000;
/** Log of each charge that is kept, with full pages: costs are counted in it. */
const keptLogKb = 100;

const processes = await startProcesses({
  bankOfFloor: true,
  settings: {
    wal_keep_size: `${Math.ceil((due * keptLogKb) / 1_024)}MB`,
    ...(statements > 0 ? { 'pg_stat_statements.track': 'all' } : {}),
  },
  settingsOfNodes: { WORKERS: String(workers), NODE_OPTIONS: options['node-options'] },
  ...(options.profile ? { profileInto: options.profile } : {}),
});
try {
  await measure();
} finally {
  await processes.close();
}

async function measure(): Promise<void> {
  const node = await processes.node('service');
  const floor = await processes.floor();
  const work = await scenarioNamed('recurring').prepare(openApi(floor));
  const model = await recordSubscription(processes, node);
  const copy = (from: number, until: number) =>
    copySubscriptions(processes, node.database, model, { from, until });
  await order({ kind: 'latency', curve: { shape: 'fixed', ms: bankLatencyMs } });
  console.error(`${warmUp} subscriptions to warm up …`);
  await copy(0, warmUp);
  const untilDue = await makeDue(processes, node.database, warmUp);
  await untilDue();
  await untilCharged(node);
  console.error(`${due} subscriptions are copied …`);
  await copy(warmUp, warmUp + due);
  // Each check of the node would read the copies again: they are older than what it has checked.
  await processes.mandate(node.database, ['ledger', 'check']);

  const floorRates = [await chargeFloor(floor, work)];
  const run = await charge(node);
  floorRates.push(await chargeFloor(floor, work));

  const wrong = await wrongCharges(processes, node.database, warmUp + due);
  // The verifications of the copies were at no bank.
  const since = new Date(model.beganMs).toISOString();
  for (const args of [
    ['ledger', 'check'],
    ['reconcile', '--from', since],
  ]) {
    const { code, output } = await processes.mandate(node.database, args);
    if (code !== 0) wrong.push(`mandate ${args.join(' ')} ends with ${code}: ${output.slice(0, 2_000)}`);
  }
  report(run, floorRates);
  if (wrong.length > 0) throw new Error(`The charges are wrong: ${wrong.join('; ')}`);
  console.log('Each period was charged exactly once; the ledger and the report of the bank agree.');
}

/** The floor's bank takes as long. */
async function chargeFloor(floor: Contender, work: () => Promise<unknown>): Promise<number> {
  const { rate } = await measureRound(processes, floor, work, { clients: floorClients, ms: floorMs });
  return rate;
}

type Run = {
  readonly seconds: number;
  readonly cost: Cost | undefined;
  /** Processor time of the simulated bank for each charge. */
  readonly bankMs: number;
  /** The same of this measurement: its payers, and its looks at the database, which are also part of what PostgreSQL takes. */
  readonly harnessMs: number;
  readonly payersMs: readonly number[];
};

async function charge(first: Contender): Promise<Run> {
  let serving = Promise.resolve(first);
  const untilDue = await makeDue(processes, first.database, due);
  // Nothing is opened or read between that moment and the first charge: it would be in no count, and in no second.
  await processes.query('postgres', 'select pg_stat_statements_reset()');
  await processes.query(first.database, 'select pg_stat_reset()');
  const before = await spentSoFar(processes, first);
  const bankBefore = processorMs(processes.bankPid);
  const ownBefore = processorMs(process.pid);
  await untilDue();
  const began = performance.now();
  const present = payersPresent(() => serving);
  let isKilled = false;
  const looksMs = await untilCharged(first, async (client) => {
    if (!options.kill || isKilled) return;
    // The counters of PostgreSQL are late, so they may still count the warm-up.
    if ((await countInvoices(client)) - warmUp < due / 2) return;
    isKilled = true;
    serving = replace(first);
  });
  await serving;
  // Before their receipts are waited for: otherwise there are always new ones.
  const payersMs = await present.stop();
  if (options.kill && !isKilled)
    throw new Error(
      'All were charged before half of them were seen, so no node was killed. Give a greater --due.',
    );
  await receiptsWritten(processes, first.database);
  const seconds = (performance.now() - began) / 1_000;
  const bankMs = (processorMs(processes.bankPid) - bankBefore) / due;
  const harnessMs = (processorMs(process.pid) - ownBefore + looksMs) / due;
  if (statements > 0) {
    const limit = { done: due, limit: statements };
    const costliest = await costliestStatements(processes, first.database, limit);
    console.log([...costliest, '', ...(await writtenTables(processes, first.database, due)), ''].join('\n'));
  }
  const cost = options.kill ? undefined : await costSince(before, processes, first, due);
  return { seconds, cost, bankMs, harnessMs, payersMs };
}

/** Another node starts, and the killed one's jobs wait for the end of their leases. */
async function replace(node: Contender): Promise<Contender> {
  process.kill(node.pid, 'SIGKILL');
  console.error('the node is killed');
  return processes.node(node.database);
}

/** Returns the processor time that looking takes PostgreSQL, in milliseconds. */
function untilCharged(
  node: Contender,
  onLook: (client: ClientBase) => Promise<void> = async () => {},
): Promise<number> {
  return processes.withClient(node.database, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const begunBefore = await countBegun(client);
    const soFar = (begun: number) => ({
      begun,
      atMs: performance.now(),
      ...processorsSoFar(processes, node),
    });
    let shown = soFar(0);
    while (await areUncharged(client)) {
      const begun = (await countBegun(client)) - begunBefore;
      await onLook(client);
      if (performance.now() - shown.atMs >= progressEveryMs) {
        const now = soFar(begun);
        console.error(progressOf(shown, now));
        shown = now;
      }
      await sleep(lookEveryMs);
    }
    return processorMs(rows[0]?.pid ?? 0);
  });
}

type Progress = ReturnType<typeof processorsSoFar> & { readonly begun: number; readonly atMs: number };

function progressOf(before: Progress, now: Progress): string {
  const begun = now.begun - before.begun;
  const rate = (begun / (now.atMs - before.atMs)) * 1_000;
  const each = (name: 'ownMs' | 'databaseMs') => ((now[name] - before[name]) / begun).toFixed(2);
  return `${now.begun} are begun, ${rate.toFixed(0)} a second: Node ${each('ownMs')} ms, PostgreSQL ${each('databaseMs')} ms`;
}

/** Payments at a fixed rate until they are stopped. A payer whose node is killed pays at the next one: that counts as one payment. */
function payersPresent(serving: () => Promise<Contender>) {
  const apis = new Map<Contender, Api>();
  const apiOf = (node: Contender) => {
    const api = apis.get(node) ?? openApi(node);
    apis.set(node, api);
    return api;
  };
  const pay = async () => {
    for (;;) {
      const node = await serving();
      try {
        return await sellOnce(apiOf(node));
      } catch (error) {
        if ((await serving()) === node) throw error;
      }
    }
  };
  const enough = new AbortController();
  const paying = openLoop(pay, { rate: payers, until: enough.signal });
  // An error comes out of `stop`. Before that it would end the process, and hide an error of the charges.
  paying.catch(() => undefined);
  return {
    async stop(): Promise<readonly number[]> {
      enough.abort();
      const { latenciesMs } = await paying;
      await Promise.all([...apis.values()].map((api) => api.close()));
      return latenciesMs;
    },
  };
}

async function order(fault: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  for (const bankUrl of processes.bankUrls) {
    const body = JSON.stringify(fault);
    const { ok, status } = await fetch(new URL('/faults', bankUrl), { method: 'POST', headers, body });
    if (!ok) throw new Error(`The bank does not take the order ${body}: ${status}`);
  }
}

function report({ seconds, cost, bankMs, harnessMs, payersMs }: Run, floorRates: readonly number[]): void {
  const rate = due / seconds;
  const floorRate = floorRates.reduce((sum, one) => sum + one, 0) / floorRates.length;
  const kills = options.kill ? ', a node killed in between' : '';
  const number = (value: number | undefined, digits: number) => value?.toFixed(digits) ?? '–';
  const cells = [
    rate.toFixed(0),
    // The supervisor of workers does nothing itself.
    workers > 1 ? '–' : number(cost?.ownMs, 2),
    number(cost?.databaseMs, 2),
    bankMs.toFixed(2),
    harnessMs.toFixed(2),
    number(cost?.statements, 2),
    number(cost?.writingTransactions, 2),
    number(cost?.rowsWritten, 1),
    number(cost?.walBytes, 0),
    payersMs.length === 0 ? '–' : percentile(payersMs, 0.99).toFixed(0),
  ];
  const lines = [
    heading('Subscriptions that are due at one moment'),
    '',
    `${machine()}; ${due} subscriptions in ${seconds.toFixed(1)} s, ${workers} worker(s), a bank of ${bankLatencyMs} ms${kills}. ` +
      `The floor: ${floorRates.map((one) => one.toFixed(0)).join(' and ')} charges a second with ${floorClients} clients.`,
    '',
    tableRow([
      'charges a second',
      'Node ms',
      'PostgreSQL ms',
      'bank ms',
      'measurement ms',
      'statements',
      'transactions',
      'rows',
      'log bytes',
      'payers present, p99 ms',
    ]),
    tableRow(Array.from({ length: cells.length }, () => '---:')),
    tableRow(cells),
    '',
    `ratio billing=${(rate / floorRate).toFixed(2)}`,
    '',
  ];
  console.log(lines.join('\n'));
  keepLatest('latest-billing.md', lines);
}
