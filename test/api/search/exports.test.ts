// An export has what its search finds at one moment, each row once, and its sums are those of that moment. No text in it is a formula.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exportsUrl, fetchExport, wholeYear } from '../../support/requests/exports.ts';
import { makeInvoice } from '../../support/worlds/invoices.ts';
import { startSmallWorld, type SmallWorld } from '../../support/worlds/small-world.ts';

const range = 'fromTime=2026-01-01T00:00:00Z&toTime=2026-12-31T00:00:00Z';

let world: SmallWorld;
beforeAll(async () => {
  world = await startSmallWorld();
  await makeInvoice(world.service, world.merchant, { externalID: 'order-7', amount: 7_000 });
  await makeInvoice(world.service, world.merchant, { shopID: 'TEST_USD', currency: 'USD' });
});
afterAll(() => world.close());

const token = () => world.merchant.apiKey;
const get = async (path: string) => (await world.service.call('GET', path, { token: token() })).body;
const search = async (what: string, query = '') =>
  (await get(`/v2/analytics/shops/TEST/${what}?limit=1000&${range}${query}`)).result as any[];
const exported = (asked: Record<string, unknown>) => fetchExport(world.service, world.merchant, asked);
const order = (asked: Record<string, unknown>, by = token()) =>
  world.service.call('POST', exportsUrl, { token: by, body: { ...wholeYear, ...asked } });
const sum = (rows: readonly any[]) => rows.reduce((all, { amount }) => all + Number(amount), 0);

describe('an export has what the search finds, in the same order,', () => {
  test('of payments', async () => {
    const { rows } = await exported({ of: 'payments', shopID: 'TEST' });
    const found = await search('payments');
    expect(rows.length).toBeGreaterThan(5);
    expect(
      rows.map(({ createdAt, invoiceID, paymentID: id, status, amount, currency, flow, payerEmail }) => ({
        createdAt,
        invoiceID,
        id,
        status,
        amount: Number(amount),
        currency,
        flow,
        email: payerEmail || undefined,
      })),
    ).toEqual(
      found.map(({ createdAt, invoiceID, id, status, amount, currency, flow, payer }) => ({
        createdAt,
        invoiceID,
        id,
        status,
        amount,
        currency,
        flow: flow.type === 'PaymentFlowHold' ? 'hold' : 'instant',
        email: payer.contactInfo?.email,
      })),
    );
  });

  test('of refunds', async () => {
    const { rows } = await exported({ of: 'refunds', shopID: 'TEST' });
    const found = await search('refunds');
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.map(({ refundID, status, amount }) => [refundID, status, Number(amount)])).toEqual(
      found.map(({ id, status, amount }) => [id, status, amount]),
    );
  });

  test('of invoices, with their products', async () => {
    const { rows } = await exported({ of: 'invoices', shopID: 'TEST' });
    const found = await search('invoices');
    expect(
      rows.map((row) => [row['invoiceID'], row['status'], Number(row['amount']), row['product']]),
    ).toEqual(found.map(({ id, status, amount, product }) => [id, status, amount, product]));
    expect(rows.find(({ externalID }) => externalID === 'order-7')).toMatchObject({
      amount: '7000',
      amountDecimal: '70.00',
      exponent: '2',
      dueDate: '2030-01-20T10:00:00.000000Z',
    });
  });

  test('of withdrawals', async () => {
    const { rows } = await exported({ of: 'withdrawals' });
    const found = (await get('/wallet/v0/withdrawals?limit=100')).result as any[];
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.map((row) => [row['withdrawalID'], row['status'], Number(row['amount'])])).toEqual(
      found.map(({ id, status, body }) => [id, status, body.amount]),
    );
    const { rows: none } = await exported({
      of: 'withdrawals',
      filters: { status: 'Failed', amountFrom: 1 },
    });
    expect(none.map(({ withdrawalID }) => withdrawalID)).toEqual(
      found.filter(({ status }) => status === 'Failed').map(({ id }) => id),
    );
  });

  test.each([
    ['payments', { paymentStatus: 'failed' }],
    ['payments', { paymentFlow: 'hold', paymentAmountFrom: 2_000 }],
    ['payments', { last4: '4242', payerEmail: 'PAYER@example.com' }],
    ['payments', { paymentMethod: 'paymentTerminal' }],
    ['invoices', { invoiceStatus: 'unpaid' }],
    ['invoices', { paymentStatus: 'captured', last4: '4242' }],
    ['refunds', { refundStatus: 'succeeded' }],
  ])('of %s by %j', async (of, filters) => {
    const { rows } = await exported({ of, shopID: 'TEST', filters });
    const query = Object.entries(filters).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`);
    const found = await search(of, query.join(''));
    const idOf = { payments: 'paymentID', invoices: 'invoiceID', refunds: 'refundID' }[of] ?? '';
    expect(rows.map((row) => row[idOf])).toEqual(found.map(({ id }) => id));
  });
});

test.each([
  [{}, ''],
  [{ shopIDs: ['TEST', 'TEST_USD'] }, '&shopIDs=TEST&shopIDs=TEST_USD'],
  [{ excludeShopIDs: ['TEST'] }, '&excludeShopIDs=TEST'],
  [{ shopIDs: ['TEST', 'TEST_USD'], excludedShops: ['TEST'] }, '&shopIDs=TEST,TEST_USD&excludedShops=TEST'],
])('an export has the shops of a search and of a sum with %j', async (shops, query) => {
  for (const of of ['invoices', 'payments', 'refunds']) {
    const { rows } = await exported({ of, ...shops });
    const { result } = await get(`/v2/analytics/${of}?limit=1000&${range}${query}`);
    const idOf = { payments: 'paymentID', invoices: 'invoiceID', refunds: 'refundID' }[of] ?? '';
    const found = rows.map((row) => row[idOf]);
    expect(found.toSorted()).toEqual(result.map(({ id }: any) => id).toSorted());
    const ofEach = [...new Set(rows.map(({ shopID }) => shopID))].map(
      async (shop) => (await get(`/v2/analytics/shops/${shop}/${of}?limit=1000&${range}`)).result,
    );
    expect(found).toEqual((await Promise.all(ofEach)).flat().map(({ id }: any) => id));
    if (of !== 'payments') continue;
    const counts = (await get(`/v2/analytics/payments/count?${range}${query}`)).result as any[];
    expect(counts.reduce((all, { count }) => all + count, 0)).toBe(rows.length);
  }
});

test('the totals of an export are the sums at its asOf', async () => {
  const sums = async (path: string) => (await get(`/v2/analytics/${path}?shopID=TEST&${range}`)).result;
  const payments = await exported({ of: 'payments', shopID: 'TEST' });
  const taken = payments.rows.filter(({ status = '' }) => ['captured', 'refunded'].includes(status));
  expect(await sums('payments/amount')).toEqual([{ amount: sum(taken), currency: 'RUB' }]);
  expect(await sums('payments/count')).toEqual([{ count: payments.body.rows, currency: 'RUB' }]);
  const refunds = await exported({ of: 'refunds', shopID: 'TEST', filters: { refundStatus: 'succeeded' } });
  expect(await sums('refunds/amount')).toEqual([{ amount: sum(refunds.rows), currency: 'RUB' }]);
});

test('hostile texts stay texts, in every cell that others choose', async () => {
  // As a payer or a merchant sends it, and as the file has it.
  const hostile = [
    ['=1+1', `'=1+1`],
    ['+1', `'+1`],
    ['-1', `'-1`],
    ['@A1', `'@A1`],
    ['\t=1', `'\t'=1`],
    ['\r=1', `'\r'=1`],
    ['\n1', `'\n1`],
    ['"=1', `"'=1`],
    ['fp;=HYPERLINK("http://x");x', `fp;'=HYPERLINK("http://x");x`],
    ['a,"b";c\r\nd', 'a,"b";c\r\nd'],
    ['\u202Eevil', '\u202Eevil'],
    ["'quoted", "'quoted"],
  ] as const;
  const made = await Promise.all(
    hostile.map(([text], index) =>
      makeInvoice(world.service, world.merchant, {
        shopID: 'TEST_EUR',
        currency: 'EUR',
        product: text,
        description: text,
        externalID: `${text}${index}`,
      }),
    ),
  );
  const { rows } = await exported({
    of: 'invoices',
    shopID: 'TEST_EUR',
    delimiter: ';',
    byteOrderMark: true,
  });
  expect(rows).toHaveLength(hostile.length);
  for (const [index, { id }] of made.entries()) {
    const shown = hostile[index]?.[1];
    const { product, description, externalID } = rows.find(({ invoiceID }) => invoiceID === id) ?? {};
    expect({ product, description, externalID }).toEqual({
      product: shown,
      description: shown,
      externalID: `${shown}${index}`,
    });
  }
});

test('times are in UTC, and in the zone of the shop or another one', async () => {
  const [utc, moscow, kathmandu] = await Promise.all([
    exported({ of: 'invoices', shopID: 'TEST', timeZone: 'UTC' }),
    exported({ of: 'invoices', shopID: 'TEST' }),
    exported({ of: 'invoices', shopID: 'TEST', timeZone: 'Asia/Kathmandu' }),
  ]);
  for (const [index, { createdAt = '' }] of utc.rows.entries()) {
    const shown = [utc, moscow, kathmandu].map(({ rows }) => rows[index]?.['createdAtLocal'] ?? '');
    expect(shown.map((text) => text.slice(19))).toEqual(['+00:00', '+03:00', '+05:45']);
    for (const text of shown) expect(Math.floor(Date.parse(createdAt) / 1000)).toBe(Date.parse(text) / 1000);
  }
});

describe('an order is refused', () => {
  test.each([
    [{ of: 'payments', shopIDs: ['TEST', 'NONE'] }, 'shopNotFound', /./],
    [{ of: 'payments', shopIDs: [] }, 'invalidRequest', /shopIDs/],
    [{ of: 'withdrawals', excludeShopIDs: ['TEST'] }, 'invalidRequest', /excludeShopIDs/],
    [{ of: 'payments', filters: { invoiceIDs: 'one' } }, 'invalidRequest', /filters\.invoiceIDs/],
    [{ of: 'withdrawals', shopID: 'TEST' }, 'invalidRequest', /shopID/],
    [{ of: 'cards', shopID: 'TEST' }, 'invalidRequest', /of/],
    [{ of: 'payments', shopID: 'NONE' }, 'shopNotFound', /./],
    [{ of: 'payments', shopID: 'TEST', toTime: '2027-06-01T00:00:00Z' }, 'searchTooWide', /./],
    [{ of: 'payments', shopID: 'TEST', toTime: '2025-01-01T00:00:00Z' }, 'invalidRequest', /fromTime/],
    [
      { of: 'payments', shopID: 'TEST', filters: { paymentStatus: 'gone' } },
      'invalidRequest',
      /filters\.paymentStatus/,
    ],
    [
      { of: 'payments', shopID: 'TEST', filters: { paymentAmount: '1' } },
      'invalidRequest',
      /filters\.paymentAmount/,
    ],
    [
      { of: 'payments', shopID: 'TEST', filters: { state: 'failed' } },
      'invalidRequest',
      /filters.*paymentStatus/,
    ],
    [{ of: 'refunds', shopID: 'TEST', filters: { limit: 1 } }, 'invalidRequest', /filters/],
    [
      { of: 'payments', shopID: 'TEST', filters: { externalID: '4242424242424242' } },
      'invalidRequest',
      /filters/,
    ],
    [{ of: 'payments', shopID: 'TEST', timeZone: 'Moon' }, 'invalidRequest', /timeZone/],
    [{ of: 'payments', shopID: 'TEST', delimiter: '|' }, 'invalidRequest', /delimiter/],
  ])('%j', async (asked, code, message) => {
    const { status, body, text } = await order(asked);
    expect(status, text).toBe(code === 'shopNotFound' ? 404 : 400);
    expect(body.code ?? 'shopNotFound').toBe(code);
    expect(body.message).toMatch(message);
    expect(text + world.service.logged.join('')).not.toContain('4242424242424242');
  });
});

test('an export needs the scope of its search, to be ordered and to be read', async () => {
  const { service, merchant } = world;
  const keyWith = (...scopes: string[]) =>
    service.apiKeys.create({ partyId: merchant.partyId, name: 'n', scopes: scopes as ['payments:read'] });
  const [payments, invoices] = [
    await keyWith('payments:read'),
    await keyWith('payments:read', 'invoices:read'),
  ];
  const asked = { of: 'invoices', shopID: 'TEST' };
  expect((await order(asked, payments)).status).toBe(401);
  expect((await order({ of: 'withdrawals' }, invoices)).status).toBe(401);
  const { body } = await order(asked, invoices);
  const read = (by: string) => service.call('GET', `${exportsUrl}/${body.id}`, { token: by });
  expect((await read(invoices)).status).toBe(200);
  expect(await read(payments)).toMatchObject({ status: 404 });
  expect(await read((await service.createMerchant()).apiKey)).toMatchObject({ status: 404 });
  await service.jobs.whenIdle();
});

test('an order that is repeated with its Idempotency-Key is one export', async () => {
  const headers = { 'idempotency-key': 'export-1' };
  const body = { ...wholeYear, of: 'payments', shopID: 'TEST' };
  const [one, other] = [
    await world.service.call('POST', exportsUrl, { token: token(), body, headers }),
    await world.service.call('POST', exportsUrl, { token: token(), body, headers }),
  ];
  expect(one).toMatchObject({ status: 202, body: { status: 'pending', rows: 0 } });
  expect(other.body.id).toBe(one.body.id);
  await world.service.jobs.whenIdle();
  expect(await get(`${exportsUrl}/${one.body.id}`)).toMatchObject({ status: 'ready' });
});
