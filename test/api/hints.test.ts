// What a refusal says about the case at hand: the `hint` of its body, or a header where the contract has no body.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApiKeys } from '../../src/merchants/api-keys.ts';
import { customersUrl } from '../support/worlds/customer-world.ts';
import { dueAfter } from '../support/worlds/due-date.ts';
import { invoicesUrl, makeInvoice, order } from '../support/worlds/invoices.ts';
import { setPayoutLimits } from '../support/worlds/payout-limits.ts';
import { startPayoutWorld, type PayoutWorld } from '../support/worlds/payout-world.ts';
import { webhooksUrl } from '../support/receivers/webhooks.ts';
import { startTestService, type Answer } from '../support/service/test-service.ts';

const good = '4242424242424242';
const declined = '4000000000000002';
const minuteMs = 60_000;

let world: PayoutWorld;
let destination: string;
/** A payment that a series can begin with, one that cannot, and one that was declined. */
let parent: string;
let single: string;
let failed: string;
let paidAt: string;

beforeAll(async () => {
  world = await startPayoutWorld();
  destination = (await world.destinationFor(good)).id;
  parent = (await world.paid(good, { makeRecurrent: true })).id;
  paidAt = world.service.clock.now();
  single = (await world.paid(good)).id;
  failed = (await world.paid(declined, { makeRecurrent: true })).id;
  world.service.clock.advance(minuteMs);
});
afterAll(() => world.close());

const post = (url: string, body: unknown): Promise<Answer> => world.post(url, body);
const invoice = (more: Record<string, unknown>) => post(invoicesUrl, { ...order, ...more });
const without = (member: keyof typeof order, more: Record<string, unknown> = {}) => {
  const { [member]: _, ...rest } = order;
  return post(invoicesUrl, { ...rest, ...more });
};
async function charge(payer: Record<string, unknown>, invoiceId?: string): Promise<Answer> {
  const id = invoiceId ?? (await makeInvoice(world.service, world.merchant)).id;
  return post(`${invoicesUrl}/${id}/payments`, { flow: { type: 'PaymentFlowInstant' }, payer });
}
const chargeAfter = (invoiceID: string) =>
  charge({
    payerType: 'RecurrentPayer',
    recurrentParentPayment: { invoiceID, paymentID: '1' },
    contactInfo: {},
  });
async function chargeCustomer(): Promise<Answer> {
  const made = await post(customersUrl, { shopID: 'TEST', contactInfo: {}, metadata: {} });
  return charge({ payerType: 'CustomerPayer', customerID: made.body.customer.id });
}
async function payExpired(): Promise<Answer> {
  const dueDate = dueAfter(world.service.clock.now(), minuteMs);
  const { id } = await makeInvoice(world.service, world.merchant, { dueDate });
  world.service.clock.advance(2 * minuteMs);
  world.service.jobs.wake();
  await world.service.jobs.whenIdle();
  return payAgain(id);
}
async function payAgain(invoiceId: string): Promise<Answer> {
  const { token } = await world.tokenize(good);
  return charge({ payerType: 'PaymentResourcePayer', paymentToolToken: token, contactInfo: {} }, invoiceId);
}
const ofPayment = (id: string, path: string, body: object) =>
  post(`${invoicesUrl}/${id}/payments/1/${path}`, body);
const webhook = (url: string) =>
  post(webhooksUrl, {
    scope: { topic: 'InvoicesTopic', shopID: 'TEST', eventTypes: ['InvoicePaid'] },
    url,
  });

type Row = readonly [input: string, ask: () => Promise<Answer>, hint: string | RegExp];

const rows: readonly Row[] = [
  [
    'an amount above the largest',
    () => post(invoicesUrl, JSON.stringify(order).replace('6000', '999999999999999999')),
    /^`amount` must be <= 999999999999\. In minor units\./,
  ],
  [
    'a misspelt amount',
    () => without('amount', { amout: 6000 }),
    'Send `amount` or `cart`. Did you mean `amount` instead of `amout`?',
  ],
  [
    'a cart that adds up to something else',
    () => invoice({ cart: [{ product: 'P', price: 1 }] }),
    /adds up to 1,/,
  ],
  ['a currency that the shop does not take', () => invoice({ currency: 'USD' }), 'The shop takes RUB.'],
  [
    'a currency in lower case',
    () => invoice({ currency: 'rub' }),
    '`currency` must match pattern "^[A-Z]{3}$". ISO 4217, upper case.',
  ],
  [
    'four faults at once',
    () => without('product', { dueDate: 'soon', amount: 0, currency: 'rub' }),
    '`product` is required; `dueDate` must match format "date-time"; `amount` must be >= 1; ' +
      '`currency` must match pattern "^[A-Z]{3}$".',
  ],
  [
    'six faults at once',
    () => invoice({ shopID: 1, dueDate: 1, amount: 0, currency: 1, product: 1, description: 1 }),
    /^`shopID` [^;]+; `dueDate` [^;]+; `amount` [^;]+; `currency` [^;]+; `product` must be string\.$/,
  ],
  ['a missing member', () => without('product'), '`product` is required.'],
  [
    'a list without an externalID',
    () => world.get(invoicesUrl),
    '`externalID` is required. The one it was created with. Without an externalID, search `/v2/analytics/shops/{shopID}/invoices`.',
  ],
  [
    'a list of customers without an externalID',
    () => world.get(customersUrl),
    /Without an externalID, list customers at \/v2\/analytics\/customers\.$/,
  ],
  ['JSON that ends too early', () => post(invoicesUrl, '{"shopID": "TEST"'), /^The JSON ends too early/],
  ['JSON with single quotes', () => post(invoicesUrl, "{'shopID': 'TEST'}"), /^Names and texts need double/],
  ['a form', () => post(invoicesUrl, 'shopID=TEST&amount=1'), 'The body is a form. Send JSON.'],
  [
    'a wrong payerType',
    () => charge({ payerType: 'CardPayer', contactInfo: {} }),
    '`payer.payerType` must be equal to one of the allowed values: PaymentResourcePayer, RecurrentPayer, CustomerPayer.',
  ],
  [
    'an empty body',
    () =>
      world.service.call('POST', invoicesUrl, {
        token: world.merchant.apiKey,
        headers: { 'content-type': 'application/json' },
      }),
    'A JSON body is required: send `{}` at least.',
  ],
  ['a paid invoice', () => payAgain(single), /^The invoice is paid\. It has been so since 2026-/],
  ['an expired invoice', payExpired, /^The invoice is cancelled\. It has been so since 2026-/],
  [
    'a captured payment',
    () => ofPayment(single, 'capture', { reason: 'again' }),
    /^The payment is captured\. It has been so since 2026-/,
  ],
  [
    'a refund that is too large',
    async () => {
      await ofPayment(parent, 'refunds', { amount: 1000, currency: 'RUB' });
      await world.service.jobs.whenIdle();
      return ofPayment(parent, 'refunds', { amount: 5001, currency: 'RUB' });
    },
    'Refund at most 5000: 6000 was captured, and 1000 of it is refunded.',
  ],
  [
    'a parent that is unknown',
    () => chargeAfter('unknown'),
    'The shop of the invoice has no series with this payment.',
  ],
  ['a parent that is not captured', () => chargeAfter(failed), 'The payment is failed, not captured.'],
  [
    'a parent that is not recurrent',
    () => chargeAfter(single),
    'The payment was created without `makeRecurrent`.',
  ],
  ['a customer who is not ready', chargeCustomer, /^The customer has no saved card\./],
  [
    'a payout over a limit',
    () => world.withdraw(60_000_001, destination),
    'The limit is 60000000 minor units for one payout.',
  ],
  [
    'a payout below the least amount',
    () => world.withdraw(0, destination),
    'Pay out 100 to 999999999999 minor units.',
  ],
  [
    'a payout in another currency',
    () => world.withdraw(1000, destination, { body: { amount: 1000, currency: 'USD' } }),
    'The wallet is in RUB, the destination in RUB.',
  ],
  [
    'an amount of -5',
    () => world.withdraw(-5, destination),
    '`body.amount` must not be negative. At least 1, in minor units: kopecks, cents.',
  ],
  [
    'a destination that the bank refused',
    async () => world.withdraw(1000, (await world.destinationFor('4000000000005704')).id),
    /^The bank refused the card: [a-z_, ]+\. Use another card\.$/,
  ],
  [
    'a webhook URL that is none',
    () => webhook('not a url'),
    'Send an absolute URL, such as https://shop.example/webhooks.',
  ],
];

test.each(rows)('%s is explained', async (_, ask, hint) => {
  const { status, body } = await ask();
  expect([400, 422]).toContain(status);
  expect(body.hint).toEqual(typeof hint === 'string' ? hint : expect.stringMatching(hint));
});

describe('an externalID that is taken', () => {
  const conflict = async (ask: (more: object) => Promise<Answer>, first: object, other: object) => {
    const { body } = await ask(first);
    const refused = await ask(other);
    expect(refused.status).toBe(409);
    return String(refused.body.hint).replace(body.customer?.id ?? body.invoice?.id ?? body.id, 'ID');
  };
  const hintAbout = (what: string) =>
    `The externalID belongs to \`ID\`, ${what}. Send a new externalID for a new object.`;

  test('names what differs in the request', async () => {
    const externalID = 'taken-1';
    const said = await conflict(
      (more) => invoice({ externalID, ...more }),
      {},
      { amount: 1, product: 'Two' },
    );
    expect(said).toBe(hintAbout('created with another `amount` and `product`'));
    const written = { dueDate: dueAfter(world.service.clock.now(), minuteMs), externalID: 'taken-2' };
    const shifted = { amount: 1, dueDate: `${written.dueDate.slice(0, 19)}.000+00:00` };
    const first = { dueDate: `${written.dueDate.slice(0, 19)}Z` };
    expect(await conflict((more) => invoice({ ...written, ...more }), first, shifted)).toBe(
      hintAbout('created with another `amount`'),
    );
  });

  test('says so if the object does not have what differs', async () => {
    const clientInfo = { trustLevel: 'wellKnown' };
    const bankAccount = {
      accountType: 'InvoiceRussianBankAccount',
      account: '4'.repeat(20),
      bankBik: '044525225',
    };
    const said = await conflict(
      (more) => invoice({ externalID: 'taken-3', clientInfo, ...more }),
      {},
      { bankAccount },
    );
    expect(said).toBe(hintAbout('created with other content'));
  });

  test('says that the customer was deleted', async () => {
    const body = { shopID: 'TEST', contactInfo: {}, metadata: {}, externalID: 'taken-4' };
    const made = await post(customersUrl, body);
    await world.service.call('DELETE', `${customersUrl}/${made.body.customer.id}`, {
      token: world.merchant.apiKey,
    });
    expect((await post(customersUrl, body)).body.hint).toContain(`\`${made.body.customer.id}\`, deleted.`);
  });
});

test.each([
  ['an invoice', () => world.get(`${invoicesUrl}/unknown`), /^Check the ID, and that the token belongs/],
  ['a payment', () => world.get(`${invoicesUrl}/${single}/payments/9`), /numbered within their invoice/],
  ['a webhook', () => world.get(`${webhooksUrl}/unknown`), /lists your webhooks/],
])('%s that is not found is explained', async (_, ask, hint) => {
  const { status, body } = await ask();
  expect([status, body.hint]).toEqual([404, expect.stringMatching(hint)]);
});

test('a path of no operation is explained', async () => {
  expect((await world.get('/v2/processing/invoice')).body).toEqual({
    message: 'Not found',
    hint: 'No operation has this path. `/docs` lists all of them.',
  });
});

test('a wallet that is not found has no body, as published', async () => {
  expect(await world.get('/wallet/v0/wallets/unknown')).toMatchObject({ status: 404, text: '' });
});

test('the message about a webhook URL that is none is not about spaces', async () => {
  expect((await webhook('not a url')).body.message).toBe('url: must be an absolute http or https URL');
});

test('the time of a status is that of the event, not of what happened later', async () => {
  const { body } = await payAgain(parent);
  expect(body.hint).toBe(`The invoice is paid. It has been so since ${paidAt}.`);
});

describe('several faults', () => {
  const faulty = { ...order, dueDate: 'soon', amount: 0 };
  const first = '`dueDate` must match format "date-time".';

  test('are not listed to an access token', async () => {
    const { id, token } = await makeInvoice(world.service, world.merchant);
    const answer = await world.post(`${invoicesUrl}/${id}/payments`, { flow: 1, externalID: 1 }, token);
    expect(answer.body.hint).toMatch(/^`payer` is required\./);
    const toKey = await world.post(`${invoicesUrl}/${id}/payments`, { flow: 1, externalID: 1 });
    expect(toKey.body.hint).toMatch(/^`payer` is required; /);
  });

  test('are not listed for a body of more than 32 KiB', async () => {
    const metadata = { text: 'x'.repeat(32 * 1024) };
    const { body } = await post(invoicesUrl, { ...faulty, metadata });
    expect(body.hint).toMatch(new RegExp(`^${first.replaceAll('.', '\\.')} `));
    expect((await post(invoicesUrl, faulty)).body.hint).toContain('; `amount`');
  });
});

describe('a hint', () => {
  test('holds no value of the request', async () => {
    const { body } = await invoice({ currency: good, product: good.repeat(10), dueDate: good });
    expect(body.hint).not.toContain(good);
  });

  test('tells a party that pays out by a grant nothing about the other wallet', async () => {
    const { merchant, service } = world;
    const other = await world.createMerchant();
    const validUntil = '2030-01-01T00:00:00Z';
    const asset = { amount: 1000, currency: 'RUB' };
    const granted = await world.post(`/wallet/v0/wallets/${world.wallet}/grants`, { asset, validUntil });
    const { identity } = await world.openWallet(other);
    const to = (await world.destinationFor(good, other, identity)).id;
    await setPayoutLimits(service, merchant.partyId, { perPayoutMinor: 500n });
    const body = { wallet: world.wallet, destination: to, body: asset, walletGrant: granted.body.token };
    const refused = await world.post('/wallet/v0/withdrawals', body, other.apiKey);
    expect(refused.body).toEqual({ code: 'payoutLimitPerPayout', message: 'Invalid cash amount' });
    const own = await world.withdraw(501, destination);
    expect(own.body.hint).toBe('The limit is 500 minor units for one payout.');
  });
});

describe('a due date in the past', () => {
  const dueDate = '2020-01-01T00:00:00Z';

  test('is accepted with a warning', async () => {
    const answer = await invoice({ dueDate });
    expect([answer.status, answer.headers['mandate-warnings']]).toEqual([201, 'dueDatePast;field="dueDate"']);
    expect((await invoice({})).headers).not.toHaveProperty('mandate-warnings');
  });

  test('is warned about next to unknown members, and not in a refusal', async () => {
    const answer = await invoice({ dueDate, colour: 1 });
    expect(answer.headers['mandate-warnings']).toBe(
      'unknownMember;field="colour", dueDatePast;field="dueDate"',
    );
    expect((await invoice({ dueDate, currency: 'USD' })).headers).not.toHaveProperty('mandate-warnings');
  });

  test('is warned about again when the request is repeated, after other warnings, once each', async () => {
    const { apiKey: token } = world.merchant;
    const headers = { 'idempotency-key': 'past' };
    const body = { ...order, dueDate, colour: 1 };
    const send = () => world.service.call('POST', invoicesUrl, { token, body, headers });
    const [first, again] = [await send(), await send()];
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect([again.text, again.headers['mandate-warnings']]).toEqual([
      first.text,
      'unknownMember;field="colour", dueDatePast;field="dueDate"',
    ]);
    expect(first.headers['mandate-warnings']).toBe(again.headers['mandate-warnings']);
  });

  test('is warned about in live mode', async () => {
    const live = await startTestService({ MANDATE_MODE: 'live', PUBLIC_URL: 'https://pay.example' });
    try {
      const { apiKey: token } = await live.createMerchant();
      const answer = await live.call('POST', invoicesUrl, { token, body: { ...order, dueDate } });
      expect(answer.headers['mandate-warnings']).toBe('dueDatePast;field="dueDate"');
    } finally {
      await live.close();
    }
  });
});

describe('WWW-Authenticate', () => {
  const challenge = async (token: string) => {
    const { status, text, headers } = await world.service.call('GET', '/v2/processing/me', { token });
    expect([status, text]).toEqual([401, '']);
    return String(headers['www-authenticate']);
  };
  const keys = (livemode: boolean) => {
    const { database: db, keyring, ports } = world.service;
    return openApiKeys({ db, lookups: db, keyring, clock: ports.clock, livemode });
  };
  const newKey = (livemode = false) =>
    keys(livemode).create({ partyId: world.merchant.partyId, name: 'till', scopes: ['*'] });
  const keyIdOf = (text: string) => text.split('_')[2] ?? '';

  test('says the same of an unknown key and of a mistyped one', async () => {
    const key = await newKey();
    const mistyped = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    const unknown = await challenge(`mandate_test_${'x'.repeat(12)}_${'x'.repeat(43)}000000`);
    expect(await challenge(mistyped)).toBe(unknown);
    expect(unknown).toMatch(/^Bearer error="invalid_token", error_description="This token is unknown/);
  });

  test('says that a key is revoked', async () => {
    const key = await newKey();
    await keys(false).revoke(keyIdOf(key));
    expect(await challenge(key)).toContain(
      'error="invalid_token", error_description="This API key is revoked',
    );
  });

  test('says that a key is of the other mode', async () => {
    expect(await challenge(await newKey(true))).toContain(
      'error_description="This API key is of the other mode',
    );
  });

  test('says that a token has expired', async () => {
    const { token } = await makeInvoice(world.service, world.merchant);
    world.service.clock.advance(3 * 24 * 60 * minuteMs);
    expect(await challenge(token)).toContain('error_description="This token has expired');
  });
});

test('a 415 says what is taken', async () => {
  const { merchant, service } = world;
  const headers = { 'content-type': 'text/plain' };
  const answer = await service.call('POST', invoicesUrl, { token: merchant.apiKey, body: order, headers });
  expect([answer.status, answer.text]).toEqual([415, '']);
  expect(answer.headers).toMatchObject({ accept: 'application/json', 'accept-encoding': 'identity' });
});
