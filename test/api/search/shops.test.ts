// A search of several shops finds what the searches of each find, and nothing of another party. All filters have to fit.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSmallWorld, type SmallWorld } from '../../support/worlds/small-world.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';

const range = 'fromTime=2026-01-01T00:00:00Z&toTime=2026-12-31T00:00:00Z';
const searches = ['invoices', 'payments', 'refunds'] as const;
const number = '5555341244441115';

let world: SmallWorld;
let ofParty: { invoiceID: string; id: string }[] = [];
const ask = (path: string, token = world.merchant.apiKey) => world.service.call('GET', path, { token });
const search = (what: string, query = '', token?: string) =>
  ask(`/v2/analytics/${what}?limit=1000&${range}${query}`, token);
const keysOf = (rows: readonly any[]) => rows.map(({ createdAt, id }) => `${createdAt} ${id}`);
/** Of each shop, as its own search finds them; of all shops in one order. */
async function ofEach(what: string, shops: readonly string[], query = ''): Promise<string[]> {
  const found: string[] = [];
  for (const shop of shops)
    found.push(
      ...keysOf((await ask(`/v2/analytics/shops/${shop}/${what}?limit=1000&${range}${query}`)).body.result),
    );
  return found.toSorted().toReversed();
}

beforeAll(async () => {
  world = await startSmallWorld();
  const { service, merchant } = world;
  for (const [shopID, currency] of [
    ['TEST_USD', 'USD'],
    ['TEST_EUR', 'EUR'],
  ])
    for (const externalID of ['one', 'two']) {
      service.clock.advance(1_000);
      const { id } = await makeInvoice(service, merchant, {
        shopID,
        currency,
        externalID: shopID + externalID,
      });
      await service.call('POST', `${invoicesUrl}/${id}/payments`, {
        token: merchant.apiKey,
        body: { payer: { payerType: 'CustomerPayer', customerID: world.customer } },
      });
    }
  await service.jobs.whenIdle();
  await service.search.whenIdle();
  ofParty = (await search('payments')).body.result;
});
afterAll(() => world.close());

const all = ['TEST', 'TEST_USD', 'TEST_EUR'];

describe.each(searches)('%s of several shops', (what) => {
  test.each([
    ['all of the party, without a filter', '', all],
    ['one', '&shopID=TEST', ['TEST']],
    ['several, as repeated parameters', '&shopIDs=TEST&shopIDs=TEST_USD', ['TEST', 'TEST_USD']],
    ['several, separated by commas', '&shopIDs=TEST,TEST_USD', ['TEST', 'TEST_USD']],
    ['several in both ways', '&shopIDs=TEST&shopIDs=TEST_USD,TEST_EUR', all],
    ['all but one', '&excludeShopIDs=TEST', ['TEST_USD', 'TEST_EUR']],
    ['all but one, by the other name', '&excludedShops=TEST', ['TEST_USD', 'TEST_EUR']],
    ['all but these, by both names', '&excludeShopIDs=TEST&excludedShops=TEST_EUR', ['TEST_USD']],
    ['those named, without those excluded', '&shopIDs=TEST,TEST_USD&excludeShopIDs=TEST', ['TEST_USD']],
    ['one that is also among those named', '&shopID=TEST&shopIDs=TEST_USD,TEST', ['TEST']],
    ['one that is not among those named: none', '&shopID=TEST&shopIDs=TEST_USD', []],
    ['none that is left', '&shopID=TEST&excludeShopIDs=TEST', []],
    ['those of this mode', '&paymentInstitutionRealm=test&partyID=', all],
    ['none of the other mode', '&paymentInstitutionRealm=live', []],
  ])('are those of %s', async (_, query, shops) => {
    const { status, body } = await search(
      what,
      query.replace('partyID=', `partyID=${world.merchant.partyId}`),
    );
    expect(status).toBe(200);
    expect(keysOf(body.result)).toEqual(await ofEach(what, shops));
    if (what === 'refunds') expect(body.totalCount).toBe(body.result.length);
  });

  test('are read page by page, each once', async () => {
    const walked: string[] = [];
    for (let more = ''; ;) {
      const { body } = await ask(`/v2/analytics/${what}?limit=2&${range}${more}`);
      walked.push(...keysOf(body.result));
      if (body.continuationToken === undefined) break;
      more = `&continuationToken=${body.continuationToken}`;
    }
    expect(walked).toEqual(await ofEach(what, all));
  });

  test.each([
    ['of no party', '&shopIDs=TEST,NONE', 404],
    ['of no party, to exclude', '&excludedShops=NONE', 404],
    ['without a name', '&shopIDs=TEST,', 400],
    ['that are too many', `&shopIDs=${Array.from({ length: 101 }, () => 'TEST').join(',')}`, 400],
    ['with a name that is too long', `&shopIDs=${'S'.repeat(41)}`, 400],
    ['with a name that cannot be stored', '&shopIDs=%00', 400],
  ])('are refused for shops %s', async (_, query, status) => {
    const answer = await search(what, query);
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.body.message).toMatch(/shopIDs/);
  });

  test('are those of the caller alone', async () => {
    const { apiKey } = await world.createMerchant();
    expect((await search(what, '', apiKey)).body.result).toEqual([]);
    expect((await search(what, '&shopIDs=TEST', apiKey)).body.result).toEqual([]);
    expect((await search(what, `&partyID=${world.merchant.partyId}`, apiKey)).status).toBe(401);
    const { continuationToken: token } = (await ask(`/v2/analytics/${what}?limit=1&${range}`)).body;
    for (const [query, by] of [
      ['', apiKey],
      ['&shopIDs=TEST', world.merchant.apiKey],
    ] as const)
      expect(
        (await ask(`/v2/analytics/${what}?limit=1&${range}${query}&continuationToken=${token}`, by)).body
          .code,
      ).toBe('invalidContinuationToken');
  });

  test('need a range or an exact key', async () => {
    expect((await ask(`/v2/analytics/${what}?limit=1&shopIDs=TEST`)).body.code).toBe('searchTooWide');
    const { body } = await ask(
      `/v2/analytics/${what}?limit=9&invoiceID=${world.sold.id}&shopIDs=TEST_USD,TEST`,
    );
    expect(body.result.length).toBeGreaterThan(0);
    const other = await ask(`/v2/analytics/${what}?limit=9&invoiceID=${world.sold.id}&excludeShopIDs=TEST`);
    expect(other.body.result).toEqual([]);
  });
});

test.each([
  ['payments/count', 'count'],
  ['payments/amount', 'amount'],
  ['balances/current', 'amount'],
])('the sum %s takes the same shops', async (path, member) => {
  const sum = async (query: string) =>
    ((await ask(`/v2/analytics/${path}?${range}${query}`)).body.result as any[]).map((row) => [
      row.currency,
      row[member],
    ]);
  const repeated = await sum('&shopIDs=TEST&shopIDs=TEST_USD');
  expect(repeated).toEqual(await sum('&shopIDs=TEST,TEST_USD'));
  expect(repeated).toEqual(await sum('&excludedShops=TEST_EUR'));
  expect(repeated).toEqual(await sum('&excludeShopIDs=TEST_EUR'));
  expect((await ask(`/v2/analytics/${path}?${range}&excludedShops=NONE`)).status).toBe(404);
});

describe('payments of several invoices', () => {
  test('are found at any time, in any shop of the party', async () => {
    const [one, two] = [ofParty[0]!.invoiceID, ofParty.at(-1)!.invoiceID];
    const expected = ofParty.filter(({ invoiceID }) => [one, two].includes(invoiceID));
    expect(one).not.toBe(two);
    for (const query of [`invoiceIDs=${one},${two}`, `invoiceIDs=${one}&invoiceIDs=${two}`])
      expect((await ask(`/v2/analytics/payments?limit=9&${query}`)).body.result).toEqual(expected);
    const both = await ask(`/v2/analytics/payments?limit=9&invoiceIDs=${one},${two}&invoiceID=${one}`);
    expect(both.body.result).toEqual(expected.filter(({ invoiceID }) => invoiceID === one));
    expect((await ask('/v2/analytics/payments?limit=9&invoiceIDs=none')).body.result).toEqual([]);
    const { apiKey } = await world.createMerchant();
    expect((await ask(`/v2/analytics/payments?limit=9&invoiceIDs=${one}`, apiKey)).body.result).toEqual([]);
  });

  test('are refused for more than a hundred', async () => {
    const ids = Array.from({ length: 101 }, (_, index) => `I${index}`).join(',');
    const { status, body } = await ask(`/v2/analytics/payments?limit=9&invoiceIDs=${ids}`);
    expect([status, body.code, body.message]).toEqual([
      400,
      'invalidRequest',
      expect.stringMatching(/invoiceIDs.*size/),
    ]);
  });
});

describe('the last digits of a card', () => {
  const ending = (digits: string) =>
    ofParty.filter(({ payer }: any) => payer.paymentToolDetails?.lastDigits?.endsWith(digits));

  test.each(['4242', '242', '42', '2', ''])('may be fewer than four, as in "%s"', async (digits) => {
    const { status, body } = await search('payments', `&last4=${digits}`);
    expect(status).toBe(200);
    const own = body.result.filter(({ payer }: any) => payer.paymentToolDetails);
    expect(own).toEqual(
      digits === '' ? ofParty.filter(({ payer }: any) => payer.paymentToolDetails) : ending(digits),
    );
    expect(own.length).toBeGreaterThan(0);
    expect((await search('invoices', `&last4=${digits}`)).body.result.length).toBeGreaterThan(0);
  });

  test.each(['424', '0'])('find no card that has them elsewhere: "%s"', async (digits) => {
    expect((await search('payments', `&last4=${digits}`)).body.result).toEqual([]);
  });

  test.each(['42424', '4a', '%'])('are refused as "%s"', async (digits) => {
    expect((await search('payments', `&last4=${encodeURIComponent(digits)}`)).body.code).toBe(
      'invalidRequest',
    );
  });
});

describe('a card number in a search', () => {
  const texts = {
    payments:
      'invoiceID invoiceIDs externalID paymentID customerID payerEmail payerIP payerFingerprint rrn approvalCode',
    invoices:
      'invoiceID externalID paymentID customerID payerEmail payerIP payerFingerprint rrn approvalCode shopIDs',
    refunds: 'invoiceID externalID paymentID refundID rrn approvalCode excludedShops',
  };
  const cases = Object.entries(texts).flatMap(([what, names]) =>
    names.split(' ').map((name) => [what, name] as const),
  );

  test.each(cases)('of %s by %s is refused, and in no log', async (what, name) => {
    const before = world.service.logged.length;
    for (const path of [what, `shops/TEST/${what}`])
      for (const text of [number, `${number.slice(0, 4)} ${number.slice(4, 8)}-4444-1115`]) {
        const url = `/v2/analytics/${path}?limit=1&${range}&${name}=${encodeURIComponent(text)}`;
        if (/shop/i.test(name) && path !== what) continue;
        const { status, body, text: answer } = await ask(url);
        expect(status, answer).toBe(400);
        expect(body).toMatchObject({ code: 'invalidRequest', message: expect.stringContaining(name) });
        expect(body.message).toContain('must not contain a card number');
        expect(answer.replaceAll(/\D/g, '')).not.toContain(number);
      }
    const logged = world.service.logged.slice(before).join('');
    expect(logged).toContain('"status":400');
    expect(logged).not.toContain(number.slice(0, 6));
  });

  test('is not what only looks like one: a time in milliseconds, a page token, an external ID to look up', async () => {
    expect((await search('payments', '&externalID=1795727330122')).status).toBe(200);
    const token = (await ask(`/v2/analytics/payments?limit=1&${range}`)).body.continuationToken;
    expect((await ask(`/v2/analytics/payments?limit=1&${range}&continuationToken=${token}`)).status).toBe(
      200,
    );
    expect((await search('payments', `&continuationToken=${number}`)).body.code).toBe(
      'invalidContinuationToken',
    );
    expect((await ask(`/v2/processing/invoices?externalID=${number}`)).status).toBe(404);
  });
});
