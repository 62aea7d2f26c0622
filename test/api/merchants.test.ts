// A merchant's reads of its own party, shops and categories, and the sandbox's test clock, over the API.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseInstant } from '../../src/clock.ts';
import { insertParty, insertShop } from '../../src/merchants/store/parties.ts';
import { invoicesUrl, makeInvoice, order, payInvoice } from '../support/worlds/invoices.ts';
import {
  startTestService,
  type Answer,
  type Merchant,
  type TestService,
} from '../support/service/test-service.ts';
import { setTradingFlag } from '../support/worlds/block-merchant.ts';
import { defined } from '../../src/defined.ts';

const processing = '/v2/processing';
const clock = '/sandbox/clock';
const bound = { interval: 20, timeout: 30_000 };

let service: TestService;
let merchant: Merchant;

beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
});
afterAll(() => service.close());

const get = (url: string, by: Merchant = merchant) => service.call('GET', url, { token: by.apiKey });
const essence = ({ status, body }: Answer) => ({ status, body });

describe('me', () => {
  test('returns the party of the API key', async () => {
    expect(essence(await get(`${processing}/me`))).toEqual({
      status: 200,
      body: { id: merchant.partyId, isBlocked: false, isSuspended: false },
    });
  });

  test.concurrent.each([
    ['is_blocked', { isBlocked: true, isSuspended: false }],
    ['is_suspended', { isBlocked: false, isSuspended: true }],
  ] as const)('shows that the party %s', async (flag, shown) => {
    const stopped = await service.createMerchant();
    await setTradingFlag(service, stopped, { of: 'party', flag }, true);
    const body = { id: stopped.partyId, ...shown };
    expect(essence(await get(`${processing}/me`, stopped))).toEqual({ status: 200, body });
  });
});

describe('shops', () => {
  const shop = (id: string, currency: string) => ({
    id,
    createdAt: '2026-01-19T10:00:00.123000Z',
    isBlocked: false,
    isSuspended: false,
    categoryID: 1,
    location: { locationType: 'ShopLocationUrl', url: 'https://shop.example' },
    details: { name: id },
    contractID: expect.any(String),
    currency,
    realm: 'test',
  });

  test('are listed with every field', async () => {
    expect(essence(await get(`${processing}/shops`))).toEqual({
      status: 200,
      body: [shop('TEST', 'RUB'), shop('TEST_EUR', 'EUR'), shop('TEST_USD', 'USD')],
    });
  });

  test('are returned one by one as in the list', async () => {
    for (const listed of (await get(`${processing}/shops`)).body) {
      expect(essence(await get(`${processing}/shops/${listed.id}`))).toEqual({ status: 200, body: listed });
    }
  });

  test('are an empty list for a party without shops', async () => {
    const partyId = service.ports.ids.next();
    const created_at = service.clock.now();
    await service.database.run(insertParty, { party_id: partyId, name: 'Without shops', created_at });
    const apiKey = await service.apiKeys.create({ partyId, name: 'x', scopes: ['shops:read'] });
    expect(essence(await get(`${processing}/shops`, { partyId, apiKey }))).toEqual({ status: 200, body: [] });
  });

  test('show when they may not trade', async () => {
    const stopped = await service.createMerchant();
    await setTradingFlag(service, stopped, { of: 'shop', flag: 'is_blocked' }, true);
    expect((await get(`${processing}/shops/TEST`, stopped)).body.isBlocked).toBe(true);
    expect((await get(`${processing}/shops/TEST_USD`, stopped)).body.isBlocked).toBe(false);
    const listed: { id: string; isBlocked: boolean }[] = (await get(`${processing}/shops`, stopped)).body;
    expect(listed.filter(({ isBlocked }) => isBlocked).map(({ id }) => id)).toEqual(['TEST']);
  });

  test('are found only by their exact ID', async () => {
    for (const id of ['NOWHERE', 'test', 'TEST%20', '%', `${'T'.repeat(41)}`]) {
      const { status, body } = await get(`${processing}/shops/${id}`);
      expect({ id, status, ...body }).toMatchObject(
        status === 404 ? { message: 'Shop not found' } : { status: 400, code: 'invalidRequest' },
      );
    }
  });
});

describe('categories', () => {
  test('are listed, and returned one by one', async () => {
    const all = await get(`${processing}/categories`);
    expect(all.status).toBe(200);
    expect(all.body[0]).toEqual({ categoryID: 1, name: expect.any(String), description: expect.any(String) });
    for (const category of all.body) {
      const one = await get(`${processing}/categories/${category.categoryID}`);
      expect(essence(one)).toEqual({ status: 200, body: category });
    }
  });

  test('include the category of every shop', async () => {
    const known = (await get(`${processing}/categories`)).body.map(
      (each: { categoryID: number }) => each.categoryID,
    );
    for (const { categoryID } of (await get(`${processing}/shops`)).body) expect(known).toContain(categoryID);
  });

  test('are not found by an unknown ID', async () => {
    expect(essence(await get(`${processing}/categories/999`))).toEqual({
      status: 404,
      body: {
        message: 'Category not found',
        hint: 'Check the ID. `GET /v2/processing/categories` lists the categories.',
      },
    });
  });
});

describe('the test clock', () => {
  const move = (now: unknown, by: Merchant) =>
    service.call('POST', clock, { token: by.apiKey, body: { now } });
  const timeOf = async (by: Merchant): Promise<string> => (await get(clock, by)).body.now;
  const invoice = (id: string, by: Merchant) => get(`${invoicesUrl}/${id}`, by).then(({ body }) => body);
  const refused = {
    status: 400,
    body: {
      code: 'invalidTestClock',
      message: 'The test clock only moves forward, by at most ten years. Send a later time.',
    },
  };

  test('shows real time until it is moved', async () => {
    const mine = await service.createMerchant();
    expect(essence(await get(clock, mine))).toEqual({
      status: 200,
      body: { now: '2026-01-19T10:00:00.123000Z' },
    });
  });

  test('runs what falls due on the way before the response, in order and each at its own time', async () => {
    const mine = await service.createMerchant();
    const dueDates = [
      '2026-05-01T00:00:00.000000Z',
      '2026-02-01T12:00:00.500000Z',
      '2026-12-31T23:59:59.999000Z',
      '2026-02-01T12:00:00.499000Z',
      '2026-01-19T10:00:00.124000Z',
    ];
    const made = new Map<string, string>();
    for (const dueDate of dueDates) made.set(dueDate, (await makeInvoice(service, mine, { dueDate })).id);
    const paid = await makeInvoice(service, mine, { dueDate: dueDates[0] });
    await payInvoice(service, mine, paid.id);
    const later = await makeInvoice(service, mine, { dueDate: '2027-01-01T00:00:00.001Z' });

    const moved = await move('2027-01-01T03:00:00+03:00', mine);
    expect(essence(moved)).toEqual({ status: 200, body: { now: '2027-01-01T00:00:00.000000Z' } });
    for (const [dueDate, id] of made) {
      expect(await invoice(id, mine)).toMatchObject({ status: 'cancelled', reason: 'overdue' });
      const events = (await get(`${invoicesUrl}/${id}/events?limit=9`, mine)).body;
      expect(events.map((event: { createdAt: string }) => event.createdAt).slice(1)).toEqual([dueDate]);
    }
    expect((await invoice(paid.id, mine)).status).toBe('paid');
    expect((await invoice(later.id, mine)).status).toBe('unpaid');
    // The transaction IDs show the order in which it was done.
    const { rows } = await service.database.withClient((client) =>
      client.query(
        `select aggregate_id from event where party_id = $1 and created_at > $2
         and facts::text like '%overdue%' order by xmin::text::bigint`,
        [mine.partyId, service.clock.now()],
      ),
    );
    expect(rows.map((row) => row.aggregate_id)).toEqual(
      dueDates.toSorted().map((dueDate) => made.get(dueDate)),
    );
  });

  test('is the time of everything the party does afterwards', async () => {
    const mine = await service.createMerchant();
    await move('2027-03-01T00:00:00Z', mine);
    expect(await timeOf(mine)).toBe('2027-03-01T00:00:00.000000Z');
    const created = await makeInvoice(service, mine);
    expect((await invoice(created.id, mine)).createdAt).toBe('2027-03-01T00:00:00.000000Z');
    const past = await makeInvoice(service, mine, { dueDate: '2027-02-28T23:59:59Z' });
    await expect.poll(() => invoice(past.id, mine), bound).toMatchObject({ status: 'cancelled' });
    const [, overdue] = (await get(`${invoicesUrl}/${past.id}/events?limit=9`, mine)).body;
    expect(overdue.createdAt >= '2027-03-01T00:00:00.000000Z').toBe(true);
    // Tokens use real time, so they still work after the clock has moved.
    expect((await service.call('GET', `${invoicesUrl}/${created.id}`, { token: created.token })).status).toBe(
      200,
    );
  });

  test('continues from where it was set', async () => {
    const mine = await service.createMerchant();
    await move('2026-06-01T00:00:00Z', mine);
    service.clock.advance(90_000);
    expect(await timeOf(mine)).toBe('2026-06-01T00:01:30.000000Z');
    expect((await move('2026-06-01T00:01:29Z', mine)).status).toBe(400);
    expect((await move('2026-06-01T00:01:31Z', mine)).status).toBe(200);
    expect(await timeOf(mine)).toBe('2026-06-01T00:01:31.000000Z');
  });

  test('can be set to its current time repeatedly, which does nothing', async () => {
    const mine = await service.createMerchant();
    const now = await timeOf(mine);
    for (let time = 0; time < 3; time++) {
      expect(essence(await move(now, mine))).toEqual({ status: 200, body: { now } });
    }
    expect(await timeOf(mine)).toBe(now);
  });

  test('stops before year 9000, so that later times can still be stored', async () => {
    const mine = await service.createMerchant();
    await service.jobs.advance(mine.partyId, parseInstant('8995-01-01T00:00:00Z')!);
    expect(essence(await move('9000-01-01T00:00:00Z', mine))).toEqual(refused);
    expect((await move('8999-12-31T23:59:59.999999Z', mine)).status).toBe(200);
    expect(essence(await move('9000-01-01T00:00:00Z', mine))).toEqual(refused);
    const dueDate = '9999-12-31T23:59:59.999999Z';
    const { id } = await makeInvoice(service, mine, { dueDate });
    expect(await invoice(id, mine)).toMatchObject({ status: 'unpaid', dueDate });
  });

  test('cannot go back', async () => {
    const mine = await service.createMerchant();
    await move('2026-06-01T00:00:00Z', mine);
    for (const now of ['2026-05-31T23:59:59.999Z', '2026-01-19T10:00:00Z', '0001-01-01T00:00:00Z']) {
      expect(essence(await move(now, mine))).toEqual(refused);
    }
    expect(await timeOf(mine)).toBe('2026-06-01T00:00:00.000000Z');
  });

  test('moves ten years at most per request', async () => {
    const mine = await service.createMerchant();
    expect(essence(await move('2037-01-19T10:00:00Z', mine))).toEqual(refused);
    expect(essence(await move('9999-12-31T23:59:59Z', mine))).toEqual(refused);
    expect((await move('2036-01-19T10:00:00Z', mine)).status).toBe(200);
    expect(await timeOf(mine)).toBe('2036-01-19T10:00:00.000000Z');
    expect((await move('2046-01-19T10:00:00Z', mine)).status).toBe(200);
  });

  test.each([undefined, null, '', 'tomorrow', '2027-01-01', 1_800_000_000, {}])(
    'cannot be set to %j',
    async (now) => {
      const answer = await move(now, merchant);
      expect(essence(answer)).toMatchObject({
        status: 400,
        body: {
          code: 'invalidRequest',
          message: expect.stringMatching(/^Request parameter: now, error type: /),
        },
      });
    },
  );

  test("leaves another party's time and its invoices alone", async () => {
    const [mine, other] = [await service.createMerchant(), await service.createMerchant()];
    const dueDate = '2026-02-01T00:00:00Z';
    const [ours, theirs] = [
      await makeInvoice(service, mine, { dueDate }),
      await makeInvoice(service, other, { dueDate }),
    ];
    const before = await timeOf(other);
    await move('2026-03-01T00:00:00Z', mine);
    service.jobs.wake();
    const witness = await makeInvoice(service, other, { dueDate: '2026-01-01T00:00:00Z' });
    await expect.poll(() => invoice(witness.id, other), bound).toMatchObject({ status: 'cancelled' });
    expect((await invoice(ours.id, mine)).status).toBe('cancelled');
    expect((await invoice(theirs.id, other)).status).toBe('unpaid');
    expect(await timeOf(other)).toBe(before);
  });

  test('moved by concurrent requests ends at the latest time, with everything done once', async () => {
    const mine = await service.createMerchant();
    const ids: string[] = [];
    for (let day = 10; day <= 28; day++) {
      ids.push((await makeInvoice(service, mine, { dueDate: `2026-02-${day}T00:00:00Z` })).id);
    }
    const targets = ['2026-02-15T00:00:00Z', '2026-03-15T00:00:00Z', '2026-02-20T00:00:00Z'];
    const answers = await Promise.all(targets.map((now) => move(now, mine)));
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    for (const answer of answers) if (answer.status !== 200) expect(essence(answer)).toEqual(refused);
    expect(await timeOf(mine)).toBe('2026-03-15T00:00:00.000000Z');
    for (const id of ids) {
      expect((await invoice(id, mine)).status).toBe('cancelled');
      expect((await get(`${invoicesUrl}/${id}/events?limit=9`, mine)).body).toHaveLength(2);
    }
  });
});

describe('in live mode', () => {
  let live: TestService;
  beforeAll(async () => {
    live = await startTestService({ MANDATE_MODE: 'live' });
  });
  afterAll(() => live.close());

  test('a shop that was created in a sandbox may not trade', async () => {
    const owner = await live.createMerchant();
    const left = {
      party_id: owner.partyId,
      shop_id: 'LEFT',
      livemode: false,
      name: 'Left',
      url: 'https://shop.example',
    };
    await live.database.run(insertShop, {
      ...left,
      category_id: 1,
      currency: 'RUB',
      created_at: live.clock.now(),
    });
    const makeIn = (shopID: string) =>
      live.call('POST', invoicesUrl, { token: owner.apiKey, body: { ...order, shopID } });
    expect((await makeIn('TEST')).status).toBe(201);
    expect(essence(await makeIn('LEFT'))).toMatchObject({ status: 400, body: { code: 'invalidShopStatus' } });
    const listed = await live.call('GET', `${processing}/shops`, { token: owner.apiKey });
    const blocked = listed.body.filter(({ isBlocked }: { isBlocked: boolean }) => isBlocked);
    const shop = await live.call('GET', `${processing}/shops/LEFT`, { token: owner.apiKey });
    expect(blocked).toEqual([shop.body]);
  });

  test('there is no test clock for any caller', async () => {
    const { apiKey } = await live.createMerchant();
    for (const token of [apiKey, undefined, 'garbage']) {
      for (const method of ['GET', 'POST', 'DELETE'] as const) {
        const answer = await live.call(method, clock, {
          ...defined({ token }),
          ...(method === 'POST' ? { body: { now: '2030-01-01T00:00:00Z' } } : {}),
        });
        expect(essence(answer)).toEqual({
          status: 404,
          body: { message: 'Not found', hint: expect.stringMatching(/^No operation has this path/) },
        });
      }
    }
  });

  test('the API document has every operation but those of the sandbox', async () => {
    const pathsOf = async (of: TestService) =>
      Object.keys((await of.call('GET', '/openapi.json')).body.paths);
    const sandboxPaths = await pathsOf(service);
    expect(sandboxPaths).toContain(clock);
    expect(await pathsOf(live)).toEqual(
      sandboxPaths.filter((path) => !/^\/(sandbox|wallet\/v0\/test)\//.test(path)),
    );
  });

  test('API keys are live keys, which do not work in a sandbox', async () => {
    const { apiKey } = await live.createMerchant();
    expect(apiKey).toMatch(/^mandate_live_/);
    expect((await live.call('GET', `${processing}/me`, { token: apiKey })).status).toBe(200);
    expect((await service.call('GET', `${processing}/me`, { token: apiKey })).status).toBe(401);
    expect((await live.call('GET', `${processing}/me`, { token: merchant.apiKey })).status).toBe(401);
  });

  test('invoices are created as in a sandbox', async () => {
    const { apiKey: token } = await live.createMerchant();
    expect((await live.call('POST', invoicesUrl, { token, body: order })).status).toBe(201);
  });
});
