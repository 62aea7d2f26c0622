// Every option of the checkout, one row each: as an attribute and as a key it leads to the same address and page.
// What only a browser shows is in checkout-frame.test.ts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressOf, readAttributes, type Options } from '../../pages/embed/options.ts';
import { makeInvoice, type CreatedInvoice } from '../support/worlds/invoices.ts';
import { startTestService, type Merchant, type TestService } from '../support/service/test-service.ts';

const base = new URL('https://pay.example/');
const shop = 'https://shop.example';

let service: TestService;
let merchant: Merchant;
let invoice: CreatedInvoice;

beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
  await service.database.withClient((client) =>
    client.query('update shop set origins = $1 where party_id = $2', [shop, merchant.partyId]),
  );
  invoice = await makeInvoice(service, merchant, { product: 'Coffee' });
});
afterAll(() => service.close());

/** As a browser reads `data-invoice-id` out of a script's tag. */
const datasetOf = (attributes: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name.replace(/^data-/, '').replace(/-(\w)/g, (_, initial: string) => initial.toUpperCase()),
      value,
    ]),
  );
const split = (address: string) => {
  const { origin, pathname, searchParams, hash } = new URL(address);
  return { page: origin + pathname, query: searchParams, hidden: new URLSearchParams(hash.slice(1)) };
};
const invoiceOptions = () => ({ invoiceID: invoice.id, invoiceAccessToken: invoice.token });

type Shown = { readonly text: string; readonly facts: any };
async function pageOf(options: Options): Promise<Shown> {
  const { query, hidden } = split(addressOf({ ...invoiceOptions(), ...options }, base, shop));
  // The script reads it from behind the #; asked for in a link it stands before.
  query.set('invoiceAccessToken', hidden.get('invoiceAccessToken') ?? '');
  return readPage((await service.call('GET', `/checkout?${query.toString()}`)).text);
}

function readPage(text: string): Shown {
  const facts = JSON.parse(
    /<script type="application\/json" id="facts">(.*?)<\/script>/.exec(text)?.[1] ?? '',
  );
  return { text, facts };
}

/** Attribute, key, value, and a check of the page. */
const rows: [string, string, string, (page: Shown) => void][] = [
  [
    'data-name',
    'name',
    'Bean & Leaf',
    ({ text }) => expect(text).toContain('<p class="shop">Bean &#38; Leaf</p>'),
  ],
  [
    'data-description',
    'description',
    'Beans',
    ({ text }) => expect(text).toContain('class="product">Beans</p>'),
  ],
  [
    'data-obscure-card-cvv',
    'obscureCardCvv',
    'true',
    ({ text }) => expect(text).toContain('<input id="code" type="password"'),
  ],
  [
    'data-obscure-card-cvv',
    'obscureCardCvv',
    'false',
    ({ text }) => expect(text).not.toContain('type="password"'),
  ],
  [
    'data-require-card-holder',
    'requireCardHolder',
    'true',
    ({ text }) => expect(text).toMatch(/<input id="holder"[^>]* required/),
  ],
  [
    'data-require-card-holder',
    'requireCardHolder',
    'false',
    ({ text }) => expect(text).not.toContain('id="holder"'),
  ],
  ['data-locale', 'locale', 'ru', ({ text }) => expect(text).toContain('<html lang="ru"')],
  ['data-locale', 'locale', 'en', ({ text }) => expect(text).toContain('<html lang="en"')],
  ['data-locale', 'locale', 'auto', ({ text }) => expect(text).toContain('<html lang="en"')],
  ['data-theme', 'theme', 'coral', ({ text }) => expect(text).toContain('data-theme="coral"')],
  ['data-theme', 'theme', 'main', ({ text }) => expect(text).toContain('data-theme="main"')],
  [
    'data-recurring',
    'recurring',
    'true',
    ({ text, facts }) => {
      expect(facts.recurring).toBe(true);
      expect(text).toContain('<input id="consent" type="checkbox"');
    },
  ],
  ['data-recurring', 'recurring', 'false', ({ facts }) => expect(facts.recurring).toBe(false)],
  [
    'data-payment-flow-hold',
    'paymentFlowHold',
    'true',
    ({ text, facts }) => {
      expect(facts.hold).toBe('cancel');
      expect(text).toContain('>Reserve RUB');
    },
  ],
  [
    'data-redirect-url',
    'redirectUrl',
    `${shop}/thanks`,
    ({ facts }) => expect(facts.returnTo).toBe(`${shop}/thanks`),
  ],
  [
    'data-redirect-url',
    'redirectUrl',
    'https://evil.example/',
    ({ text }) => expect(text).not.toContain('evil.example'),
  ],
  [
    'data-cancel-url',
    'cancelUrl',
    `${shop}/cart?a=1&b=2`,
    ({ text }) => expect(text).toContain(`href="${shop}/cart?a=1&#38;b=2">Back to the shop</a>`),
  ],
  [
    'data-pay-button-label',
    'payButtonLabel',
    'Go',
    ({ text }) => expect(text).toMatch(/<button id="pay"[^>]*>Go</),
  ],
  // Options of other payment methods are ignored.
  ['data-bank-card', 'bankCard', 'true', plain],
  ['data-wallets', 'wallets', 'true', plain],
  ['data-terminals', 'terminals', 'true', plain],
  ['data-apple-pay', 'applePay', 'true', plain],
  ['data-google-pay', 'googlePay', 'true', plain],
  ['data-samsung-pay', 'samsungPay', 'true', plain],
  ['data-yandex-pay', 'yandexPay', 'true', plain],
  ['data-mobile-commerce', 'mobileCommerce', 'true', plain],
  ['data-initial-payment-method', 'initialPaymentMethod', 'applePay', plain],
  ['data-amount', 'amount', '1', plain],
];

/** As without the option: the invoice's own amount, paid by card. */
function plain({ text, facts }: Shown): void {
  expect(text).toContain('>Pay RUB\u00a060.00</button>');
  expect(facts).toMatchObject({
    recurring: false,
    obscureCardCvv: false,
    requireCardHolder: false,
    theme: 'main',
  });
}

describe('a shop that writes', () => {
  test.each(rows)('%s, or %s, of %s gets the page it asked for', async (attribute, key, value, check) => {
    const written = readAttributes(datasetOf({ [attribute]: value }));
    expect(written).toEqual({ [key]: value });
    check(await pageOf(written));
    // In JavaScript a flag is a flag, and a number a number.
    const isPlain = /^(true|false|\d+)$/.test(value);
    check(await pageOf({ [key]: isPlain ? JSON.parse(value) : value }));
  });

  test.each([
    ['cancel', 'cancel'],
    ['capture', 'capture'],
    ['nonsense', 'cancel'],
  ])('a hold that ends with %s gets one that ends with %s', async (holdExpiration, hold) => {
    const attributes = { 'data-payment-flow-hold': 'true', 'data-hold-expiration': holdExpiration };
    expect((await pageOf(readAttributes(datasetOf(attributes)))).facts.hold).toBe(hold);
    // Without a hold there is nothing to end.
    expect((await pageOf({ holdExpiration })).facts.hold).toBeUndefined();
  });

  test.each(['https://evil.example/', 'javascript:alert(1)', '//shop.example/', `${shop}.evil.example/`])(
    '%s as cancelUrl gets a page without it',
    async (cancelUrl) => expect((await pageOf({ cancelUrl })).text).not.toContain(`"${cancelUrl}"`),
  );

  test('cannot name another origin than its own', async () => {
    const { facts } = await pageOf({ shopOrigin: 'https://evil.example' });
    expect(facts.shopOrigin).toBe(shop);
  });
});

describe('the address', () => {
  const made = (options: Options) => split(addressOf(options, base, shop));

  test.each([
    ['data-invoice-id', 'invoice', 'invoiceID', 'invoiceAccessToken'],
    ['data-customer-id', 'customer', 'customerID', 'customerAccessToken'],
  ])('by %s names the %s, with its token behind the #', (_, mode, id, token) => {
    const attributes = { [`data-${mode}-id`]: 'X1', [`data-${mode}-access-token`]: 'a.b.c' };
    const { page, query, hidden } = made(readAttributes(datasetOf(attributes)));
    expect([page, query.get(id), hidden.get(token)]).toEqual(['https://pay.example/checkout', 'X1', 'a.b.c']);
    expect(query.toString()).not.toContain('a.b.c');
    expect(query.get('shopOrigin')).toBe(shop);
  });

  test('carries the e-mail, by either name, and the metadata behind the #', () => {
    const options = { ...invoiceOptions(), metadata: { order: 17 } };
    for (const named of [{ email: 'anna@example.com' }, { mail: 'anna@example.com' }]) {
      const { query, hidden } = made({ ...options, ...named });
      expect(hidden.get('email')).toBe('anna@example.com');
      expect(hidden.get('metadata')).toBe('{"order":17}');
      expect(query.toString()).not.toMatch(/anna|17/);
    }
    const attributes = { 'data-metadata': '{"order":17}', 'data-mail': 'anna@example.com' };
    const { hidden } = made({ ...invoiceOptions(), ...readAttributes(datasetOf(attributes)) });
    expect([hidden.get('metadata'), hidden.get('email')]).toEqual(['{"order":17}', 'anna@example.com']);
  });

  test('pays the invoice of a customer, who is named for their saved card, and rejects half of a pair', () => {
    const customer = { customerID: 'C1', customerAccessToken: 'c.c.c' };
    const both = made({ ...customer, ...invoiceOptions() });
    expect([both.query.get('invoiceID'), both.query.get('customerID')]).toEqual([invoice.id, 'C1']);
    expect(both.hidden.get('customerAccessToken')).toBe('c.c.c');
    expect(both.query.get('customerAccessToken')).toBe(null);
    expect(made({ customerID: 'C1', ...invoiceOptions() }).query.get('customerID')).toBe(null);
    expect(made({ invoiceID: 'I1', ...customer }).query.get('customerID')).toBe('C1');
    for (const half of [{}, { invoiceID: 'I1' }, { customerAccessToken: 'a.b.c' }]) {
      expect(() => made(half)).toThrow('Unrecognized integration type');
    }
  });

  test('prefers an invoice template to both, with its amount', () => {
    const template = { invoiceTemplateID: 'T1', invoiceTemplateAccessToken: 't.t', amount: 2_500 };
    const { query, hidden } = made({
      ...invoiceOptions(),
      customerID: 'C1',
      customerAccessToken: 'c',
      ...template,
    });
    expect(Object.fromEntries(query)).toMatchObject({ invoiceTemplateID: 'T1', amount: '2500' });
    expect([query.get('invoiceID'), query.get('customerID')]).toEqual([null, null]);
    expect(hidden.get('invoiceTemplateAccessToken')).toBe('t.t');
  });
});

test('a link of the older checkout leads to the page with the same options', async () => {
  const query = new URLSearchParams({ ...invoiceOptions(), name: 'Bean & Leaf?', locale: 'ru' }).toString();
  const { status, headers } = await service.call('GET', `/v1/checkout.html?${query}`);
  expect(status).toBe(302);
  const { page, query: kept } = split(
    new URL(String(headers['location']), `${base.href}v1/checkout.html`).href,
  );
  expect([page, kept.toString()]).toEqual([`${base.href}checkout`, query]);
  const { text } = await service.call('GET', `/checkout?${kept.toString()}`);
  expect(text).toContain('<p class="shop">Bean &#38; Leaf?</p>');
  expect(text).toContain('<html lang="ru"');
});

describe('a link of the older checkout', () => {
  /** Where a browser arrives that follows the link, and what it shows. */
  async function follow(
    options: Readonly<Record<string, string>>,
  ): Promise<Shown & { query: URLSearchParams }> {
    const query = new URLSearchParams({ ...invoiceOptions(), ...options }).toString();
    const { headers } = await service.call('GET', `/v1/checkout.html?${query}`);
    const { pathname, search } = new URL(String(headers['location']), `${base.href}v1/checkout.html`);
    const { text } = await service.call('GET', pathname + search);
    return { ...readPage(text), query: new URLSearchParams(search) };
  }

  test.each(rows)('with %s (%s=%s) has that option', async (_, key, value, check) => {
    const page = await follow({ [key]: value });
    expect(page.query.get(key)).toBe(value);
    check(page);
  });

  test('with all options of the older form has each', async () => {
    const { text, facts, query } = await follow({
      name: 'Bean & Leaf',
      description: 'Beans',
      email: 'payer@shop.example',
      redirectUrl: `${shop}/thanks`,
      cancelUrl: `${shop}/cart`,
      locale: 'ru',
      recurring: 'true',
      paymentFlowHold: 'true',
      holdExpiration: 'capture',
    });
    const said = ['<html lang="ru"', 'Bean &#38; Leaf', 'Beans', `${shop}/cart`];
    expect(said.filter((one) => !text.includes(one))).toEqual([]);
    expect(facts).toMatchObject({ returnTo: `${shop}/thanks`, hold: 'capture', recurring: true });
    // The script of the page reads it there.
    expect(query.get('email')).toBe('payer@shop.example');
  });
});

test('the script of the older tokenizer is gone, and says what to use', async () => {
  const { status, headers, text } = await service.call('GET', '/tokenizer.js?v=2');
  expect({ status, type: headers['content-type'] }).toEqual({
    status: 410,
    type: 'text/plain; charset=utf-8',
  });
  expect(text).toContain('POST /v2/processing/payment-resources');
  expect(text).toContain('/checkout.js');
});
