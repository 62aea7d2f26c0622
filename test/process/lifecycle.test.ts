// The program starts, stops and is killed, with its private PostgreSQL.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { codeOf } from '../../src/error-code.ts';
import { freePort } from '../../tools/free-port.ts';
import { stopServer } from '../../tools/temporary-folders.ts';
import { temporaryFolder } from '../support/database/test-cluster.ts';
import { createTestDatabase } from '../support/database/test-database.ts';
import { waitMs } from '../../tools/tests/waits.ts';
import { eventually, mandate, programOfSources, request, startServer } from '../support/processes/program.ts';

const order = {
  shopID: 'TEST',
  dueDate: '2030-01-01T00:00:00Z',
  amount: 100,
  currency: 'RUB',
  product: 'Order',
};

function dataFolder(name = 'data'): string {
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  mkdirSync(join(folder, name), { recursive: true, mode: 0o755 });
  return join(folder, name);
}

const used = temporaryFolder();
afterAll(used.remove);
const usedData = join(used.folder, 'data');
mkdirSync(usedData, { mode: 0o755 });
/** Of a sandbox that ran before, because to create PostgreSQL takes half of a test's time. Each test leaves it stopped, also when it fails. */
function usedFolder(): string {
  // Runs last: the programs, which would start PostgreSQL again, are killed before.
  onTestFinished(() => void stopServer(postmasterFile(usedData)));
  return usedData;
}

const factsOf = async (data: string) => {
  const { code, output } = await mandate(['sandbox', '--json'], { MANDATE_DATA: data });
  expect(code).toBe(0);
  return JSON.parse(output) as { apiUrl: string; apiKey: string; shopID: string; docsUrl: string };
};

describe('the sandbox', () => {
  test('starts in an empty folder, keeps its data over restarts, and leaves nothing running', async () => {
    const data = dataFolder("a sandbox's data, with spaces");
    const first = await startServer({ MANDATE_DATA: data, PUBLC_URL: 'x' }, { file: programOfSources });
    expect(first.output()).toContain(
      '"name":"PUBLC_URL","nearest":"PUBLIC_URL","msg":"unknown setting ignored; run \\"mandate config\\" to see all settings"',
    );
    const facts = await factsOf(data);
    expect(facts).toMatchObject({
      url: first.url,
      apiUrl: first.url,
      shopID: 'TEST',
      docsUrl: `${first.url}/docs`,
    });
    const only = await mandate(['sandbox', 'url'], { MANDATE_DATA: data });
    expect(only).toMatchObject({ code: 0, output: `${first.url}\n` });
    expect(first.output()).toContain(facts.apiKey);
    expect(first.output()).toContain(`${first.url}/demo`);
    expect(first.output()).toContain(`export MANDATE_DATA='${data.replace("'", `'\\''`)}'`);
    const bought = await request('POST', `${first.url}/demo/orders/once`, {
      token: '',
    });
    expect(bought.body).toMatchObject({
      status: 201,
      answer: { invoice: { shopID: 'TEST', status: 'unpaid' } },
    });
    for (const file of ['sandbox.json', 'sandbox.key'])
      expect(statSync(join(data, file)).mode & 0o777).toBe(0o600);
    expect(statSync(join(data, 'master.key')).mode & 0o777).toBe(0o600);

    const created = await request('POST', `${first.url}/v2/processing/invoices`, {
      token: facts.apiKey,
      body: order,
    });
    expect(created.status).toBe(201);
    const postmaster = postmasterOf(data);
    expect(await first.stop()).toBe(0);
    await expectToEnd(postmaster);
    expect(existsSync(postmasterFile(data))).toBe(false);
    const stopped = await mandate(['sandbox'], { MANDATE_DATA: data });
    expect(stopped).toMatchObject({ code: 1, errors: expect.stringContaining('No sandbox runs in') });

    const second = await startServer({ MANDATE_DATA: data });
    expect((await factsOf(data)).apiKey).toBe(facts.apiKey);
    const url = `${second.url}/v2/processing/invoices/${created.body.invoice.id}`;
    const token = created.body.invoiceAccessToken.payload;
    expect((await request('GET', url, { token })).body).toEqual(created.body.invoice);
    expect(await second.stop('SIGINT')).toBe(0);
  });

  test('continues after a kill, and uses and stops its orphaned PostgreSQL', async () => {
    const data = usedFolder();
    const first = await startServer({ MANDATE_DATA: data });
    const { apiKey } = await factsOf(data);
    await first.stop('SIGKILL');
    const orphan = postmasterOf(data);
    expect(isRunning(orphan)).toBe(true);
    const sessions = await sessionsIn(data);

    const second = await startServer({ MANDATE_DATA: data });
    expect(postmasterOf(data)).toBe(orphan);
    expect(await factsOf(data)).toMatchObject({ url: second.url, apiKey });
    expect((await request('GET', `${second.url}/v2/processing/me`, { token: apiKey })).status).toBe(200);
    // The killed program counts as present until its sessions on the server have ended.
    const ofKilled = async () => (await sessionsIn(data)).filter((pid) => sessions.includes(pid));
    await expect.poll(ofKilled).toEqual([]);
    expect(await second.stop()).toBe(0);
    await expectToEnd(orphan);
  });

  test('restarts its PostgreSQL after a kill', async () => {
    const data = usedFolder();
    const server = await startServer({ MANDATE_DATA: data });
    const { apiKey } = await factsOf(data);
    process.kill(postmasterOf(data), 'SIGKILL');
    const answer = await eventually(
      async () => {
        const me = await request('GET', `${server.url}/v2/processing/me`, { token: apiKey });
        return me.status === 200 ? me : undefined;
      },
      waitMs,
      'the service responds again',
    );
    expect(answer.body.id).toBe('SANDBOX');
    expect(await server.stop()).toBe(0);
  });

  test('deletes what a crash has left of security codes before it listens', async () => {
    const { url, drop } = await createTestDatabase();
    onTestFinished(drop);
    const holder = new pg.Client(url);
    await holder.connect();
    onTestFinished(() => holder.end());
    await holder.query("insert into security_code_key (half_hour, wrapped) values (1, 'of long ago')");
    await holder.query('begin; lock table security_code_key in share mode');
    const port = await freePort();
    const environment = { MANDATE_DATA: dataFolder(), DATABASE_URL: url, PORT: String(port) };
    const started = startServer(environment);
    const waiting = "select pid from pg_locks where relation = 'security_code_key'::regclass and not granted";
    await eventually(
      async () => (await holder.query(waiting)).rows[0] as object | undefined,
      waitMs,
      'the start deletes old keys',
    );
    await expect(fetch(`http://127.0.0.1:${port}/health/live`)).rejects.toThrow('fetch failed');
    await holder.query('commit');
    const server = await started;
    expect((await holder.query('select from security_code_key where half_hour = 1')).rows).toEqual([]);
    expect(await server.stop()).toBe(0);
  });

  test('keeps its facts while another node runs, and leaves the file to that one', async () => {
    const data = usedFolder();
    const stored = () => readFileSync(join(data, 'sandbox.json'), 'utf8');
    const urlIn = (text: string) => (JSON.parse(text) as { apiUrl: string }).apiUrl;
    const first = await startServer({ MANDATE_DATA: data });
    const alone = stored();
    const second = await startServer({ MANDATE_DATA: data });
    expect(JSON.parse(stored())).toMatchObject(JSON.parse(alone));
    expect(await factsOf(data)).toMatchObject({ url: first.url, docsUrl: `${first.url}/docs` });
    expect(first.output()).toContain('export URL=$(npx mandate sandbox url)');
    expect(second.output()).toContain(`export URL=${second.url} KEY=mandate_`);

    const third = await startServer({ MANDATE_DATA: data });
    expect(await third.stop()).toBe(0);
    expect(urlIn(stored())).toBe(first.url);
    expect(await first.stop()).toBe(0);
    expect(urlIn(stored())).toBe(second.url);
    expect(await factsOf(data)).not.toHaveProperty('pid');
    expect(await second.stop()).toBe(0);
    expect(existsSync(join(data, 'sandbox.json'))).toBe(false);
  });

  test('names the node that runs after another was killed', async () => {
    const data = usedFolder();
    const first = await startServer({ MANDATE_DATA: data });
    const second = await startServer({ MANDATE_DATA: data });
    await first.stop('SIGKILL');
    expect((await factsOf(data)).apiUrl).toBe(second.url);
    expect(await second.stop()).toBe(0);
  });

  test('serves while commands run, and refuses a revoked key', async () => {
    const data = usedFolder();
    const server = await startServer({ MANDATE_DATA: data });
    const environment = { MANDATE_DATA: data };
    const created = await mandate(
      ['keys', 'create', '--party', 'SANDBOX', '--name', 'second', '--scopes', 'shops:read'],
      environment,
    );
    const key = created.output.trim();
    const me = `${server.url}/v2/processing/me`;
    expect((await request('GET', me, { token: key })).status).toBe(200);
    expect(
      (await request('POST', `${server.url}/v2/processing/invoices`, { token: key, body: order })).status,
    ).toBe(401);

    const list = JSON.parse(
      (await mandate(['keys', 'list', '--party', 'SANDBOX', '--json'], environment)).output,
    );
    const { keyId, mode } = list.find(({ name }: { name: string }) => name === 'second');
    expect(mode).toBe('test');
    const rotated = await mandate(['keys', 'rotate', keyId, '--overlap', '1'], environment);
    expect((await request('GET', me, { token: rotated.output.trim() })).status).toBe(200);
    expect((await request('GET', me, { token: key })).status).toBe(200);

    expect((await mandate(['keys', 'revoke', keyId], environment)).code).toBe(0);
    await eventually(
      async () => ((await request('GET', me, { token: key })).status === 401 ? true : undefined),
      60_000,
      'the revoked key is refused',
    );
    expect(await server.stop()).toBe(0);
  });
});

describe('an error at the start says why and what to do:', () => {
  test('a port in use', async () => {
    const data = usedFolder();
    const squatter = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void squatter.close());
    await new Promise((resolve) => squatter.once('listening', resolve));
    const { port } = squatter.address() as { port: number };
    const { code, errors } = await mandate(['serve'], { MANDATE_DATA: data, PORT: String(port) });
    expect(code).toBe(1);
    expect(errors).toContain(`Port ${port} is in use`);
    expect(existsSync(postmasterFile(data))).toBe(false);
  });

  test('all wrong settings, and misspelt names', async () => {
    const { code, errors } = await mandate(['serve'], {
      MANDATE_MODE: 'live',
      PORT: 'http',
      MANDATE_MASTER_KEY: 'short',
      TRUSTED_PROXIES: 'all',
      DATABSE_URL: 'postgres://db.internal/mandate',
    });
    expect(code).toBe(1);
    for (const name of ['PORT', 'MANDATE_MASTER_KEY', 'DATABASE_URL', 'TRUSTED_PROXIES'])
      expect(errors).toContain(name);
    expect(errors).toContain('Did you mean DATABASE_URL?');
    expect(errors).not.toContain('    at ');
  });

  test('a command without a database', async () => {
    const data = dataFolder();
    const { code, output, errors } = await mandate(['jobs', 'stuck'], { MANDATE_DATA: data });
    expect({ code, output }).toEqual({ code: 2, output: '' });
    expect(errors).toContain(`No database in ${data}. Set DATABASE_URL`);
    expect(errors).not.toContain('try again');
    expect(readdirSync(data)).toEqual([]);
    // The first start leaves it so for some seconds.
    mkdirSync(join(data, 'pg'));
    const meanwhile = await mandate(['jobs', 'stuck'], { MANDATE_DATA: data });
    expect(meanwhile.code).toBe(2);
    expect(meanwhile.errors).toContain('If another process is creating one there, try again in a moment');
  });

  test('a sandbox never started', async () => {
    const { code, errors } = await mandate(['sandbox'], { MANDATE_DATA: dataFolder() });
    expect(code).toBe(1);
    expect(errors).toContain('npm start');
  });
});

/** The lock file is removed when the program ends; the process may take longer. */
function expectToEnd(pid: number): Promise<true> {
  return eventually(() => Promise.resolve(isRunning(pid) ? undefined : true), 60_000, `process ${pid} ends`);
}

const postmasterFile = (data: string) => join(data, 'pg/data/postmaster.pid');

function postmasterOf(data: string): number {
  return Number(readFileSync(postmasterFile(data), 'utf8').split('\n')[0]);
}

/** The processes of the server that have a client, or had one a moment ago. */
async function sessionsIn(data: string): Promise<number[]> {
  const [, , , port, host] = readFileSync(postmasterFile(data), 'utf8').split('\n');
  const client = new pg.Client({
    host: host || '127.0.0.1',
    port: Number(port),
    user: 'mandate',
    password: readFileSync(join(data, 'pg/password'), 'utf8').trim(),
    database: 'mandate',
  });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>(
      'select pid from pg_stat_activity where datid is not null and pid <> pg_backend_pid()',
    );
    return rows.map(({ pid }) => pid);
  } finally {
    await client.end();
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A killed orphan may remain as a zombie.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    // It may end before its file is opened, or before it is read.
    if (['ENOENT', 'EPERM', 'ESRCH'].includes(codeOf(error))) return false;
    throw error;
  }
}
