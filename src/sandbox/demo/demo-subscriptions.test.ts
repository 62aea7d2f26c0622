// What the demo shop asks the API for when it sells a subscription and lets time pass.
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { openDemoApi } from './demo-api.ts';
import { Hearing } from './demo-receiver.ts';
import { addDemoSubscriptions } from './demo-subscriptions.ts';

const api = '/v2/processing/subscriptions';
const dueOf = (month: number) => new Date(Date.UTC(2027, month, 5, 6)).toISOString();

function startShop({ left = 12, created = 201 } = {}) {
  const app = Fastify();
  const asked: string[] = [];
  app.addHook('preHandler', async ({ method, url, body }) => {
    if (!url.startsWith('/demo') && !/^GET .*(S1|periods)$/.test(`${method} ${url}`))
      asked.push([method, url, ...(body ? [JSON.stringify(body)] : [])].join(' '));
  });
  app.post(api, (_, reply) => reply.code(created).send({ id: 'S1', firstInvoiceID: 'I1' }));
  app.post('/v2/processing/invoices/I1/access-tokens', (_, reply) =>
    reply.code(201).send({ payload: 'token' }),
  );
  app.get(`${api}/S1`, () => ({ id: 'S1', status: 'active' }));
  app.get(`${api}/S1/periods`, () => [{ number: 1 }]);
  app.get<{ Querystring: { count: string } }>(`${api}/S1/upcoming`, ({ query }) =>
    Array.from({ length: Math.min(left, Number(query.count)) }, (_, month) => ({ dueAt: dueOf(month) })),
  );
  app.post(`${api}/S1/cancel`, () => ({ status: 'active' }));
  app.post(`${api}/S1/links`, (_, reply) =>
    reply.code(201).send({ url: 'https://pay.test/subscription/S1' }),
  );
  app.get('/sandbox/clock', () => ({ now: '2026-12-05T07:00:00.000Z' }));
  app.post('/sandbox/clock', ({ body }) => body);
  app.post('/sandbox/faults', (_, reply) => reply.code(204).send());
  addDemoSubscriptions(app, {
    shopId: 'TEST',
    api: openDemoApi(app, () => 'key'),
    buyers: new Hearing(10),
  });
  const call = (method: 'GET' | 'POST', url: string) =>
    app.inject({ method, url: `/demo/subscriptions${url}` });
  return {
    call,
    asked,
    /** What a button of the page asks for. */
    async act(name: string): Promise<string[]> {
      await call('POST', '');
      asked.length = 0;
      expect((await call('POST', `/S1/${name}`)).statusCode).toBe(200);
      return asked;
    },
  };
}

const moved = (now: string) => `POST /sandbox/clock {"now":"${now}"}`;

test('the shop creates a subscription, and a token that pays its first invoice', async () => {
  const { call, asked } = startShop();
  const [created, token] = (await call('POST', '')).json();
  expect(created.body).toMatchObject({ shopID: 'TEST', every: 'P1M', items: [{ price: 49_900 }] });
  expect(token.answer).toEqual({ payload: 'token' });
  expect(asked).toEqual([
    `POST ${api} ${JSON.stringify(created.body)}`,
    'POST /v2/processing/invoices/I1/access-tokens?for=checkout',
  ]);
});

test('a refused subscription is shown, and has no token', async () => {
  const { call, asked } = startShop({ created: 422 });
  expect((await call('POST', '')).json()).toMatchObject([{ status: 422 }]);
  expect(asked).toHaveLength(1);
  expect((await call('GET', '/S1')).statusCode).toBe(404);
});

test('the page shows the subscription, its periods, the next charge and the time', async () => {
  const { call } = startShop();
  await call('POST', '');
  expect((await call('GET', '/S1')).json()).toEqual({
    subscription: { id: 'S1', status: 'active' },
    periods: [{ number: 1 }],
    upcoming: [{ dueAt: dueOf(0) }],
    now: '2026-12-05T07:00:00.000Z',
  });
});

test.each([
  ['month', '2027-01-05T07:00:00.000Z'],
  ['year', '2027-12-05T07:00:00.000Z'],
])('a %s passes until an hour after the last charge of it', async (name, now) => {
  expect((await startShop().act(name)).at(-1)).toBe(moved(now));
});

test('a month passes also if no charge comes', async () => {
  for (const name of ['month', 'decline'])
    expect((await startShop({ left: 0 }).act(name)).at(-1)).toBe(moved('2027-01-05T07:00:00.000Z'));
});

test('the decline is ordered a second before the charge', async () => {
  expect((await startShop().act('decline')).slice(1)).toEqual([
    moved('2027-01-05T05:59:59.000Z'),
    'POST /sandbox/faults {"kind":"decline","code":"54","shopID":"TEST"}',
    moved('2027-01-05T07:00:00.000Z'),
  ]);
});

test('the payer ends it after the paid period', async () => {
  expect(await startShop().act('end')).toEqual([`POST ${api}/S1/cancel {"when":"periodEnd","by":"payer"}`]);
});

test('the payer is redirected to a new link of their page', async () => {
  const { call, asked } = startShop();
  await call('POST', '');
  const { statusCode, headers } = await call('GET', '/S1/page');
  expect([statusCode, headers.location]).toEqual([302, 'https://pay.test/subscription/S1']);
  expect(asked.at(-1)).toBe(`POST ${api}/S1/links`);
});

test('the subscriptions of others, and other acts, are not found', async () => {
  const { call, asked } = startShop();
  await call('POST', '');
  asked.length = 0;
  for (const [method, url] of [
    ['GET', '/S2'],
    ['GET', '/S2/page'],
    ['POST', '/S2/month'],
    ['POST', '/S1/pause'],
    ['POST', '/S1/constructor'],
  ] as const)
    expect((await call(method, url)).statusCode).toBe(404);
  expect(asked).toEqual([]);
});
