// npm run prove:pgbouncer: shows with which settings of PgBouncer the service works.
// With each of them, clients sell and refund through it, and then the ledger is checked.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openEnvironment, type Server } from '../harness/environment.ts';
import { openMerchantClient } from '../workloads/merchant-client.ts';
import { freePort } from '../../tools/free-port.ts';
import { readOptions } from '../../tools/script-options.ts';

readOptions(
  `npm run prove:pgbouncer
Proves that the service works through PgBouncer: by session, and by transaction without prepared statements.
It takes a minute and no options. It needs PgBouncer and PostgreSQL from Debian's packages.
Example: npm run prove:pgbouncer`,
);

const program = '/usr/sbin/pgbouncer';
const clients = 8;
const roundsOfEach = 6;

if (!existsSync(program)) throw new Error(`${program} not found. Run "apt-get install pgbouncer".`);
const environment = openEnvironment('pgbouncer');
try {
  const server = await environment.server('primary');
  await environment.initialise(server, ['timezone = Asia/Tokyo']);
  await environment.start(server);
  await environment.startBank();
  for (const [mode, prepared] of [
    ['session', 'on'],
    ['transaction', 'off'],
    ['transaction', 'on'],
  ] as const) {
    const outcome = await tryOut(server, mode, prepared).catch((error: unknown) => `fails: ${String(error)}`);
    console.log(`${mode}, prepared statements ${prepared}: ${outcome}`);
    const isExpected = outcome.startsWith('fails') === (mode === 'transaction' && prepared === 'on');
    if (!isExpected) process.exitCode = 1;
  }
} finally {
  await environment.close();
}

async function tryOut(server: Server, mode: string, prepared: string): Promise<string> {
  const name = `mandate_${mode}_${prepared}`;
  await environment.sql(
    server,
    `create database ${name}; create role ${name} login; alter database ${name} owner to ${name}`,
  );
  await environment.sql(
    server,
    `alter role ${name} set timezone to 'UTC'; alter role ${name} set statement_timeout to '10s'; ` +
      `alter role ${name} set idle_in_transaction_session_timeout to '5s'`,
  );
  const port = await startPooler(server, mode, name);
  const url = `postgres://${name}@127.0.0.1:${port}/${name}`;
  const settings = { DATABASE_PREPARED_STATEMENTS: prepared };
  const { api, stop } = await environment.startNode(url, settings);
  try {
    const merchant = await openMerchantClient(api);
    let failures = 0;
    const sell = async () => {
      for (let round = 0; round < roundsOfEach; round++)
        await merchant
          .sell()
          .then((id) => merchant.refund(id))
          .catch(() => failures++);
    };
    await Promise.all(Array.from({ length: clients }, sell));
    if (failures > 0) throw new Error(`${failures} of ${clients * roundsOfEach} sales with a refund failed`);
    const check = await environment.mandate(url, ['ledger', 'check'], settings);
    if (check.code !== 0) throw new Error(check.output);
    return `works: ${merchant.confirmed.length} payments and refunds, none failed, the ledger is in order`;
  } finally {
    await stop();
  }
}

/** In transaction mode it has fewer connections than the node, so that transactions share them. */
async function startPooler(server: Server, mode: string, user: string): Promise<number> {
  const port = await freePort();
  const ini = join(environment.data, `pgbouncer-${port}.ini`);
  writeFileSync(
    ini,
    [
      '[databases]',
      `* = host=127.0.0.1 port=${server.port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${ini}.users`,
      `pool_mode = ${mode}`,
      `default_pool_size = ${mode === 'session' ? 20 : 3}`,
      'ignore_startup_parameters = options',
      '',
    ].join('\n'),
  );
  writeFileSync(`${ini}.users`, `"${user}" ""\n`);
  const child = spawn(program, ['-q', '-u', 'postgres', ini], { stdio: ['ignore', 'ignore', 'inherit'] });
  environment.onClose(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  for (;;) {
    const socket = connect({ host: '127.0.0.1', port });
    const isThere = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (isThere) return port;
    await sleep(50);
  }
}
