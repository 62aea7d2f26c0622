// What the API can do with an existing invoice: read, find, issue tokens, end it, follow its events.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  startTestService,
  type Answer,
  type Merchant,
  type TestService,
} from '../../support/service/test-service.ts';
import {
  invoicesUrl,
  invoiceStates,
  makeInvoice,
  makeInvoiceThatIs,
  order,
  payInvoice,
} from '../../support/worlds/invoices.ts';
import { setTradingFlag, tradingFlags } from '../../support/worlds/block-merchant.ts';

const unknownId = '1Cg2mCUVy4m';

let service: TestService;
let merchant: Merchant;
let other: Merchant;

beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
  other = await service.createMerchant();
});
afterAll(() => service.close());

const get = (path: string, token = merchant.apiKey) => service.call('GET', invoicesUrl + path, { token });
const post = (path: string, body: unknown, token = merchant.apiKey) =>
  service.call('POST', invoicesUrl + path, { token, ...(body === undefined ? {} : { body }) });

function expectRefusal(answer: Answer, status: number, body: object): void {
  const { hint: _, ...rest } = answer.body;
  expect({ status: answer.status, body: rest }).toEqual({ status, body });
}
const notFound = { message: 'Invoice not found' };
const invalidStatus = { code: 'invalidInvoiceStatus', message: 'Invalid invoice status' };
const invalidRequest = { code: 'invalidRequest', message: expect.stringContaining('Request parameter: ') };

describe('reading an invoice', () => {
  test('returns 404 for an unknown ID and for the key of another merchant', async () => {
    const { id } = await makeInvoice(service, merchant);
    expectRefusal(await get(`/${unknownId}`), 404, notFound);
    expectRefusal(await get(`/${id}`, other.apiKey), 404, notFound);
    expectRefusal(await get(`/${'i'.repeat(41)}`), 400, invalidRequest);
  });

  test.each(invoiceStates)(
    'returns an invoice that is %s, with its reason if the state has one',
    async (state) => {
      const { id } = await makeInvoiceThatIs(state, service, merchant);
      const reason = { unpaid: undefined, paid: undefined, fulfilled: 'to fulfill', cancelled: 'to rescind' };
      expect((await get(`/${id}`)).body).toMatchObject({ id, status: state });
      expect((await get(`/${id}`)).body.reason).toBe(reason[state]);
    },
  );
});

describe('finding an invoice by its externalID', () => {
  test('returns the invoice in its current state, without a token', async () => {
    const { id } = await makeInvoice(service, merchant, { externalID: 'find me & more' });
    await post(`/${id}/rescind`, { reason: 'changed my mind' });
    const found = await get('?externalID=find%20me%20%26%20more');
    expect(found.status).toBe(200);
    expect(found.body).toEqual((await get(`/${id}`)).body);
    expect(found.body).toMatchObject({ externalID: 'find me & more', status: 'cancelled' });
  });

  test('returns 404 for an unused externalID and for one of another merchant', async () => {
    await makeInvoice(service, other, { externalID: 'name of another' });
    expectRefusal(await get('?externalID=name%20of%20another'), 404, notFound);
    expectRefusal(await get('?externalID=never'), 404, notFound);
  });

  test.each([
    '',
    '?externalID=',
    `?externalID=${'e'.repeat(41)}`,
    '?externalID=a&externalID=b',
    '?externalId=a',
  ])('requires one externalID of 1 to 40 characters, not "%s"', async (query) =>
    expectRefusal(await get(query), 400, invalidRequest),
  );
});

describe('issuing an access token', () => {
  test.each(invoiceStates)('works for an invoice that is %s', async (state) => {
    const { id, token } = await makeInvoiceThatIs(state, service, merchant);
    const issued = await post(`/${id}/access-tokens`, undefined);
    expect(issued.status).toBe(201);
    expect(issued.body).toEqual({ payload: expect.any(String) });
    expect(issued.body.payload).not.toBe(token);
    for (const valid of [token, issued.body.payload]) expect((await get(`/${id}`, valid)).status).toBe(200);
  });

  test('works while the party is blocked or suspended', async () => {
    const stopped = await service.createMerchant();
    const { id } = await makeInvoice(service, stopped);
    await setTradingFlag(service, stopped, { of: 'party', flag: 'is_blocked' }, true);
    expect((await post(`/${id}/access-tokens`, undefined, stopped.apiKey)).status).toBe(201);
    expect((await get(`/${id}`, stopped.apiKey)).status).toBe(200);
    expect((await get(`/${id}/events?limit=1`, stopped.apiKey)).status).toBe(200);
  });

  test('ignores a body', async () => {
    const { id } = await makeInvoice(service, merchant);
    const url = `${invoicesUrl}/${id}/access-tokens`;
    for (const headers of [{}, { 'content-type': 'text/plain' }, { 'content-type': 'no type at all' }]) {
      const issued = await service.call('POST', url, {
        token: merchant.apiKey,
        body: '{"payload": broken',
        headers,
      });
      expect(issued.status).toBe(201);
    }
  });

  test('returns 404 for an unknown ID and for another merchant', async () => {
    const { id } = await makeInvoice(service, merchant);
    expectRefusal(await post(`/${unknownId}/access-tokens`, undefined), 404, notFound);
    expectRefusal(await post(`/${id}/access-tokens`, undefined, other.apiKey), 404, notFound);
  });
});

describe.each([
  { how: 'fulfill', from: 'paid', to: 'fulfilled' },
  { how: 'rescind', from: 'unpaid', to: 'cancelled' },
] as const)('$how', ({ how, from, to }) => {
  test(`changes a ${from} invoice to ${to} once, with the given reason`, async () => {
    const { id } = await makeInvoiceThatIs(from, service, merchant);
    const reason = 'x'.repeat(1_000);
    const ended = await post(`/${id}/${how}`, { reason });
    expect(ended).toMatchObject({ status: 204, text: '' });
    expect((await get(`/${id}`)).body).toMatchObject({ status: to, reason });
    expectRefusal(await post(`/${id}/${how}`, { reason }), 400, invalidStatus);
    expectRefusal(await post(`/${id}/${how}`, { reason: 'another' }), 400, invalidStatus);
    expect((await get(`/${id}`)).body).toMatchObject({ status: to, reason });
  });

  test.each(invoiceStates.filter((state) => state !== from))(
    'is refused for one that is %s',
    async (state) => {
      const { id } = await makeInvoiceThatIs(state, service, merchant);
      const before = (await get(`/${id}`)).body;
      expectRefusal(await post(`/${id}/${how}`, { reason: 'x' }), 400, invalidStatus);
      expect((await get(`/${id}`)).body).toEqual(before);
    },
  );

  test.each<[string, unknown]>([
    ['no reason', {}],
    ['a reason of 1001 characters', { reason: 'x'.repeat(1_001) }],
    ['a number for a reason', { reason: 1 }],
    ['null for a reason', { reason: null }],
    ['a list', []],
    ['text', '"x"'],
  ])('is refused with %s', async (_, body) => {
    const { id } = await makeInvoiceThatIs(from, service, merchant);
    expectRefusal(await post(`/${id}/${how}`, body), 400, invalidRequest);
  });

  test('returns 404 for an unknown ID and for another merchant', async () => {
    const { id } = await makeInvoiceThatIs(from, service, merchant);
    expectRefusal(await post(`/${unknownId}/${how}`, { reason: 'x' }), 404, notFound);
    expectRefusal(await post(`/${id}/${how}`, { reason: 'x' }, other.apiKey), 404, notFound);
    expect((await get(`/${id}`)).body.status).toBe(from);
  });

  test.concurrent.each(tradingFlags)('is refused while the %s %s', async (of, flag, code, message) => {
    const stopped = await service.createMerchant();
    const { id } = await makeInvoiceThatIs(from, service, stopped);
    await setTradingFlag(service, stopped, { of, flag }, true);
    expectRefusal(await post(`/${id}/${how}`, { reason: 'x' }, stopped.apiKey), 400, { code, message });
    expect((await get(`/${id}`, stopped.apiKey)).body.status).toBe(from);
    await setTradingFlag(service, stopped, { of, flag }, false);
    expect((await post(`/${id}/${how}`, { reason: 'x' }, stopped.apiKey)).status).toBe(204);
  });

  test('happens once when requested fifty times concurrently', async () => {
    const { id } = await makeInvoiceThatIs(from, service, merchant);
    const before = (await get(`/${id}/events?limit=100`)).body.length;
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => post(`/${id}/${how}`, { reason: `reason ${index}` })),
    );
    const refused = answers.filter(({ status }) => status !== 204);
    expect(refused).toHaveLength(49);
    for (const answer of refused) expectRefusal(answer, 400, invalidStatus);
    expect((await get(`/${id}/events?limit=100`)).body).toHaveLength(before + 1);
  });
});

describe('the events of an invoice', () => {
  const events = (id: string, query: string, token?: string) => get(`/${id}/events${query}`, token);

  test('start with the created invoice and are numbered from 1 without gaps', async () => {
    const { id } = await makeInvoice(service, merchant, { externalID: 'events', metadata: { a: 1 } });
    const made = (await get(`/${id}`)).body;
    await payInvoice(service, merchant, id);
    await post(`/${id}/fulfill`, { reason: 'delivered' });
    const createdAt = made.createdAt;
    const told = [
      { id: 1, createdAt, changes: [{ changeType: 'InvoiceCreated', invoice: made }] },
      { id: 2, createdAt, changes: [{ changeType: 'InvoiceStatusChanged', status: 'paid' }] },
      {
        id: 3,
        createdAt,
        changes: [{ changeType: 'InvoiceStatusChanged', status: 'fulfilled', reason: 'delivered' }],
      },
    ];
    expect(await events(id, '?limit=100')).toMatchObject({ status: 200, body: told });
    expect((await events(id, '?limit=100')).body).toEqual(told);
    expect((await events(id, '?limit=100&eventID=0')).body).toEqual(told);
  });

  test('include the reason for rescinding', async () => {
    const { id } = await makeInvoiceThatIs('cancelled', service, merchant);
    const [, last] = (await events(id, '?limit=2')).body;
    expect(last.changes).toEqual([
      { changeType: 'InvoiceStatusChanged', status: 'cancelled', reason: 'to rescind' },
    ]);
  });

  test('can be read page by page from the last ID received', async () => {
    const { id } = await makeInvoiceThatIs('fulfilled', service, merchant);
    const ids: number[] = [];
    for (;;) {
      const page = (await events(id, `?limit=2&eventID=${ids.at(-1) ?? 0}`)).body;
      ids.push(...page.map((event: { id: number }) => event.id));
      if (page.length < 2) break;
    }
    expect(ids).toEqual([1, 2, 3]);
  });

  test.each(['3', '4', '2147483647', '2147483648', '999999999999999'])(
    'are an empty page after event %s, which is the last or later',
    async (eventID) => {
      const { id } = await makeInvoiceThatIs('fulfilled', service, merchant);
      expect(await events(id, `?limit=10&eventID=${eventID}`)).toMatchObject({ status: 200, body: [] });
    },
  );

  test.each(['1', '1000', '1001', '2147483647'])('accept a limit of %s', async (limit) => {
    const { id } = await makeInvoice(service, merchant);
    expect((await events(id, `?limit=${limit}`)).body).toHaveLength(1);
  });

  test.each([
    '',
    '?limit=',
    '?limit=0',
    '?limit=-1',
    '?limit=1.5',
    '?limit=1e3',
    '?limit=0x10',
    '?limit=all',
    '?limit=2147483648',
    '?limit=1&limit=2',
    '?limit[]=1',
    '?limit=1&eventID=',
    '?limit=1&eventID=-1',
    '?limit=1&eventID=1.5',
    '?limit=1&eventID=last',
    '?limit=1&eventID=1&eventID=2',
  ])('are refused for the query "%s"', async (query) => {
    const { id } = await makeInvoice(service, merchant);
    expectRefusal(await events(id, query), 400, invalidRequest);
  });

  test('never change: two reads return the same bytes', async () => {
    const { id, token } = await makeInvoice(service, merchant);
    const before = await events(id, '?limit=1', token);
    await post(`/${id}/rescind`, { reason: 'x' });
    const after = await events(id, '?limit=1');
    expect(after.text).toBe(before.text);
    expect((await get(`/${id}`)).body.status).toBe('cancelled');
    expect(after.body[0].changes[0].invoice.status).toBe('unpaid');
  });

  test('return 404 for an unknown ID and for another merchant', async () => {
    const { id } = await makeInvoice(service, merchant);
    expectRefusal(await events(unknownId, '?limit=1'), 404, notFound);
    expectRefusal(await events(id, '?limit=1', other.apiKey), 404, notFound);
  });
});

describe('the due date', () => {
  const becomes = (id: string) => () => get(`/${id}`).then(({ body }) => body);
  const bound = { interval: 10, timeout: 30_000 };

  test('cancels an unpaid invoice as overdue and leaves a paid one unchanged', async () => {
    const dueDate = '2026-01-19T11:00:00.5Z';
    const unpaid = await makeInvoice(service, merchant, { dueDate });
    const paid = await makeInvoice(service, merchant, { dueDate });
    await payInvoice(service, merchant, paid.id);
    const later = await makeInvoice(service, merchant, { dueDate: '2026-01-19T11:00:00.6Z' });

    service.clock.set(Date.parse('2026-01-19T11:00:00.499Z'));
    const early = await makeInvoice(service, merchant, { dueDate: '2026-01-19T11:00:00.499Z' });
    await expect.poll(becomes(early.id), bound).toMatchObject({ status: 'cancelled' });
    expect((await get(`/${unpaid.id}`)).body.status).toBe('unpaid');

    service.clock.advance(1);
    service.jobs.wake();
    await expect.poll(becomes(unpaid.id), bound).toMatchObject({ status: 'cancelled', reason: 'overdue' });
    expect((await get(`/${unpaid.id}/events?limit=10&eventID=1`)).body).toEqual([
      {
        id: 2,
        createdAt: '2026-01-19T11:00:00.500000Z',
        changes: [{ changeType: 'InvoiceStatusChanged', status: 'cancelled', reason: 'overdue' }],
      },
    ]);
    expect((await get(`/${paid.id}`)).body.status).toBe('paid');
    expect((await get(`/${later.id}`)).body.status).toBe('unpaid');
    expectRefusal(await post(`/${unpaid.id}/rescind`, { reason: 'x' }), 400, invalidStatus);
  });

  test('leaves a rescinded invoice unchanged', async () => {
    const { id } = await makeInvoice(service, merchant, { dueDate: '2026-01-19T12:00:00Z' });
    await post(`/${id}/rescind`, { reason: 'mine' });
    const witness = await makeInvoice(service, merchant, { dueDate: '2026-01-19T12:00:01Z' });
    service.clock.set(Date.parse('2026-01-19T12:00:02Z'));
    service.jobs.wake();
    await expect.poll(becomes(witness.id), bound).toMatchObject({ status: 'cancelled' });
    expect((await get(`/${id}`)).body.reason).toBe('mine');
    expect((await get(`/${id}/events?limit=10`)).body).toHaveLength(2);
  });
});

describe('the prefix /v1', () => {
  const alias = (url: string) => url.replace('/v2/', '/v1/');

  test('behaves like /v2 in every read', async () => {
    const { id } = await makeInvoice(service, merchant, { externalID: 'by either name' });
    const { token } = await makeInvoice(service, merchant);
    const reads = [
      `${invoicesUrl}/${id}`,
      `${invoicesUrl}?externalID=by%20either%20name`,
      `${invoicesUrl}/${id}/events?limit=5`,
      '/v2/processing/me',
      '/v2/processing/shops',
      '/v2/processing/shops/TEST',
      '/v2/processing/categories',
      '/v2/processing/categories/1',
    ];
    for (const url of reads) {
      for (const caller of [merchant.apiKey, token, undefined]) {
        const options = caller === undefined ? {} : { token: caller };
        const [one, two] = [
          await service.call('GET', alias(url), options),
          await service.call('GET', url, options),
        ];
        // The two responses may be a second apart.
        const withoutDate = { date: expect.any(String) };
        expect({ url, ...one }).toEqual({ url, ...two, headers: { ...two.headers, ...withoutDate } });
      }
      expect((await service.call('GET', alias(url), { token: merchant.apiKey })).status).toBe(200);
    }
  });

  test('behaves like /v2 in every write', async () => {
    const call = (path: string, body?: unknown) =>
      service.call('POST', alias(invoicesUrl) + path, {
        token: merchant.apiKey,
        ...(body === undefined ? {} : { body }),
      });
    const named = { ...order, externalID: 'one name for both' };
    const first = await call('', named);
    expect(first.status).toBe(201);
    const { id } = first.body.invoice;
    expect((await post('', named)).body.invoice.id).toBe(id);
    expect((await call(`/${id}/access-tokens`)).status).toBe(201);
    expect((await call(`/${id}/rescind`, { reason: 'x' })).status).toBe(204);
    const paid = await makeInvoiceThatIs('paid', service, merchant);
    expect((await call(`/${paid.id}/fulfill`, { reason: 'x' })).status).toBe(204);
    expect((await get(`/${paid.id}`)).body.status).toBe('fulfilled');
  });

  test('exists for every documented operation under /v2/processing and no other', async () => {
    const { paths } = (await service.call('GET', '/openapi.json')).body;
    const operations = Object.entries<Record<string, unknown>>(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ method: method.toUpperCase() as 'GET', path })),
    );
    expect(operations.length).toBeGreaterThan(10);
    for (const { method, path } of operations) {
      const url = path.replace(/\{\w+\}/g, 'x');
      const status = url.startsWith('/v2/processing/') ? 401 : 404;
      expect({
        url,
        status: (await service.call(method, alias(url).replace(/^\/(sandbox|wallet|payres)/, '/v1$&')))
          .status,
      }).toEqual({
        url,
        status,
      });
    }
  });
});
