// What the console reads: every operation that it declares, for the party of the session and for no other.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consoleEndpoints } from '../../../src/app/console-views.ts';
import type { Viewer } from '../../../src/console/domain/session.ts';
import { insertShop } from '../../../src/merchants/store/parties.ts';
import { makeWebhook } from '../../support/receivers/webhooks.ts';
import type { Answer, Merchant, TestService } from '../../support/service/test-service.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';
import { recurringWorld } from '../../support/worlds/recurring.ts';

const visa = '4242424242424242';
const own = { 'sec-fetch-site': 'same-origin' };
const operatorViews = ['stuck-jobs', 'failing-jobs', 'banks', 'bank-answers'];

let world: PayoutWorld;
let service: TestService;
let merchant: Merchant;
let stranger: Merchant;
/** Path parameters that name objects of `merchant`. */
let ids: Record<string, string>;

beforeAll(async () => {
  world = await startPayoutWorld();
  ({ service, merchant } = world);
  stranger = await world.createMerchant();
  const { invoiceID, paymentID } = await recurringWorld(world).parent(visa);
  const destination = await world.destinationFor(visa);
  const { body: withdrawal } = await world.withdraw(5_000, destination.id);
  const webhookID = await makeWebhook(service, merchant);
  await service.jobs.whenIdle();
  await service.search.whenIdle();
  ids = { shopID: 'TEST', invoiceID, paymentID, withdrawalID: withdrawal.id, webhookID };
});
afterAll(() => world.close());

async function enter(viewer: Viewer): Promise<string> {
  const { credential } = await service.consoleSessions.makeLink(viewer, 'ada@desk');
  const body = { link: credential };
  const { headers } = await service.call('POST', '/console/api/session', { body, headers: own });
  return String(headers['set-cookie']).split(';')[0] ?? '';
}
const enterAs = ({ partyId }: Merchant) => enter({ kind: 'party', partyId });
const read = (cookie: string, path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  service.call('GET', `/console/api${path}`, { headers: { ...own, cookie, ...headers } });

const day = 24 * 3_600_000;
const at = (ms: number) => new Date(Date.UTC(2026, 0, 19, 10) + ms).toISOString();
const range = `fromTime=${at(-day)}&toTime=${at(day)}`;
const queries: Record<string, string> = {
  searchPayments: `?limit=10&${range}`,
  getPaymentsSplitCount: `?splitUnit=day&${range}`,
  getPaymentsSplitAmount: `?splitUnit=day&${range}`,
  getPaymentsAttempts: `?${range}`,
  getPaymentsDeclines: `?${range}`,
  getRecoveries: `?by=days&${range}`,
  getRefundsAmount: `?${range}`,
  getPayoutSums: `?${range}`,
  listWithdrawals: '?limit=10',
  listWebhookQueues: '?limit=10',
  listWebhookAttempts: '?limit=10',
};
const withoutTokens = (name: string, value: unknown) =>
  ['paymentToolToken', 'paymentSession', 'sessionInfo'].includes(name) ? undefined : value;
const operations = consoleEndpoints.map(({ operation, path }) => [operation, path] as const);
const pathOf = (operation: string, path: string) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? `no ${name}`)) +
  (queries[operation] ?? '');

describe.each(operations)('%s', (operation, path) => {
  test('answers as the API does', async () => {
    const address = pathOf(operation, path);
    const shown = await read(await enterAs(merchant), address);
    expect(shown.status).toBe(200);
    const { body } = await service.call('GET', address, { token: merchant.apiKey });
    expect(shown.body).toEqual(JSON.parse(JSON.stringify(body, withoutTokens)));
  });

  test('gives no browser what stands for a card', async () => {
    const { text } = await read(await enterAs(merchant), pathOf(operation, path));
    expect(text).not.toMatch(/"(paymentToolToken|paymentSession|sessionInfo)"/);
  });

  test('shows another party nothing', async () => {
    const { status, body, text } = await read(await enterAs(stranger), pathOf(operation, path));
    for (const [name, id] of Object.entries(ids))
      if (name !== 'shopID' && id !== '1') expect(text).not.toContain(id);
    // A list is of the party's own, and both have a shop of that name.
    const isList =
      /^(list(Shops|Withdrawals|Webhooks)|search|getPa(yments[SAD]|youtSums)|getRefunds|getRecoveries)/.test(
        operation,
      );
    if (isList && operation !== 'listShops') expect(body.result ?? body).toEqual([]);
    // Its own, which has nothing.
    if (operation === 'getCurrentBalances') {
      expect(body.result.every(({ amount }: { amount: number }) => amount === 0)).toBe(true);
      expect(status).toBe(200);
    } else expect(status).toBe(isList ? 200 : 404);
  });

  test('shows a party nothing of another that its request names', async () => {
    const named = { 'mandate-console-party': merchant.partyId };
    const [asked, plain] = [await enterAs(stranger), await enterAs(stranger)];
    const answer = await read(asked, pathOf(operation, path), named);
    expect(answer.status).toBe((await read(plain, pathOf(operation, path))).status);
    for (const [name, id] of Object.entries(ids))
      if (name !== 'shopID' && id !== '1') expect(answer.text).not.toContain(id);
  });

  test('needs a session that is open', async () => {
    const ended = await enterAs(merchant);
    await service.consoleSessions.end(/=(\w+)\./.exec(ended)?.[1] ?? '');
    const address = pathOf(operation, path);
    for (const cookie of [ended, 'mandate-console-test=', 'other=1'])
      expect(await read(cookie, address)).toMatchObject({ status: 401, body: { code: 'sessionEnded' } });
    const key = await service.call('GET', `/console/api${address}`, { token: merchant.apiKey });
    expect(key.status).toBe(401);
  });

  test('changes nothing', async () => {
    const cookie = await enterAs(merchant);
    for (const method of ['POST', 'PUT', 'DELETE'] as const) {
      const headers = { ...own, cookie };
      const address = `/console/api${pathOf(operation, path)}`;
      expect((await service.call(method, address, { headers, body: {} })).status).toBe(404);
    }
  });

  test('is for this site alone', async () => {
    const cookie = await enterAs(merchant);
    const answer = await read(cookie, pathOf(operation, path), { 'sec-fetch-site': 'cross-site' });
    expect(answer).toMatchObject({ status: 403, body: { code: 'otherSite' } });
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });
});

describe('an operator', () => {
  test('sees the pages of each party, one at a time', async () => {
    const cookie = await enter({ kind: 'operator' });
    const path = `/v2/processing/invoices/${ids['invoiceID']}`;
    expect(await read(cookie, path)).toMatchObject({ status: 404, body: { code: 'partyNotFound' } });
    const statusFor = async (party: string) =>
      (await read(cookie, path, { 'mandate-console-party': party })).status;
    expect(await statusFor(merchant.partyId)).toBe(200);
    expect(await statusFor(stranger.partyId)).toBe(404);
    expect(await statusFor('?')).toBe(404);
  });

  test('begins with the party of the link', async () => {
    const cookie = await enter({ kind: 'operator', partyId: merchant.partyId });
    expect((await read(cookie, `/v2/processing/invoices/${ids['invoiceID']}`)).status).toBe(200);
  });

  test.each(operatorViews)('sees %s, and no party does', async (name) => {
    const path = `/operator/${name}`;
    expect(await read(await enter({ kind: 'operator' }), path)).toMatchObject({ status: 200 });
    expect(await read(await enterAs(merchant), path)).toMatchObject({ status: 404 });
    expect(await read('none=1', path)).toMatchObject({ status: 401 });
  });
});

test.each([
  'invoices/{invoiceID}/payments/{paymentID}',
  'invoices/{invoiceID}/payments/{paymentID}/recurring',
])('what happened to %s is in the language of the page', async (object) => {
  const path = pathOf('', `/v2/processing/${object}/timeline`);
  const cookie = await enterAs(merchant);
  const texts = async (headers: Record<string, string>) => {
    const { status, body } = await read(cookie, path, headers);
    expect(status).toBe(200);
    return body.map(({ text }: { text: string }) => text) as string[];
  };
  const russian = await texts({ 'accept-language': 'ru' });
  for (const text of russian) expect(text).toMatch(/[а-я]/);
  const english = await texts({ 'accept-language': 'en' });
  expect(english.join()).not.toMatch(/[а-я]/);
  expect(english).toHaveLength(russian.length);
  // The API has one language.
  const headers = { 'accept-language': 'ru' };
  const { text } = await service.call('GET', path, { token: merchant.apiKey, headers });
  expect(text).not.toMatch(/[а-я]/);
});

test('people who look do not wait for the searches of the merchant’s server', async () => {
  const cookie = await enterAs(merchant);
  const sum = `/v2/analytics/payments/attempts?${range}`;
  await service.testDatabase.database.withClient(async (client) => {
    await client.query('begin; lock table search_invoice');
    const busy = Array.from({ length: 9 }, () =>
      service.call('GET', `/v2/analytics/shops/TEST/invoices?limit=10&${range}`, { token: merchant.apiKey }),
    );
    let isDone = false;
    void Promise.race(busy).then(() => (isDone = true));
    expect((await read(cookie, sum)).status).toBe(200);
    expect(isDone).toBe(false);
    await client.query('rollback');
    await Promise.all(busy);
  });
});

test('a shop of the other mode is not found, nor its payments', async () => {
  const cookie = await enterAs(merchant);
  const { invoiceID } = ids;
  const payment = `/v2/processing/invoices/${invoiceID}/payments/1`;
  const paths = [payment, `${payment}/timeline`, `/v2/processing/invoices/${invoiceID}`];
  const search = (shop: string) => `/v2/analytics/shops/${shop}/payments?limit=10&${range}`;
  const statuses = () => Promise.all(paths.map(async (path) => (await read(cookie, path)).status));
  const { database, clock } = service;
  const shop = { party_id: merchant.partyId, shop_id: 'LIVE', livemode: true, name: 'LIVE', category_id: 1 };
  await database.run(insertShop, {
    ...shop,
    url: 'https://shop.example',
    currency: 'RUB',
    created_at: clock.now(),
  });
  expect(await statuses()).toEqual([200, 200, 200]);
  expect((await read(cookie, search('LIVE'))).status).toBe(404);
  expect((await read(cookie, search('TEST'))).status).toBe(200);
  const moveTo = (shopId: string) =>
    service.testDatabase.database.withClient((client) =>
      client.query('update invoice set shop_id = $1 where invoice_id = $2', [shopId, invoiceID]),
    );
  await moveTo('LIVE');
  expect(await statuses()).toEqual([404, 404, 404]);
  await moveTo('TEST');
});

test('a card number in a search is refused and not logged', async () => {
  const cookie = await enterAs(merchant);
  const before = service.logged.length;
  for (const written of [visa, '4242 4242 4242 4242', '4242-4242-4242-4242', 'x 2201382000000013']) {
    const path = `/v2/analytics/shops/TEST/payments?limit=10&externalID=${encodeURIComponent(written)}`;
    const answer = await read(cookie, path);
    expect(answer).toMatchObject({ status: 400, body: { code: 'cardNumber' } });
    expect(answer.text).not.toMatch(/\d{4}/);
  }
  expect(service.logged.slice(before).join('\n')).not.toMatch(/4242|0000013/);
});

test('the digits of a webhook ID are no card number', async () => {
  const cookie = await enterAs(merchant);
  const path = '/v2/processing/webhooks/4242424242424242/attempts?limit=10';
  expect(await read(cookie, path)).toMatchObject({ status: 404, body: { message: 'Webhook not found' } });
});

test('the published document has nothing of it, and unknown paths are not found', async () => {
  const { text } = await service.call('GET', '/openapi.json');
  expect(text).not.toContain('/console');
  const cookie = await enterAs(merchant);
  for (const path of ['', '/', '/nothing', '/operator/parties', '/v2/processing/me'])
    expect((await read(cookie, path)).status).toBe(404);
});
