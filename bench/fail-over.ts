// Shows that nothing acknowledged is lost when the database's machine is: two PostgreSQL from Debian's packages with synchronous
// streaming replication, the service under load, the primary killed, the standby promoted, and then everything looked for that
// a merchant was told. `npm run prove:fail-over`, a minute; `--asynchronous` shows what the setting is for.
import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { openApi, type Api } from './scenarios.ts';

const { values: options } = parseArgs({
  options: { asynchronous: { type: 'boolean', default: false }, seconds: { type: 'string', default: '6' } },
});
const secret = 'a secret of the measurement that is long enough';
const loadMs = 1_000 * Number(options.seconds);
const clients = 8;
const repository = fileURLToPath(new URL('..', import.meta.url));
const programs = ['18', '17', '16', '15']
  .map((major) => `/usr/lib/postgresql/${major}/bin`)
  .find((folder) => existsSync(join(folder, 'pg_basebackup')));
if (!programs) throw new Error('there is no PostgreSQL of Debian: apt-get install postgresql');

const folder = mkdtempSync(join(tmpdir(), 'mandate-fail-over-'));
const endings: (() => unknown)[] = [];
try {
  await prove();
} finally {
  for (const end of endings.reverse()) await end();
  rmSync(folder, { recursive: true, force: true });
}

async function prove(): Promise<void> {
  chmodSync(folder, 0o755);
  const data = join(folder, 'postgres');
  mkdirSync(data);
  if (isRoot()) execFileSync('chown', ['postgres', data]);

  const primary = { folder: join(data, 'primary'), port: await freePort() };
  const standby = { folder: join(data, 'standby'), port: await freePort() };
  await asPostgres('initdb', [
    '-D',
    primary.folder,
    '-U',
    'postgres',
    '--auth=trust',
    '-E',
    'UTF8',
    '--locale=C',
  ]);
  appendFileSync(
    join(primary.folder, 'postgresql.conf'),
    [
      "listen_addresses = '127.0.0.1'",
      `unix_socket_directories = '${data}'`,
      ...(options.asynchronous ? [] : ["synchronous_standby_names = 'standby'"]),
      '',
    ].join('\n'),
  );
  await start(primary, ['-c', 'synchronous_standby_names=']);
  await asPostgres('createdb', ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres', 'mandate']);
  const source = `host=127.0.0.1 port=${primary.port} user=postgres application_name=standby`;
  const copying = ['-D', standby.folder, '-R', '-X', 'stream', '-c', 'fast', '-d', source];
  await asPostgres('pg_basebackup', copying);
  await start(standby);
  if (!options.asynchronous) {
    await stop(primary, 'fast');
    await start(primary);
  }

  const relay = await openRelay(primary.port);
  const bank = await run(['bank'], { MANDATE_DATA: join(folder, 'bank'), BANK_SECRET: secret });
  const environment = {
    PORT: '0',
    DATABASE_URL: `postgres://postgres@127.0.0.1:${relay.port}/mandate`,
    MANDATE_DATA: join(folder, 'node'),
    MANDATE_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    BANK_URL: bank.url,
    BANK_SECRET: secret,
    REQUESTS_PER_SECOND: '0',
    LOG_LEVEL: 'info',
  };
  const service = await run(['serve'], environment);
  const { apiKey } = JSON.parse(readFileSync(join(folder, 'node/sandbox.json'), 'utf8')) as {
    apiKey: string;
  };
  const api = openApi({ url: service.url, apiKey });
  endings.push(() => api.close());

  const told: Told = { invoices: new Set(), payments: new Set(), captured: new Set(), errors: 0 };
  let isOver = false;
  const load = Promise.all(
    Array.from({ length: clients }, async () => {
      while (!isOver) await sell(api, told).catch(() => told.errors++);
    }),
  );
  await sleep(loadMs);
  const before = told.captured.size;
  const killedMs = performance.now();
  await stop(primary, 'immediate');
  await asPostgres('pg_ctl', ['promote', '-w', '-D', standby.folder]);
  // A promoted server waits for a standby of its own only when it is told to.
  await sql(standby, "alter system set synchronous_standby_names = ''; select pg_reload_conf()");
  relay.to(standby.port);
  while (told.captured.size === before) await sleep(5);
  const outageMs = performance.now() - killedMs;
  await sleep(loadMs);
  isOver = true;
  await load;

  const lost = await lookFor(api, told);
  await promisify(execFile)(process.execPath, ['bin/mandate.js', 'ledger', 'check'], {
    cwd: repository,
    env: { ...process.env, ...environment },
  });
  console.log(
    [
      `replication: ${options.asynchronous ? 'asynchronous' : 'synchronous'}; ${clients} clients`,
      `told: ${told.invoices.size} invoices, ${told.payments.size} payments, ${told.captured.size} captured (${before} before the kill)`,
      `failed requests while the database was away: ${told.errors}`,
      `from the kill to the next captured payment: ${outageMs.toFixed(0)} ms`,
      `lost of what was told: ${lost.length}${lost
        .slice(0, 3)
        .map((what) => `\n  ${what}`)
        .join('')}`,
      'the ledger is in order',
    ].join('\n'),
  );
  if (lost.length > 0) process.exitCode = 1;
}

type Server = { readonly folder: string; readonly port: number };
/** What merchants were answered, by invoice. */
type Told = {
  readonly invoices: Set<string>;
  readonly payments: Set<string>;
  readonly captured: Set<string>;
  errors: number;
};

async function sell(api: Api, told: Told): Promise<void> {
  const url = '/v2/processing/invoices';
  const { invoice } = await api.call('POST', url, {
    shopID: 'TEST',
    dueDate: '2030-01-20T10:00:00Z',
    amount: 6000,
    currency: 'RUB',
    product: 'Order',
  });
  told.invoices.add(invoice.id);
  const { paymentToolToken, paymentSession } = await api.call('POST', '/v2/processing/payment-resources', {
    paymentTool: {
      paymentToolType: 'CardData',
      cardNumber: '4242424242424242',
      expDate: '12/30',
      cvv: '123',
    },
    clientInfo: { fingerprint: 'fail-over' },
  });
  await api.call('POST', `${url}/${invoice.id}/payments`, {
    flow: { type: 'PaymentFlowInstant' },
    payer: { payerType: 'PaymentResourcePayer', paymentToolToken, paymentSession, contactInfo: {} },
  });
  told.payments.add(invoice.id);
  for (;;) {
    const { status } = await api.call('GET', `${url}/${invoice.id}/payments/1`);
    if (status === 'captured') return void told.captured.add(invoice.id);
    if (status === 'failed') throw new Error('the payment failed');
    await sleep(5);
  }
}

/** Everything is there, and what was captured is captured. */
async function lookFor(api: Api, told: Told): Promise<string[]> {
  const lost: string[] = [];
  for (const id of told.invoices) {
    const url = `/v2/processing/invoices/${id}`;
    const invoice = await api.call('GET', url).catch(() => undefined);
    const payment = told.payments.has(id)
      ? await api.call('GET', `${url}/payments/1`).catch(() => undefined)
      : {};
    if (!invoice) lost.push(`invoice ${id}`);
    else if (!payment) lost.push(`the payment of ${id}`);
    else if (told.captured.has(id) && payment.status !== 'captured')
      lost.push(`${id} was captured and is ${payment.status}`);
  }
  return lost;
}

/** As an address that moves with the primary would do it. */
async function openRelay(firstPort: number): Promise<{ port: number; to(port: number): void }> {
  let target = firstPort;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect({ host: '127.0.0.1', port: target });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  endings.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    to(port) {
      target = port;
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function start(server: Server, more: string[] = []): Promise<void> {
  const settings = ['-p', String(server.port), ...more].join(' ');
  await asPostgres('pg_ctl', [
    'start',
    '-w',
    '-D',
    server.folder,
    '-l',
    `${server.folder}.log`,
    '-o',
    settings,
  ]);
  endings.push(() => stop(server, 'immediate').catch(() => undefined));
}

async function stop(server: Server, how: 'fast' | 'immediate'): Promise<void> {
  await asPostgres('pg_ctl', ['stop', '-w', '-m', how, '-D', server.folder]);
}

async function sql(server: Server, text: string): Promise<void> {
  const where = ['-h', '127.0.0.1', '-p', String(server.port), '-U', 'postgres'];
  for (const statement of text.split(';')) await asPostgres('psql', [...where, '-qc', statement]);
}

/** PostgreSQL refuses to run as root. */
async function asPostgres(program: string, args: string[]): Promise<void> {
  const path = join(programs ?? '', program);
  const [command, all] = isRoot()
    ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', path, ...args]]
    : [path, args];
  const child = spawn(command, all, { cwd: tmpdir(), stdio: ['ignore', 'ignore', 'pipe'] });
  let words = '';
  child.stderr.on('data', (bytes: Buffer) => (words += bytes.toString()));
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${words}`);
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function run(args: string[], environment: Record<string, string>): Promise<{ url: string }> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, ['bin/mandate.js', ...args], {
    cwd: repository,
    env: { PATH, HOME, NODE_ENV: 'production', LOG_LEVEL: 'info', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endings.push(() => end(child));
  // Its log is read to the end: a pipe nobody empties would hold it up.
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const [, found] = /"address":"([^"]+)"/.exec(line) ?? [];
      if (found) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`mandate ${args.join(' ')} ended with ${code}`)));
  });
  return { url };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
