// When the service cannot do what a request asks: too slow for the caller, without its database, or too many requests.
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import pg from 'pg';
import { randomText } from '../../../src/ids.ts';
import { withoutDatabase } from '../../support/database/database-away.ts';
import { invoicesUrl, makeInvoice, order } from '../../support/worlds/invoices.ts';
import {
  startTestService,
  type Answer,
  type Merchant,
  type TestService,
} from '../../support/service/test-service.ts';
import { whenTimeIsUp } from '../../support/service/time-limit.ts';

const bound = { interval: 20, timeout: 30_000 };
let service: TestService;

let releases: (() => Promise<void>)[] = [];

afterEach(async () => {
  const held = releases;
  releases = [];
  for (const release of held) await release();
  await service.close();
});

async function start(environment: Record<string, string> = {}): Promise<Merchant> {
  service = await startTestService(environment);
  return service.createMerchant();
}

function expectEmpty(answer: Answer, status: number): void {
  expect(answer).toMatchObject({ status, text: '' });
  expect(answer.headers).not.toHaveProperty('content-type');
  expectUsualHeaders(answer);
}

function expectUsualHeaders({ headers }: Answer): void {
  expect(headers).toMatchObject({
    'x-request-id': 'test',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'access-control-allow-origin': '*',
  });
}

/** Occupies a lock or connections until it is released. */
async function hold(
  take: (client: pg.ClientBase) => Promise<unknown>,
  connections = 1,
): Promise<() => Promise<void>> {
  let letGo = () => {};
  const released = new Promise<void>((resolve) => (letGo = resolve));
  const holders: Promise<void>[] = [];
  const taken = Array.from(
    { length: connections },
    () =>
      new Promise<void>((resolve, reject) => {
        const holder = service.database.withClient(async (client) => {
          await take(client);
          // However long the test takes, the server does not end it.
          await client.query('set local idle_in_transaction_session_timeout = 0');
          resolve();
          await released;
          await client.query('rollback');
        });
        holder.catch(reject);
        holders.push(holder);
      }),
  );
  await Promise.all(taken);
  const release = async () => {
    letGo();
    await Promise.all(holders);
  };
  releases.push(release);
  return release;
}

const lockInvoice = (id: string) =>
  hold(async (client) => {
    await client.query('begin');
    await client.query('select from invoice where invoice_id = $1 for update', [id]);
  });

/** Longer than a busy machine takes to begin the work. */
const longMs = 59_000;
const long = { 'x-request-deadline': `${longMs}ms` };

/** The deadline passes as soon as so many requests wait for a lock: a short one could pass before the work begins. */
function overdue(work: () => Promise<Answer>, requests = 1): Promise<Answer> {
  const isWaiting = () =>
    service.database.withClient(async (client) => {
      const { rows } = await client.query(
        `select count(*)::int as count from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows[0].count >= requests;
    });
  return whenTimeIsUp(longMs, isWaiting, work);
}

describe('a deadline that passes', () => {
  test('gets an empty 504 in time', async () => {
    const { apiKey: token } = await start();
    const { id } = await makeInvoice(service, { apiKey: token, partyId: '' });
    const release = await lockInvoice(id);
    const begun = performance.now();
    const late = await service.call('POST', `${invoicesUrl}/${id}/rescind`, {
      token,
      body: { reason: 'late' },
      headers: { 'x-request-deadline': '200ms' },
    });
    const tookMs = performance.now() - begun;
    expectEmpty(late, 504);
    expect(tookMs).toBeGreaterThan(190);
    expect(tookMs).toBeLessThan(20_000);
    await release();
  });

  test('does not stop the work, which may still complete', async () => {
    const { apiKey: token } = await start();
    const { id } = await makeInvoice(service, { apiKey: token, partyId: '' });
    const release = await lockInvoice(id);
    const body = { reason: 'late' };
    const rescind = () =>
      service.call('POST', `${invoicesUrl}/${id}/rescind`, { token, body, headers: long });
    expectEmpty(await overdue(rescind), 504);
    await release();
    const read = () => service.call('GET', `${invoicesUrl}/${id}`, { token }).then(({ body }) => body);
    await expect.poll(read, bound).toMatchObject({ status: 'cancelled', reason: 'late' });
  });

  test('works the same as a point in time', async () => {
    const { apiKey: token } = await start();
    const { id } = await makeInvoice(service, { apiKey: token, partyId: '' });
    const release = await lockInvoice(id);
    const late = await service.call('POST', `${invoicesUrl}/${id}/rescind`, {
      token,
      body: { reason: 'late' },
      // The tests' clock stands still at .123.
      headers: { 'x-request-deadline': '2026-01-19T10:00:00.323Z' },
    });
    expectEmpty(late, 504);
    await release();
  });

  test('lets a repeat with the same Idempotency-Key get the response', async () => {
    const { apiKey: token } = await start();
    const { id } = await makeInvoice(service, { apiKey: token, partyId: '' });
    const release = await lockInvoice(id);
    const rescind = (headers: Record<string, string>) =>
      service.call('POST', `${invoicesUrl}/${id}/rescind`, {
        token,
        body: { reason: 'late' },
        headers: { 'idempotency-key': 'k', ...headers },
      });
    expectEmpty(await overdue(() => rescind(long)), 504);
    // The first request still runs: a repeat waits for it, at most until its own deadline.
    expectEmpty(await overdue(() => rescind(long), 2), 504);
    const waiting = rescind({});
    await release();
    expect(await waiting).toMatchObject({ status: 204, headers: { 'idempotent-replayed': 'true' } });
    expect(await rescind({})).toMatchObject({ status: 204, headers: { 'idempotent-replayed': 'true' } });
    const events = await service.call('GET', `${invoicesUrl}/${id}/events?limit=9`, { token });
    expect(events.body).toHaveLength(2);
  });

  test('is logged when the work that continued then fails', async () => {
    const merchant = await start();
    const { id } = await makeInvoice(service, merchant);
    await service.testDatabase.database.withClient((client) =>
      client.query(`alter table event add constraint nothing_more check (aggregate_id <> '${id}') not valid`),
    );
    const release = await lockInvoice(id);
    const rescind = () =>
      service.call('POST', `${invoicesUrl}/${id}/rescind`, {
        token: merchant.apiKey,
        body: { reason: 'late' },
        headers: long,
      });
    expectEmpty(await overdue(rescind), 504);
    await release();
    const errors = () => service.logged.filter((line) => line.includes('"level":"error"'));
    await expect
      .poll(errors, bound)
      .toEqual([expect.stringMatching(/nothing_more.*"operation":"rescindInvoice","requestId":"test"/s)]);
  });

  test.each(['that the service has cached', 'that the service must look up'])(
    'holds also when no connection is free for the work, for a caller %s',
    async (caller) => {
      const merchant = await start();
      const { id } = await makeInvoice(service, merchant);
      const key = { partyId: merchant.partyId, name: 'cold', scopes: ['invoices:read'] };
      const token = caller.endsWith('remembers') ? merchant.apiKey : await service.apiKeys.create(key);
      // All but the two for lookups.
      const release = await hold((client) => client.query('begin'), 8);
      const begun = performance.now();
      const late = await service.call('GET', `${invoicesUrl}/${id}`, {
        token,
        headers: { 'x-request-deadline': '200ms' },
      });
      expect(performance.now() - begun).toBeLessThan(20_000);
      expectEmpty(late, 504);
      await release();
      expect((await service.call('GET', `${invoicesUrl}/${id}`, { token })).status).toBe(200);
    },
  );
});

describe('without its database the service', () => {
  test('responds with an empty 503 and Retry-After, and recovers with the database', async () => {
    const merchant = await start();
    const { apiKey: token } = merchant;
    const made = await makeInvoice(service, merchant);
    const runJobs = async () => {
      service.jobs.wake();
      await service.jobs.whenIdle();
    };
    const requests = {
      create: () =>
        service.call('POST', invoicesUrl, { token, body: { ...order, externalID: 'in between' } }),
      read: () => service.call('GET', `${invoicesUrl}/${made.id}`, { token }),
      'read with its token': () => service.call('GET', `${invoicesUrl}/${made.id}`, { token: made.token }),
      'create with a key': () =>
        service.call('POST', invoicesUrl, { token, body: order, headers: { 'idempotency-key': 'k' } }),
    };
    await withoutDatabase(service, async () => {
      for (const [what, request] of Object.entries(requests)) {
        const answer = await request();
        expect({ what, status: answer.status }).toEqual({ what, status: 503 });
        expectEmpty(answer, 503);
        expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      }
      // An invalid token gets 401, or 503 if that cannot be known now, and never 500.
      const stranger = await service.call('GET', '/v2/processing/me', { token: 'garbage' });
      expectEmpty(stranger, 401);
      expect((await service.call('GET', '/health/live')).status).toBe(200);
      expect((await service.call('GET', '/health/ready')).status).toBe(503);
      for (let poll = 0; poll < 3; poll++) await runJobs();
    });
    await runJobs();
    const lines = service.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.flatMap(({ level, msg }) => (level === 'warn' ? [msg] : []))).toEqual([
      'database away',
      'database back',
    ]);
    expect(await requests.create()).toMatchObject({ status: 201 });
    expect(await requests.read()).toMatchObject({ status: 200 });
    expect(await requests['create with a key']()).toMatchObject({ status: 201 });
    expect((await service.call('GET', '/health/ready')).status).toBe(200);
    const { rows } = await service.database.withClient((client) =>
      client.query('select count(*)::int as count from invoice'),
    );
    expect(rows).toEqual([{ count: 3 }]);
  });

  test('on a read-only standby is not ready and responds to writes with 503 until another server replaces it', async () => {
    const { apiKey: token } = await start();
    const create = () => service.call('POST', invoicesUrl, { token, body: order });
    const { rows } = await service.database.withClient((own) =>
      own.query('select current_database() as name'),
    );
    const operator = new pg.Client(inject('cluster'));
    await operator.connect();
    onTestFinished(() => operator.end());
    await operator.query(`alter database ${rows[0].name} set default_transaction_read_only = on`);
    // So that the connections are new ones.
    await withoutDatabase(service, () => Promise.resolve());
    const ready = await service.call('GET', '/health/ready');
    expect(ready).toMatchObject({ status: 503, body: { notReady: [expect.stringContaining('read-only')] } });
    const logged = service.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(logged).toContainEqual(
      expect.objectContaining({ level: 'info', operation: 'health', status: 503 }),
    );
    expectEmpty(await create(), 503);

    await operator.query(`alter database ${rows[0].name} reset default_transaction_read_only`);
    await expect.poll(create, bound).toMatchObject({ status: 201 });
  });

  const fatal = (code: string, message: string) =>
    Object.assign(new Error(message), { code, severity: 'FATAL' });
  const pooler = (message: string) => fatal('08P01', message);

  /** The connection fails where that statement is sent, after it was done if the server did it. */
  function failAt(name: string, error: Error, isDone = false): void {
    const query = pg.Client.prototype.query;
    vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
      this: pg.Client,
      ...parameters: any[]
    ) {
      const [first] = parameters;
      const send = () => (query as any).apply(this, parameters);
      if (name !== (typeof first === 'string' ? first : first.name)) return send();
      return isDone ? send().then(() => Promise.reject(error)) : Promise.reject(error);
    });
    onTestFinished(() => void vi.restoreAllMocks());
  }

  test.each([
    ['a pooler without a server', pooler('query_wait_timeout')],
    ['a server that starts', fatal('57P03', 'the database system is starting up')],
    ['a server without a free connection', fatal('53300', 'sorry, too many clients already')],
    ['a server that stops', fatal('57P01', 'terminating connection due to administrator command')],
  ])('responds to every request with 503 in front of %s', async (_, error) => {
    const merchant = await start();
    const { id } = await makeInvoice(service, merchant);
    const { apiKey: token } = merchant;
    const create = (headers = {}) => service.call('POST', invoicesUrl, { token, body: order, headers });
    for (const [statement, request] of [
      ['insert_invoice', () => create()],
      ['insert_invoice', () => create({ 'idempotency-key': 'k' })],
      ['commit', () => create({ 'idempotency-key': 'k' })],
      ['read_invoice_of_party', () => service.call('GET', `${invoicesUrl}/${id}`, { token })],
    ] as const) {
      failAt(statement, error);
      const answer = await request();
      vi.restoreAllMocks();
      expect({ statement, status: answer.status }).toEqual({ statement, status: 503 });
      expectEmpty(answer, 503);
      expect(answer.headers['retry-after']).toBe('1');
    }
    const created = await create({ 'idempotency-key': 'k' });
    expect(created).toMatchObject({ status: 201 });
    expect(created.headers).not.toHaveProperty('idempotent-replayed');
  });

  test('responds with 500 where a lost connection leaves a commit in doubt, and with 503 where it cannot', async () => {
    const merchant = await start();
    const { id } = await makeInvoice(service, merchant);
    const { apiKey: token } = merchant;
    const lost = pooler('server conn crashed?');
    const create = (headers = {}) => service.call('POST', invoicesUrl, { token, body: order, headers });
    const withKey = () => create({ 'idempotency-key': 'k' });
    const failed = async (statement: string, isDone: boolean, request: () => Promise<Answer>) => {
      failAt(statement, lost, isDone);
      const { status } = await request();
      vi.restoreAllMocks();
      return status;
    };
    expect(
      await failed('read_invoice_of_party', true, () =>
        service.call('GET', `${invoicesUrl}/${id}`, { token }),
      ),
    ).toBe(503);
    expect(await failed('insert_invoice', true, withKey), 'before the commit').toBe(503);
    expect(await failed('insert_invoice', true, create), 'a statement that commits').toBe(500);
    expect(await failed('commit', true, withKey)).toBe(500);
    // It had been done, and the key finds it.
    expect(await withKey()).toMatchObject({ status: 201, headers: { 'idempotent-replayed': 'true' } });
    const { rows } = await service.database.withClient((client) =>
      client.query('select count(*)::int as count from invoice'),
    );
    expect(rows).toEqual([{ count: 3 }]);
  });

  test('responds to an unexpected fault with an empty 500', async () => {
    const merchant = await start();
    const { id } = await makeInvoice(service, merchant);
    await service.testDatabase.database.withClient((client) =>
      client.query('alter table event rename to elsewhere'),
    );
    const answer = await service.call('GET', `${invoicesUrl}/${id}/events?limit=1`, {
      token: merchant.apiKey,
    });
    expectEmpty(answer, 500);
    expect(JSON.stringify(answer.headers)).not.toMatch(/elsewhere|relation|select/);
    expect(service.logged.filter((line) => line.includes('request failed'))).toHaveLength(1);
  });
});

describe('too many requests', () => {
  /** Of `performance.now`, which stands still until a test moves it: the limits allow more with time. */
  let nowMs: number;
  beforeEach(() => {
    nowMs = performance.now();
    const now = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    return () => now.mockRestore();
  });

  function expectTooMany(answer: Answer): void {
    const { status, body, headers } = answer;
    expect({ status, body }).toEqual({
      status: 429,
      body: { message: 'Too many requests. Wait for the seconds in Retry-After.' },
    });
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(String(headers['retry-after'])).toMatch(/^[1-9]\d*$/);
    expectUsualHeaders(answer);
  }
  const me = (token?: string) =>
    service.call('GET', '/v2/processing/me', token === undefined ? {} : { token });

  test('with one key are refused above the burst, and allowed again after Retry-After', async () => {
    const merchant = await start({ REQUESTS_PER_SECOND: '1' });
    const answers = await Promise.all(Array.from({ length: 10 }, () => me(merchant.apiKey)));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(answers.length - refused.length).toBe(2);
    refused.forEach(expectTooMany);
    expect(refused[0]?.headers['retry-after']).toBe('1');
    nowMs += 1_000;
    expect((await me(merchant.apiKey)).status).toBe(200);
  });

  test('of one caller do not affect other callers', async () => {
    const merchant = await start({ REQUESTS_PER_SECOND: '1' });
    const other = await service.createMerchant();
    const { id, token } = await makeInvoice(service, merchant);
    const answers = await Promise.all(Array.from({ length: 5 }, () => me(merchant.apiKey)));
    expect(answers.some(({ status }) => status === 429)).toBe(true);
    expect((await me(other.apiKey)).status).toBe(200);
    const read = () => service.call('GET', `${invoicesUrl}/${id}`, { token });
    const reads = await Promise.all(Array.from({ length: 5 }, read));
    expect(reads.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429, 429]);
  });

  test('with bodies that cannot be used are refused unread, and only those of their caller', async () => {
    const merchant = await start({ REQUESTS_PER_SECOND: '2000' });
    const other = await service.createMerchant();
    const junk = JSON.stringify({ ...order, cart: Array.from({ length: 100_000 }, () => 1) });
    const send = (token: string, body: unknown) => service.call('POST', invoicesUrl, { token, body });
    for (let times = 0; times < 6; times++)
      expect((await send(merchant.apiKey, junk)).body.message).toMatch(/cart, error type: wrong_size/);
    const refused = await send(merchant.apiKey, order);
    expectTooMany(refused);
    expect((await send(other.apiKey, order)).status).toBe(201);
    nowMs += 1_000 * Number(refused.headers['retry-after']);
    expect((await send(merchant.apiKey, order)).status).toBe(201);
  });

  test('with much that nothing declares count as such, though they are accepted', async () => {
    const merchant = await start({ REQUESTS_PER_SECOND: '2000' });
    const ignored = (names: number) =>
      Object.fromEntries(Array.from({ length: names }, (_, nth) => [`name${nth}`, nth]));
    const send = (body: object) =>
      service.call('POST', invoicesUrl, { token: merchant.apiKey, body: { ...order, ...body } });
    const sent = async (times: number, names: number) => {
      const answers = await Promise.all(Array.from({ length: times }, () => send(ignored(names))));
      return new Set(answers.map(({ status }) => status));
    };
    expect(await sent(70, 1_100)).toEqual(new Set([201]));
    expect(await sent(6, 12_000)).toEqual(new Set([201]));
    expectTooMany(await send({}));
  });

  test('with a large body of an operation that takes none count as such too', async () => {
    const merchant = await start({ REQUESTS_PER_SECOND: '2000' });
    const { id } = await makeInvoice(service, merchant);
    const body = { ignored: 'x'.repeat(200_000) };
    const send = () =>
      service.call('POST', `${invoicesUrl}/${id}/access-tokens`, { token: merchant.apiKey, body });
    for (let times = 0; times < 6; times++) expect((await send()).status).toBe(201);
    expectTooMany(await send());
  });

  test('with one access token are refused above 20 a second', async () => {
    const merchant = await start({ REQUESTS_PER_SECOND: '2000' });
    const { id, token } = await makeInvoice(service, merchant);
    const read = () => service.call('GET', `${invoicesUrl}/${id}`, { token });
    const reads = await Promise.all(Array.from({ length: 200 }, read));
    expect(reads.filter(({ status }) => status === 200)).toHaveLength(40);
  });

  test('do nothing, and do not use up an Idempotency-Key', async () => {
    const merchant = await start({ REQUESTS_PER_SECOND: '1' });
    await Promise.all([me(merchant.apiKey), me(merchant.apiKey)]);
    const create = () =>
      service.call('POST', invoicesUrl, {
        token: merchant.apiKey,
        body: order,
        headers: { 'idempotency-key': 'k' },
      });
    expectTooMany(await create());
    nowMs += 1_000;
    const created = await create();
    expect(created.status).toBe(201);
    expect(created.headers).not.toHaveProperty('idempotent-replayed');
  });

  test('without a valid token are refused per address, and valid tokens from there are not', async () => {
    const merchant = await start({ FAILED_AUTHENTICATIONS_PER_MINUTE: '5' });
    expect((await me(merchant.apiKey)).status).toBe(200);
    const answers: Answer[] = [];
    for (const token of [undefined, '', 'x', 'mandate_test_x', 'a.b.c', 'x', 'x', 'x'])
      answers.push(await me(token));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    answers.slice(5).forEach(expectTooMany);
    expect(Number(answers[5]?.headers['retry-after'])).toBeLessThanOrEqual(12);
    expect((await me(merchant.apiKey)).status).toBe(200);
  });

  test('with made-up keys stop reaching the database above the limit', async () => {
    const merchant = await start({ FAILED_AUTHENTICATIONS_PER_MINUTE: '5' });
    const fresh = await service.createMerchant();
    const lookups = vi.spyOn(service.database.lookups, 'run');
    const invoice = await makeInvoice(service, merchant);
    lookups.mockClear();
    // All concurrently: none waits for the outcome of the others.
    const answers = await Promise.all(Array.from({ length: 100 }, () => me(madeUpKey())));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(95);
    // Five by key, and one of the IDs of all keys.
    expect(lookups).toHaveBeenCalledTimes(6);

    expect((await me(merchant.apiKey)).status, 'a key that has worked here').toBe(200);
    const { token } = invoice;
    expect((await service.call('GET', `${invoicesUrl}/${invoice.id}`, { token })).status).toBe(200);
    expect((await me(fresh.apiKey)).status, 'a good key that has not been used here since the start').toBe(
      200,
    );
    expectTooMany(await me(withAnotherSecret(fresh.apiKey)));
  });

  test('with a valid key do not count, also when the key is new to the node', async () => {
    await start({ FAILED_AUTHENTICATIONS_PER_MINUTE: '2' });
    for (let times = 0; times < 5; times++) {
      const { apiKey } = await service.createMerchant();
      expect((await me(apiKey)).status).toBe(200);
    }
    expect([(await me('x')).status, (await me('x')).status, (await me('x')).status]).toEqual([401, 401, 429]);
  });

  test('with a revoked key count like any other failure', async () => {
    const merchant = await start({ FAILED_AUTHENTICATIONS_PER_MINUTE: '2' });
    expect((await me(merchant.apiKey)).status).toBe(200);
    const [key] = await service.apiKeys.list(merchant.partyId);
    await service.apiKeys.revoke(key!.keyId);
    const statuses: number[] = [];
    for (let times = 0; times < 4; times++) statuses.push((await me(merchant.apiKey)).status);
    expect(statuses).toEqual([401, 401, 429, 429]);
  });

  test('are counted only by the address that a trusted proxy names', async () => {
    await start({ FAILED_AUTHENTICATIONS_PER_MINUTE: '2', TRUSTED_PROXIES: '127.0.0.1' });
    const from = (address: string) =>
      service.call('GET', '/v2/processing/me', { token: 'x', headers: { 'x-forwarded-for': address } });
    const statuses = async (addresses: string[]) => {
      const seen: number[] = [];
      for (const address of addresses) seen.push((await from(address)).status);
      return seen;
    };
    expect(await statuses(['10.0.0.1', '10.0.0.1', '10.0.0.1'])).toEqual([401, 401, 429]);
    expect(await statuses(['10.0.0.2', '10.0.0.3'])).toEqual([401, 401]);
    // What stands to the left of the proxy's own entry was written by the client.
    expect(await statuses(['10.9.9.9, 10.0.0.1', '10.8.8.8, 10.0.0.1'])).toEqual([429, 429]);
    // A subscriber has many IPv6 addresses, all with the same first half.
    expect(await statuses(['2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:2:a:b:c:d'])).toEqual([
      401, 401, 429,
    ]);
    expect(await statuses(['2001:db8:1:3::1', '::ffff:10.0.0.1', '::ffff:a00:1'])).toEqual([401, 429, 429]);
  });

  test('return what a valid key took, to any address of the same network', async () => {
    await start({ FAILED_AUTHENTICATIONS_PER_MINUTE: '2', TRUSTED_PROXIES: '127.0.0.1' });
    const seen: number[] = [];
    for (let host = 1; host <= 5; host++) {
      const { apiKey: token } = await service.createMerchant();
      const headers = { 'x-forwarded-for': `2001:db8:1:2::${host}` };
      seen.push((await service.call('GET', '/v2/processing/me', { token, headers })).status);
    }
    expect(seen).toEqual([200, 200, 200, 200, 200]);
  });

  test('cannot be avoided by a made-up forwarded address if no proxy is trusted', async () => {
    await start({ FAILED_AUTHENTICATIONS_PER_MINUTE: '2' });
    const statuses: number[] = [];
    for (const address of ['10.0.0.1', '10.0.0.2', '10.0.0.3', 'garbage']) {
      const headers = { 'x-forwarded-for': address };
      statuses.push((await service.call('GET', '/v2/processing/me', { token: 'x', headers })).status);
    }
    expect(statuses).toEqual([401, 401, 429, 429]);
  });
});

/** With a valid checksum, which takes only one key to know. */
function madeUpKey(): string {
  const text = `mandate_test_${randomText(12)}_${randomText(43)}`;
  return text + crc32(text).toString(16).padStart(8, '0').slice(2);
}

function withAnotherSecret(apiKey: string): string {
  const text = apiKey.slice(0, -49) + randomText(43);
  return text + crc32(text).toString(16).padStart(8, '0').slice(2);
}
