// A walk through the pages of a search returns every row once, and only the service makes continuation tokens. The plan of each search
// is by its index.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { beginRebuild, readFreshness, readOldestUnseen } from '../../../src/search/position.store.ts';
import {
  invoiceSearches,
  invoiceSearchKeys,
  paymentSearches,
  paymentSearchKeys,
  refundCounts,
  refundSearches,
  refundSearchKeys,
} from '../../../src/search/searches.store.ts';
import { InvoiceSearch, invoicesAsked, keyOfInvoices } from '../../../src/search/api/search-invoices.ts';
import { keyOfPayments, PaymentSearch, paymentsAsked } from '../../../src/search/api/search-payments.ts';
import { RefundSearch, refundsAsked } from '../../../src/search/api/search-refunds.ts';
import { keyOf, PageQuery, PaymentQuery } from '../../../src/search/api/search-schema.ts';
import type { Statement } from '../../../src/platform/database/statement.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import { startTestService, type Merchant, type TestService } from '../../support/service/test-service.ts';

const invoices = 10_000;
const range = 'fromTime=2025-12-01T00:00:00Z&toTime=2026-12-01T00:00:00Z';
const dayMs = 86_400_000;

let service: TestService;
let merchant: Merchant;
let other: Merchant;
beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
  other = await service.createMerchant();
  // Several of one time, so that the ID decides.
  await query(
    `insert into invoice (invoice_id, party_id, shop_id, version, status, created_at, due_date, amount_minor, currency, product, metadata)
     select 'I' || n, $1, 'TEST', 1, 'unpaid', timestamptz '2026-01-01' + n / 7 * interval '1 second', '2030-01-01', n, 'RUB', 'p', '{}'
     from generate_series(1, ${invoices}) as n`,
    [merchant.partyId],
  );
  await query(
    `insert into search_payment (party_id, shop_id, invoice_id, payment_id, created_at, status, flow, amount_minor, external_id,
       customer_id, email, rrn, invoice_created_at)
     select $1, 'TEST', 'I' || n, '1', timestamptz '2026-01-01' + n / 7 * interval '1 second', 'captured', 'instant', n, 'e' || n,
       'C' || n / 50, 'payer' || n / 50 || '@example.com', n::text, timestamptz '2026-01-01' + n / 7 * interval '1 second'
     from generate_series(1, ${invoices}) as n`,
    [merchant.partyId],
  );
  await query(
    `insert into search_refund (party_id, shop_id, invoice_id, payment_id, refund_id, created_at, status, external_id, rrn)
     select party_id, shop_id, invoice_id, payment_id, '100', created_at, 'succeeded', external_id, rrn from search_payment`,
  );
  await beginRebuild(service.database);
  await service.search.whenIdle();
  await query('analyze');
});
afterAll(() => service.close());

const query = async (text: string, values?: unknown[]) =>
  (await service.testDatabase.database.withClient((client) => client.query(text, values))).rows;
const page = (parameters: string, { token = merchant.apiKey, what = 'invoices', shop = 'TEST' } = {}) =>
  service.call('GET', `/v2/analytics/shops/${shop}/${what}?${parameters}`, { token });

test('a walk of 10,000 rows returns each once, while others are written', async () => {
  const seen: string[] = [];
  let token: string | undefined;
  do {
    const more: string = token === undefined ? '' : `&continuationToken=${token}`;
    const { status, body } = await page(`limit=1000&${range}${more}`);
    expect(status).toBe(200);
    seen.push(...body.result.map(({ id }: any) => id));
    token = body.continuationToken;
    // New ones, which are newer than every page, and one of the next page changes.
    const made = await makeInvoice(service, merchant);
    await service.call('POST', `${invoicesUrl}/${made.id}/rescind`, {
      token: merchant.apiKey,
      body: { reason: 'no' },
    });
    const id = `I${Math.max(1, invoices - seen.length - 3)}`;
    await service.call('POST', `${invoicesUrl}/${id}/rescind`, {
      token: merchant.apiKey,
      body: { reason: 'no' },
    });
    await service.search.whenIdle();
  } while (token !== undefined);
  const old = seen.filter((id) => /^I\d+$/.test(id));
  expect(new Set(seen).size).toBe(seen.length);
  expect(old).toHaveLength(invoices);
});

describe('a continuation token', () => {
  let token: string;
  const parameters = `limit=5&${range}`;
  beforeAll(async () => {
    token = (await page(parameters)).body.continuationToken;
  });
  const refused = { status: 400, body: { code: 'invalidContinuationToken' } };
  const answerTo = (given: string, more = parameters, options: Parameters<typeof page>[1] = {}) =>
    page(`${more}&continuationToken=${given}`, options);

  test('is good for another size of the page, until a day has passed', async () => {
    expect((await answerTo(token)).status).toBe(200);
    expect((await answerTo(token, `limit=7&${range}`)).body.result).toHaveLength(7);
    service.clock.advance(dayMs - 1);
    expect((await answerTo(token)).status).toBe(200);
    service.clock.advance(1);
    expect(await answerTo(token)).toMatchObject(refused);
    token = (await page(parameters)).body.continuationToken;
  });

  test('is refused once any of its characters is another', async () => {
    for (let at = 0; at < token.length; at++) {
      const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
      expect(await answerTo(changed)).toMatchObject(refused);
    }
    for (const text of [
      'x',
      token.slice(0, -1),
      `${token}A`,
      '1..',
      '.'.repeat(3_999),
      token.split('.').reverse().join('.'),
    ])
      expect(await answerTo(text)).toMatchObject(refused);
  });

  test('is refused with another filter, shop, search or party', async () => {
    expect(await answerTo(token, `${parameters}&invoiceStatus=unpaid`)).toMatchObject(refused);
    expect(await answerTo(token, 'limit=5&invoiceID=I1')).toMatchObject(refused);
    expect(await answerTo(token, parameters, { shop: 'TEST_USD' })).toMatchObject(refused);
    expect(await answerTo(token, parameters, { what: 'payments' })).toMatchObject(refused);
    expect(await answerTo(token, parameters, { token: other.apiKey })).toMatchObject(refused);
  });
});

describe('a walk through invoices by what their payments have', () => {
  let all: string[];
  beforeAll(async () => {
    await query(
      `insert into invoice (invoice_id, party_id, shop_id, version, status, created_at, due_date, amount_minor, currency, product, metadata)
     select 'OF' || n, $1, 'TEST', 1, 'unpaid', timestamptz '2026-02-01' + n / 3 * interval '1 second', '2030-01-01', n, 'RUB', 'p', '{}'
     from generate_series(1, 40) as n`,
      [other.partyId],
    );
    await query(
      `insert into search_invoice (party_id, shop_id, invoice_id, created_at, status, amount_minor)
     select party_id, shop_id, invoice_id, created_at, status, amount_minor from invoice where invoice_id like 'OF%'`,
    );
    await query(
      `insert into search_payment (party_id, shop_id, invoice_id, payment_id, created_at, invoice_created_at, status, flow, amount_minor, ip)
     select party_id, shop_id, invoice_id, n::text, created_at + (41 - amount_minor) * n * interval '1 minute', created_at, 'failed',
       'instant', amount_minor, '10.0.0.2'
     from invoice cross join generate_series(1, 3) as n where invoice_id like 'OF%'`,
    );
    const rows = await query(
      `select invoice_id from invoice where invoice_id like 'OF%' order by created_at desc, invoice_id desc`,
    );
    all = rows.map((row) => row.invoice_id);
  });

  test.each(['payerIP=10.0.0.2', 'paymentStatus=failed'])(
    'returns each once by %s, however many payments it has',
    async (filter) => {
      const seen: string[] = [];
      for (let next = ''; ;) {
        const { status, body } = await page(`limit=7&${filter}&${range}${next}`, { token: other.apiKey });
        expect(status).toBe(200);
        seen.push(...body.result.map(({ id }: { id: string }) => id));
        if (body.continuationToken === undefined) break;
        next = `&continuationToken=${body.continuationToken}`;
      }
      expect(seen).toEqual(all);
    },
  );
});

describe('the plan', () => {
  // Tables of so few rows are read whole to analyse them, so that their statistics are exact.
  beforeAll(async () => {
    const { partyId: another } = await service.createMerchant();
    await query(
      `update search_payment set ip = case when amount_minor % 2 = 0 then '10.0.0.1' else '10.1.' || amount_minor end,
         last4 = case when amount_minor % 2 = 0 then '4242' else lpad((amount_minor % 10000)::text, 4, '0') end,
         first6 = case when amount_minor % 2 = 0 then '424242' else lpad(amount_minor::text, 6, '5') end, payment_system = 'visa',
         approval_code = 'A' || amount_minor / 20, fingerprint = 'F' || amount_minor / 20
       where party_id = '${merchant.partyId}'`,
    );
    await query(`update search_invoice set external_id = 'e' || amount_minor`);
    for (const [table, copies] of [
      ['search_invoice', 1],
      ['search_payment', 1],
      // A count of half of a table would read it in any order.
      ['search_refund', 5],
    ])
      await query(
        `insert into ${table} select (json_populate_record(one, json_build_object('party_id', '${another}', 'invoice_id', 'A' || n || invoice_id))).*
         from ${table} as one cross join generate_series(1, ${copies}) as n where party_id = '${merchant.partyId}'`,
      );
    await query(
      `insert into payment (invoice_id, payment_id, party_id, shop_id, version, status, created_at, amount_minor, currency, terms, state)
       select invoice_id, payment_id, party_id, shop_id, 1, 'failed', created_at, amount_minor, 'RUB', '{}', '{}' from search_payment`,
    );
    await query(
      `insert into refund (invoice_id, payment_id, refund_id, party_id, created_at, status, amount_minor, currency, fee_minor)
       select invoice_id, payment_id, refund_id, party_id, created_at, status, 1, 'RUB', 0 from search_refund`,
    );
    await query(
      `insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, digest, wire_keys, begun_at, state)
       select invoice_id, '1', 'BANK', 'T', 'refund', '', '{}', created_at, 'begun' from search_refund`,
    );
    await query('vacuum analyze');
  });

  const values = {
    invoice_id: 'I5000',
    external_id: 'e5000',
    rrn: '5000',
    customer_id: 'C100',
    email: 'payer100@example.com',
    approval_code: 'A250',
    fingerprint: 'F250',
    ip: '10.1.5001',
    last4: '5001',
    payment_amount: 5_000,
    invoice_amount: 5_000,
    time: null,
    amounts: null,
    payment_time: null,
    invoice_ids: 'I5000\nI5001',
  };
  /** Those of half of the payments. */
  const common = { ip: '10.0.0.1', last4: '4242' };

  /** What the server does for these values. The others are not asked for. */
  async function planOf(
    { text, parameterNames }: Statement,
    asked: Readonly<Record<string, unknown>> = {},
    before = '',
  ): Promise<string> {
    const given: Readonly<Record<string, unknown>> = {
      party_id: merchant.partyId,
      shop_ids: 'TEST',
      created_from: '2025-12-01',
      created_until: '2026-12-01',
      before_at: '2026-12-01',
      before_invoice: '',
      before_payment: '',
      before_refund: '',
      limit: 11,
      skip: 0,
      most: 10_000,
      has_payment: true,
      ...asked,
    };
    return service.testDatabase.database.withClient(async (client) => {
      await client.query(`begin; set local plan_cache_mode = force_custom_plan; ${before}`);
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        `explain ${text}`,
        parameterNames.map((name) => given[name] ?? null),
      );
      await client.query('rollback');
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    });
  }
  const ofPayment = {
    time: 'search_payment_of_shop',
    invoice_id: 'search_payment_pkey',
    external_id: 'search_payment_external_id',
    rrn: 'search_payment_rrn',
    customer_id: 'search_payment_of_customer',
    email: 'search_payment_of_email',
    approval_code: 'search_payment_of_approval_code',
    fingerprint: 'search_payment_of_fingerprint',
    ip: 'search_payment_of_ip',
    last4: 'search_payment_of_last4',
    payment_amount: 'search_payment_of_amount',
    amounts: 'search_payment_of_amount',
    invoice_ids: 'search_payment_pkey',
  };
  const ofInvoice = {
    ...ofPayment,
    ip: 'search_payment_invoices_of_ip',
    last4: 'search_payment_invoices_of_last4',
    payment_amount: 'search_payment_invoices_of_amount',
    time: 'search_invoice_of_shop',
    invoice_id: 'search_invoice_pkey',
    external_id: 'search_invoice_external_id',
    invoice_amount: 'search_invoice_of_amount',
    amounts: 'search_invoice_of_amount',
    payment_time: 'search_payment_invoices_of_shop',
  };

  const ofRefund = {
    time: 'search_refund_of_shop',
    invoice_id: 'search_refund_pkey',
    external_id: 'search_refund_external_id',
    rrn: 'search_refund_rrn',
    approval_code: 'search_payment_of_approval_code',
  };

  test.each(paymentSearchKeys)('of payments by %s is by its index', async (key) => {
    const plan = await planOf(paymentSearches[key], { [key]: values[key] });
    expect(plan).toContain(ofPayment[key]);
    expect(plan).not.toContain('Seq Scan');
  });

  test.each(invoiceSearchKeys)('of invoices by %s is by its index', async (key) => {
    const plan = await planOf(invoiceSearches[key], { [key]: values[key] });
    expect(plan).toContain(ofInvoice[key]);
    expect(plan).not.toContain('Seq Scan');
  });

  const exactly = {
    invoiceID: 'I5000',
    externalID: 'e5000',
    rrn: '5000',
    customerID: 'C100',
    approvalCode: 'A250',
  };
  const filtersOfPayment: Readonly<Record<keyof typeof PaymentQuery | 'invoiceID' | 'externalID', unknown>> =
    {
      ...exactly,
      paymentID: '1',
      paymentStatus: 'captured',
      paymentFlow: 'instant',
      paymentMethod: 'bankCard',
      paymentAmount: 5_000,
      payerEmail: 'payer100@example.com',
      payerIP: '10.1.5001',
      payerFingerprint: 'F250',
      first6: '424242',
      last4: '5001',
      bankCardPaymentSystem: 'visa',
      // No payment has one, so nothing is read.
      bankCardTokenProvider: 'applepay',
      paymentTerminalProvider: 'euroset',
    };
  const { fromTime: _, toTime: __, limit: ___, continuationToken: ____, ...ofEach } = PageQuery;
  const filtersOf = (search: { readonly properties: object }) =>
    Object.keys(search.properties).filter((name) => name in ofEach || !(name in PageQuery));

  test.each(filtersOf(PaymentSearch))(
    'of payments by the documented filter %s is by an index',
    async (name) => {
      const filters: Readonly<Record<string, unknown>> = {
        ...filtersOfPayment,
        paymentAmountFrom: 5_000,
        paymentAmountTo: 5_000,
        invoiceIDs: ['I5000', 'I5001'],
      };
      const asked = { limit: 10, [name]: filters[name] };
      expect(asked[name]).toBeDefined();
      const payments = paymentsAsked(asked);
      const key = keyOfPayments(keyOf(asked, paymentSearchKeys).key, payments);
      await expectByIndex(paymentSearches[key], payments, ofPayment[key]);
    },
  );

  test.each(filtersOf(InvoiceSearch))(
    'of invoices by the documented filter %s is by an index',
    async (name) => {
      const filters: Readonly<Record<string, unknown>> = {
        ...filtersOfPayment,
        invoiceStatus: 'unpaid',
        invoiceAmount: 5_000,
        invoiceAmountFrom: 5_000,
        invoiceAmountTo: 5_000,
      };
      const asked = { limit: 10, [name]: filters[name] };
      expect(asked[name]).toBeDefined();
      const invoices = invoicesAsked(asked);
      const key = keyOfInvoices(keyOf(asked, invoiceSearchKeys).key, invoices);
      await expectByIndex(invoiceSearches[key], invoices, ofInvoice[key]);
    },
  );

  test.each(filtersOf(RefundSearch))(
    'of refunds by the documented filter %s is by an index',
    async (name) => {
      const filters: Readonly<Record<string, unknown>> = {
        ...exactly,
        paymentID: '1',
        refundID: '100',
        refundStatus: 'succeeded',
        offset: 10,
      };
      const asked = { limit: 10, [name]: filters[name] };
      expect(asked[name]).toBeDefined();
      const { key } = keyOf(asked, refundSearchKeys);
      for (const searched of [refundSearches[key], refundCounts[key]])
        // Few of the rows, as 10,000 are of millions.
        await expectByIndex(searched, { ...refundsAsked(asked), most: 1_000 }, ofRefund[key]);
    },
  );

  async function expectByIndex(searched: Statement, asked: Readonly<Record<string, unknown>>, index: string) {
    const plan = await planOf(searched, asked);
    expect(plan).not.toContain('Seq Scan');
    if (asked['payment_statuses'] === '') expect(plan).toContain('One-Time Filter: false');
    else expect(plan).toContain(index);
  }

  test.each(['ip', 'last4'] as const)('by a common %s is by the same, in its order', async (key) => {
    for (const [searches, index] of [
      [paymentSearches, ofPayment],
      [invoiceSearches, ofInvoice],
    ] as const) {
      const plan = await planOf(searches[key], { [key]: common[key] });
      expect(plan).toContain(`Scan Backward using ${index[key]}`);
      // Only the rows of the page are put in order.
      expect(plan).not.toMatch(/Seq Scan|Sort Key: (?!found)/);
    }
  });

  /** A page of each shop is put in one order. */
  const withoutMerge = (plan: string) =>
    plan.replace(
      /Sort Key: .*\n +-> +Nested Loop .*\n +-> +Function Scan on unnest shop .*\n +-> +Limit/,
      '',
    );

  test.each([
    ['payments by time', paymentSearches.time, ofPayment.time],
    ['invoices by time', invoiceSearches.time, ofInvoice.time],
    ['invoices by what their payments have', invoiceSearches.payment_time, ofInvoice.payment_time],
    ['refunds by time', refundSearches.time, ofRefund.time],
  ])('of %s in several shops reads a page of each, in its order', async (_name, searched, index) => {
    const plan = await planOf(searched, { shop_ids: 'TEST\nTEST_USD\nTEST_EUR' });
    expect(plan).toContain(`Scan Backward using ${index}`);
    expect(plan).toContain('Function Scan on unnest');
    expect(withoutMerge(plan)).not.toMatch(/Seq Scan|Sort Key: (?!found)/);
  });

  test('of payments by fewer than four of the last digits is in the order of time', async () => {
    const payments = paymentsAsked({ limit: 10, last4: '42' });
    expect(keyOf({ limit: 10, last4: '42' }, paymentSearchKeys).key).toBe('time');
    await expectByIndex(paymentSearches.time, payments, ofPayment.time);
  });

  test.each([
    [paymentSearches.amounts, ofPayment.amounts, 'search_payment_pkey', 'search_payment_of_shop'],
    [invoiceSearches.amounts, ofInvoice.amounts, 'search_invoice_pkey', 'search_invoice_of_shop'],
  ] as const)(
    'of $0.name reads its index, and looks up the page alone',
    async (searched, index, key, shop) => {
      const asked = { amount_from: 5_000, amount_to: 5_499, has_payment: false };
      const plan = await planOf(searched, asked, 'set local enable_seqscan = off');
      expect(plan).toContain(`Index Only Scan using ${index}`);
      expect(plan).toMatch(new RegExp(`SubPlan .*\\n +-> +Index Scan using ${key} `));
      // Only of too many amounts; see walks.test.ts.
      expect(plan.split(shop)).toHaveLength(2);
      expect(plan).toMatch(/One-Time Filter: .*> 20000/);
    },
  );

  test('of invoices by what half of the payments have is in their order, and looks up those of the page alone', async () => {
    const plan = await planOf(invoiceSearches.payment_time, { payment_statuses: 'captured' });
    expect(plan).toContain('Scan Backward using search_payment_invoices_of_shop');
    expect(withoutMerge(plan)).not.toMatch(/Seq Scan|Sort Key: (?!found)/);
  });

  test.each(refundSearchKeys)('of refunds by %s is by its index, also to count them', async (key) => {
    for (const searched of [refundSearches[key], refundCounts[key]]) {
      const plan = await planOf(searched, { [key]: values[key] });
      expect(plan).toContain(ofRefund[key]);
      expect(plan).not.toContain('Seq Scan');
    }
  });

  test('of refunds by an approval code looks up the refunds of its payments, which are found once', async () => {
    for (const searched of [refundSearches.approval_code, refundCounts.approval_code]) {
      const plan = await planOf(searched, { approval_code: values.approval_code });
      expect(plan.split(ofRefund.approval_code)).toHaveLength(2);
      expect(plan).toContain('search_refund_pkey');
      expect(plan).not.toContain('search_refund_of_shop');
    }
  });

  test.each([readFreshness, readOldestUnseen])('of $name begins where the reader is', async (asked) => {
    // The log of this test has few rows.
    const plan = await planOf(asked, {}, 'set local enable_seqscan = off');
    expect(plan).toMatch(/event_written_in on event\b.*\n\s+Index Cond: \(written_in >= /);
    // A join reads the log from its beginning.
    expect(plan).not.toContain('Nested Loop');
  });

  test('without the index is another: the control', async () => {
    const plan = await planOf(paymentSearches.time, {}, 'drop index search_payment_of_shop');
    expect(plan).not.toContain('search_payment_of_shop');
  });
});
