// A path may name the caller's own party: it is then another way to write the path without it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nowhere, webhooksUrl } from '../../support/receivers/webhooks.ts';
import { startTestService, type Merchant, type TestService } from '../../support/service/test-service.ts';
import { invoicesUrl, order } from '../../support/worlds/invoices.ts';

type Method = Parameters<TestService['call']>[0];

let service: TestService;
let merchant: Merchant;
let other: Merchant;
/** An invoice of the merchant, and its access token. */
let invoice: { id: string };
let invoiceToken: string;

const asKey = (method: Method, url: string, body?: unknown, headers: Record<string, string> = {}) =>
  service.call(method, url, { token: merchant.apiKey, headers, ...(body === undefined ? {} : { body }) });
const ofParty = (url: string, partyId = merchant.partyId) =>
  url.replace('/v2/processing', `/v2/processing/parties/${partyId}`);
const webhook = {
  scope: { topic: 'InvoicesTopic', shopID: 'TEST', eventTypes: ['InvoicePaid'] },
  url: nowhere,
};
const notFound = { status: 404, body: { message: 'Party not found' } };

beforeAll(async () => {
  service = await startTestService();
  [merchant, other] = [await service.createMerchant(), await service.createMerchant()];
  const { body } = await asKey('POST', ofParty(invoicesUrl), { ...order, externalID: 'first' });
  invoice = body.invoice;
  invoiceToken = body.invoiceAccessToken.payload;
});
afterAll(() => service.close());

describe('with the own party in it', () => {
  test.each<[string, () => string]>([
    ['the shops', () => '/v2/processing/shops'],
    ['a shop', () => '/v2/processing/shops/TEST'],
    ['an invoice', () => `${invoicesUrl}/${invoice.id}`],
    ['an invoice by its externalID', () => `${invoicesUrl}?externalID=first`],
    ['the payments of an invoice', () => `${invoicesUrl}/${invoice.id}/payments`],
    ['a payment that does not exist', () => '/v2/processing/payments?externalID=none'],
    ['the webhooks', () => webhooksUrl],
    ['a schema error', () => `${invoicesUrl}/${invoice.id}/events?limit=0`],
  ])('a path answers as without it: %s', async (_, url) => {
    const plain = await asKey('GET', url());
    const named = await asKey('GET', ofParty(url()));
    expect({ status: named.status, text: named.text }).toEqual({ status: plain.status, text: plain.text });
    const older = await asKey('GET', ofParty(url()).replace('/v2/', '/v1/'));
    expect(older.text).toBe(plain.text);
  });

  test('a path creates and deletes', async () => {
    const made = await asKey('POST', ofParty(webhooksUrl), webhook);
    expect(made.status).toBe(201);
    expect(await asKey('DELETE', ofParty(`${webhooksUrl}/${made.body.id}`))).toMatchObject({ status: 204 });
    expect(await asKey('GET', `${webhooksUrl}/${made.body.id}`)).toMatchObject({ status: 404 });
  });

  test('the party itself is the one of the key', async () => {
    const { body } = await asKey('GET', '/v2/processing/me');
    const named = await asKey('GET', `/v2/processing/parties/${merchant.partyId}?x=1`);
    expect(named).toMatchObject({ status: 200, body });
  });

  test('a key for repeats is one for both ways to write it', async () => {
    const key = { 'idempotency-key': 'both-ways' };
    const first = await asKey('POST', invoicesUrl, order, key);
    const again = await asKey('POST', ofParty(invoicesUrl), order, key);
    expect(again.text).toBe(first.text);
    expect(again.headers['idempotent-replayed']).toBe('true');
  });

  test('the token of an invoice may do what it may without it', async () => {
    const read = (path: string) => service.call('GET', ofParty(path), { token: invoiceToken });
    expect(await read(`${invoicesUrl}/${invoice.id}`)).toMatchObject({ status: 200 });
    expect(await read('/v2/processing/shops')).toMatchObject({ status: 401, text: '' });
  });

  test('the log line and the metric are those of the operation', async () => {
    const since = service.logged.length;
    await asKey('GET', ofParty(`${invoicesUrl}/${invoice.id}`));
    const line = JSON.parse(service.logged[since] ?? '');
    expect(line).toMatchObject({ operation: 'getInvoice', objectId: invoice.id, partyId: merchant.partyId });
    const { text } = await service.call('GET', '/metrics');
    expect(text).not.toMatch(/operation="(unknown|.*part)/i);
  });

  test('another method has 405, and what is not here 501', async () => {
    expect(await asKey('PUT', ofParty(webhooksUrl))).toMatchObject({
      status: 405,
      headers: { allow: 'POST, GET' },
    });
    for (const url of [
      '/v2/processing/contracts',
      '/v2/processing/shops/TEST/suspend',
      '/v2/processing/suspend',
    ])
      expect(await asKey(url.endsWith('suspend') ? 'PUT' : 'GET', ofParty(url))).toMatchObject({
        status: 501,
      });
  });
});

describe('with another party in it', () => {
  test.each<[string, () => string]>([
    ['one that exists', () => other.partyId],
    ['one that does not', () => 'unknown'],
    ['one that cannot be', () => '%00%F0%9F%98%80'],
    ['the own ID and a space', () => `${merchant.partyId}%20`],
  ])('nothing is found and nothing done: %s', async (_, partyId) => {
    const count = async () => (await asKey('GET', webhooksUrl)).body.length;
    const before = await count();
    for (const path of ['/v2/processing/shops', `${invoicesUrl}/${invoice.id}`, webhooksUrl])
      expect(await asKey('GET', ofParty(path, partyId()))).toMatchObject(notFound);
    expect(await asKey('POST', ofParty(webhooksUrl, partyId()), webhook)).toMatchObject(notFound);
    expect(await asKey('GET', `/v2/processing/parties/${partyId()}`)).toMatchObject(notFound);
    expect(await count()).toBe(before);
  });

  test('a token of an invoice finds nothing, and no token is still 401', async () => {
    const url = ofParty(`${invoicesUrl}/${invoice.id}`, other.partyId);
    expect(await service.call('GET', url, { token: invoiceToken })).toMatchObject(notFound);
    expect(await service.call('GET', url)).toMatchObject({ status: 401, text: '' });
  });
});

test.each<[string, number]>([
  ['/v2/processing/parties', 404],
  ['/v2/processing/parties/', 404],
  ['/v2/processing/parties//shops', 404],
  ['/v2/processing/parties/a/parties/b/shops', 404],
  ['/v2/processing/parties/%ZZ/shops', 400],
  ['/v2/processing/parties/a/nothing', 404],
])('%s is no such path', async (url, status) => {
  const answer = await asKey('GET', url);
  expect(answer.status).toBe(status);
  expect(answer.body.message).not.toBe('Party not found');
});

test('the OpenAPI document has each operation once', async () => {
  const { paths } = (await service.call('GET', '/openapi.json')).body;
  expect(Object.keys(paths).filter((path) => path.includes('/parties'))).toEqual([]);
});
