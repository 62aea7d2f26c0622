// The subscriptions of a shop, page by page, for the merchant and for operators.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  listOfShop,
  listParked,
  listSubscriptions,
} from '../../../../src/subscriptions/store/subscription-lists.ts';
import type { Status } from '../../../../src/subscriptions/domain/subscription.ts';
import { commandLine } from '../../../support/processes/command-line.ts';
import type { Merchant } from '../../../support/service/test-service.ts';
import { startCustomerWorld, type CustomerWorld } from '../../../support/worlds/customer-world.ts';
import { insufficientFunds } from '../../../support/worlds/recurring.ts';
import {
  subscriptionsUrl,
  subscriptionWorld,
  type SubscriptionWorld,
} from '../../../support/subscriptions/subscription-world.ts';

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;
let merchant: Merchant;
/** In the order of their creation. */
let ids: Record<'unpaid' | 'incomplete' | 'trialing' | 'active' | 'pastDue' | 'paused' | 'ended', string>;
const listUrl = '/v2/processing/shops/TEST/subscriptions';

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
  merchant = await world.createMerchant();
  const customerId = await subscriptions.readyCustomer(merchant);
  const create = async (more: Record<string, unknown> = {}) => {
    const { status, body, text } = await subscriptions.create(merchant, customerId, more);
    expect(status, text).toBe(201);
    await subscriptions.settle();
    return body.id as string;
  };
  const act = async (id: string, verb: string, body: unknown) => {
    const { status, text } = await subscriptions.call(
      merchant,
      'POST',
      `${subscriptionsUrl}/${id}/${verb}`,
      body,
    );
    expect(status, text).toBe(200);
    return id;
  };
  const declined = { items: [{ product: 'Tea', price: insufficientFunds }] };
  const unpaid = await create({ ...declined, ifUnpaid: 'unpaid' });
  const { body } = await subscriptions.call(merchant, 'GET', '/sandbox/clock');
  await subscriptions.moveTo(merchant, new Date(Date.parse(body.now) + 28 * 86_400_000).toISOString());
  ids = {
    unpaid,
    incomplete: (await subscriptions.createUnpaid(merchant)).body.id,
    trialing: await create({ trialDays: 30 }),
    active: await create(),
    paused: await act(await create(), 'pause', {}),
    ended: await act(await create(), 'cancel', { when: 'now' }),
    pastDue: await create(declined),
  };
});
afterAll(() => world.close());

const list = (query: string, by = merchant) => subscriptions.call(by, 'GET', `${listUrl}?${query}`);
const found = async (query: string, by = merchant) => {
  const { status, body, text } = await list(query, by);
  expect(status, text).toBe(200);
  return body.result.map(({ id }: { id: string }) => id);
};

const run = (...args: string[]) =>
  commandLine(['subscriptions', 'list', ...args], {
    DATABASE_URL: world.service.testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  });

test('those of a shop are listed as each is, newest first, page by page', async () => {
  const placed = await Promise.all(
    Object.values(ids).map(async (id) => [(await subscriptions.get(merchant, id)).createdAt, id] as const),
  );
  // Some are of one instant, and then their IDs decide.
  const all = placed.toSorted((a, b) => (a.join() < b.join() ? 1 : -1)).map(([, id]) => id);
  expect(all.at(-1)).toBe(ids.unpaid);
  expect(await found('limit=100')).toEqual(all);
  const pages: string[] = [];
  let continuationToken: string | undefined;
  do {
    const from = continuationToken === undefined ? '' : `&continuationToken=${continuationToken}`;
    const { body } = await list(`limit=3${from}`);
    pages.push(...body.result.map(({ id }: { id: string }) => id));
    ({ continuationToken } = body);
  } while (continuationToken !== undefined);
  expect(pages).toEqual(all);
  const { body } = await list('limit=1&status=active');
  expect(body).toEqual({ result: [await subscriptions.get(merchant, ids.active)] });
  expect(await found('limit=9', await world.createMerchant())).toEqual([]);
});

test('a status finds those that show it', async () => {
  for (const [status, id] of Object.entries(ids)) {
    expect((await subscriptions.get(merchant, id)).status).toBe(status);
    expect([status, await found(`limit=9&status=${status}`)]).toEqual([status, [id]]);
  }
});

test('parked ones are found, by an operator among all merchants', async () => {
  expect([await found('limit=9&parked=true'), await found('limit=9&parked=false&status=active')]).toEqual([
    [],
    [ids.active],
  ]);
  await world.service.database.withClient((client) =>
    client.query(
      `update subscription set state = (state::jsonb || '{"parkedFor": "periodAhead"}')::json where subscription_id = $1`,
      [ids.active],
    ),
  );
  expect(await found('limit=9&parked=true')).toEqual([ids.active]);
  expect(await found('limit=9&parked=true&status=paused')).toEqual([]);
  expect(await found('limit=9&parked=false&status=active')).toEqual([]);
  const parked = await run('--parked', '--json');
  expect(JSON.parse(parked.output), parked.errors).toMatchObject([
    { id: ids.active, partyId: merchant.partyId, parkedFor: 'periodAhead' },
  ]);
  const own = ['--party', merchant.partyId, '--shop', 'TEST'];
  const pastDue = await run(...own, '--status', 'pastDue');
  expect(pastDue.output).toMatch(new RegExp(`${ids.pastDue} +${merchant.partyId} +TEST +pastDue`));
  expect((await run(...own, '--limit', '1')).output).toContain('There are more.');
  expect((await run('--party', merchant.partyId, '--parked')).output).toContain('periodAhead');
  expect((await run('--parked', '--status', 'ended')).output).toBe('No subscription found.\n');
  expect(await run('--shop', 'TEST')).toMatchObject({ code: 1, errors: expect.stringContaining('--party') });
  expect(await run()).toMatchObject({ code: 1, errors: expect.stringContaining('--parked') });
  expect((await run('--party', 'P', '--parked')).errors).toContain('Party P not found');
  expect((await run('--party', merchant.partyId, '--shop', 'S')).errors).toContain('has no shop S');
  expect((await run('--parked', '--status', 'gold')).errors).toContain('gold');
});

test('a token is of its query and its shop, and bad input is refused', async () => {
  const { body } = await list('limit=1');
  const token = `continuationToken=${body.continuationToken}`;
  const refused = async (query: string, by = merchant) => {
    const answer = await list(query, by);
    return [answer.status, answer.body.code];
  };
  expect(await refused(`limit=1&status=active&${token}`)).toEqual([400, 'invalidContinuationToken']);
  expect(await refused('limit=1&continuationToken=x')).toEqual([400, 'invalidContinuationToken']);
  expect(await refused('limit=1&status=gold')).toEqual([400, 'invalidRequest']);
  expect(await refused('limit=0')).toEqual([400, 'invalidRequest']);
  const elsewhere = '/v2/processing/shops/OTHER/subscriptions?limit=1';
  expect(await subscriptions.call(merchant, 'GET', elsewhere)).toMatchObject({
    status: 404,
    body: { message: 'Shop not found' },
  });
  // Of another merchant it shows only their own.
  expect((await list(`limit=1&${token}`, await world.createMerchant())).body).toEqual({ result: [] });
});

test('a page looks at so many, and the next one begins there', async () => {
  const of = { partyId: merchant.partyId, shopId: 'TEST' };
  const walk = async (
    asked: { status?: Status; isParked?: boolean },
    mostLookedAt: number,
    limit: number,
  ) => {
    const walked: string[] = [];
    let from: Parameters<typeof listSubscriptions>[1] | undefined = {
      ...of,
      ...asked,
      mostLookedAt,
      limit,
      before_at: null,
      before_id: null,
    };
    while (from) {
      const { rows, stoppedAt } = await listSubscriptions(world.service.database, from);
      expect(rows.length).toBeLessThanOrEqual(Math.min(mostLookedAt, limit));
      walked.push(...rows.map(({ id }) => id));
      const full = rows.length === limit ? rows.at(-1) : undefined;
      const last = full ?? stoppedAt;
      from = last && { ...from, before_at: last.createdAt, before_id: last.id };
    }
    return walked;
  };
  for (const asked of [{}, { status: 'ended' }, { status: 'unpaid' }, { isParked: false }] as const) {
    const whole = await walk(asked, 1_000, 1_000);
    expect(whole.length).toBeGreaterThan(0);
    for (const [mostLookedAt, limit] of [
      [1, 1],
      [2, 1],
      [2, 2],
      [2, 3],
      [3, 2],
      [7, 9],
    ] as const)
      expect([asked, mostLookedAt, limit, await walk(asked, mostLookedAt, limit)]).toEqual([
        asked,
        mostLookedAt,
        limit,
        whole,
      ]);
  }
});

test('a status that one of thousands has is found after empty pages', async () => {
  const large = await world.createMerchant();
  const customerId = await subscriptions.readyCustomer(large);
  const { id: active } = (await subscriptions.create(large, customerId)).body;
  const { id: ended } = (await subscriptions.create(large, customerId)).body;
  await subscriptions.settle();
  await subscriptions.call(large, 'POST', `${subscriptionsUrl}/${ended}/cancel`, { when: 'now' });
  await world.service.database.withClient(async (client) => {
    await client.query(
      `insert into subscription (subscription_id, party_id, shop_id, customer_id, version, phase, terms, state, created_at, changed_at)
       select 'copy' || number, party_id, shop_id, customer_id, version, phase, terms, state, created_at - number * interval '1 second', changed_at
       from subscription, generate_series(1, 10000) as number where subscription_id = $1`,
      [active],
    );
    await client.query(
      `update subscription set created_at = created_at - interval '1 day' where subscription_id = $1`,
      [ended],
    );
  });
  const pages: string[][] = [];
  let next = '';
  do {
    const { status, body, text } = await list(`limit=9&status=ended${next}`, large);
    expect(status, text).toBe(200);
    pages.push(body.result.map(({ id }: { id: string }) => id));
    next = body.continuationToken ? `&continuationToken=${body.continuationToken}` : '';
  } while (next !== '');
  expect(pages).toEqual([[], [], [ended]]);
  const { output } = await run('--party', large.partyId, '--shop', 'TEST', '--status', 'ended', '--json');
  expect(JSON.parse(output)).toMatchObject([{ id: ended, status: 'ended' }]);
});

test('a page is read from an index, and nothing is sorted', async () => {
  const plans = await world.service.database.withClient(async (client) => {
    const planOf = async ({ text }: { text: string }) =>
      (await client.query<{ 'QUERY PLAN': string }>(`explain (generic_plan) ${text}`)).rows
        .map((row) => row['QUERY PLAN'])
        .join('\n');
    return { shop: await planOf(listOfShop), parked: await planOf(listParked) };
  });
  expect(plans.shop).toContain('Index Scan Backward using subscription_of_shop');
  expect(plans.shop).toContain('Index Cond: (((party_id)::text');
  expect(plans.shop).toMatch(/Index Cond: .*ROW\(/);
  expect(plans.shop).not.toContain('Sort');
  expect(plans.parked).toContain('subscription_parked');
});
