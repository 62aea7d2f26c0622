// What the published API has and this service does not is answered with 501 and a reason. The table of both agrees with the routes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  publishedOperations,
  unimplementedOperations,
} from '../../../src/platform/http/paths/published-operations.ts';
import { routes } from '../../../src/app/routes.ts';
import { errorCatalogue } from '../../../src/platform/http/errors/error-codes.ts';
import { startTestService, type Merchant, type TestService } from '../../support/service/test-service.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

let service: TestService;
let merchant: Merchant;

beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
});
afterAll(() => service.close());

const urlOf = (path: string) => path.replace(/\{\w+\}/g, 'x1');
const works = publishedOperations.flatMap((area) => area.works ?? []);
const missing = unimplementedOperations.map(({ method, path, reason }) => ({
  call: `${method} ${path}`,
  method,
  url: urlOf(path),
  reason,
}));
const notImplemented = (reason: string) => ({
  status: 501,
  body: { code: 'notImplemented', message: reason },
});

describe('an operation that is published and not here', () => {
  test.each(missing)(
    '$call says 501 and the reason, with and without a token',
    async ({ method, url, reason }) => {
      for (const options of [{}, { token: merchant.apiKey }, { body: { any: 'body' } }])
        expect(await service.call(method, url, options)).toMatchObject(notImplemented(reason));
    },
  );

  test.each<[Method, string]>([
    ['GET', '/v2/processing/contracts/1/adjustments/2'],
    ['GET', '/v2/processing/contracts/1/payout_tools'],
    ['POST', '/v2/processing/claims'],
    ['POST', '/v2/processing/payouts'],
    ['GET', '/v2/processing/accounts/1'],
    ['GET', '/v2/processing/payment-institutions/1/terms/payments'],
    ['GET', '/v2/processing/schedules/1'],
    ['GET', '/v2/processing/countries/RUS'],
    ['GET', '/v2/processing/tradeblocs'],
    ['GET', '/v2/processing/service-providers/1'],
    ['PUT', '/v2/processing/shops/TEST/suspend'],
    ['POST', '/v2/shops/TEST/reports'],
    ['GET', '/v2/reference/geo/location/names?language=ru&geoIDs=1'],
    ['GET', '/v1/processing/contracts'],
    ['GET', '/wallet/v0/identities/x/reports'],
    ['GET', '/wallet/v0/identities/x/withdrawal-methods'],
    ['GET', '/wallet/v0/deposit-reverts?limit=5'],
  ])('%s %s is one of them', async (method, url) => {
    expect(await service.call(method, url)).toMatchObject({
      status: 501,
      body: { code: 'notImplemented', message: expect.stringContaining(' ') },
    });
  });

  test('has a log line and a metric of one name for all, and the headers of every response', async () => {
    const since = service.logged.length;
    const { headers } = await service.call('GET', '/v2/processing/contracts/secret');
    expect(headers).toMatchObject({ 'x-request-id': 'test', 'access-control-allow-origin': '*' });
    const lines = service.logged.slice(since).map((line) => JSON.parse(line));
    expect(lines).toEqual([
      expect.objectContaining({ msg: 'request', operation: 'notImplemented', status: 501 }),
    ]);
    const { text } = await service.call('GET', '/metrics');
    expect(text).toMatch(/operation="notImplemented",status="501"/);
  });

  test('has 405 for another method, and a preflight', async () => {
    const other = await service.call('DELETE', '/v2/processing/claims');
    expect(other).toMatchObject({ status: 405, headers: { allow: 'POST, GET' } });
    expect(await service.call('OPTIONS', '/v2/processing/claims')).toMatchObject({ status: 204 });
  });

  test('is not in the OpenAPI document', async () => {
    const { paths } = (await service.call('GET', '/openapi.json')).body;
    expect(missing.filter(({ method, call }) => paths[call.split(' ')[1]!]?.[method.toLowerCase()])).toEqual(
      [],
    );
  });
});

describe('the table', () => {
  test('has each operation once', () => {
    const all = [...works, ...missing.map(({ call }) => call)];
    expect(all.filter((call, index) => all.indexOf(call) !== index)).toEqual([]);
  });

  test('says of routes that they work, and of nothing else', () => {
    const calls = new Set<string>(routes.map(({ method, path }) => `${method} ${path}`));
    expect(works.filter((call) => !calls.has(call))).toEqual([]);
    expect(missing.filter(({ call }) => calls.has(call))).toEqual([]);
  });

  test.each(works)('%s is an operation that asks for a token', async (call) => {
    const [method, path] = call.split(' ') as [Method, string];
    expect(await service.call(method, urlOf(path))).toMatchObject({ status: 401, text: '' });
  });

  test('leaves out only what the published API does not have', () => {
    const added = routes.filter(({ method, path }) => !works.some((call) => call === `${method} ${path}`));
    const known =
      /\/(recurring|receipt|consent|queues|attempts|test|resume|replay|rotate-keys|consent-links|subscriptions|dunning-policies|exports)\b/;
    const others = added.filter(({ path }) => !known.test(path)).map(({ operation }) => operation);
    expect(others).toEqual([
      'searchCustomers',
      'searchBindings',
      'searchSeries',
      'searchInvoicesOfShops',
      'searchPaymentsOfShops',
      'searchRefundsOfShops',
      'getPaymentsDeclines',
      'getRecoveries',
      'getPayoutSums',
      'createCharge',
      'getPaymentTimeline',
      'findCustomer',
      'getBindingTimeline',
      'withdrawBinding',
      'listDestinationEvents',
      'getWithdrawalTimeline',
    ]);
  });

  test('takes an operation that always refuses for one that is not here', async () => {
    const body = {
      walletID: 'x',
      currencyFrom: 'RUB',
      currencyTo: 'USD',
      cash: { amount: 1, currency: 'RUB' },
    };
    const answer = await service.call('POST', '/wallet/v0/withdrawal-quotes', {
      token: merchant.apiKey,
      body,
    });
    const { message } = errorCatalogue.quotesNotOffered;
    expect(answer).toMatchObject({ status: 501, body: { code: 'quotesNotOffered', message } });
  });
});
