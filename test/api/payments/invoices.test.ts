// Creating invoices over the API: what is accepted, the responses, and the error codes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  startTestService,
  type Answer,
  type Merchant,
  type TestService,
} from '../../support/service/test-service.ts';
import { invoicesUrl, makeInvoice, order } from '../../support/worlds/invoices.ts';
import { setTradingFlag, tradingFlags } from '../../support/worlds/block-merchant.ts';

let service: TestService;
let merchant: Merchant;

beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
});
afterAll(() => service.close());

function create(more: Record<string, unknown>, by: Merchant = merchant): Promise<Answer> {
  // JSON omits undefined members.
  return service.call('POST', invoicesUrl, { token: by.apiKey, body: { ...order, ...more } });
}

function expectRefusal(answer: Answer, code: string, message: unknown = expect.any(String)): void {
  const { hint: _, ...body } = answer.body;
  expect({ status: answer.status, body }).toEqual({ status: 400, body: { code, message } });
}

const schemaComplaint = expect.stringMatching(
  /^Request parameter: \S+, error type: [a-z_]+(, description: .+)?$/,
);

describe('create invoice', () => {
  test('returns an unpaid invoice and a token that can read it', async () => {
    const created = await create({});
    expect(created.status).toBe(201);
    expect(Object.keys(created.body).sort()).toEqual(['invoice', 'invoiceAccessToken']);
    expect(Object.keys(created.body.invoiceAccessToken)).toEqual(['payload']);
    expect(created.body.invoice).toEqual({
      id: expect.stringMatching(/^[0-9A-Za-z]{1,40}$/),
      shopID: 'TEST',
      createdAt: '2026-01-19T10:00:00.123000Z',
      dueDate: '2030-01-20T10:00:00.000000Z',
      amount: 6000,
      currency: 'RUB',
      product: 'Order 1',
      metadata: {},
      status: 'unpaid',
    });
    const token = created.body.invoiceAccessToken.payload;
    const read = await service.call('GET', `${invoicesUrl}/${created.body.invoice.id}`, { token });
    expect(read.body).toEqual(created.body.invoice);
  });

  test('returns every field with defaults, and a read returns the same', async () => {
    const given = {
      externalID: 'everything',
      amount: 11_500,
      description: 'Three things — «доставка» 📦',
      bankAccount: {
        accountType: 'InvoiceRussianBankAccount',
        account: '12345678901234567890',
        bankBik: '123456789',
      },
      clientInfo: { trustLevel: 'wellKnown' },
      metadata: { order_id: '12345', nested: { list: [1, 2.5, -3, true, null, 'é'] }, '': {} },
    };
    const taxMode = { type: 'InvoiceLineTaxVAT', rate: '20%' };
    const created = await create({
      ...given,
      partyID: merchant.partyId,
      cart: [
        { product: 'Thing', price: 5_000 },
        { product: 'Other', quantity: 3, price: 2_000, taxMode },
        { product: 'Gift wrap', quantity: 1, price: 500 },
      ],
    });
    expect(created.status).toBe(201);
    expect(created.body.invoice).toEqual({
      ...given,
      id: expect.any(String),
      shopID: 'TEST',
      createdAt: expect.any(String),
      dueDate: '2030-01-20T10:00:00.000000Z',
      currency: 'RUB',
      product: 'Order 1',
      cart: [
        { product: 'Thing', quantity: 1, price: 5_000, cost: 5_000 },
        { product: 'Other', quantity: 3, price: 2_000, cost: 6_000, taxMode },
        { product: 'Gift wrap', quantity: 1, price: 500, cost: 500 },
      ],
      status: 'unpaid',
    });
    const read = await service.call('GET', `${invoicesUrl}/${created.body.invoice.id}`, {
      token: merchant.apiKey,
    });
    expect(read.body).toEqual(created.body.invoice);
  });

  test('ignores unknown and read-only fields', async () => {
    const created = await create({
      id: 'mine',
      status: 'paid',
      createdAt: '2001-01-01T00:00:00Z',
      reason: 'because',
      invoiceTemplateID: 'template',
      somethingNew: { a: [null] },
      amount: undefined,
      cart: [{ product: 'Thing', price: 100, cost: 1, colour: 'blue' }],
    });
    expect(created.status).toBe(201);
    expect(created.body.invoice).toEqual({
      id: expect.not.stringMatching(/^mine$/),
      shopID: 'TEST',
      createdAt: '2026-01-19T10:00:00.123000Z',
      dueDate: '2030-01-20T10:00:00.000000Z',
      amount: 100,
      currency: 'RUB',
      product: 'Order 1',
      cart: [{ product: 'Thing', quantity: 1, price: 100, cost: 100 }],
      metadata: {},
      status: 'unpaid',
    });
  });
});

describe('the fields of a new invoice', () => {
  const account = {
    accountType: 'InvoiceRussianBankAccount',
    account: '1'.repeat(20),
    bankBik: '1'.repeat(9),
  };

  test.each<[string, Record<string, unknown>]>([
    ['a product of 100 characters', { product: 'x'.repeat(100) }],
    ['a product of 100 characters beyond the basic plane', { product: '😀'.repeat(100) }],
    ['a description of 1000 characters', { description: 'x'.repeat(1_000) }],
    ['an externalID of 40 characters', { externalID: 'e'.repeat(40) }],
    ['the smallest amount', { amount: 1 }],
    ['an amount of twelve digits', { amount: 999_999_999_999 }],
    ['an amount written with an exponent that is still whole', { amount: 6e3 }],
    ['a payer with an unknown trust level', { clientInfo: { trustLevel: 'unknown' } }],
    ['a bank account', { bankAccount: account }],
  ])('may be %s', async (_, more) => {
    const created = await create(more);
    expect(created.status).toBe(201);
    expect(created.body.invoice).toMatchObject(more);
  });

  test.each<[string, Record<string, unknown>]>([
    ['no shop', { shopID: undefined }],
    ['no due date', { dueDate: undefined }],
    ['no currency', { currency: undefined }],
    ['no product', { product: undefined }],
    ['an empty shop', { shopID: '' }],
    ['a shop of 41 characters', { shopID: 's'.repeat(41) }],
    ['a shop that is a number', { shopID: 1 }],
    ['a partyID of 41 characters', { partyID: 'p'.repeat(41) }],
    ['an empty externalID', { externalID: '' }],
    ['an externalID of 41 characters', { externalID: 'e'.repeat(41) }],
    ['a product of 101 characters', { product: 'x'.repeat(101) }],
    ['a product of 101 characters beyond the basic plane', { product: '😀'.repeat(101) }],
    ['a product that is null', { product: null }],
    ['a description of 1001 characters', { description: 'x'.repeat(1_001) }],
    ['an amount of zero', { amount: 0 }],
    ['a negative amount', { amount: -1 }],
    ['an amount with a fraction', { amount: 1.5 }],
    ['an amount as text', { amount: '6000' }],
    ['an amount of a boolean', { amount: true }],
    ['a currency in lower case', { currency: 'rub' }],
    ['a currency of two characters', { currency: 'RU' }],
    ['a currency of four characters', { currency: 'RUBB' }],
    ['metadata that is text', { metadata: 'order_id' }],
    ['metadata that is a list', { metadata: [1] }],
    ['a cart that is not a list', { cart: { product: 'Thing', price: 1 } }],
    ['an account of 19 digits', { bankAccount: { ...account, account: '1'.repeat(19) } }],
    ['a BIK that is not a number', { bankAccount: { ...account, bankBik: 'abcdefghi' } }],
    ['an account of another type', { bankAccount: { ...account, accountType: 'IBAN' } }],
    ['an undefined trust level', { clientInfo: { trustLevel: 'best' } }],
    ['client information without a trust level', { clientInfo: {} }],
  ])('may not be %s', async (_, more) => {
    expectRefusal(await create(more), 'invalidRequest', schemaComplaint);
  });

  test('are refused with the name of the wrong parameter, also of a nested one', async () => {
    const cart = [
      { product: 'Thing', price: 1 },
      { product: 'Other', price: 'much' },
    ];
    const answer = await create({ cart });
    expectRefusal(
      answer,
      'invalidRequest',
      expect.stringMatching(/^Request parameter: cart\[1\]\.price, error type: wrong_type/),
    );
  });

  test('accept metadata of 4096 bytes of JSON, not of 4097', async () => {
    const metadataOf = (bytes: number) => ({ é: 'x'.repeat(bytes - Buffer.byteLength('{"é":""}')) });
    const created = await create({ metadata: metadataOf(4_096) });
    expect(created.status).toBe(201);
    expect(created.body.invoice.metadata).toEqual(metadataOf(4_096));
    expectRefusal(await create({ metadata: metadataOf(4_097) }), 'invalidRequest', schemaComplaint);
  });
});

describe('the amount of a new invoice', () => {
  const cart = [
    { product: 'Thing', quantity: 2, price: 1_500 },
    { product: 'Other', price: 3_000 },
  ];

  test.each<[string, Record<string, unknown>, number]>([
    ['the amount given without a cart', { amount: 700 }, 700],
    ['the amount given with a cart of the same total', { amount: 6_000, cart }, 6_000],
    ['the total of the cart without an amount', { amount: undefined, cart }, 6_000],
  ])('is %s', async (_, more, amount) => {
    const created = await create(more);
    expect(created.status).toBe(201);
    expect(created.body.invoice.amount).toBe(amount);
  });

  const big = { product: 'Gold', quantity: 1_000_000, price: 999_999_999_999 };
  test.each<[string, Record<string, unknown>, string, string]>([
    [
      'differs from the total of the cart',
      { amount: 6_001, cart },
      'invalidInvoiceCost',
      'Invalid invoice amount',
    ],
    ['is absent, and the cart too', { amount: undefined }, 'invalidInvoiceCost', 'Invalid invoice amount'],
    [
      'exceeds the largest payment amount',
      { amount: undefined, cart: [big] },
      'invalidInvoiceCost',
      'Invalid invoice amount',
    ],
    ['comes with an empty cart', { cart: [] }, 'invalidInvoiceCart', 'Wrong size. Path to item: cart'],
    [
      'comes with a cart of 101 lines',
      { amount: undefined, cart: Array.from({ length: 101 }, () => ({ product: 'Thing', price: 1 })) },
      'invalidInvoiceCart',
      'Wrong size. Path to item: cart',
    ],
  ])('is refused when it %s', async (_, more, code, message) => {
    expectRefusal(await create(more), code, message);
  });

  test('may be the total of 100 lines', async () => {
    const lines = Array.from({ length: 100 }, (_, index) => ({
      product: `Thing ${index}`,
      price: index + 1,
    }));
    const created = await create({ amount: 5_050, cart: lines });
    expect(created.status).toBe(201);
    expect(created.body.invoice.cart).toHaveLength(100);
  });
});

describe('the cart of a new invoice', () => {
  const line = { product: 'Thing', price: 100 };
  const taxed = (rate: unknown, type: unknown = 'InvoiceLineTaxVAT') => ({
    ...line,
    taxMode: { type, rate },
  });

  test.each(['0%', '7%', '10%', '18%', '20%', '99%', '10/110', '18/118', '20/120'])(
    'may have VAT at the rate %s',
    async (rate) => {
      const created = await create({ amount: undefined, cart: [taxed(rate)] });
      expect(created.status).toBe(201);
      expect(created.body.invoice.cart[0].taxMode).toEqual({ type: 'InvoiceLineTaxVAT', rate });
    },
  );

  test.each<[string, unknown]>([
    ['a rate of three digits', taxed('100%')],
    ['a negative rate', taxed('-1%')],
    ['a rate without its sign', taxed('20')],
    ['a rate with a line feed behind it', taxed('20%\n')],
    ['an undefined calculated rate', taxed('21/121')],
    ['a rate as a number', taxed(20)],
    ['a tax of another type', taxed('20%', 'SalesTax')],
    ['a tax without a rate', { ...line, taxMode: { type: 'InvoiceLineTaxVAT' } }],
    ['a tax without a type', { ...line, taxMode: { rate: '20%' } }],
    ['no product', { price: 100 }],
    ['a product of 1001 characters', { ...line, product: 'x'.repeat(1_001) }],
    ['no price', { product: 'Thing' }],
    ['a price of zero', { ...line, price: 0 }],
    ['a quantity of zero', { ...line, quantity: 0 }],
    ['half a piece', { ...line, quantity: 0.5 }],
    ['a line that is not an object', 'Thing'],
  ])('may not have %s', async (_, wrong) => {
    expectRefusal(
      await create({ amount: undefined, cart: [line, wrong] }),
      'invalidRequest',
      schemaComplaint,
    );
  });
});

describe('the due date of a new invoice', () => {
  test.each([
    ['2030-01-20T10:00:00Z', '2030-01-20T10:00:00.000000Z'],
    ['2030-01-20t10:00:00z', '2030-01-20T10:00:00.000000Z'],
    ['2030-01-20T10:00:00+03:00', '2030-01-20T07:00:00.000000Z'],
    ['2030-01-20T10:00:00-00:00', '2030-01-20T10:00:00.000000Z'],
    ['2030-01-01T00:30:00+05:45', '2029-12-31T18:45:00.000000Z'],
    ['2030-12-31T23:30:00-11:30', '2031-01-01T11:00:00.000000Z'],
    ['2030-01-20T10:00:00.5Z', '2030-01-20T10:00:00.500000Z'],
    ['2030-01-20T10:00:00.471382Z', '2030-01-20T10:00:00.471382Z'],
    ['2030-01-20T10:00:00.471382000+00:00', '2030-01-20T10:00:00.471382Z'],
    ['2032-02-29T12:00:00Z', '2032-02-29T12:00:00.000000Z'],
    ['2032-03-01T00:30:00+01:00', '2032-02-29T23:30:00.000000Z'],
    ['2030-12-31T23:59:60Z', '2031-01-01T00:00:00.000000Z'],
    ['2031-01-01T02:59:60.25+03:00', '2031-01-01T00:00:00.250000Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
  ])('%s is shown as %s', async (dueDate, shown) => {
    const created = await create({ dueDate });
    expect(created.status).toBe(201);
    expect(created.body.invoice.dueDate).toBe(shown);
    const read = await service.call('GET', `${invoicesUrl}/${created.body.invoice.id}`, {
      token: merchant.apiKey,
    });
    expect(read.body.dueDate).toBe(shown);
  });

  test.each([
    'tomorrow',
    '',
    '2030-01-20',
    '2030-01-20T10:00:00',
    '2030-01-20T10:00Z',
    '2030-01-20T10:00:00,5Z',
    '2030-01-20T10:00:00.Z',
    '2030-01-20T10:00:00+3',
    '2030-01-20T10:00:00Z ',
    '20300120T100000Z',
    '2030-13-01T00:00:00Z',
    '2030-02-29T00:00:00Z',
    '2030-01-20T24:00:00Z',
    '2030-01-20T10:00:00+24:00',
    '2030-01-20T10:60:00Z',
    '2030-01-20T10:00:61Z',
    '+12030-01-20T10:00:00Z',
    '9999-12-31T23:59:59-01:00',
    1_900_000_000,
    null,
  ])('may not be %j', async (dueDate) => {
    expectRefusal(await create({ dueDate }), 'invalidRequest', schemaComplaint);
  });

  test('may be in the past: the invoice is returned as unpaid, then cancelled as overdue', async () => {
    const created = await create({ dueDate: '2026-01-19T10:00:00Z' });
    expect(created.status).toBe(201);
    expect(created.body.invoice.status).toBe('unpaid');
    const url = `${invoicesUrl}/${created.body.invoice.id}`;
    const read = () => service.call('GET', url, { token: merchant.apiKey }).then(({ body }) => body);
    await expect
      .poll(read, { interval: 10, timeout: 30_000 })
      .toMatchObject({ status: 'cancelled', reason: 'overdue' });
  });
});

describe('the shop and party of a new invoice', () => {
  test.each<[string, Record<string, unknown>, string, string]>([
    ['an unknown shop', { shopID: 'NO_SUCH_SHOP' }, 'invalidShopID', 'Shop not found'],
    ["a currency that is not the shop's", { currency: 'USD' }, 'invalidRequest', 'Invalid currency'],
    ['an unused currency', { currency: 'XXX' }, 'invalidRequest', 'Invalid currency'],
    ['an unknown party', { partyID: 'unknown' }, 'invalidPartyID', 'Party not found'],
    ['an allocation', { allocation: [{ amount: 1 }] }, 'allocationNotPermitted', 'Allocation not permitted'],
    ['an empty allocation', { allocation: [] }, 'allocationNotPermitted', 'Allocation not permitted'],
  ])('are refused with %s', async (_, more, code, message) => {
    expectRefusal(await create(more), code, message);
  });

  test('get the same refusal if they belong to another merchant as if they do not exist', async () => {
    const other = await service.createMerchant();
    await service.database.withClient((client) =>
      client.query(`update shop set shop_id = 'ONLY_OTHERS' where party_id = $1 and shop_id = 'TEST'`, [
        other.partyId,
      ]),
    );
    expectRefusal(await create({ shopID: 'ONLY_OTHERS' }), 'invalidShopID', 'Shop not found');
    expectRefusal(await create({ partyID: other.partyId }), 'invalidPartyID', 'Party not found');
  });

  test('are accepted with the caller’s partyID, for each shop in its currency', async () => {
    const { partyId: partyID } = merchant;
    expect((await create({ partyID, shopID: 'TEST_USD', currency: 'USD' })).status).toBe(201);
    expect((await create({ partyID, shopID: 'TEST_EUR', currency: 'EUR' })).status).toBe(201);
  });

  test.concurrent.each(tradingFlags)(
    'are refused while the %s %s, and accepted afterwards',
    async (of, flag, code, message) => {
      const stopped = await service.createMerchant();
      await setTradingFlag(service, stopped, { of, flag }, true);
      expectRefusal(await create({}, stopped), code, message);
      const inOtherShop = await create({ shopID: 'TEST_USD', currency: 'USD' }, stopped);
      expect(inOtherShop.status).toBe(of === 'party' ? 400 : 201);
      await setTradingFlag(service, stopped, { of, flag }, false);
      expect((await create({}, stopped)).status).toBe(201);
    },
  );
});

test('a refused invoice writes nothing', async () => {
  const lonely = await service.createMerchant();
  await makeInvoice(service, lonely);
  expectRefusal(await create({ shopID: 'NO_SUCH_SHOP', externalID: 'refused' }, lonely), 'invalidShopID');
  expectRefusal(await create({ amount: undefined, externalID: 'refused' }, lonely), 'invalidInvoiceCost');
  const counted = await service.database.withClient((client) =>
    client.query(
      `select (select count(*) from invoice where party_id = $1) as invoices,
              (select count(*) from event where party_id = $1) as events,
              (select count(*) from external_id where party_id = $1) as names`,
      [lonely.partyId],
    ),
  );
  expect(counted.rows).toEqual([{ invoices: 1n, events: 1n, names: 0n }]);
});
