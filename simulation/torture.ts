// npm run torture: kills real nodes, a bank and PostgreSQL in turn under load, cuts networks, stops writes and fills the disk.
// Afterwards everything must become final, and the checks and `mandate reconcile` must find no difference.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readSandboxFacts } from '../src/sandbox/sandbox-setup.ts';
import { readBook } from '../test/support/checks/ledger-check.ts';
import { temporaryFolder } from '../test/support/database/test-cluster.ts';
import { settledFindings, type CheckWorld, type Finding } from './checks/index.ts';
import { openClient, type Client } from './torture/client.ts';
import { mortal, run, type Mortal } from './torture/crashable.ts';
import { startPostgres, type TorturedPostgres } from './torture/postgres.ts';
import { openProxy, type Proxy } from './torture/proxy.ts';
import { startReceiver } from './torture/receiver.ts';
import { byCount, byTime, type Died, type Round } from './torture/rounds.ts';
import { startTrading } from './torture/trades.ts';
import { freePort } from '../tools/free-port.ts';
import { readOptions, refuse, wholeNumber } from '../tools/script-options.ts';

const { options: values } = readOptions(
  `npm run torture -- [--seconds 300 | --operations N] [--kills 30] [--traders 12]
kills two nodes, a bank and PostgreSQL in turn while merchants trade, then checks rows, ledger and the bank's report

  --seconds 300    time of the disturbances
  --operations N   ends after the kills and N acknowledged operations instead; twice the kills without them is a failure
  --kills 30       processes to kill
  --traders 12     concurrent merchants

An operation is a request that changes something. Exit code 1 if a check found something, or if there were too few kills or
operations. More: docs/reliability.md`,
  {
    seconds: { type: 'string' },
    operations: { type: 'string' },
    kills: { type: 'string', default: '30' },
    traders: { type: 'string', default: '12' },
  },
);
if (values.seconds !== undefined && values.operations !== undefined)
  refuse('--seconds and --operations exclude each other: the torture ends by time or by count');
const seconds = wholeNumber('--seconds', values.seconds ?? '300');
const operations =
  values.operations === undefined ? undefined : wholeNumber('--operations', values.operations);
const kills = wholeNumber('--kills', values.kills, operations === undefined ? 0 : 1);
const traders = wholeNumber('--traders', values.traders);
const secret = 'a secret of the torture that is long enough';
const settleWithinMs = 240_000;
const print = (text: string) => void process.stdout.write(`${text}\n`);
const began = Date.now();
const say = (text: string) =>
  print(`${String(Math.round((Date.now() - began) / 1_000)).padStart(4)} s  ${text}`);

type Stage = {
  readonly postgres: TorturedPostgres;
  readonly bank: Mortal;
  readonly nodes: readonly Mortal[];
  /** Proxies from the nodes to PostgreSQL, from the nodes to the bank, and from the clients to each node. */
  readonly toPostgres: Proxy;
  readonly toBank: Proxy;
  readonly toNodes: readonly Proxy[];
  readonly environment: Readonly<Record<string, string>>;
  readonly bankUrl: string;
  readonly apiKey: string;
  close(): Promise<void>;
};

async function openStage(): Promise<Stage> {
  const { folder, remove } = temporaryFolder();
  const endings: (() => Promise<unknown>)[] = [remove];
  const close = async () => {
    for (const end of endings.reverse()) await end();
  };
  try {
    const postgres = await startPostgres(folder);
    endings.push(() => postgres.stop());
    const toPostgres = await openProxy(postgres.address());
    const bankPort = await freePort();
    const toBank = await openProxy({ host: '127.0.0.1', port: bankPort });
    const ports = [await freePort(), await freePort()];
    const toNodes = await Promise.all(ports.map((port) => openProxy({ host: '127.0.0.1', port })));
    for (const proxy of [toPostgres, toBank, ...toNodes]) endings.push(() => proxy.stop());

    const logs = join(folder, 'logs');
    mkdirSync(logs);
    const bank = mortal(
      'bank',
      ['bank'],
      {
        MANDATE_DATA: join(folder, 'bank'),
        BANK_SECRET: secret,
        BANK_PORT: String(bankPort),
      },
      join(logs, 'bank.log'),
    );
    endings.push(() => bank.stop());
    const bankUrl = await bank.start();
    const environment = {
      DATABASE_URL: postgres.urlBy(toPostgres),
      MANDATE_MASTER_KEY: Buffer.alloc(32, 5).toString('base64'),
      BANK_URL: `http://127.0.0.1:${toBank.port}`,
      BANK_SECRET: secret,
      REQUESTS_PER_SECOND: '0',
      WEBHOOK_DELAYS_SECONDS: Array.from({ length: 100 }, () => '2').join(','),
    };
    const nodes = ports.map((port, place) =>
      mortal(
        `node ${'AB'[place]}`,
        ['serve'],
        {
          ...environment,
          MANDATE_DATA: join(folder, `node-${place}`),
          PORT: String(port),
          PUBLIC_URL: `http://127.0.0.1:${toNodes[place]!.port}`,
        },
        join(logs, `node-${place}.log`),
      ),
    );
    for (const node of nodes) {
      endings.push(() => node.stop());
      await node.start();
    }
    const apiKey = readSandboxFacts(join(folder, 'node-0'))?.apiKey;
    if (apiKey === undefined) throw new Error('the sandbox has no API key');
    return { postgres, bank, nodes, toPostgres, toBank, toNodes, environment, bankUrl, apiKey, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Makes the bank slow and unreliable, so that operations are in progress at every moment. */
async function worsen(bankUrl: string): Promise<void> {
  for (const order of [
    { kind: 'latency', curve: { shape: 'uniform', leastMs: 5, mostMs: 120 } },
    { kind: 'reset-after-booking', rate: 0.02 },
    { kind: 'reset-before-booking', rate: 0.02 },
    { kind: 'garbage-after-booking', rate: 0.01 },
  ])
    await faults(bankUrl, 'POST', order);
}

async function faults(bankUrl: string, method: 'POST' | 'DELETE', order?: object): Promise<void> {
  const answer = await fetch(`${bankUrl}/faults`, {
    method,
    ...(order ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(order) } : {}),
  });
  if (!answer.ok) throw new Error(`The bank's /faults returned ${answer.status}`);
}

type Trouble = readonly [name: string, happens: () => Promise<void>];

/** The disturbances; each repairs what it broke. */
function troublesOf(stage: Stage): { killings: readonly Trouble[]; others: readonly Trouble[] } {
  const { postgres, bank, nodes, toPostgres, toBank, toNodes } = stage;
  const between = () => sleep(200 + Math.random() * 800);
  const cut = (name: string, proxy: Proxy, how: 'reset' | 'silent', ms: number): Trouble => [
    `the network to ${name} is cut (${how})`,
    async () => {
      proxy.cut(how);
      await sleep(ms);
      proxy.heal();
    },
  ];
  const killings: Trouble[] = [
    ...nodes.map((node): Trouble => [
      `kill -9 ${node.name}`,
      async () => {
        await node.kill();
        await between();
        await node.start();
      },
    ]),
    [
      'kill -9 bank',
      async () => {
        await bank.kill();
        await between();
        await worsen(await bank.start());
      },
    ],
    [
      'kill -9 PostgreSQL',
      async () => {
        await postgres.kill();
        await between();
        await postgres.start();
        toPostgres.leadTo(postgres.address());
      },
    ],
  ];
  const others: Trouble[] = [
    cut('PostgreSQL', toPostgres, 'reset', 1_500),
    cut('the bank', toBank, 'silent', 2_000),
    cut('node A', toNodes[0]!, 'silent', 1_500),
    cut('PostgreSQL', toPostgres, 'silent', 2_000),
    cut('the bank', toBank, 'reset', 1_500),
    [
      'the database takes no writes',
      async () => {
        for (const isReadOnly of [true, false]) {
          await postgres.setReadOnly(isReadOnly);
          // The setting applies to new sessions only.
          toPostgres.cut('reset');
          toPostgres.heal();
          if (isReadOnly) await sleep(2_000);
        }
      },
    ],
    ...(postgres.hasOwnDisk
      ? [
          [
            'the disk of the database is full',
            async () => {
              const emptyDisk = postgres.fillDisk();
              await sleep(2_500);
              emptyDisk();
              // PostgreSQL stops if it cannot write its log.
              await postgres.start();
              toPostgres.leadTo(postgres.address());
            },
          ] as const,
        ]
      : []),
  ];
  return { killings, others };
}

/** Kills in turn, with another disturbance after each. */
async function torment(stage: Stage, client: Client): Promise<Died> {
  const { killings, others } = troublesOf(stage);
  if (!stage.postgres.hasOwnDisk) say('the full disk is left out: this user may not mount a disk');
  const takeTurn = (troubles: readonly Trouble[]) => async (turn: number) => {
    const [name, happens] = troubles[turn % troubles.length]!;
    say(name);
    await happens();
  };
  const round: Round = { kill: takeTurn(killings), disturb: takeTurn(others) };
  if (operations === undefined)
    return byTime(round, { kills, ms: seconds * 1_000 }, { now: () => Date.now(), pause: sleep });
  return byCount(
    round,
    { kills, operations },
    { acknowledged: () => operationsOf(client), pause: () => sleep(100) },
  );
}

function operationsOf({ acknowledged }: Client): number {
  return acknowledged.filter(({ method }) => method !== 'GET').length;
}

const notFinal = `
  select (select count(*) from payment where status not in ('held', 'captured', 'refunded', 'cancelled', 'failed'))
    + (select count(*) from binding where status not in ('succeeded', 'withdrawn', 'failed'))
    + (select count(*) from withdrawal where status = 'sending')
    + (select count(*) from destination where status = 'checking')
    + (select count(*) from webhook_queue where next_position <= last_position) as left,
    (select count(*) from payment where stuck_at is not null) + (select count(*) from binding where stuck_at is not null)
    + (select count(*) from withdrawal where stuck_at is not null)
    + (select count(*) from webhook_queue where stuck_at is not null) as stuck`;

/** Waits until nothing is in progress: leases expire, jobs are retried, and stuck jobs are retried as an operator would. */
async function settle(stage: Stage, client: Client): Promise<void> {
  const until = Date.now() + settleWithinMs;
  for (let look = 0; ; look++) {
    const [row] = await stage.postgres.query(notFinal);
    const [left, stuck] = [Number(row?.['left']), Number(row?.['stuck'])];
    if (look % 5 === 0) say(`${left} in progress, ${stuck} stuck`);
    if (left === 0 && stuck === 0) return;
    if (Date.now() > until) return say(`still in progress after ${settleWithinMs / 1_000} s`);
    if (look % 5 === 4) {
      const { now } = await client.call('GET', '/sandbox/clock');
      await client.call('POST', '/sandbox/clock', {
        now: new Date(Date.parse(now) + 1_800_000).toISOString(),
      });
    }
    if (stuck > 0 && look % 5 === 2) await retryStuck(stage);
    await sleep(1_000);
  }
}

async function retryStuck({ environment }: Stage): Promise<void> {
  const { output } = await run(['jobs', 'stuck', '--json'], environment);
  for (const { kind, id } of JSON.parse(output) as { kind: string; id: string }[])
    await run(['jobs', 'retry', kind, id], environment);
}

async function judge(stage: Stage, seen: CheckWorld): Promise<Finding[]> {
  const findings = await settledFindings(seen);
  const [row] = await stage.postgres.query('select bank_id from bank');
  const { code, output } = await run(['reconcile', '--bank', String(row?.['bank_id'])], stage.environment);
  print(output.trim());
  if (code === 0) return findings;
  return [...findings, { check: 'mandate reconcile', about: 'the bank', problem: output }];
}

const stage = await openStage();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stage.close().finally(() => process.exit(1)));
try {
  say('two nodes, a bank and PostgreSQL are running');
  const nodeUrls = stage.toNodes.map(({ port }) => `http://127.0.0.1:${port}`);
  const client = openClient(nodeUrls, stage.apiKey);
  const receiver = await startReceiver(client);
  await worsen(stage.bankUrl);
  const trading = await startTrading(client, traders);
  const died = await torment(stage, client);
  await trading.stop();
  await faults(stage.bankUrl, 'DELETE');
  say('the disturbances are over, and the merchants have stopped');
  const { acknowledged, troubles } = client;
  await settle(stage, openClient(nodeUrls, stage.apiKey));
  const findings = await judge(stage, {
    query: stage.postgres.query as CheckWorld['query'],
    bankBook: () => readBook(stage.bankUrl, secret, Date.now()),
    acknowledged,
    received: receiver.received,
  });
  await receiver.stop();
  for (const { check, about, problem } of findings.slice(0, 50)) print(`${check}: ${about}: ${problem}`);
  print(`acknowledged operations ${operationsOf(client)}`);
  print(`requests without a response ${troubles.unanswered}, responses 5xx ${troubles.serverErrors}`);
  if (died.problem !== undefined) print(died.problem);
  print(
    `kills ${died.kills}, acknowledged ${acknowledged.length}, webhook events ${receiver.received.length}, differences ${findings.length}`,
  );
  process.exitCode = findings.length > 0 || died.problem !== undefined ? 1 : 0;
} finally {
  await stage.close();
}
