// One node of several processes.
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/database/test-cluster.ts';
import { createTestDatabase } from '../support/database/test-database.ts';
import {
  eventually,
  mandate,
  request,
  sandboxKey,
  startServer,
  type Server,
} from '../support/processes/program.ts';

const masterKey = 'xIRmjtfwL9GGfTQrmVrYsTugHVIGYTJIdyaakdofOPk=';
const invoice = {
  shopID: 'TEST',
  dueDate: '2049-01-20T10:00:00Z',
  amount: 100,
  currency: 'RUB',
  product: 'Tea',
};
/** Of one worker after the other. */
const pidsOf = (server: Server) =>
  [...server.output().matchAll(/"pid":(\d+),"msg":"worker serves"/g)].map(([, pid]) => Number(pid));
const longestMs = 60_000;
const untilServing = (server: Server, count: number) =>
  eventually(
    async () => (pidsOf(server).length >= count ? pidsOf(server) : undefined),
    longestMs,
    `${count} workers have served`,
  );
const untilLogged = (server: Server, what: string, times = 1) =>
  eventually(
    async () => server.output().split(`"msg":"${what}"`).length > times || undefined,
    longestMs,
    `${what}, ${times} times`,
  );

async function nodeOnTestDatabase(settings: Record<string, string>) {
  const testDatabase = await createTestDatabase('empty');
  onTestFinished(() => testDatabase.drop());
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const environment = {
    MANDATE_DATA: folder,
    DATABASE_URL: testDatabase.url,
    MANDATE_MASTER_KEY: masterKey,
    ...settings,
  };
  const server = await startServer(environment);
  onTestFinished(async () => void (await server.stop('SIGKILL')));
  return { server, token: sandboxKey(environment) };
}

test('two workers answer on one port, and the one that is killed is replaced', async () => {
  const { server, token } = await nodeOnTestDatabase({ WORKERS: '2', DATABASE_CONNECTIONS: '10' });
  const [first = 0, second = 0] = pidsOf(server);
  expect(new Set([server.pid, first, second]).size).toBe(3);
  const create = async () => {
    const { status } = await request('POST', `${server.url}/v2/processing/invoices`, {
      token,
      body: invoice,
    });
    expect(status).toBe(201);
  };
  const ready = async () => (await fetch(`${server.url}/health/ready`)).status;
  expect(await ready()).toBe(200);
  for (let made = 0; made < 6; made++) await create();
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  const counted = /mandate_request_duration_seconds_count\{operation="createInvoice",status="201"\} (\d+)/;
  expect(counted.exec(metrics)?.[1]).toBe('6');

  process.kill(first, 'SIGKILL');
  await untilLogged(server, 'worker ended');
  await create();
  const [, , third = 0] = await untilServing(server, 3);
  process.kill(second, 'SIGKILL');
  await untilLogged(server, 'worker ended', 2);
  await create();
  expect(third).not.toBe(first);
  await untilServing(server, 4);

  // One after the other, by others that serve before.
  process.kill(server.pid, 'SIGUSR2');
  await untilServing(server, 6);
  await untilLogged(server, 'workers restarted');
  await create();
  expect(await server.stop()).toBe(0);
  expect(server.output().match(/"msg":"stopped"/g)).toHaveLength(4);
});

test('workers share the private PostgreSQL of a sandbox, and the last one stops it', async () => {
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const environment = { MANDATE_DATA: folder, WORKERS: '2' };
  const server = await startServer(environment);
  onTestFinished(async () => void (await server.stop('SIGKILL')));
  const token = sandboxKey(environment);
  const { status } = await request('POST', `${server.url}/v2/processing/invoices`, { token, body: invoice });
  expect(status).toBe(201);
  expect(server.output().match(/Mandate is ready/g)).toHaveLength(1);
  expect(await server.stop('SIGINT')).toBe(0);
  expect(server.output().match(/"msg":"stopped"/g)).toHaveLength(2);
});

test('ends with the code of its workers when none is left', async () => {
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const environment = { MANDATE_DATA: folder, WORKERS: '2', DATABASE_URL: 'postgresql://127.0.0.1:1/none' };
  await expect(startServer(environment)).rejects.toThrow(/worker ended/);
  expect((await mandate(['serve'], environment)).code).toBe(1);
});

test('SIGUSR2 does not end a process without workers', async () => {
  const { server } = await nodeOnTestDatabase({ WORKERS: '1' });
  process.kill(server.pid, 'SIGUSR2');
  await untilLogged(server, 'SIGUSR2 ignored: this process has no workers to restart');
  expect(await server.stop()).toBe(0);
});
