// Idempotency-Key: a repeated request gets the first response byte for byte, and does nothing.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { laterBy, type Instant } from '../../../src/clock.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { idempotency } from '../../../src/platform/http/idempotency.ts';
import {
  startTestService,
  type Answer,
  type Merchant,
  type TestService,
} from '../../support/service/test-service.ts';
import { invoicesUrl, makeInvoice, order } from '../../support/worlds/invoices.ts';
import { setTradingFlag } from '../../support/worlds/block-merchant.ts';

const hourMs = 3_600_000;
const bound = { interval: 20, timeout: 30_000 };

let service: TestService;
let merchant: Merchant;
let keys = 0;

beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
});
afterAll(() => service.close());

const newKey = () => `key-${++keys}`;

function post(key: string, path: string, body: unknown, by = merchant): Promise<Answer> {
  return service.call('POST', invoicesUrl + path, {
    token: by.apiKey,
    ...(body === undefined ? {} : { body }),
    headers: { 'idempotency-key': key },
  });
}
const create = (key: string, more: Record<string, unknown> = {}, by = merchant) =>
  post(key, '', { ...order, ...more }, by);

const wasReplayed = (answer: Answer) => answer.headers['idempotent-replayed'] === 'true';
const essence = ({ status, text, headers }: Answer) => ({ status, text, type: headers['content-type'] });

function expectReplay(again: Answer, first: Answer): void {
  expect(essence(again)).toEqual(essence(first));
  expect([first, again].map(wasReplayed)).toEqual([false, true]);
}

function expectReused(answer: Answer): void {
  const message = 'This Idempotency-Key was used with another request. Use a new key.';
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: 422,
    body: { code: 'idempotencyKeyReused', message },
  });
}

/** As if they had come with requests at that time. */
async function insertKeys(of: Merchant, name: string, count: number, at: Instant): Promise<void> {
  await service.database.withClient((client) =>
    client.query(
      `insert into idempotency_key (owner_id, idempotency_key, request_hash, created_at)
       select $1, $2 || number, 'x', $4 from generate_series(1, $3) as number`,
      [of.partyId, name, count, at],
    ),
  );
}

async function countKeys(of: Merchant): Promise<number> {
  const { rows } = await service.database.withClient((client) =>
    client.query('select count(*)::int as count from idempotency_key where owner_id = $1', [of.partyId]),
  );
  return rows[0].count;
}

async function countInvoices(by: Merchant): Promise<number> {
  const { rows } = await service.database.withClient((client) =>
    client.query('select count(*)::int as count from invoice where party_id = $1', [by.partyId]),
  );
  return rows[0].count;
}

describe('a repeated request', () => {
  test('gets the first response byte for byte, with the same token, and creates nothing', async () => {
    const lonely = await service.createMerchant();
    const key = newKey();
    const first = await create(key, {}, lonely);
    expect(first.status).toBe(201);
    expectReplay(await create(key, {}, lonely), first);
    expectReplay(await create(key, {}, lonely), first);
    expect(await countInvoices(lonely)).toBe(1);
    const token = first.body.invoiceAccessToken.payload;
    expect((await service.call('GET', `${invoicesUrl}/${first.body.invoice.id}`, { token })).status).toBe(
      200,
    );
  });

  test('gets the first response also when the invoice has changed since', async () => {
    const key = newKey();
    const first = await create(key);
    await post(newKey(), `/${first.body.invoice.id}/rescind`, { reason: 'x' });
    expectReplay(await create(key), first);
    expect(first.body.invoice.status).toBe('unpaid');
  });

  test('is recognised with its members in another order and other spacing', async () => {
    const key = newKey();
    const nested = { metadata: { a: { x: 1, y: [1, 2] }, b: 2 } };
    const first = await create(key, nested);
    const turned = `{ "metadata": {"b":2, "a":{"y":[1,2],"x":1}}, "product":"Order 1",\n "currency":"RUB",
      "amount":6.0e3, "dueDate":"2030-01-20T10:00:00Z", "shopID":"TEST" }`;
    expectReplay(await post(key, '', turned), first);
  });

  test('is recognised under /v1 and /v2', async () => {
    const key = newKey();
    const first = await create(key);
    const again = await service.call('POST', invoicesUrl.replace('/v2/', '/v1/'), {
      token: merchant.apiKey,
      body: order,
      headers: { 'idempotency-key': key },
    });
    expectReplay(again, first);
  });

  test('gets the first response while its shop may not trade', async () => {
    const stopped = await service.createMerchant();
    const key = newKey();
    const first = await create(key, {}, stopped);
    await setTradingFlag(service, stopped, { of: 'shop', flag: 'is_suspended' }, true);
    expectReplay(await create(key, {}, stopped), first);
    expect((await create(newKey(), {}, stopped)).body.code).toBe('invalidShopStatus');
  });

  test('without content gets an empty response again, not the refusal of a second call', async () => {
    const { id } = await makeInvoice(service, merchant);
    const key = newKey();
    const first = await post(key, `/${id}/rescind`, { reason: 'x' });
    expect(first).toMatchObject({ status: 204, text: '' });
    expectReplay(await post(key, `/${id}/rescind`, { reason: 'x' }), first);
    expect((await post(newKey(), `/${id}/rescind`, { reason: 'x' })).body.code).toBe('invalidInvoiceStatus');
  });

  test('of an operation without a body gets the same token again', async () => {
    const { id } = await makeInvoice(service, merchant);
    const key = newKey();
    const first = await post(key, `/${id}/access-tokens`, undefined);
    expect(first.status).toBe(201);
    expectReplay(await post(key, `/${id}/access-tokens`, undefined), first);
  });

  test.each<[string, (key: string) => Promise<Answer>]>([
    ['400', (key) => create(key, { shopID: 'NO_SUCH_SHOP' })],
    ['404', (key) => post(key, '/1Cg2mCUVy4m/rescind', { reason: 'x' })],
    [
      '409',
      async (key) => {
        await create(newKey(), { externalID: 'taken' });
        return create(key, { externalID: 'taken', product: 'Another' });
      },
    ],
  ])('gets the same refusal again: %s', async (status, request) => {
    const key = newKey();
    const first = await request(key);
    expect(String(first.status)).toBe(status);
    expectReplay(await request(key), first);
  });

  test('gets the refusal again also when its reason is gone', async () => {
    const stopped = await service.createMerchant();
    const key = newKey();
    await setTradingFlag(service, stopped, { of: 'shop', flag: 'is_blocked' }, true);
    const first = await create(key, {}, stopped);
    expect(first.body.code).toBe('invalidShopStatus');
    await setTradingFlag(service, stopped, { of: 'shop', flag: 'is_blocked' }, false);
    expectReplay(await create(key, {}, stopped), first);
    expect((await create(newKey(), {}, stopped)).status).toBe(201);
  });

  test('with an externalID is recognised by the key first, and by the externalID for a new key', async () => {
    const [key, externalID] = [newKey(), 'both ways'];
    const first = await create(key, { externalID });
    expectReplay(await create(key, { externalID }), first);
    const named = await create(newKey(), { externalID });
    expect(named.body.invoice).toEqual(first.body.invoice);
    expect(named.text).not.toBe(first.text);
  });
});

describe('another request with a used key is refused', () => {
  test.each<[string, Record<string, unknown>]>([
    ['another amount', { amount: 6_001 }],
    ['another description, which an externalID would ignore', { description: 'x' }],
    ['a member more', { metadata: {} }],
    ['a member the service does not know', { unheardOf: true }],
  ])('when it has %s', async (_, more) => {
    const key = newKey();
    const first = await create(key);
    expectReused(await create(key, more));
    expectReplay(await create(key), first);
  });

  test('when it has the elements of a list in another order', async () => {
    const [a, b] = [
      { product: 'A', price: 1_000 },
      { product: 'B', price: 5_000 },
    ];
    const key = newKey();
    await create(key, { cart: [a, b] });
    expectReused(await create(key, { cart: [b, a] }));
  });

  test('when it goes to another path', async () => {
    const [one, two] = [await makeInvoice(service, merchant), await makeInvoice(service, merchant)];
    const key = newKey();
    expect((await post(key, `/${one.id}/rescind`, { reason: 'x' })).status).toBe(204);
    expectReused(await post(key, `/${two.id}/rescind`, { reason: 'x' }));
    expectReused(await post(key, `/${one.id}/fulfill`, { reason: 'x' }));
    expectReused(await post(key, `/${one.id}/access-tokens`, undefined));
    expectReused(await create(key));
  });
});

describe('a key', () => {
  test.each(['a', 'A-Z.a_z-0.9', '7'.repeat(64)])('may be %s', async (key) => {
    expect((await create(key)).status).toBe(201);
  });

  test.each(['', 'k'.repeat(65), 'two words', 'a,b', '"quoted"', 'ключ'])('may not be "%s"', async (key) => {
    const refused = await create(key);
    expect({ status: refused.status, body: refused.body }).toEqual({
      status: 400,
      body: {
        code: 'invalidRequest',
        message: expect.stringContaining('Request parameter: Idempotency-Key'),
      },
    });
  });

  test('is left free by a request that is invalid, unreadable or unauthorised', async () => {
    const key = newKey();
    const headers = { 'idempotency-key': key };
    expect((await create(key, { amount: -1 })).status).toBe(400);
    expect((await create(key, { metadata: { a: 'x'.repeat(4_096) } })).status).toBe(400);
    expect((await post(key, '', '{"shopID":')).status).toBe(400);
    expect((await post(key, `/${'i'.repeat(41)}/rescind`, { reason: 'x' })).status).toBe(400);
    const url = invoicesUrl;
    const { apiKey: token } = merchant;
    const unnamed = { token, body: order, headers: { ...headers, 'x-request-id': '' } };
    expect((await service.call('POST', url, unnamed)).status).toBe(400);
    const late = { token, body: order, headers: { ...headers, 'x-request-deadline': '0s' } };
    expect((await service.call('POST', url, late)).status).toBe(400);
    const text = { token, body: order, headers: { ...headers, 'content-type': 'text/plain' } };
    expect((await service.call('POST', url, text)).status).toBe(415);
    expect((await service.call('POST', url, { token: 'x', body: order, headers })).status).toBe(401);
    expect((await create(key)).status).toBe(201);
  });

  test('is ignored by reads', async () => {
    const { id } = await makeInvoice(service, merchant);
    const headers = { 'idempotency-key': newKey() };
    const read = (url: string) => service.call('GET', url, { token: merchant.apiKey, headers });
    expect((await read(`${invoicesUrl}/${id}`)).status).toBe(200);
    expect(wasReplayed(await read(`${invoicesUrl}/${id}`))).toBe(false);
    expect((await read(`${invoicesUrl}/${id}/events?limit=1`)).status).toBe(200);
  });

  test('belongs to its merchant: another merchant may use the same', async () => {
    const other = await service.createMerchant();
    const key = newKey();
    const [mine, theirs] = [await create(key), await create(key, { product: 'Theirs' }, other)];
    expect([mine.status, theirs.status]).toEqual([201, 201]);
    expectReplay(await create(key), mine);
    expectReplay(await create(key, { product: 'Theirs' }, other), theirs);
  });

  test('belongs to the merchant and not to one of its API keys', async () => {
    const key = newKey();
    const first = await create(key);
    const scopes = ['invoices:write'];
    const second = await service.apiKeys.create({ partyId: merchant.partyId, name: 'second', scopes });
    expectReplay(await create(key, {}, { ...merchant, apiKey: second }), first);
  });
});

describe('fifty concurrent requests', () => {
  test('with one key have one effect and one response', async () => {
    const crowd = await service.createMerchant();
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 50 }, () => create(key, {}, crowd)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter((answer) => !wasReplayed(answer))).toHaveLength(1);
    expect(await countInvoices(crowd)).toBe(1);
  });

  test('with one key and two contents have one effect; the other content is refused', async () => {
    const crowd = await service.createMerchant();
    const key = newKey();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => create(key, { product: `Order ${index % 2}` }, crowd)),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(25);
    refused.forEach(expectReused);
    expect(await countInvoices(crowd)).toBe(1);
  });

  test('with a key each, of a merchant not yet cached, have fifty effects', async () => {
    const crowd = await service.createMerchant();
    const answers = await Promise.all(Array.from({ length: 50 }, () => create(newKey(), {}, crowd)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(await countInvoices(crowd)).toBe(50);
  });
});

describe('a stored response', () => {
  test('does not show the token or the invoice in the table', async () => {
    const lonely = await service.createMerchant();
    const created = await create(newKey(), { product: 'A product to look for' }, lonely);
    const rows = await service.database.withClient((client) =>
      client.query(
        `select status, encode(body_ciphertext, 'escape') as body, encode(request_hash, 'escape') as hash,
                row::text as whole from idempotency_key as row where owner_id = $1`,
        [lonely.partyId],
      ),
    );
    expect(rows.rows).toMatchObject([{ status: 201 }]);
    const kept = JSON.stringify(rows.rows);
    expect(kept.length).toBeGreaterThan(created.text.length);
    const payload: string = created.body.invoiceAccessToken.payload;
    for (const secret of [...payload.split('.'), 'A product to look for', created.body.invoice.id]) {
      expect(kept).not.toContain(secret);
    }
  });

  test('is purged automatically after seven days, not before, and in any number', async () => {
    const busy = await service.createMerchant();
    const [old, young] = [newKey(), newKey()];
    await create(old, {}, busy);
    await insertKeys(busy, 'as old', 2_500, service.clock.now());
    await insertKeys(busy, 'an hour older', 1, laterBy(service.clock.now(), -hourMs));
    service.clock.advance(1);
    const kept = await create(young, {}, busy);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    // A minute in which the last purge still runs has no other, so minutes pass until it has.
    const keysAfterAMinute = () => {
      vi.advanceTimersByTime(60_000);
      return countKeys(busy);
    };
    try {
      service.jobs.start();
      service.clock.advance(7 * 24 * hourMs - 1);
      await expect.poll(keysAfterAMinute, bound).toBe(2_502);
      service.clock.advance(1);
      await expect.poll(keysAfterAMinute, bound).toBe(1);
    } finally {
      vi.useRealTimers();
    }
    expectReplay(await create(young, {}, busy), kept);
    const second = await create(old, {}, busy);
    expect(second.status).toBe(201);
    expect(wasReplayed(second)).toBe(false);
    expect(await countInvoices(busy)).toBe(3);
  });
});

describe('for any operation', () => {
  const answer = { status: 200, body: '{}' };
  const request = { key: 'a key', method: 'POST', path: '/v2/things', body: { a: 1 } };

  test('another method on the same path is another request', async () => {
    const answers = idempotency(service.database, service.keyring);
    const first = { ...request, ownerId: 'methods', now: service.clock.now() };
    const work = vi.fn<() => Promise<typeof answer>>(() => Promise.resolve(answer));
    expect(await answers.once(first, work)).toEqual({ kind: 'first', response: answer });
    expect(await answers.once({ ...first, method: 'PUT' }, work)).toEqual({ kind: 'other-request' });
    expect(await answers.once(first, work)).toEqual({ kind: 'replay', response: answer });
    expect(work).toHaveBeenCalledTimes(1);
  });

  test('a retryable response leaves the key free, and nothing written with it', async () => {
    const answers = idempotency(service.database, service.keyring);
    const asked = { ...request, ownerId: 'too early', now: service.clock.now() };
    const inside = { ...asked, key: 'written meanwhile' };
    const forNow = { status: 429, body: '{"message":"wait"}', isRetryable: true } as const;
    const early = await answers.once(asked, async (tx) => {
      await idempotency(tx, service.keyring).once(inside, () => Promise.resolve(answer));
      return forNow;
    });
    expect(early).toEqual({ kind: 'first', response: forNow });
    const work = vi.fn<() => Promise<typeof answer>>(() => Promise.resolve(answer));
    expect(await answers.once(inside, work)).toEqual({ kind: 'first', response: answer });
    expect(await answers.once({ ...asked, body: 'another' }, work)).toEqual({
      kind: 'first',
      response: answer,
    });
    expect(work).toHaveBeenCalledTimes(2);
  });

  test('a key that another node forgets while its repeat looks for it is new', async () => {
    const asked = { ...request, ownerId: 'forgotten', now: service.clock.now() };
    const work = vi.fn<() => Promise<typeof answer>>(() => Promise.resolve(answer));
    await idempotency(service.database, service.keyring).once(asked, work);
    const forget = () =>
      service.database.withClient((client) =>
        client.query('delete from idempotency_key where owner_id = $1', [asked.ownerId]),
      );
    const slow = forgettingBeforeTheRead(service.database, forget);
    expect(await idempotency(slow, service.keyring).once(asked, work)).toEqual({
      kind: 'first',
      response: answer,
    });
    expect(work).toHaveBeenCalledTimes(2);
    const again = idempotency(service.database, service.keyring).once(asked, work);
    expect(await again).toEqual({ kind: 'replay', response: answer });
  });

  test.each([
    ["another key's row", { ownerId: 'mine', key: 'other' }],
    ["another owner's row", { ownerId: 'theirs', key: 'a key' }],
  ])('an encrypted response copied to %s cannot be decrypted there', async (_, to) => {
    const answers = idempotency(service.database, service.keyring);
    const from = { ...request, ownerId: 'mine', now: service.clock.now() };
    const target = { ...from, ...to };
    const secret = { status: 200, body: '{"secret":"of mine"}' };
    await answers.once(from, () => Promise.resolve(secret));
    await answers.once(target, () => Promise.resolve(answer));
    await service.database.withClient((client) =>
      client.query(
        `update idempotency_key as target set body_ciphertext = source.body_ciphertext
         from idempotency_key as source
         where source.owner_id = $1 and source.idempotency_key = $2
           and target.owner_id = $3 and target.idempotency_key = $4`,
        [from.ownerId, from.key, target.ownerId, target.key],
      ),
    );
    const again = () => Promise.reject(new Error('the work was done again'));
    await expect(answers.once(target, again)).rejects.toThrow(/authenticate data/);
    expect(await answers.once(from, again)).toEqual({ kind: 'replay', response: secret });
  });
});

/** As when the retention of another node runs between the two statements of a repeat. */
function forgettingBeforeTheRead(database: Database, forget: () => Promise<unknown>): Database {
  const slow = (tx: Database): Database => ({
    async run(statement, parameters) {
      if (statement.name === 'read_idempotent_answer') await forget();
      return tx.run(statement, parameters);
    },
    transaction: (work) => tx.transaction((inner) => work(slow(inner))),
    withSavepoint: (work) => tx.withSavepoint((inner) => work(slow(inner))),
    afterCommit: (effect) => tx.afterCommit(effect),
  });
  return slow(database);
}
