// Card numbers where they do not belong: refused in every text that is kept, by one rule in the request pipeline.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes, sandboxRoutes } from '../../../src/app/routes.ts';
import { holdsCardNumber } from '../../../src/cards/domain/written-numbers.ts';
import { setStrictIds } from '../../../src/merchants/store/parties.ts';
import { cardNumberFinder } from '../../../src/platform/http/request/card-numbers.ts';
import { scanDatabase } from '../../support/checks/pan-scanner.ts';
import { consentLinksUrl, dearer } from '../../support/worlds/consent-links.ts';
import { cardBody, paymentResourcesUrl } from '../../support/worlds/cards.ts';
import { invoicesUrl, order } from '../../support/worlds/invoices.ts';
import { startTestService, type Merchant, type TestService } from '../../support/service/test-service.ts';

const number = '5555341244441115';
const written = {
  plain: number,
  'in groups': '5555 3412 4444 1115',
  'with dashes': 'card 5555-3412-4444-1115, please',
  'within a word': `x${number}y`,
};

let service: TestService;
let merchant: Merchant;
beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
});
afterAll(() => service.close());

const call = (
  path: string,
  body: unknown,
  headers?: Record<string, string>,
  method: 'POST' | 'PUT' = 'POST',
) => service.call(method, path, { token: merchant.apiKey, body, ...(headers ? { headers } : {}) });

describe('the rule', () => {
  test.each([
    [true, '4242424242424242'],
    [true, '4242 4242 4242 4242'],
    [true, '4-2-4-2-4-2-4-2-4-2-4-2-4-2-4-2'],
    [true, 'my card: 4242\u00a04242\u20114242\u20134242.'],
    [true, '4222222222222'],
    [true, '36227206271667'],
    [true, '6304000000000000000'.replace(/0$/, '0')],
    [false, '4242424242424241'],
    [false, '424242424242'],
    [false, '42424242424242424242'],
    [false, '1234567812345670'],
    [false, '4242.4242.4242.4242'],
    [false, '42424242/42424242'],
    [false, '2026-11-23 16:41, 12 345 678'],
    [false, '424242******4242'],
    [false, ''],
  ])('finds a card number: %s in %s', (isFound, text) => {
    const isValid = text.startsWith('6304') ? holdsCardNumber(text) : isFound;
    expect(holdsCardNumber(text)).toBe(isValid);
  });
});

type Schema = Record<string, any>;

/** Every place of a schema that takes text, with a value that has the number there. Written from the OpenAPI document alone. */
function textsOf(
  schema: Schema,
  wrap: (value: unknown) => unknown,
  path: string,
): { path: string; body: unknown; schema: Schema }[] {
  if (schema['anyOf']) return schema['anyOf'].flatMap((branch: Schema) => textsOf(branch, wrap, path));
  if (schema['enum'] || schema['const'] !== undefined || schema['format'] === 'date-time') return [];
  if (schema['type'] === 'array') return textsOf(schema['items'], (value) => wrap([value]), `${path}[0]`);
  if (schema['type'] === 'string') return [{ path, body: wrap(number), schema }];
  if (schema['type'] !== 'object') return schema['type'] ? [] : [{ path, body: wrap(number), schema }];
  const named = Object.entries<Schema>(schema['properties'] ?? {}).flatMap(([name, member]) =>
    textsOf(member, (value) => wrap({ [name]: value }), path === '' ? name : `${path}.${name}`),
  );
  if (schema['additionalProperties'] !== true) return named;
  return [
    ...named,
    { path: `${path}.a`, body: wrap({ a: number }), schema },
    { path: `${path}.a.b[0]`, body: wrap({ a: { b: [number] } }), schema },
    { path: `${path}.a`, body: wrap({ a: Number(number) }), schema },
    { path, body: wrap({ [number]: 1 }), schema },
  ];
}

const operations = [...routes, ...sandboxRoutes].flatMap(({ operation, body }) =>
  body ? [{ operation, body: JSON.parse(JSON.stringify(body)) as Schema }] : [],
);

test('covers every text of every operation but those that take a card and the page it was entered on', () => {
  const missed: string[] = [];
  let covered = 0;
  for (const { operation, body } of operations) {
    const find = cardNumberFinder(body, holdsCardNumber);
    for (const text of textsOf(body, (value) => value, '')) {
      const { field, ids } = find(text.body);
      if ((field ?? ids[0]) === text.path) covered += 1;
      else missed.push(`${operation} ${text.path}`);
    }
  }
  expect(missed.sort()).toEqual([
    'createConsentLink seriesID',
    'createPaymentResource clientInfo.url',
    'createPaymentResource paymentTool.cardNumber',
    'orderFault card',
    'resumeWebhook objectID',
    'storeBankCard cardNumber',
  ]);
  expect(covered).toBeGreaterThan(120);
});

const contact = { email: 'payer@example.com' };
const customer = { shopID: 'TEST', contactInfo: contact, metadata: {} };
const line = { product: 'Line', price: 6000, quantity: 1 };
const person = { name: 'Person', provider: 'test', class: 'person' };
const hook = {
  scope: { topic: 'InvoicesTopic', shopID: 'TEST', eventTypes: ['InvoiceCreated'] },
  url: 'https://x.example',
};

type Probe = [field: string, path: string, body: (text: string) => unknown];
const probes: Probe[] = [
  ['product', invoicesUrl, (text) => ({ ...order, metadata: {}, product: text })],
  ['description', invoicesUrl, (text) => ({ ...order, metadata: {}, description: text })],
  [
    'cart[0].product',
    invoicesUrl,
    (text) => ({ ...order, metadata: {}, cart: [{ ...line, product: text }] }),
  ],
  ['metadata.note', invoicesUrl, (text) => ({ ...order, metadata: { note: text } })],
  ['metadata', invoicesUrl, (text) => ({ ...order, metadata: { [text]: 1 } })],
  ['metadata.deep.list[1]', invoicesUrl, (text) => ({ ...order, metadata: { deep: { list: [1, text] } } })],
  ['metadata.note', '/v2/processing/customers', (text) => ({ ...customer, metadata: { note: text } })],
  [
    'contactInfo.email',
    '/v2/processing/customers',
    (text) => ({ ...customer, contactInfo: { email: `${text.replaceAll(/[^\d-]/g, '')}@example.com` } }),
  ],
  [
    'clientInfo.fingerprint',
    paymentResourcesUrl,
    (text) => cardBody({}, { clientInfo: { fingerprint: text } }),
  ],
  [
    'clientInfo.url',
    paymentResourcesUrl,
    (text) =>
      cardBody(
        {},
        { clientInfo: { fingerprint: 'f', url: `https://shop.example/${text.replaceAll(/[^\d-]/g, '')}` } },
      ),
  ],
  [
    'url',
    '/v2/processing/webhooks',
    (text) => ({ ...hook, url: `https://x.example/${text.replaceAll(/[^\d-]/g, '')}` }),
  ],
  ['Identity', '/wallet/v0/identities', (text) => ({ ...person, name: text })],
  ['Identity', '/wallet/v0/identities', (text) => ({ ...person, metadata: { note: text } })],
  ['Wallet', '/wallet/v0/wallets', (text) => ({ name: text, identity: 'I', currency: 'RUB' })],
  [
    'Destination',
    '/wallet/v0/destinations',
    (text) => ({
      name: text,
      identity: 'I',
      currency: 'RUB',
      resource: { type: 'BankCardDestinationResource', token: 'r1.x' },
    }),
  ],
];

describe('of 60 probes', () => {
  const cases = probes.flatMap(([field, path, body]) =>
    Object.entries(written).map(([form, text]) => ({ field, path, form, body: body(text) })),
  );
  test('each field is tried in each form', () => expect(cases).toHaveLength(60));

  test.each(cases)(
    '$path $field, $form: 400 names the field and not the value',
    async ({ field, path, form, body }) => {
      // Wallets 5.4 looks for runs of digits alone.
      const refused = await call(path, body);
      expect(refused.status, refused.text).toBe(400);
      expect(refused.text).toContain(field);
      expect(refused.text).toContain(path.includes('destinations') && form === 'plain' ? '' : 'card number');
      expect(refused.text.replaceAll(/\D/g, '')).not.toContain(number);
    },
  );

  test('nothing is stored', async () => {
    expect(await scanDatabase(service.database, { cardNumbers: [number], securityCodes: [] })).toEqual([]);
  });
});

test('a number in groups on the page of the payer is found, though an address encodes its spaces', async () => {
  const clientInfo = { fingerprint: 'f', url: `https://shop.example/${written['in groups']}` };
  const refused = await call(paymentResourcesUrl, cardBody({}, { clientInfo }));
  expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('clientInfo.url')]);
});

describe('in an ID of the caller', () => {
  const warnings = () => service.logged.filter((line) => line.includes('card number as an ID'));
  const invoice = (more: object) => call(invoicesUrl, { ...order, metadata: {}, ...more });

  test('a number is warned about', async () => {
    const before = warnings().length;
    const made = await invoice({ externalID: number });
    expect([made.status, made.headers['mandate-warnings']]).toEqual([201, 'cardNumber;field="externalID"']);
    expect((await call(invoicesUrl, { ...order, metadata: {} }, { 'idempotency-key': number })).status).toBe(
      201,
    );
    expect(warnings()).toHaveLength(before + 2);
    expect(warnings().join('')).not.toContain(number);
  });

  test('of a destination, as of any other object', async () => {
    const destination = (more: object) =>
      call('/wallet/v0/destinations', {
        name: 'A card',
        identity: 'I',
        currency: 'RUB',
        resource: { type: 'BankCardDestinationResource', token: 'r1.x' },
        ...more,
      });
    const accepted = await destination({ externalID: number });
    expect([accepted.body.errorType, accepted.headers['mandate-warnings']]).toEqual([
      'InvalidResourceToken',
      'cardNumber;field="externalID"',
    ]);
    // Luhn-valid, and in no card range: wallets look at everything else more strictly.
    const moment = '1795727330122';
    expect((await destination({ externalID: moment })).headers['mandate-warnings']).toBeUndefined();
    expect((await destination({ name: moment })).body.errorType).toBe('SchemaViolated');
  });

  test('a strict shop refuses it, and another of the party does not', async () => {
    const strict = (strict_ids: boolean) =>
      service.database.run(setStrictIds, { party_id: merchant.partyId, shop_id: 'TEST', strict_ids });
    await strict(true);
    const refused = await invoice({ externalID: `A ${number}` });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalidRequest' } });
    expect(refused.body.message).toContain('externalID');
    const key = await call(invoicesUrl, { ...order, metadata: {} }, { 'idempotency-key': `a-${number}` });
    expect([key.status, key.body.message]).toEqual([400, expect.stringContaining('Idempotency-Key')]);
    const payer = { payerType: 'CustomerPayer', customerID: 'none' };
    const charge = (shopID: string, externalID: string) =>
      call('/v2/processing/charges', { invoice: { ...order, shopID, externalID }, payment: { payer } });
    expect((await charge('TEST', `C ${number}`)).body.message).toContain('invoice.externalID');
    expect((await charge('TEST_USD', `C ${number}`)).body.message).not.toContain('externalID');
    const dollars = { shopID: 'TEST_USD', currency: 'USD' };
    expect((await invoice({ ...dollars, externalID: `B${number}` })).status).toBe(201);
    await strict(false);
  });

  test('a customer in the path leads to its shop', async () => {
    const made = await call('/v2/processing/customers', customer);
    await service.database.run(setStrictIds, {
      party_id: merchant.partyId,
      shop_id: 'TEST',
      strict_ids: true,
    });
    const path = `/v2/processing/customers/${made.body.customer.id}/bindings`;
    const body = { paymentResource: { paymentToolToken: 't', paymentSession: 's' }, externalID: number };
    expect((await call(path, body)).body.message).toContain('externalID');
    await service.database.run(setStrictIds, {
      party_id: merchant.partyId,
      shop_id: 'TEST',
      strict_ids: false,
    });
    expect((await call(path, body)).body.code).toBe('invalidPaymentToolToken');
  });
});

describe('the ID of a series, which the service has made', () => {
  // One of a saved card may end in the digits of a card by chance.
  const seriesID = `0abcdefghijklmnopqrstuv.${number}`;
  const read = (path: string) => service.call('GET', path, { token: merchant.apiKey });

  test('is looked for, whatever its digits are', async () => {
    expect(holdsCardNumber(seriesID)).toBe(true);
    const series = await read(`/v2/analytics/series?limit=9&seriesID=${seriesID}`);
    expect([series.status, series.body.result], series.text).toEqual([200, []]);
    const { id } = (await call('/v2/processing/webhooks', hook)).body;
    for (const asked of [`queues?limit=9&after=${seriesID}`, `attempts?limit=9&objectID=${seriesID}`])
      expect(await read(`/v2/processing/webhooks/${id}/${asked}`), asked).toMatchObject({
        status: 200,
        body: [],
      });
  });

  test('is named in a body, too', async () => {
    const named = await call(consentLinksUrl, { seriesID, terms: dearer });
    expect([named.status, named.body.message]).toEqual([404, 'Series of recurring charges not found']);
  });
});

test('looks at each kept text once', () => {
  const createInvoice = operations.find(({ operation }) => operation === 'createInvoice')!;
  const seen: string[] = [];
  const find = cardNumberFinder(createInvoice.body, (text) => {
    seen.push(text);
    return false;
  });
  const metadata = { orderNumber: 'A-1002-93847-12', nested: { a: 'text', b: [1, 'two'] } };
  find({ ...order, description: 'kept', metadata });
  expect(seen.filter((text) => text === 'kept')).toHaveLength(1);
  for (const text of ['orderNumber', 'A-1002-93847-12', 'nested', 'a', 'text', 'b', 'two'])
    expect(
      seen.filter((one) => one === text),
      text,
    ).toHaveLength(1);
});
