// What every operation has in common over HTTP: request IDs, deadlines, content types, methods, CORS, fixed headers, log lines.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes, sandboxRoutes } from '../../../src/app/routes.ts';
import { invoicesUrl, makeInvoice, order } from '../../support/worlds/invoices.ts';
import {
  startTestService,
  type Answer,
  type Merchant,
  type TestService,
} from '../../support/service/test-service.ts';

const me = '/v2/processing/me';

let service: TestService;
let merchant: Merchant;
let invoiceUrl: string;

beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
  invoiceUrl = `${invoicesUrl}/${(await makeInvoice(service, merchant)).id}`;
});
afterAll(() => service.close());

function propertiesOf(schema: unknown): Record<string, unknown> {
  return (schema as { properties?: Record<string, unknown> } | undefined)?.properties ?? {};
}

type Method = Parameters<TestService['call']>[0];
type Headers = Record<string, string | undefined>;
const get = (url: string, headers: Headers = {}) =>
  service.call('GET', url, { token: merchant.apiKey, headers });
const send = (method: Method, url: string, body: unknown, headers: Headers = {}) =>
  service.call(method, url, { token: merchant.apiKey, body, headers });

/** One request for every kind of response. */
const answersOfEveryKind: Record<string, (headers?: Headers) => Promise<Answer>> = {
  '200': (headers) => get(invoiceUrl, headers),
  '201': (headers) => send('POST', invoicesUrl, order, headers),
  '204': async (headers) => {
    const { id } = await makeInvoice(service, merchant);
    return send('POST', `${invoicesUrl}/${id}/rescind`, { reason: 'x' }, headers);
  },
  '400 by the schema': (headers) => send('POST', invoicesUrl, { ...order, amount: 0 }, headers),
  '400 by a rule': (headers) => send('POST', invoicesUrl, { ...order, shopID: 'NOWHERE' }, headers),
  '400 of an unreadable URL': (headers) => get(`${invoicesUrl}/%ZZ`, headers),
  '400 of a deadline': (headers) => get(me, { ...headers, 'x-request-deadline': '0s' }),
  '401 without a token': (headers) => get(me, { ...headers, authorization: undefined }),
  '404 of an entity': (headers) => get(`${invoicesUrl}/1Cg2mCUVy4m`, headers),
  '404 of a path': (headers) => get('/v2/processing/nothing', headers),
  '405': (headers) => send('DELETE', me, undefined, headers),
  '409': async (headers) => {
    await send('POST', invoicesUrl, { ...order, externalID: 'taken' });
    return send('POST', invoicesUrl, { ...order, externalID: 'taken', amount: 1 }, headers);
  },
  '413': (headers) => send('POST', invoicesUrl, ' '.repeat(256 * 1024 + 1), headers),
  '415': (headers) => send('POST', invoicesUrl, order, { ...headers, 'content-type': 'text/plain' }),
  '422': async (headers) => {
    const key = { 'idempotency-key': 'used' };
    await send('POST', invoicesUrl, order, key);
    return send('POST', invoicesUrl, { ...order, amount: 1 }, { ...headers, ...key });
  },
};
const kinds = Object.entries(answersOfEveryKind);

describe('a response', () => {
  test.each(kinds)('%s has its status, its shape and nothing else', async (kind, request) => {
    const { status, body, text, headers } = await request();
    expect(String(status)).toBe(kind.slice(0, 3));
    if ([204, 401, 405, 415].includes(status)) {
      expect({ text, type: headers['content-type'] }).toEqual({ text: '', type: undefined });
      return;
    }
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    const members: Record<number, string[]> = {
      400: ['code', 'message'],
      404: ['message'],
      409: ['externalID', 'id', 'message'],
      413: ['message'],
      422: ['code', 'message'],
    };
    const { hint: _, ...others } = body;
    if (status >= 400) expect(Object.keys(others).sort()).toEqual(members[status]);
  });

  test.each(kinds)('%s has the fixed headers', async (_, request) => {
    expect((await request()).headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'access-control-allow-origin': '*',
    });
  });

  test.each(kinds)('%s echoes the X-Request-ID', async (_, request) => {
    const requestId = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6';
    expect((await request({ 'x-request-id': requestId })).headers['x-request-id']).toBe(requestId);
  });
});

describe('X-Request-ID', () => {
  test.each(['1', 'i'.repeat(32), 'i'.repeat(40), '!"#$%&\'()*+,-./:;<=>?@[]^_`{|}~', 'with a space'])(
    'may be %s',
    async (requestId) => {
      const answer = await get(me, { 'x-request-id': requestId });
      expect(answer.status).toBe(200);
      expect(answer.headers['x-request-id']).toBe(requestId);
    },
  );

  test('that is missing is made, another one for each request', async () => {
    const made = async () => {
      const { status, headers } = await get(me, { 'x-request-id': undefined });
      expect(status).toBe(200);
      return String(headers['x-request-id']);
    };
    const [first, second] = [await made(), await made()];
    expect(first).toMatch(/^\w{8,40}$/);
    expect(second).not.toBe(first);
    expect(service.logged.at(-1)).toContain(`"requestId":"${second}"`);
  });

  test.each([
    ['empty', ''],
    ['of 41 characters', 'i'.repeat(41)],
    ['of 4000 characters', 'i'.repeat(4_000)],
  ])('%s is a bad request, and is not echoed', async (_, requestId) => {
    const answer = await get(me, { 'x-request-id': requestId });
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 400,
      body: { code: 'invalidRequest', message: expect.stringContaining('X-Request-ID') },
    });
    expect(answer.headers).not.toHaveProperty('x-request-id');
  });

  test('is not an idempotency key: the same on two requests creates two invoices', async () => {
    const headers = { 'x-request-id': 'the same' };
    const [first, second] = [
      await send('POST', invoicesUrl, order, headers),
      await send('POST', invoicesUrl, order, headers),
    ];
    expect(second.body.invoice.id).not.toBe(first.body.invoice.id);
  });

  test('is not checked for an unauthorised caller', async () => {
    expect((await get(me, { 'x-request-id': undefined, authorization: 'Bearer x' })).status).toBe(401);
  });
});

describe('X-Request-Deadline', () => {
  test.each([
    '30s',
    '1m',
    '2.5m',
    '0.5m',
    '500000ms',
    '500000.25ms',
    '60s',
    '3600s',
    '99999999999m',
    `${'9'.repeat(38)}ms`,
    `30.${'0'.repeat(36)}s`,
    '2026-01-19T10:00:30Z',
    '2026-01-19T13:00:30.5+03:00',
    '9999-12-31T23:59:59Z',
  ])('%s is accepted', async (deadline) => {
    expect((await get(me, { 'x-request-deadline': deadline })).status).toBe(200);
  });

  test.each([
    '',
    '0s',
    '0ms',
    '0.0m',
    '-5s',
    '+5s',
    '5',
    '5 s',
    '5h',
    '1d',
    '5S',
    '5sec',
    '.5s',
    '5.s',
    '1e3ms',
    'NaNs',
    'Infinitys',
    '٥s',
    'soon',
    '2026-01-19T10:00:00Z',
    '2026-01-19T10:00:00.123Z',
    '2026-01-19T13:00:00+03:00',
    '2026-01-19',
    '2027-02-30T00:00:00Z',
    `${'9'.repeat(39)}ms`,
  ])('"%s" is refused', async (deadline) => {
    for (const answer of [
      await get(me, { 'x-request-deadline': deadline }),
      await send('POST', invoicesUrl, order, { 'x-request-deadline': deadline }),
    ]) {
      expect({ status: answer.status, body: answer.body }).toEqual({
        status: 400,
        body: { code: 'invalidDeadline', message: 'Invalid data in X-Request-Deadline header' },
      });
    }
  });
});

describe('the content type', () => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json ; charset="utf-8"',
    'Application/JSON',
  ])('%s is accepted', async (type) => {
    expect((await send('POST', invoicesUrl, order, { 'content-type': type })).status).toBe(201);
  });

  test.each([
    undefined,
    '',
    'text/plain',
    'text/json',
    'application/jsonp',
    'application/json-patch+json',
    'application/problem+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application',
    'json',
    '*/*',
    'garbage and more of it',
    'application/json, text/plain',
  ])('%j is refused with an empty response, also with an empty body', async (type) => {
    for (const body of [order, '']) {
      const answer = await send('POST', invoicesUrl, body, { 'content-type': type });
      expect(answer).toMatchObject({ status: 415, text: '' });
    }
  });

  test('does not matter without a body', async () => {
    for (const type of ['text/plain', 'application/json', 'garbage', '']) {
      expect((await get(invoiceUrl, { 'content-type': type })).status).toBe(200);
      const headers = { 'content-type': type };
      const bare = { token: merchant.apiKey, headers };
      expect((await service.call('POST', `${invoiceUrl}/access-tokens`, bare)).status).toBe(201);
    }
  });
});

const honest = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD'] as const;
/** The framework knows them, but its types do not. */
const exotic = ['TRACE', 'QUERY'] as unknown as typeof honest;

describe('a known path', () => {
  test.each<[string, string]>([
    [invoicesUrl, 'POST, GET'],
    [`${invoicesUrl}/x`, 'GET'],
    [`${invoicesUrl}/x/fulfill`, 'POST'],
    [`${invoicesUrl}/x/events`, 'GET'],
    [me, 'GET'],
    ['/v1/processing/me', 'GET'],
    ['/%76%31/%70rocessing/me', 'GET'],
    ['/v2/processing/%6de?x=1', 'GET'],
    [`${invoicesUrl}//fulfill`, 'POST'],
    ['/sandbox/clock', 'GET, POST'],
  ])('%s responds to other methods with 405 and its own methods', async (url, allow) => {
    const known = allow.split(', ');
    for (const method of [...honest, ...exotic]) {
      if (known.includes(method)) continue;
      for (const token of [merchant.apiKey, undefined]) {
        const answer = await service.call(method, url, token === undefined ? {} : { token });
        expect({ method, ...answer }).toMatchObject({ method, status: 405, text: '', headers: { allow } });
      }
    }
  });
});

test.each([
  '/v2',
  '/v2/processing',
  '/v3/processing/me',
  '/v2/processing/me/',
  '/v2//processing/me',
  '/V2/processing/me',
  '/v2/processing/me/more',
  '/v2/processing/invoices/x/y/z',
  '/v1/sandbox/clock',
  '/v1%2fprocessing/me',
  '/%2576%31/processing/me',
  '/%2e%2e/%2e%2e/etc/passwd',
  '/v2/processing/%6de/..',
  '/favicon.ico',
])('the unknown path %s is not found', async (url) => {
  for (const method of ['GET', 'POST', 'DELETE'] as const) {
    const answer = await send(method, url, method === 'GET' ? undefined : order);
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 404,
      body: { message: 'Not found', hint: 'No operation has this path. `/docs` lists all of them.' },
    });
  }
});

test.each([
  '/v1/processing/me',
  '/%761/processing/me',
  '/v%31/%70rocessing/me?x=/v1/',
  '/v2/processing/%6de',
])('%s is another way to write /v2/processing/me', async (url) => {
  expect((await get(url)).body).toEqual((await get(me)).body);
});

describe('a preflight', () => {
  const asked = {
    origin: 'https://shop.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type,x-request-id',
  };
  const columnList = (header: unknown) => String(header).split(/,\s*/).sort();

  test.each([invoicesUrl, unknownInvoiceUrl(), me, '/v1/processing/shops'])(
    'of %s needs no token',
    async (url) => {
      const answer = await service.call('OPTIONS', url, { headers: { ...asked, 'x-request-id': undefined } });
      expect(answer).toMatchObject({ status: 204, text: '' });
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect(columnList(answer.headers['access-control-allow-methods'])).toEqual(
        ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].sort(),
      );
      expect(columnList(answer.headers['access-control-allow-headers'])).toEqual(
        expect.arrayContaining([
          'x-requested-with',
          'content-type',
          'accept',
          'authorization',
          'x-request-id',
          'x-request-deadline',
        ]),
      );
    },
  );

  test('lets no page send cookies', async () => {
    for (const answer of [await service.call('OPTIONS', me, { headers: asked }), await get(me, asked)]) {
      expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
    }
  });

  test('lists the response headers that pages may read', async () => {
    expect(columnList((await get(me, asked)).headers['access-control-expose-headers'])).toEqual(
      expect.arrayContaining(['X-Request-ID', 'Retry-After', 'Idempotent-Replayed']),
    );
  });
});

function unknownInvoiceUrl(): string {
  return `${invoicesUrl}/1Cg2mCUVy4m`;
}

test.each(['/health/live', '/health/ready', '/metrics', '/openapi.json', '/docs', '/'])(
  'HEAD %s gets the response of GET without its content',
  async (url) => {
    const [head, get] = [await service.call('HEAD', url), await service.call('GET', url)];
    const known = ({ status, headers }: Answer) => ({
      status,
      type: headers['content-type'],
      policy: headers['content-security-policy'],
      location: headers['location'],
    });
    expect(known(head)).toEqual(known(get));
    expect(head.status).toBeLessThan(400);
    expect(head.text).toBe('');
  },
);

describe('the log line of a request', () => {
  async function linesOf(request: () => Promise<Answer>) {
    const before = service.logged.length;
    await request();
    const lines = service.logged
      .slice(before)
      .map((line) => JSON.parse(line) as { level: string; msg: string; objectId?: string });
    return lines.filter(({ msg }) => msg === 'request');
  }
  const levelsOf = async (request: () => Promise<Answer>) =>
    (await linesOf(request)).map(({ level }) => level);
  const objectOf = async (request: () => Promise<Answer>) => (await linesOf(request))[0]?.objectId;

  test.each(['/health/live', '/health/ready'])('has level debug for %s', async (url) => {
    expect(await levelsOf(() => service.call('GET', url))).toEqual(['debug']);
    expect(await levelsOf(() => service.call('HEAD', url))).toEqual(['debug']);
  });

  test('has level info for an operation of the API', async () => {
    expect(await levelsOf(() => get(me))).toEqual(['info']);
  });

  test('has the IDs in the path, also of what is not found', async () => {
    const [id] = invoiceUrl.split('/').slice(-1);
    expect(await objectOf(() => get(invoiceUrl))).toBe(id);
    expect(await objectOf(() => get(`${invoiceUrl}/payments/7/refunds/100`))).toBe(`${id}/7/100`);
    expect(await objectOf(() => get(me))).toBeUndefined();
  });

  test('has the ID of what was created, also when a key repeats it', async () => {
    let invoice: Answer;
    const create = async () =>
      (invoice = await send('POST', invoicesUrl, order, { 'idempotency-key': 'logged' }));
    const objectId = await objectOf(create);
    expect(objectId).toBe(invoice!.body.invoice.id);
    expect(await objectOf(create)).toBe(objectId);
    const bad = await objectOf(() => send('POST', invoicesUrl, { ...order, amount: 0 }));
    expect(bad).toBeUndefined();
  });

  test('has no token of a path, nothing of a caller who is not known, and no long text', async () => {
    expect(await objectOf(() => get('/payres/v0/bank-cards/secret'))).toBeUndefined();
    expect(await objectOf(() => get(invoiceUrl, { authorization: undefined }))).toBeUndefined();
    expect(await objectOf(() => get(`${invoicesUrl}/${'x'.repeat(5_000)}`))).toHaveLength(200);
  });

  test.each(
    [...routes, ...sandboxRoutes].flatMap(({ operation, response, status }) => {
      const members = Object.entries(propertiesOf(response));
      const [found] = [propertiesOf(response), ...members.map(([, member]) => propertiesOf(member))].filter(
        (properties) => 'id' in properties,
      );
      return status === 200 || !found ? [] : [[operation, [members[0]?.[0], Object.keys(found)[0]]]];
    }),
  )('can read the ID in the response of %s, which begins with it', (_, [first, ofObject]) => {
    expect(first === 'id' || ['invoice', 'customer', 'invoiceTemplate'].includes(first ?? '')).toBe(true);
    expect(ofObject).toBe('id');
  });
});

describe('the way a request came', () => {
  test('through a proxy that is not declared is shown by readiness and in the log', async () => {
    await get(me, { 'x-forwarded-for': '203.0.113.9' });
    const { status, body } = await service.call('GET', '/health/ready');
    expect([status, body.warnings]).toEqual([200, [expect.stringContaining('TRUSTED_PROXIES')]]);
    expect(service.logged.join('')).toContain('add it to TRUSTED_PROXIES');
  });

  test.each(['gzip', 'br', 'deflate, gzip', 'x-unknown'])('encoded as %s is refused', async (coding) => {
    expect((await send('POST', invoicesUrl, order, { 'content-encoding': coding })).status).toBe(415);
  });

  test('as it is, is taken', async () => {
    expect((await send('POST', invoicesUrl, order, { 'content-encoding': 'identity' })).status).toBe(201);
  });

  test('by TLS to a declared proxy is remembered by browsers, and no other is', async () => {
    const header = 'strict-transport-security';
    const byTls = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' };
    expect((await get(me, byTls)).headers).not.toHaveProperty(header);
    const proxied = await startTestService({ TRUSTED_PROXIES: '127.0.0.1' });
    try {
      expect((await proxied.call('GET', me, { headers: byTls })).headers[header]).toBe('max-age=31536000');
      expect((await proxied.call('GET', me)).headers).not.toHaveProperty(header);
    } finally {
      await proxied.close();
    }
  });
});

test('with STRICT_REQUEST_ID a request without an X-Request-ID is refused, on every path of the API', async () => {
  const strict = await startTestService({ STRICT_REQUEST_ID: 'on' });
  try {
    const { apiKey: token } = await strict.createMerchant();
    const headers = { 'x-request-id': undefined };
    const inProcessing = await strict.call('GET', invoicesUrl.replace('invoices', 'me'), { token, headers });
    expect({ status: inProcessing.status, body: inProcessing.body }).toEqual({
      status: 400,
      body: { code: 'invalidRequest', message: expect.stringContaining('X-Request-ID') },
    });
    expect(inProcessing.headers).not.toHaveProperty('x-request-id');
    const inWallets = await strict.call('GET', '/wallet/v0/identities', { token, headers });
    expect([inWallets.status, inWallets.body.name]).toEqual([400, 'X-Request-ID']);
  } finally {
    await strict.close();
  }
});
