// Invoice templates over the API: what they may say, what the invoices made from them cost, and what their token may do.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setTradingFlag, tradingFlags } from '../../support/worlds/block-merchant.ts';
import {
  fixedPrice,
  invoicesUrl,
  makeTemplate,
  rangePrice,
  singleLine,
  template,
  templatesUrl,
  unlimitedPrice,
} from '../../support/worlds/invoices.ts';
import {
  startTestService,
  type Answer,
  type Merchant,
  type TestService,
} from '../../support/service/test-service.ts';

let service: TestService;
let merchant: Merchant;
beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
});
afterAll(() => service.close());

const asKey = () => ({ token: merchant.apiKey });
const create = (more: object) =>
  service.call('POST', templatesUrl, { ...asKey(), body: { ...template, ...more } });
const invoiceFrom = (id: string, body: object = {}, token = merchant.apiKey) =>
  service.call('POST', `${templatesUrl}/${id}/invoices`, { token, body });
const refused = ({ status, body }: Answer) => ({ status, ...body });
const taxMode = { type: 'InvoiceLineTaxVAT', rate: '20%' };
const cart = [
  { product: 'Chair', quantity: 4, price: 1_000, taxMode },
  { product: 'Table', price: 5_000 },
];
const multiLine = { templateType: 'InvoiceTemplateMultiLine', cart, currency: 'RUB' };
const noTemplate = {
  status: 404,
  message: 'Invoice template not found',
  hint: 'Check the ID, and that the template has not been deleted.',
};

describe('a template', () => {
  test('is returned with a token, which reads what payers need of it', async () => {
    const said = {
      externalID: 'all of it',
      name: 'Tickets',
      description: 'For the concert',
      metadata: { hall: 3 },
      lifetime: { days: 1, months: 2, years: 3 },
      details: { ...singleLine(rangePrice), taxMode },
    };
    const made = await create({ ...said, partyID: merchant.partyId });
    expect(refused(made)).toEqual({
      status: 201,
      invoiceTemplate: {
        ...said,
        shopID: 'TEST',
        id: expect.stringMatching(/^[0-9A-Za-z]{1,40}$/),
        createdAt: '2026-01-19T10:00:00.123000Z',
      },
      invoiceTemplateAccessToken: { payload: expect.any(String) },
      paymentLink: expect.any(String),
    });
    const { invoiceTemplate, invoiceTemplateAccessToken, paymentLink } = made.body;
    const url = `${templatesUrl}/${invoiceTemplate.id}`;
    expect(refused(await service.call('GET', url, asKey()))).toEqual({ status: 200, ...invoiceTemplate });
    const { name: _name, metadata: _metadata, externalID: _externalID, ...shown } = invoiceTemplate;
    const token = invoiceTemplateAccessToken.payload;
    expect(paymentLink).toMatch(
      `/checkout?invoiceTemplateID=${invoiceTemplate.id}#invoiceTemplateAccessToken=${token}`,
    );
    expect(refused(await service.call('GET', url, { token }))).toEqual({ status: 200, ...shown });
  });

  test('has the cost of each line of its cart', async () => {
    const made = await create({ details: multiLine });
    expect(made.body.invoiceTemplate.details).toEqual({
      ...multiLine,
      cart: [
        { ...cart[0], cost: 4_000 },
        { ...cart[1], quantity: 1, cost: 5_000 },
      ],
    });
  });

  test('is changed member by member', async () => {
    const { id } = await makeTemplate(service, merchant, { name: 'Old', metadata: { kept: true } });
    const url = `${templatesUrl}/${id}`;
    const before = (await service.call('GET', url, asKey())).body;
    const changes = { name: 'New', details: singleLine(unlimitedPrice) };
    const changed = await service.call('PUT', url, { ...asKey(), body: changes });
    expect(refused(changed)).toEqual({ status: 200, ...before, ...changes });
    expect((await service.call('GET', url, asKey())).body).toEqual(changed.body);
    const rest = { description: 'More', metadata: {}, lifetime: { days: 0, months: 1, years: 0 } };
    expect((await service.call('PUT', url, { ...asKey(), body: rest })).body).toEqual({
      ...changed.body,
      ...rest,
    });
  });

  test('ends with its token when it is deleted, and its invoices stay', async () => {
    const { id, token } = await makeTemplate(service, merchant);
    const invoice = (await invoiceFrom(id, {}, token)).body.invoice;
    const url = `${templatesUrl}/${id}`;
    expect((await service.call('DELETE', url, asKey())).status).toBe(204);
    for (const answer of [
      await service.call('DELETE', url, asKey()),
      await service.call('GET', url, asKey()),
      await service.call('PUT', url, { ...asKey(), body: { name: 'Back' } }),
      await service.call('GET', `${url}/payment-methods`, asKey()),
      await invoiceFrom(id),
    ])
      expect(refused(answer)).toEqual(noTemplate);
    expect((await service.call('GET', url, { token })).status).toBe(401);
    expect((await invoiceFrom(id, {}, token)).status).toBe(401);
    expect((await service.call('GET', `${invoicesUrl}/${invoice.id}`, asKey())).body).toEqual(invoice);
  });

  const range = (lowerBound: number, upperBound: number) => ({
    details: singleLine({ ...rangePrice, range: { lowerBound, upperBound } }),
  });
  const withCart = (lines: object[]) => ({ details: { ...multiLine, cart: lines } });
  const invalid = (code: string, message: string, hint: string) => ({ status: 400, code, message, hint });
  test.each<[string, object, object]>([
    [
      'a lifetime of nothing',
      { lifetime: { days: 0, months: 0, years: 0 } },
      invalid('invalidRequest', 'Lifetime cannot be zero', 'Send at least one day, month or year.'),
    ],
    [
      'a range that is upside down',
      range(5_001, 5_000),
      invalid('invalidRequest', 'Invalid range', '`lowerBound` is 5001, above `upperBound`, 5000.'),
    ],
    ...[fixedPrice, rangePrice].map((price): [string, object, object] => [
      `another currency than the shop's in ${price.costType}`,
      { details: singleLine({ ...price, currency: 'USD' }) },
      invalid('invalidRequest', 'Invalid currency', 'The shop takes RUB.'),
    ]),
    [
      "a cart in another currency than the shop's",
      { details: { ...multiLine, currency: 'USD' } },
      invalid('invalidRequest', 'Invalid currency', 'The shop takes RUB.'),
    ],
    [
      'an empty cart',
      withCart([]),
      invalid(
        'invalidInvoiceCart',
        'Wrong size. Path to item: cart',
        'The cart has 0 lines, and may have 1 to 100.',
      ),
    ],
    [
      'a cart of 101 lines',
      withCart(Array.from({ length: 101 }, () => ({ product: 'Chair', price: 1 }))),
      invalid(
        'invalidInvoiceCart',
        'Wrong size. Path to item: cart',
        'The cart has 101 lines, and may have 1 to 100.',
      ),
    ],
    [
      'a cart that costs more than a card can pay',
      withCart([{ product: 'Chair', quantity: 2, price: 999_999_999_999 }]),
      invalid(
        'invalidInvoiceCart',
        'Wrong size. Path to item: cart',
        'The cart adds up to 1999999999998. The largest amount is 999999999999.',
      ),
    ],
  ])('is refused with %s, also as a change', async (_, more, expected) => {
    expect(refused(await create(more))).toEqual(expected);
    const { id } = await makeTemplate(service, merchant);
    const url = `${templatesUrl}/${id}`;
    expect(refused(await service.call('PUT', url, { ...asKey(), body: more }))).toEqual(expected);
    expect((await service.call('GET', url, asKey())).body).toMatchObject(template);
  });

  test.each<[string, object]>([
    ['no lifetime', { lifetime: undefined }],
    ['a lifetime without months', { lifetime: { days: 1, years: 0 } }],
    ['a negative lifetime', { lifetime: { days: 1, months: -1, years: 0 } }],
    ['a lifetime of more than three years', { lifetime: { days: 0, months: 0, years: 4 } }],
    ['a lifetime of more than 36 months', { lifetime: { days: 0, months: 37, years: 0 } }],
    ['a lifetime of more days than in three years', { lifetime: { days: 1_097, months: 0, years: 0 } }],
    ['no details', { details: undefined }],
    ['an unknown type', { details: { ...multiLine, templateType: 'InvoiceTemplate' } }],
    ['an unknown cost', { details: singleLine({ costType: 'Free' }) }],
    ['a price of nothing', { details: singleLine({ ...fixedPrice, amount: 0 }) }],
    ['a range without an end', { details: singleLine({ ...rangePrice, range: { lowerBound: 1 } }) }],
    ['a product of 101 characters', { details: { ...singleLine(fixedPrice), product: 'x'.repeat(101) } }],
    ['a name of 101 characters', { name: 'x'.repeat(101) }],
    ['metadata that are too long', { metadata: { text: 'x'.repeat(4_096) } }],
  ])('is refused with %s', async (_, more) => {
    expect(refused(await create(more))).toMatchObject({
      status: 400,
      code: 'invalidRequest',
      message: expect.stringMatching(/^Request parameter: \S+, error type: [a-z_]+/),
    });
  });

  test("is refused in the name of another party, and for another party's shop", async () => {
    const invalidParty = { status: 400, code: 'invalidPartyID', message: 'Party not found' };
    expect(refused(await create({ partyID: 'another' }))).toMatchObject(invalidParty);
    const invalidShop = { status: 400, code: 'invalidShopID', message: 'Shop not found' };
    expect(refused(await create({ shopID: 'NOWHERE' }))).toMatchObject(invalidShop);
  });

  test('is created once under an external ID', async () => {
    const body = { externalID: 'once', details: multiLine };
    const [one, two] = await Promise.all([create(body), create(body)]);
    expect([one.status, two.status]).toEqual([201, 201]);
    const { id } = one.body.invoiceTemplate;
    expect(two.body.invoiceTemplate.id).toBe(id);
    const reordered = { ...body, details: { ...multiLine, cart: cart.toReversed() }, name: 'Later' };
    expect((await create(reordered)).body.invoiceTemplate.id).toBe(id);
    const conflict = {
      status: 409,
      externalID: 'once',
      id,
      message: "This 'externalID' has been used by another request",
      hint: expect.stringMatching(/^The externalID belongs to /),
    };
    for (const other of [
      { shopID: 'TEST_USD', details: { ...multiLine, currency: 'USD' } },
      { lifetime: { days: 4, months: 0, years: 0 } },
      { details: singleLine(fixedPrice) },
    ])
      expect(refused(await create({ ...body, ...other }))).toEqual(conflict);
    await service.call('DELETE', `${templatesUrl}/${id}`, asKey());
    expect(refused(await create(body))).toEqual(conflict);
  });
});

describe('an invoice from a template', () => {
  test('has what the template says', async () => {
    const { id, token } = await makeTemplate(service, merchant, {
      details: { ...singleLine(fixedPrice), taxMode },
      description: 'For the concert',
      metadata: { hall: 3 },
    });
    const made = await invoiceFrom(id, { externalID: 'theirs' }, token);
    expect(refused(made)).toEqual({
      status: 201,
      invoice: {
        id: expect.any(String),
        externalID: 'theirs',
        invoiceTemplateID: id,
        shopID: 'TEST',
        createdAt: '2026-01-19T10:00:00.123000Z',
        dueDate: '2026-01-22T10:00:00.123000Z',
        amount: 6_000,
        currency: 'RUB',
        product: 'Ticket',
        description: 'For the concert',
        cart: [{ product: 'Ticket', quantity: 1, price: 6_000, cost: 6_000, taxMode }],
        metadata: { hall: 3 },
        status: 'unpaid',
      },
      invoiceAccessToken: { payload: expect.any(String) },
    });
    const { invoice, invoiceAccessToken } = made.body;
    const read = await service.call('GET', `${invoicesUrl}/${invoice.id}`, {
      token: invoiceAccessToken.payload,
    });
    expect(refused(read)).toEqual({ status: 200, ...invoice });
  });

  test('has the metadata of its request, if there are some', async () => {
    const { id } = await makeTemplate(service, merchant, { metadata: { hall: 3 } });
    expect((await invoiceFrom(id, { metadata: { seat: 'B4' } })).body.invoice.metadata).toEqual({
      seat: 'B4',
    });
  });

  test('made by a payer keeps every member that the metadata of the template have', async () => {
    const { id, token } = await makeTemplate(service, merchant, {
      metadata: { hall: 3, fee: { paid: true } },
    });
    const metadata = { hall: 1, fee: {}, seat: 'B4' };
    expect((await invoiceFrom(id, { metadata }, token)).body.invoice.metadata).toEqual({
      hall: 3,
      fee: { paid: true },
      seat: 'B4',
    });
    expect((await invoiceFrom(id, {}, token)).body.invoice.metadata).toEqual({
      hall: 3,
      fee: { paid: true },
    });
    const open = await makeTemplate(service, merchant);
    expect((await invoiceFrom(open.id, { metadata }, open.token)).body.invoice.metadata).toEqual(metadata);
  });

  test('has the cart of the template, and is named after its first line', async () => {
    const long = 'é'.repeat(150);
    const lines = [{ ...cart[0], product: long }, cart[1]];
    const { id } = await makeTemplate(service, merchant, { details: { ...multiLine, cart: lines } });
    expect((await invoiceFrom(id)).body.invoice).toMatchObject({
      amount: 9_000,
      product: long.slice(0, 100),
      cart: [{ product: long, cost: 4_000 }, { cost: 5_000 }],
    });
  });

  test.each([
    [{ days: 10, months: 0, years: 0 }, '2026-02-09T10:00:00.123000Z'],
    // From 30 January to the last day of February, and then three days.
    [{ days: 3, months: 1, years: 1 }, '2027-03-03T10:00:00.123000Z'],
  ])('is due after the lifetime %j in the calendar', async (lifetime, dueDate) => {
    const clocked = await service.createMerchant();
    const token = clocked.apiKey;
    const now = '2026-01-30T10:00:00.123Z';
    expect((await service.call('POST', '/sandbox/clock', { token, body: { now } })).status).toBe(200);
    const { id } = await makeTemplate(service, clocked, { lifetime });
    expect((await invoiceFrom(id, {}, token)).body.invoice.dueDate).toBe(dueDate);
  });

  const fixed = singleLine(fixedPrice);
  const ranged = singleLine(rangePrice);
  const unlimited = singleLine(unlimitedPrice);
  test.each<[string, object, object, number]>([
    ['the fixed amount', fixed, { amount: 6_000, currency: 'RUB' }, 6_000],
    ['the lowest of a range', ranged, { amount: 1_000, currency: 'RUB' }, 1_000],
    ['the highest of a range', ranged, { amount: 5_000, currency: 'RUB' }, 5_000],
    ['any amount without a limit', unlimited, { amount: 999_999_999_999, currency: 'RUB' }, 999_999_999_999],
    ['the total of the cart', multiLine, { amount: 9_000, currency: 'RUB' }, 9_000],
  ])('may cost %s', async (_, details, asked, amount) => {
    const { id } = await makeTemplate(service, merchant, { details });
    expect((await invoiceFrom(id, asked)).body.invoice).toMatchObject({ amount, currency: 'RUB' });
  });

  const both = (amount: number) => `Send both: \`"amount": ${amount}, "currency": "RUB"\`.`;
  const within = (amount: number) => `The template takes 1000 to 5000, and the amount is ${amount}.`;
  test.each<[string, object, object, string, string]>([
    ['an amount without currency', unlimited, { amount: 7 }, 'Currency is required for the amount', both(7)],
    [
      'a currency without amount',
      ranged,
      { currency: 'RUB' },
      'Amount is required for the currency',
      both(1_000),
    ],
    [
      'another amount than the fixed one',
      fixed,
      { amount: 6_001, currency: 'RUB' },
      'Invalid amount',
      'The template costs 6000. Send that amount, or none.',
    ],
    [
      'another amount than that of the cart',
      multiLine,
      { amount: 8_999, currency: 'RUB' },
      'Invalid amount',
      'The template costs 9000. Send that amount, or none.',
    ],
    ['less than the range', ranged, { amount: 999, currency: 'RUB' }, 'Invalid amount', within(999)],
    ['more than the range', ranged, { amount: 5_001, currency: 'RUB' }, 'Invalid amount', within(5_001)],
    [
      'no amount in a range',
      ranged,
      {},
      'Amount is required',
      'The template leaves the amount open. Send one, such as `"amount": 1000, "currency": "RUB"`.',
    ],
    [
      'no amount without a limit',
      unlimited,
      {},
      'Amount is required',
      'The template leaves the amount open. Send one, such as `"amount": 1, "currency": "RUB"`.',
    ],
    ...[fixed, ranged, unlimited, multiLine].map((details): [string, object, object, string, string] => [
      `another currency than the shop's by ${JSON.stringify(details).slice(0, 150)}`,
      details,
      { amount: 6_000, currency: 'USD' },
      'Invalid currency',
      'The shop takes RUB.',
    ]),
  ])('is refused with %s', async (_, details, asked, message, hint) => {
    const { id, token } = await makeTemplate(service, merchant, { details });
    const expected = { status: 400, code: 'invalidRequest', message, hint };
    expect(refused(await invoiceFrom(id, asked))).toEqual(expected);
    expect(refused(await invoiceFrom(id, asked, token))).toEqual(expected);
  });

  test('is refused with metadata that are too long', async () => {
    const { id } = await makeTemplate(service, merchant);
    const message = expect.stringContaining('metadata');
    expect(refused(await invoiceFrom(id, { metadata: { text: 'x'.repeat(4_096) } }))).toMatchObject({
      status: 400,
      code: 'invalidRequest',
      message,
    });
  });

  test('is one under an external ID, which create invoice may use again', async () => {
    const { id } = await makeTemplate(service, merchant, { details: ranged });
    const other = await makeTemplate(service, merchant, { details: ranged });
    const body = { externalID: 'one order', amount: 2_000, currency: 'RUB' };
    const answers = await Promise.all([
      invoiceFrom(id, body),
      invoiceFrom(id, body),
      invoiceFrom(id, { ...body, metadata: { not: 'compared' } }),
    ]);
    const invoiceIds = answers.map(({ body: { invoice } }) => invoice.id);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(invoiceIds).size).toBe(1);
    const { rows } = await service.database.withClient((client) =>
      client.query('select invoice_id from invoice where invoice_template_id = $1', [id]),
    );
    expect(rows).toHaveLength(1);
    const conflict = {
      status: 409,
      externalID: 'one order',
      id: invoiceIds[0],
      message: "This 'externalID' has been used by another request",
      hint: expect.stringMatching(/^The externalID belongs to /),
    };
    expect(refused(await invoiceFrom(id, { ...body, amount: 2_001 }))).toEqual(conflict);
    expect(refused(await invoiceFrom(other.id, body))).toEqual(conflict);

    const found = await service.call('GET', `${invoicesUrl}?externalID=one%20order`, asKey());
    expect(refused(found)).toMatchObject({ status: 404, message: 'Invoice not found' });
    const plain = {
      shopID: 'TEST',
      dueDate: '2030-01-20T10:00:00Z',
      amount: 6_000,
      currency: 'RUB',
      product: 'Order',
    };
    const created = await service.call('POST', invoicesUrl, {
      ...asKey(),
      body: { ...plain, externalID: 'one order' },
    });
    expect(created.status).toBe(201);
    expect(created.body.invoice.id).not.toBe(invoiceIds[0]);
  });

  test('is returned to a repeat after its template was deleted, by either kind of key', async () => {
    const { id } = await makeTemplate(service, merchant);
    const headers = { 'idempotency-key': 'before-the-end' };
    const byHeader = () =>
      service.call('POST', `${templatesUrl}/${id}/invoices`, { ...asKey(), body: {}, headers });
    const body = { externalID: 'before the end' };
    const [named, keyed] = [await invoiceFrom(id, body), await byHeader()];
    expect((await service.call('DELETE', `${templatesUrl}/${id}`, asKey())).status).toBe(204);
    expect(refused(await invoiceFrom(id, body))).toMatchObject({ status: 201, invoice: named.body.invoice });
    expect(refused(await byHeader())).toEqual({ status: 201, ...keyed.body });
    expect(refused(await invoiceFrom(id, { externalID: 'after the end' }))).toEqual(noTemplate);
    const stranger = await service.createMerchant();
    expect(refused(await invoiceFrom(id, body, stranger.apiKey))).toEqual(noTemplate);
  });

  test('names its template in the events of the invoice', async () => {
    const { id } = await makeTemplate(service, merchant);
    const { invoice } = (await invoiceFrom(id)).body;
    const events = await service.call('GET', `${invoicesUrl}/${invoice.id}/events?limit=1`, asKey());
    expect(events.body[0].changes[0].invoice).toEqual(invoice);
  });
});

test('the ways to pay are those of the shop', async () => {
  const { id, token } = await makeTemplate(service, merchant);
  const { invoice } = (await invoiceFrom(id)).body;
  const ofInvoice = await service.call('GET', `${invoicesUrl}/${invoice.id}/payment-methods`, asKey());
  const ofTemplate = await service.call('GET', `${templatesUrl}/${id}/payment-methods`, { token });
  expect(ofTemplate.status).toBe(200);
  expect(ofTemplate.body).toEqual(ofInvoice.body);
});

test.each(tradingFlags)(
  'while the %s %s a template can be deleted, and nothing else is written',
  async (of, flag, code) => {
    const blocked = await service.createMerchant();
    const { id, token } = await makeTemplate(service, blocked);
    await setTradingFlag(service, blocked, { of, flag }, true);
    const url = `${templatesUrl}/${id}`;
    const byKey = { token: blocked.apiKey };
    for (const answer of [
      await service.call('POST', templatesUrl, { ...byKey, body: template }),
      await service.call('PUT', url, { ...byKey, body: { name: 'New' } }),
      await invoiceFrom(id, {}, token),
    ])
      expect(refused(answer)).toMatchObject({ status: 400, code });
    expect((await service.call('GET', url, { token })).status).toBe(200);
    expect((await service.call('DELETE', url, byKey)).status).toBe(204);
    expect((await invoiceFrom(id, {}, token)).status).toBe(401);
  },
);

describe('the token of a template', () => {
  test('works for years, and after a rotation of the key', async () => {
    const { id, token } = await makeTemplate(service, merchant);
    await service.keyring.rotate('access_token');
    service.clock.advance(20 * 366 * 24 * 3_600_000);
    expect((await service.call('GET', `${templatesUrl}/${id}`, { token })).status).toBe(200);
  });

  test('makes one invoice under an external ID, and returns it to no other payer', async () => {
    const { id, token } = await makeTemplate(service, merchant);
    const body = { externalID: 'guessed by another payer' };
    const answers = await Promise.all([invoiceFrom(id, body, token), invoiceFrom(id, body, token)]);
    answers.push(await invoiceFrom(id, body, token));
    const [made, ...repeats] = answers.toSorted((one, other) => one.status - other.status);
    expect(made).toMatchObject({ status: 201, body: { invoice: body } });
    const { externalID } = body;
    const message = "This 'externalID' has been used by another request";
    for (const repeat of repeats) {
      expect(refused(repeat)).toMatchObject({ status: 409, externalID, message });
      expect(Object.keys(refused(repeat)).sort()).toEqual(['externalID', 'hint', 'message', 'status']);
    }
  });

  test('takes no external ID of its merchant or of another template, and gets nothing by one', async () => {
    const [one, two] = [await makeTemplate(service, merchant), await makeTemplate(service, merchant)];
    const first = { externalID: 'first by the merchant' };
    const byKey = (await invoiceFrom(one.id, first)).body.invoice;
    const byToken = (await invoiceFrom(one.id, first, one.token)).body.invoice;
    const byOther = (await invoiceFrom(two.id, first, two.token)).body.invoice;
    expect(new Set([byKey.id, byToken.id, byOther.id]).size).toBe(3);
    const last = { externalID: 'first by a payer' };
    const taken = (await invoiceFrom(one.id, last, one.token)).body.invoice;
    const kept = (await invoiceFrom(one.id, last)).body.invoice;
    expect(kept).toMatchObject(last);
    expect(kept.id).not.toBe(taken.id);
    expect((await invoiceFrom(one.id, last)).body.invoice).toEqual(kept);
    const joined = { externalID: `${one.id}/x` };
    const [ofMerchant, ofPayer] = [
      await invoiceFrom(one.id, joined),
      await invoiceFrom(one.id, { externalID: 'x' }, one.token),
    ];
    expect([ofMerchant.status, ofPayer.status]).toEqual([201, 201]);
  });

  test('may not repeat a request by an Idempotency-Key, as an API key may', async () => {
    const { id, token } = await makeTemplate(service, merchant);
    const headers = { 'idempotency-key': 'guessed' };
    const send = (by: string) =>
      service.call('POST', `${templatesUrl}/${id}/invoices`, { token: by, body: {}, headers });
    expect(refused(await send(token))).toEqual({
      status: 400,
      code: 'invalidRequest',
      message: expect.stringMatching(
        /^Request parameter: Idempotency-Key, .*leave it out with the token of a template$/,
      ),
    });
    const [made, repeated] = [await send(merchant.apiKey), await send(merchant.apiKey)];
    expect(made.status).toBe(201);
    expect(repeated.body).toEqual(made.body);
  });

  test('makes so many invoices an hour for each address and in all, and API keys make more', async () => {
    const limited = await startTestService({
      TEMPLATE_INVOICES_PER_HOUR: '2',
      TEMPLATE_INVOICES_PER_HOUR_IN_ALL: '4',
      TRUSTED_PROXIES: '127.0.0.1',
    });
    try {
      const own = await limited.createMerchant();
      const [one, two] = [await makeTemplate(limited, own), await makeTemplate(limited, own)];
      const send = async ({ id, token }: { id: string; token: string }, address: string, body = {}) => {
        const headers = { 'x-forwarded-for': address };
        return limited.call('POST', `${templatesUrl}/${id}/invoices`, { token, body, headers });
      };
      const statuses = async (template: { id: string; token: string }, addresses: string[]) => {
        const answers: number[] = [];
        for (const address of addresses) answers.push((await send(template, address)).status);
        return answers;
      };
      const [here, there] = ['203.0.113.7', '203.0.113.8'];
      expect(await statuses(one, [here, here, here, there])).toEqual([201, 201, 429, 201]);
      expect((await send(one, here)).headers['retry-after']).toMatch(/^[1-9]\d{2,3}$/);
      expect(await statuses(two, [here])).toEqual([201]);
      const byKey = { id: one.id, token: own.apiKey };
      expect(await statuses(byKey, [here, here, here])).toEqual([201, 201, 201]);

      const all = await makeTemplate(limited, own);
      const refusedOnce = { amount: 1, currency: 'RUB' };
      for (const address of [here, there, here, there])
        expect((await send(all, address, refusedOnce)).status).toBe(400);
      // No address has made its two, and all together have made four.
      const [near, far] = ['2001:db8:0:1::1', '2001:db8:0:2::1'];
      expect(await statuses(all, [here, there, near, far, far])).toEqual([201, 201, 201, 201, 429]);
      expect(await statuses(two, [far, far, far])).toEqual([201, 201, 429]);
    } finally {
      await limited.close();
    }
  });

  test('says why it is refused once its template is deleted', async () => {
    const { id, token } = await makeTemplate(service, merchant);
    await service.call('DELETE', `${templatesUrl}/${id}`, asKey());
    const { status, headers } = await service.call('GET', `${templatesUrl}/${id}`, { token });
    expect({ status, why: headers['www-authenticate'] }).toEqual({
      status: 401,
      why: 'Bearer error="invalid_token", error_description="The invoice template of this token is deleted."',
    });
  });

  test('works while failures come from its address, also if this node has not seen it', async () => {
    const guarded = await startTestService({ FAILED_AUTHENTICATIONS_PER_MINUTE: '2' });
    try {
      const { id, token } = await makeTemplate(guarded, await guarded.createMerchant());
      const read = async (sent: string) =>
        (await guarded.call('GET', `${templatesUrl}/${id}`, { token: sent })).status;
      const madeUp = `${token.slice(0, -22)}${'x'.repeat(22)}`;
      expect([await read(madeUp), await read(madeUp), await read(madeUp)]).toEqual([401, 401, 429]);
      expect([await read(token), await read(token)]).toEqual([200, 200]);
    } finally {
      await guarded.close();
    }
  });
});
