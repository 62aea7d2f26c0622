// A merchant's external ID for what a create request makes: a repeat makes nothing new, and another request is refused.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  startTestService,
  type Answer,
  type Merchant,
  type TestService,
} from '../../support/service/test-service.ts';
import { invoicesUrl, order, payInvoice } from '../../support/worlds/invoices.ts';
import { setTradingFlag, tradingFlags } from '../../support/worlds/block-merchant.ts';

const line = { product: 'Thing', quantity: 2, price: 1_000 };
const taxed = { product: 'Other', price: 4_000, taxMode: { type: 'InvoiceLineTaxVAT', rate: '20%' } };
const full = {
  ...order,
  description: 'first words',
  cart: [line, taxed],
  bankAccount: {
    accountType: 'InvoiceRussianBankAccount',
    account: '12345678901234567890',
    bankBik: '123456789',
  },
  clientInfo: { trustLevel: 'unknown' },
  metadata: { first: true },
};

let service: TestService;
let merchant: Merchant;
let names = 0;

beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
});
afterAll(() => service.close());

const newName = () => `order-${++names}`;
const create = (body: Record<string, unknown>, by = merchant): Promise<Answer> =>
  service.call('POST', invoicesUrl, { token: by.apiKey, body: { ...full, ...body } });
const statusOf = (answer: Answer): number => answer.status;

async function countInvoices(by: Merchant): Promise<unknown> {
  const { rows } = await service.database.withClient((client) =>
    client.query(
      `select (select count(*)::int from invoice where party_id = $1) as invoices,
              (select count(*)::int from event where party_id = $1) as events`,
      [by.partyId],
    ),
  );
  return rows[0];
}

describe('the same request with the same externalID', () => {
  test('returns the same invoice with a new token, and creates nothing', async () => {
    const lonely = await service.createMerchant();
    const externalID = newName();
    const first = await create({ externalID }, lonely);
    const second = await create({ externalID }, lonely);
    expect([first, second].map(statusOf)).toEqual([201, 201]);
    expect(second.body.invoice).toEqual(first.body.invoice);
    expect(second.headers).not.toHaveProperty('idempotent-replayed');
    const tokens = [first, second].map(({ body }) => body.invoiceAccessToken.payload as string);
    expect(new Set(tokens).size).toBe(2);
    for (const token of tokens) {
      const read = await service.call('GET', `${invoicesUrl}/${first.body.invoice.id}`, { token });
      expect(read.body).toEqual(first.body.invoice);
    }
    expect(await countInvoices(lonely)).toEqual({ invoices: 1, events: 1 });
  });

  test('returns the invoice as it is now', async () => {
    const externalID = newName();
    const { id } = (await create({ externalID })).body.invoice;
    const call = (path: string, reason: string) =>
      service.call('POST', `${invoicesUrl}/${id}/${path}`, { token: merchant.apiKey, body: { reason } });
    await payInvoice(service, merchant, id);
    expect((await create({ externalID })).body.invoice).toMatchObject({ id, status: 'paid' });
    await call('fulfill', 'sent');
    const fulfilled = { id, status: 'fulfilled', reason: 'sent' };
    expect((await create({ externalID })).body.invoice).toMatchObject(fulfilled);

    const cancelled = newName();
    const { id: other } = (await create({ externalID: cancelled })).body.invoice;
    await service.call('POST', `${invoicesUrl}/${other}/rescind`, {
      token: merchant.apiKey,
      body: { reason: 'no' },
    });
    const replayed = await create({ externalID: cancelled });
    expect(replayed.status).toBe(201);
    expect(replayed.body.invoice).toMatchObject({ id: other, status: 'cancelled', reason: 'no' });
  });

  test('keeps the first values of fields that are not compared', async () => {
    const externalID = newName();
    const first = await create({ externalID });
    const second = await create({
      externalID,
      description: 'other words',
      metadata: { first: false },
      clientInfo: { trustLevel: 'wellKnown' },
      partyID: merchant.partyId,
      unheardOf: 1,
    });
    expect(second.status).toBe(201);
    expect(second.body.invoice).toEqual(first.body.invoice);
  });

  test.each<[string, Record<string, unknown>]>([
    ['the cart lines in another order', { cart: [taxed, line] }],
    ['a quantity of one written out', { cart: [line, { ...taxed, quantity: 1 }] }],
    ['unknown members in a line', { cart: [{ ...line, cost: 5, colour: 'blue' }, taxed] }],
    ['the amount as another spelling of the same number', { amount: 6.0e3 }],
  ])('is the same with %s', async (_, more) => {
    const externalID = newName();
    const first = await create({ externalID });
    const second = await create({ externalID, ...more });
    expect(second.status).toBe(201);
    expect(second.body.invoice.id).toBe(first.body.invoice.id);
  });

  test('is per merchant: the same ID of another merchant is another invoice', async () => {
    const other = await service.createMerchant();
    const externalID = newName();
    const [mine, theirs] = [await create({ externalID }), await create({ externalID }, other)];
    expect([mine, theirs].map(statusOf)).toEqual([201, 201]);
    expect(theirs.body.invoice.id).not.toBe(mine.body.invoice.id);
    expect((await create({ externalID, product: 'x' }, other)).body.id).toBe(theirs.body.invoice.id);
  });

  test.concurrent.each(tradingFlags)(
    'is refused while the %s %s, and succeeds again afterwards',
    async (of, flag, code) => {
      const stopped = await service.createMerchant();
      const externalID = newName();
      const first = await create({ externalID }, stopped);
      await setTradingFlag(service, stopped, { of, flag }, true);
      expect(await create({ externalID }, stopped)).toMatchObject({ status: 400, body: { code } });
      expect((await create({ externalID: newName() }, stopped)).body).toMatchObject({ code });
      // A different request is still a conflict.
      expect((await create({ externalID, amount: 1, cart: undefined }, stopped)).status).toBe(409);
      await setTradingFlag(service, stopped, { of, flag }, false);
      const second = await create({ externalID }, stopped);
      expect(second.status).toBe(201);
      expect(second.body.invoice).toEqual(first.body.invoice);
    },
  );

  test('sent fifty times concurrently creates one invoice and one event', async () => {
    const crowd = await service.createMerchant();
    const externalID = newName();
    const answers = await Promise.all(Array.from({ length: 50 }, () => create({ externalID }, crowd)));
    expect(new Set(answers.map(statusOf))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => body.invoice.id)).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body.invoiceAccessToken.payload)).size).toBe(50);
    expect(await countInvoices(crowd)).toEqual({ invoices: 1, events: 1 });
  });

  test('sent fifty times concurrently with two contents creates one invoice, and conflicts name it', async () => {
    const crowd = await service.createMerchant();
    const externalID = newName();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => create({ externalID, product: `Order ${index % 2}` }, crowd)),
    );
    const made = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 409);
    expect([made.length, refused.length]).toEqual([25, 25]);
    const [{ id }] = made.map(({ body }) => body.invoice);
    expect(new Set(refused.map(({ body }) => body.id))).toEqual(new Set([id]));
    expect(await countInvoices(crowd)).toEqual({ invoices: 1, events: 1 });
  });
});

describe('another request with the same externalID', () => {
  test.each<[string, Record<string, unknown>]>([
    ['another shop', { shopID: 'TEST_USD', currency: 'USD' }],
    ['another amount', { amount: 6_001, cart: undefined }],
    ['no amount', { amount: undefined }],
    ['another currency', { currency: 'USD' }],
    ['another product', { product: 'Order 2' }],
    ['another due date', { dueDate: '2030-01-20T10:00:01Z' }],
    ['the same due date written in another way', { dueDate: '2030-01-20T13:00:00+03:00' }],
    ['no cart', { cart: undefined }],
    ['a line less', { cart: [{ ...line, quantity: 6 }] }],
    ['a line twice', { cart: [line, line, { ...taxed, price: 2_000 }] }],
    ['another product in a line', { cart: [{ ...line, product: 'thing' }, taxed] }],
    ['another quantity and price in a line', { cart: [{ ...line, quantity: 1, price: 2_000 }, taxed] }],
    [
      'another tax rate in a line',
      { cart: [line, { ...taxed, taxMode: { ...taxed.taxMode, rate: '10%' } }] },
    ],
    ['no tax in a line', { cart: [line, { ...taxed, taxMode: undefined }] }],
    ['no bank account', { bankAccount: undefined }],
    ['another account', { bankAccount: { ...full.bankAccount, account: '0'.repeat(20) } }],
    ['another bank', { bankAccount: { ...full.bankAccount, bankBik: '987654321' } }],
    ['an allocation', { allocation: [{}] }],
  ])('is refused when it has %s', async (_, more) => {
    const externalID = newName();
    const first = await create({ externalID });
    const conflict = await create({ externalID, ...more });
    expect({ status: conflict.status, body: conflict.body }).toEqual({
      status: 409,
      body: {
        externalID,
        id: first.body.invoice.id,
        message: "This 'externalID' has been used by another request",
        hint: expect.stringMatching(/^The externalID belongs to /),
      },
    });
    expect((await create({ externalID })).body.invoice).toEqual(first.body.invoice);
  });

  test('is a new request when the first one was refused', async () => {
    const externalID = newName();
    const refusals = [
      await create({ externalID, amount: 0 }),
      await create({ externalID, amount: 1 }),
      await create({ externalID, currency: 'USD' }),
      await create({ externalID, shopID: 'NO_SUCH_SHOP' }),
      await create({ externalID, allocation: [] }),
    ];
    expect(refusals.map(statusOf)).toEqual([400, 400, 400, 400, 400]);
    expect((await create({ externalID })).status).toBe(201);
  });
});

test('without an externalID the same request creates another invoice each time', async () => {
  const [first, second] = [await create({}), await create({})];
  expect([first, second].map(statusOf)).toEqual([201, 201]);
  expect(second.body.invoice.id).not.toBe(first.body.invoice.id);
});

test('an externalID that differs in a character, in case or in its Unicode form is another one', async () => {
  const ids = new Set<string>();
  for (const externalID of ['Name', 'name', 'name ', ' name', 'nam\u00e9', 'name\u0301']) {
    ids.add((await create({ externalID })).body.invoice.id);
  }
  expect(ids.size).toBe(6);
});
