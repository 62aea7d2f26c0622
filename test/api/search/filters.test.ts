// Each filter of the searches finds what a look at every invoice and payment finds, and nothing else.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSmallWorld, type SmallWorld } from '../../support/worlds/small-world.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';

const range = 'fromTime=2026-01-01T00:00:00Z&toTime=2026-12-31T00:00:00Z';
const exact = ['invoiceID', 'externalID', 'rrn', 'customerID', 'payerEmail'];

let world: SmallWorld;
/** Every payment of the shop TEST with its invoice, newest first, as single reads return them. */
const all: { readonly invoice: any; readonly payment: any; readonly card: any; readonly email?: string }[] =
  [];
let invoices: any[] = [];
/** Every refund of the shop, newest first, with its payment. */
const refunds: { readonly refund: any; readonly payment: any }[] = [];

const get = async (path: string) =>
  (await world.service.call('GET', path, { token: world.merchant.apiKey })).body;
const search = (what: string, query: string, shop = 'TEST') =>
  world.service.call('GET', `/v2/analytics/shops/${shop}/${what}?limit=100&${query}`, {
    token: world.merchant.apiKey,
  });
const newestFirst = (one: any, other: any) =>
  one.createdAt === other.createdAt ? (one.id < other.id ? 1 : -1) : one.createdAt < other.createdAt ? 1 : -1;

beforeAll(async () => {
  world = await startSmallWorld();
  const { service, merchant } = world;
  const { id } = await makeInvoice(service, merchant, { externalID: 'order-7', amount: 7_000 });
  await service.call('POST', `${invoicesUrl}/${id}/payments`, {
    token: merchant.apiKey,
    body: { externalID: 'try-7', payer: { payerType: 'CustomerPayer', customerID: world.customer } },
  });
  await makeInvoice(service, merchant, { shopID: 'TEST_USD', currency: 'USD' });
  const { id: sold } = world.sold;
  for (const [externalID, amount] of Object.entries({ 'back-1': 500, 'back-2': 700 })) {
    service.clock.advance(1_000);
    // The bank's answer about the second is lost: it is pending.
    if (externalID === 'back-2')
      world.bank.faults.order({ kind: 'error-after-booking', next: 1, operationKind: 'refund' });
    await service.call('POST', `${invoicesUrl}/${sold}/payments/1/refunds`, {
      token: merchant.apiKey,
      body: { reason: 'r', externalID, amount },
    });
    await service.jobs.whenIdle();
  }
  await service.search.whenIdle();
  const { rows } = await service.testDatabase.database.withClient((client) =>
    client.query<{ invoice_id: string }>(`select invoice_id from invoice where shop_id = 'TEST'`),
  );
  invoices = await Promise.all(rows.map((row) => get(`${invoicesUrl}/${row.invoice_id}`)));
  invoices.sort(newestFirst);
  for (const invoice of invoices) {
    for (const payment of await get(`${invoicesUrl}/${invoice.id}/payments`)) {
      const parent = payment.payer.recurrentParentPayment;
      const path = `${invoicesUrl}/${parent?.invoiceID}/payments/${parent?.paymentID}`;
      const { payer } = parent ? await get(path) : payment;
      const { customerID, contactInfo } = payment.payer;
      const customer = customerID && (await get(`/v2/processing/customers/${customerID}`));
      const { email } = customer?.contactInfo ?? contactInfo;
      all.push({ invoice, payment, card: payer.paymentToolDetails, email });
      for (const refund of await get(`${invoicesUrl}/${invoice.id}/payments/${payment.id}/refunds`))
        refunds.push({ refund: { ...refund, invoiceID: invoice.id, paymentID: payment.id }, payment });
    }
  }
});
afterAll(() => world.close());

const byTime = (one: { refund: any }, other: { refund: any }) => newestFirst(one.refund, other.refund);

type Of = (one: (typeof all)[number]) => string | number | undefined;
const filters: [name: string, of: Of, spelt?: (value: string) => string][] = [
  ['invoiceID', ({ invoice }) => invoice.id],
  ['paymentID', ({ payment }) => payment.id],
  ['externalID', ({ payment }) => payment.externalID],
  ['paymentStatus', ({ payment }) => payment.status],
  ['paymentFlow', ({ payment }) => (payment.flow.type === 'PaymentFlowHold' ? 'hold' : 'instant')],
  ['paymentAmount', ({ payment }) => payment.amount],
  ['customerID', ({ payment }) => payment.payer.customerID],
  ['payerEmail', ({ email }) => email, (email) => email.toUpperCase()],
  ['payerIP', ({ payment }) => payment.payer.clientInfo?.ip],
  ['payerFingerprint', ({ payment }) => payment.payer.clientInfo?.fingerprint],
  ['first6', ({ card }) => card.first6],
  ['last4', ({ card }) => card.last4],
  ['bankCardPaymentSystem', ({ card }) => card.paymentSystem],
  ['rrn', ({ payment }) => payment.transactionInfo?.rrn],
  ['approvalCode', ({ payment }) => payment.transactionInfo?.approvalCode],
  ['paymentMethod', () => 'bankCard'],
];

const valuesOf = (of: Of) => [...new Set(all.map(of))].filter((value) => value !== undefined);

describe('payments', () => {
  test('without a filter are all found, the newest first, with the time of the search', async () => {
    const { status, body } = await search('payments', range);
    expect(status).toBe(200);
    expect(body).toEqual({ result: body.result, asOf: world.service.clock.now() });
    const byTime = body.result.map(({ createdAt }: any) => createdAt);
    expect(byTime).toEqual([...byTime].sort().reverse());
    const ids = ({ invoiceID, id }: any) => `${invoiceID}.${id}`;
    expect(body.result.map(ids).sort()).toEqual(all.map(({ payment }) => ids(payment)).sort());
    const [first] = body.result;
    expect(first).toEqual(await get(`${invoicesUrl}/${first.invoiceID}/payments/${first.id}`));
    expect(all.length).toBeGreaterThan(6);
  });

  test.each(filters)('are found by %s', async (name, of, spelt = (value) => value) => {
    const values = valuesOf(of);
    expect(values.length).toBeGreaterThan(0);
    for (const value of values) {
      const query = `${name}=${encodeURIComponent(spelt(String(value)))}`;
      const expected = all.filter((one) => of(one) === value).map(({ payment }) => payment);
      const { body } = await search('payments', exact.includes(name) ? query : `${query}&${range}`);
      expect(body.result.sort(newestFirst)).toEqual(expected.sort(newestFirst));
    }
  });

  test('are found between amounts, and in a part of the time', async () => {
    const { body } = await search('payments', `${range}&paymentAmountFrom=2500&paymentAmountTo=6999`);
    const expected = all.filter(({ payment: { amount } }) => amount >= 2_500 && amount <= 6_999);
    expect(body.result).toHaveLength(expected.length);
    expect(expected.length).toBeLessThan(all.length);
    const times = [...new Set(all.map(({ payment }) => payment.createdAt))].sort();
    const [from, to] = [times[0], times.at(-1)];
    expect(from).not.toBe(to);
    const part = await search('payments', `fromTime=${from}&toTime=${to}`);
    const inside = all.filter(({ payment: { createdAt } }) => createdAt >= from && createdAt < to);
    expect(part.body.result).toHaveLength(inside.length);
    expect(inside.length).toBeGreaterThan(0);
  });

  test('two filters are joined by and; a method that is not offered finds nothing', async () => {
    const { id } = world.sold;
    const found = async (query: string) => (await search('payments', query)).body.result.length;
    expect(await found(`invoiceID=${id}&paymentStatus=captured`)).toBe(1);
    expect(await found(`invoiceID=${id}&paymentStatus=failed`)).toBe(0);
    for (const other of [
      'paymentMethod=paymentTerminal',
      'paymentTerminalProvider=euroset',
      'bankCardTokenProvider=applepay',
    ])
      for (const what of ['payments', 'invoices'])
        expect((await search(what, `${range}&${other}`)).body.result).toEqual([]);
  });

  test('of another shop or party are not found', async () => {
    expect((await search('payments', `invoiceID=${world.sold.id}`, 'TEST_USD')).body.result).toEqual([]);
    const other = await world.createMerchant();
    for (const query of [`invoiceID=${world.sold.id}`, 'payerEmail=payer@example.com', range]) {
      for (const what of ['payments', 'invoices']) {
        const path = `/v2/analytics/shops/TEST/${what}?limit=9&${query}`;
        expect((await world.service.call('GET', path, { token: other.apiKey })).body.result).toEqual([]);
      }
    }
  });
});

describe('invoices', () => {
  test('without a filter are all found, the newest first', async () => {
    const { body } = await search('invoices', range);
    expect(body.result).toEqual(invoices);
  });

  test.each([
    ['invoiceID', (invoice: any) => invoice.id],
    ['externalID', (invoice: any) => invoice.externalID],
    ['invoiceStatus', (invoice: any) => invoice.status],
    ['invoiceAmount', (invoice: any) => invoice.amount],
  ])('are found by %s', async (name, of) => {
    const values = [...new Set(invoices.map(of))].filter((value) => value !== undefined);
    expect(values.length).toBeGreaterThan(0);
    for (const value of values) {
      const query = `${name}=${value}`;
      const { body } = await search('invoices', exact.includes(name) ? query : `${query}&${range}`);
      expect(body.result).toEqual(invoices.filter((invoice) => of(invoice) === value));
    }
  });

  test.each(filters.filter(([name]) => !['invoiceID', 'externalID'].includes(name)))(
    'are found by %s of a payment',
    async (name, of) => {
      for (const value of valuesOf(of)) {
        const query = `${name}=${encodeURIComponent(String(value))}`;
        const { body } = await search('invoices', exact.includes(name) ? query : `${query}&${range}`);
        const having = new Set(all.filter((one) => of(one) === value).map(({ invoice }) => invoice.id));
        expect(body.result).toEqual(invoices.filter(({ id }) => having.has(id)));
      }
    },
  );

  test('are found between amounts', async () => {
    const { body } = await search('invoices', `${range}&invoiceAmountFrom=7000&invoiceAmountTo=7000`);
    expect(body.result).toEqual(invoices.filter(({ amount }) => amount === 7_000));
    expect(body.result).toHaveLength(1);
  });
});

describe('refunds', () => {
  test('without a filter are all found, the newest first, and counted', async () => {
    const { body } = await search('refunds', range);
    const all = refunds.toSorted(byTime).map(({ refund }) => refund);
    expect(body).toEqual({ result: all, totalCount: 3, asOf: world.service.clock.now() });
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['succeeded', 'pending']));
  });

  test.each<[string, (one: (typeof refunds)[number]) => string | undefined]>([
    ['invoiceID', ({ refund }) => refund.invoiceID],
    ['paymentID', ({ refund }) => refund.paymentID],
    ['refundID', ({ refund }) => refund.id],
    ['refundStatus', ({ refund }) => refund.status],
    ['externalID', ({ refund }) => refund.externalID],
    ['rrn', ({ refund }) => refund.rrn],
    ['approvalCode', ({ payment }) => payment.transactionInfo.approvalCode],
  ])('are found by %s', async (name, of) => {
    const values = [...new Set(refunds.map(of))].filter((value) => value !== undefined);
    expect(values.length).toBeGreaterThan(0);
    for (const value of [...values, 'other'].filter((one) => name !== 'refundStatus' || one !== 'other')) {
      const { body } = await search(
        'refunds',
        exact.includes(name) ? `${name}=${value}` : `${name}=${value}&${range}`,
      );
      const expected = refunds.filter((one) => of(one) === value).toSorted(byTime);
      expect(body.result).toEqual(expected.map(({ refund }) => refund));
      expect(body.totalCount).toBe(expected.length);
    }
  });

  test('are read page by page, by token and by offset, and all are counted in each', async () => {
    const all = refunds.toSorted(byTime).map(({ refund }) => refund);
    const path = `/v2/analytics/shops/TEST/refunds?limit=1&${range}`;
    const walked: any[] = [];
    for (let more = ''; ;) {
      const { result, totalCount, continuationToken } = await get(`${path}${more}`);
      expect(totalCount).toBe(3);
      walked.push(...result);
      if (continuationToken === undefined) break;
      more = `&continuationToken=${continuationToken}`;
    }
    expect(walked).toEqual(all);
    for (const offset of [0, 1, 2, 3])
      expect(await get(`${path}&offset=${offset}`)).toMatchObject({
        result: all.slice(offset, offset + 1),
        totalCount: 3,
      });
    const { continuationToken } = await get(`${path}&offset=1`);
    const { result } = await get(`${path}&offset=1&continuationToken=${continuationToken}`);
    expect(result).toEqual(all.slice(2));
  });

  test('of another shop or party are not found', async () => {
    expect((await search('refunds', range, 'TEST_USD')).body).toMatchObject({ result: [], totalCount: 0 });
    const { apiKey: token } = await world.createMerchant();
    for (const query of [range, `invoiceID=${world.sold.id}`, 'externalID=back-1']) {
      const path = `/v2/analytics/shops/TEST/refunds?limit=9&${query}`;
      expect((await world.service.call('GET', path, { token })).body).toMatchObject({
        result: [],
        totalCount: 0,
      });
    }
  });
});

describe('a search is refused', () => {
  const days = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 86_400_000).toISOString();
  test.each([
    ['without a range', '', 400, 'searchTooWide'],
    ['by what many payments may have, without a range', 'last4=4242', 400, 'searchTooWide'],
    ['with half a range', 'fromTime=2026-01-01T00:00:00Z', 400, 'searchTooWide'],
    ['over more than 366 days', `fromTime=${days(0)}&toTime=${days(366.001)}`, 400, 'searchTooWide'],
    [
      'with a range that ends before it begins',
      `fromTime=${days(1)}&toTime=${days(0)}`,
      400,
      'invalidRequest',
    ],
    ['over all years', 'fromTime=0001-01-01T00:00:00Z&toTime=9999-12-31T23:59:59Z', 400, 'searchTooWide'],
    ['with a page of none', `${range}&limit=0`, 400, 'invalidRequest'],
    ['with a page of too many', `${range}&limit=1001`, 400, 'invalidRequest'],
    ['with a status that is none', `${range}&paymentStatus=paid`, 400, 'invalidRequest'],
  ])('%s', async (_, query, status, code) => {
    for (const what of ['payments', 'invoices', 'refunds']) {
      if (what === 'refunds' && query.includes('paymentStatus')) continue;
      const limit = query.includes('limit') ? '' : 'limit=5&';
      const path = `/v2/analytics/shops/TEST/${what}?${limit}${query}`;
      const answer = await world.service.call('GET', path, { token: world.merchant.apiKey });
      expect(answer).toMatchObject({ status, body: { code } });
      if (code === 'searchTooWide') expect(answer.body.hint).toMatch(/^Send /);
    }
  });

  test('when it takes more than two seconds', async () => {
    const { database } = world.service.testDatabase;
    await database.withClient(async (client) => {
      await client.query('begin; lock table search_payment in access exclusive mode');
      const { status, body } = await search('payments', range);
      expect([status, body.code, body.hint]).toEqual([
        400,
        'searchTooWide',
        expect.stringContaining('more than two seconds'),
      ]);
      await client.query('rollback');
    });
    expect((await search('payments', range)).status).toBe(200);
  });

  test.each([
    '%00',
    "'; drop table search_payment; --",
    '%F0%9F%92%B3',
    '%E2%80%AE',
    '\\',
    '{}',
    'null',
    '-1',
    'a'.repeat(1_001),
  ])('or answered, but never fails, with the value %s', async (value) => {
    const names = [
      ...filters.map(([name]) => name),
      'paymentAmountFrom',
      'continuationToken',
      'fromTime',
      'limit',
    ];
    for (const name of names) {
      const { status } = await search('payments', `${name}=${value}&${range}`.replace('limit=100&', ''));
      expect([200, 400]).toContain(status);
    }
  });
});
