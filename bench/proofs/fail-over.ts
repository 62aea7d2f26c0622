// npm run prove:fail-over: kills the primary under load, promotes the standby, and looks for everything confirmed to a merchant.
// The standby receives nothing just before the kill, so the control without synchronous replication loses what was confirmed then.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openEnvironment } from '../harness/environment.ts';
import type { Api } from '../workloads/scenarios.ts';
import { readOptions, wholeNumber } from '../../tools/script-options.ts';

const { options } = readOptions(
  `npm run prove:fail-over -- [--asynchronous] [--seconds 6]
Proves that a fail-over to a synchronous standby loses nothing that was confirmed. It takes a minute.
It needs PostgreSQL from Debian's packages.
  --asynchronous  the control: does not wait for the standby, and shows what is lost
  --seconds N     how long clients sell before the fail-over, and again after it
Example: npm run prove:fail-over -- --asynchronous`,
  { asynchronous: { type: 'boolean', default: false }, seconds: { type: 'string', default: '6' } },
);
const loadMs = 1_000 * wholeNumber('--seconds', options.seconds);
const clients = 8;
/** How long the standby receives nothing before the primary is killed. */
const silenceMs = 1_500;

const environment = openEnvironment('fail-over');
try {
  await prove();
} finally {
  await environment.close();
}

async function prove(): Promise<void> {
  const { start, stop, sql, asPostgres } = environment;
  const primary = await environment.server('primary');
  const standby = await environment.server('standby');
  await environment.initialise(
    primary,
    options.asynchronous ? [] : ["synchronous_standby_names = 'standby'"],
  );
  await start(primary, ['-c', 'synchronous_standby_names=']);
  await sql(primary, 'create database mandate');
  const replication = await openRelay(primary.port);
  const source = `host=127.0.0.1 port=${replication.port} user=postgres application_name=standby`;
  const copying = ['-D', standby.folder, '-R', '-X', 'stream', '-c', 'fast', '-d', source];
  await asPostgres('pg_basebackup', copying);
  await start(standby);
  if (!options.asynchronous) {
    await stop(primary, 'fast');
    await start(primary);
  }

  const relay = await openRelay(primary.port);
  await environment.startBank();
  const databaseUrl = `postgres://postgres@127.0.0.1:${relay.port}/mandate`;
  const { api } = await environment.startNode(databaseUrl);

  const confirmed: Confirmed = { invoices: new Set(), payments: new Set(), captured: new Set(), errors: 0 };
  let isOver = false;
  const load = Promise.all(
    Array.from({ length: clients }, async () => {
      while (!isOver) await sell(api, confirmed).catch(() => confirmed.errors++);
    }),
  );
  await sleep(loadMs);
  replication.hold();
  await sleep(silenceMs);
  const before = confirmed.captured.size;
  const killedMs = performance.now();
  await stop(primary, 'immediate');
  replication.to(0);
  await asPostgres('pg_ctl', ['promote', '-w', '-D', standby.folder]);
  // Without this, the promoted server would wait for a standby of its own.
  await sql(standby, "alter system set synchronous_standby_names = ''; select pg_reload_conf()");
  relay.to(standby.port);
  while (confirmed.captured.size === before) await sleep(5);
  const outageMs = performance.now() - killedMs;
  await sleep(loadMs);
  isOver = true;
  await load;

  const lost = await lookFor(api, confirmed);
  const check = await environment.mandate(databaseUrl, ['ledger', 'check']);
  if (check.code !== 0) throw new Error(check.output);
  console.log(
    [
      `replication: ${options.asynchronous ? 'asynchronous' : 'synchronous'}; ${clients} clients`,
      `confirmed: ${confirmed.invoices.size} invoices, ${confirmed.payments.size} payments, ${confirmed.captured.size} captured (${before} before the kill)`,
      `failed requests while the database was unavailable: ${confirmed.errors}`,
      `from the kill to the next captured payment: ${outageMs.toFixed(0)} ms`,
      `lost of what was confirmed: ${lost.length}${lost
        .slice(0, 3)
        .map((what) => `\n  ${what}`)
        .join('')}`,
      'the ledger is in order',
    ].join('\n'),
  );
  if (lost.length > 0) process.exitCode = 1;
}

/** Invoice IDs of what the service confirmed to merchants. */
type Confirmed = {
  readonly invoices: Set<string>;
  readonly payments: Set<string>;
  readonly captured: Set<string>;
  errors: number;
};

async function sell(api: Api, confirmed: Confirmed): Promise<void> {
  const url = '/v2/processing/invoices';
  const { invoice } = await api.call('POST', url, {
    shopID: 'TEST',
    dueDate: '2030-01-20T10:00:00Z',
    amount: 6000,
    currency: 'RUB',
    product: 'Order',
  });
  confirmed.invoices.add(invoice.id);
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
  confirmed.payments.add(invoice.id);
  for (;;) {
    const { status } = await api.call('GET', `${url}/${invoice.id}/payments/1`);
    if (status === 'captured') return void confirmed.captured.add(invoice.id);
    if (status === 'failed') throw new Error(`The payment of invoice ${invoice.id} failed.`);
    await sleep(5);
  }
}

/** Returns what is missing, or no longer captured. */
async function lookFor(api: Api, confirmed: Confirmed): Promise<string[]> {
  const lost: string[] = [];
  for (const id of confirmed.invoices) {
    const url = `/v2/processing/invoices/${id}`;
    const invoice = await api.call('GET', url).catch(() => undefined);
    const payment = confirmed.payments.has(id)
      ? await api.call('GET', `${url}/payments/1`).catch(() => undefined)
      : {};
    if (!invoice) lost.push(`invoice ${id}`);
    else if (!payment) lost.push(`the payment of ${id}`);
    else if (confirmed.captured.has(id) && payment.status !== 'captured')
      lost.push(`${id} was captured and is ${payment.status}`);
  }
  return lost;
}

/** Stands for an address that moves with the primary. */
async function openRelay(firstPort: number): Promise<{ port: number; to(port: number): void; hold(): void }> {
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
  environment.onClose(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    hold() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    to(port) {
      target = port;
      for (const socket of sockets) socket.destroy();
    },
  };
}
