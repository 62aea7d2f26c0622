// Bodies, queries and paths that no honest client sends: each is refused with a code, and none is a fault.
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { invoicesUrl, makeInvoice, order } from '../../support/worlds/invoices.ts';
import {
  startTestService,
  type Answer,
  type Merchant,
  type TestService,
} from '../../support/service/test-service.ts';

const mostBytes = 256 * 1024;

let service: TestService;
let merchant: Merchant;

beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
});
afterAll(() => service.close());

/** The body as bytes; `service.call` would send text. */
async function post(body: string | Buffer): Promise<Answer> {
  const answer = await service.app.inject({
    method: 'POST',
    url: invoicesUrl,
    headers: {
      authorization: `Bearer ${merchant.apiKey}`,
      'x-request-id': 'test',
      'content-type': 'application/json',
    },
    payload: body,
  });
  const { statusCode: status, headers, body: text } = answer;
  return { status, headers, text, body: text === '' ? undefined : JSON.parse(text) };
}

const json = JSON.stringify(order);
/** The order with one member more, as written. */
const orderWith = (member: string) => json.replace('{', `{${member},`);

function expectBadRequest({ status, body: { hint = '', ...body } }: Answer): void {
  expect(hint.length).toBeLessThan(1_000);
  expect({ status, body }).toEqual({
    status: 400,
    body: { code: 'invalidRequest', message: expect.stringMatching(/^Request parameter: .+, error type: /) },
  });
  // The response stays short enough to read, whatever was sent.
  expect(body.message.length).toBeLessThan(1_000);
}

describe('a body', () => {
  test.each<[string, string]>([
    ['nothing', ''],
    ['spaces', '   '],
    ['half an object', json.slice(0, 40)],
    ['two objects', json + json],
    ['a trailing comma', json.replace('}', ',}')],
    ['single quotes', json.replaceAll('"', "'")],
    ['a comment', `// hello\n${json}`],
    ['a form', 'shopID=TEST&amount=6000'],
    ['XML', '<order/>'],
    ['a list', `[${json}]`],
    ['text', '"shopID"'],
    ['a number', '6000'],
    ['null', 'null'],
    ['true', 'true'],
    ['NaN', orderWith('"metadata":{"a":NaN}')],
    ['Infinity', orderWith('"metadata":{"a":Infinity}')],
    ['a number in hexadecimal', orderWith('"metadata":{"a":0x10}')],
    ['a tab inside text', orderWith('"description":"a\tb"')],
    ['an unfinished escape', orderWith('"description":"\\u12"')],
  ])('of %s is refused', async (_, body) => expectBadRequest(await post(body)));

  test.each<[string, Buffer]>([
    ['a byte that begins no character', Buffer.from([0xff])],
    ['half a character', Buffer.from([0xd0])],
    ['an overlong slash', Buffer.from([0xc0, 0xaf])],
    ['a surrogate in UTF-8', Buffer.from([0xed, 0xa0, 0x80])],
    ['a character beyond Unicode', Buffer.from([0xf4, 0x90, 0x80, 0x80])],
    ['Latin-1', Buffer.from('é', 'latin1')],
  ])('with %s in it is refused', async (_, bytes) => {
    const [before = '', after = ''] = orderWith('"description":"|"').split('|');
    expectBadRequest(await post(Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)])));
  });

  test('in UTF-16 is refused', async () => expectBadRequest(await post(Buffer.from(json, 'utf16le'))));

  test('with a byte order mark is accepted', async () => {
    expect((await post(`\ufeff${json}`)).status).toBe(201);
  });

  test.each<[string, string]>([
    ['a NUL in text', orderWith('"description":"a\\u0000b"')],
    ['a NUL in an unlimited field', orderWith('"metadata":{"a":"\\u0000"}')],
    ['a NUL in a name', orderWith('"metadata":{"a\\u0000":1}')],
    ['a NUL in the externalID', orderWith('"externalID":"\\u0000"')],
    ['a NUL in the shop', json.replace('TEST', 'TEST\\u0000')],
    ['half a surrogate pair', orderWith('"description":"\\ud83d"')],
    ['a surrogate pair the wrong way round', orderWith('"description":"\\ude00\\ud83d"')],
    ['half a surrogate pair in a name', orderWith('"metadata":{"\\ud83d":1}')],
    ['a number that would be returned as another', orderWith('"metadata":{"a":9007199254740993}')],
    ['a number too large for a double', orderWith('"metadata":{"a":1e400}')],
    ['a number too small for a double', orderWith('"metadata":{"a":-1e400}')],
    ['an amount of 2^53', json.replace('6000', '9007199254740992')],
    ['an amount of 2^63', json.replace('6000', '9223372036854775808')],
    ['an amount of 1e400', json.replace('6000', '1e400')],
    ['an amount of 10^12', json.replace('6000', '1000000000000')],
    ['an amount with a very small fraction', json.replace('6000', '6000.0000001')],
    ['__proto__ in metadata', orderWith('"metadata":{"__proto__":{"polluted":1}}')],
  ])('with %s is refused', async (_, body) => expectBadRequest(await post(body)));

  test.each([100, 10_000, 100_000])('nested %i levels deep is refused', async (levels) => {
    const members = Math.min(levels, 40_000);
    expectBadRequest(await post(orderWith(`"metadata":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`)));
    expectBadRequest(await post(orderWith(`"metadata":${'{"a":'.repeat(members)}1${'}'.repeat(members)}`)));
    expectBadRequest(await post('['.repeat(levels)));
  });

  test('nested to a usual depth is returned as it was', async () => {
    const metadata = JSON.parse('{"a":'.repeat(15) + '[[[{}]]]' + '}'.repeat(15)) as unknown;
    const created = await service.call('POST', invoicesUrl, {
      token: merchant.apiKey,
      body: { ...order, metadata },
    });
    expect(created.status).toBe(201);
    expect(created.body.invoice.metadata).toEqual(metadata);
  });

  test('with names of built-in properties keeps them as plain data', async () => {
    const names = [
      'constructor',
      'prototype',
      'toString',
      'hasOwnProperty',
      'valueOf',
      'then',
      'toJSON',
      '',
      '0',
    ];
    const metadata = Object.fromEntries(names.map((name, index) => [name, index]));
    const created = await service.call('POST', invoicesUrl, {
      token: merchant.apiKey,
      body: { ...order, metadata, constructor: 1, toString: 'x' },
    });
    expect(created.status).toBe(201);
    expect(created.body.invoice.metadata).toEqual(metadata);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('cannot set members through its prototype', async () => {
    const { amount: _, ...rest } = order;
    const answer = await post(JSON.stringify(rest).replace('{', '{"__proto__":{"amount":1},'));
    expect(answer.status).toBe(400);
    expect(({} as Record<string, unknown>)['amount']).toBeUndefined();
  });

  test('with a name twice is refused, because the two values may be checked by different programs', async () => {
    for (const text of [orderWith('"product":"first"'), `${json.slice(0, -1)},"am\\u006funt":0}`]) {
      expect((await post(text)).body).toEqual({
        code: 'invalidRequest',
        message:
          'Request parameter: body, error type: wrong_body, description: has a member twice in one object; send each once',
      });
    }
  });

  test('may have at most 256 KiB', async () => {
    const exactly = json + ' '.repeat(mostBytes - json.length);
    expect((await post(exactly)).status).toBe(201);
    const more = await post(`${exactly} `);
    expect({ status: more.status, body: more.body }).toEqual({
      status: 413,
      body: { message: 'The request body is larger than 256 KiB. Send less.' },
    });
  });

  test('may have at most 32 KiB with an access token, whatever its head says', async () => {
    const { id, token } = await makeInvoice(service, merchant);
    const sized = (bytes: number) => {
      const body = JSON.stringify({ flow: { type: 'PaymentFlowInstant' } });
      return body + ' '.repeat(bytes - body.length);
    };
    const url = `${invoicesUrl}/${id}/payments`;
    const pay = (body: string, headers = {}) => service.call('POST', url, { token, body, headers });
    const [most, tooMany] = [32 * 1024, 32 * 1024 + 1];
    expect((await pay(sized(most))).status).toBe(400);
    const { status, body } = await pay(sized(tooMany));
    expect({ status, body }).toEqual({
      status: 413,
      body: { message: 'The request body is larger than 32 KiB, the most with an access token. Send less.' },
    });
    // Before the body arrives.
    expect((await pay(sized(100), { 'content-length': String(tooMany) })).status).toBe(413);
    const inChunks = (bytes: number) =>
      service.app.inject({
        method: 'POST',
        url,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'transfer-encoding': 'chunked',
        },
        payload: Readable.from([sized(bytes)]),
      });
    expect((await inChunks(most)).statusCode).toBe(400);
    expect((await inChunks(tooMany)).statusCode).toBe(413);
  });

  test('with many errors gets a short response', async () => {
    const longName = 'n'.repeat(100_000);
    expectBadRequest(await post(orderWith(`"metadata":{"${longName}":"\\u0000"}`)));
    expectBadRequest(await post(orderWith(`"metadata":{"${longName}":{"${longName}":1e999}}`)));
    expectBadRequest(await post(json.replace('Order 1', longName)));
    const manyLines = Array.from({ length: 10_000 }, () => ({}));
    expectBadRequest(await post(orderWith(`"cart":${JSON.stringify(manyLines)}`)));
  });
});

describe('a URL', () => {
  const get = (url: string) => service.call('GET', url, { token: merchant.apiKey });

  test.each(['%', '%Z', '%ZZ', 'a%', '%E0%A4%A', '%ff', '%C0%AF', '%ED%A0%80'])(
    'with the broken encoding %s in its path is refused',
    async (broken) => {
      for (const url of [`${invoicesUrl}/${broken}`, `${invoicesUrl}/${broken}/events?limit=1`]) {
        expect((await get(url)).body).toEqual({
          code: 'invalidRequest',
          message: 'The path is not percent-encoded UTF-8. Encode it again.',
        });
        expect((await get(url)).status).toBe(400);
      }
    },
  );

  test.each<[string, string]>([
    ['of a NUL', '%00'],
    ['with a NUL in it', 'a%00b'],
    ['of 41 characters', 'i'.repeat(41)],
    ['of 41 characters beyond the basic plane', '%F0%9F%98%80'.repeat(41)],
    ['of 3000 characters', 'i'.repeat(3_000)],
    ['of 3000 encoded characters', '%41'.repeat(3_000)],
  ])('with an ID %s is refused', async (_, id) => expectBadRequest(await get(`${invoicesUrl}/${id}`)));

  test.each([
    '%20',
    '../..',
    '%2e%2e',
    '..%2f..%2fetc%2fpasswd',
    "1'%20or%20'1'='1",
    '%3Cscript%3E',
    ':invoiceID',
    '*',
    '%F0%9F%98%80'.repeat(40),
    'constructor',
    '__proto__',
  ])('with the ID %s is responded to as not found', async (id) => {
    for (const url of [
      `${invoicesUrl}/${id}`,
      `/v2/processing/shops/${id}`,
      `/v2/processing/categories/${id}`,
    ]) {
      const { status, body } = await get(url);
      expect({ status, body }).toEqual({
        status: 404,
        body: {
          message: expect.stringMatching(/[Nn]ot found$/),
          hint: expect.stringMatching(/^(Check the ID|No operation has this path)/),
        },
      });
    }
  });

  test('of a category accepts the number only as it is written', async () => {
    const status = async (id: string) => (await get(`/v2/processing/categories/${id}`)).status;
    expect(await status('1')).toBe(200);
    for (const id of ['01', '1.0', '+1', '%201', '1e0', '0x1', '-1', '9'.repeat(40)]) {
      expect({ id, status: await status(id) }).toEqual({ id, status: 404 });
    }
  });

  test.each(['%', '%ZZ', '%00', 'a%00', '%ff'])(
    'with %s in its query finds nothing and breaks nothing',
    async (broken) => {
      const found = await get(`${invoicesUrl}?externalID=${broken}`);
      expect([400, 404]).toContain(found.status);
      const { id } = await makeInvoice(service, merchant);
      expectBadRequest(await get(`${invoicesUrl}/${id}/events?limit=${broken}`));
    },
  );

  test('with a NUL in its query is refused', async () => {
    expectBadRequest(await get(`${invoicesUrl}?externalID=%00`));
  });

  test('with a parameter twice, or a thousand times, is refused', async () => {
    expectBadRequest(await get(`${invoicesUrl}?externalID=a&externalID=b`));
    expectBadRequest(await get(`${invoicesUrl}?${'externalID=a&'.repeat(1_000)}`));
  });

  test('with unknown parameters is accepted', async () => {
    await makeInvoice(service, merchant, { externalID: 'named' });
    const query = 'externalID=named&__proto__=1&constructor=2&limit[]=3&a[b][c]=4&%5B%5D=5&=6&&';
    expect((await get(`${invoicesUrl}?${query}`)).status).toBe(200);
  });

  test('with a query of 30,000 characters is accepted', async () => {
    const { id } = await makeInvoice(service, merchant);
    expect((await get(`${invoicesUrl}/${id}?${'a=b&'.repeat(7_500)}`)).status).toBe(200);
  });
});
