// What each request costs in round trips to the database. A number here that grows is a decision, not an accident.
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { startTestService, type Merchant, type TestService } from '../support/test-service.ts';

const invoices = '/v2/processing/invoices';
const order = {
  shopID: 'TEST',
  dueDate: '2030-01-01T00:00:00Z',
  amount: 100,
  currency: 'RUB',
  product: 'Order',
};

let service: TestService;
let merchant: Merchant;
let sent: string[];

beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
});
afterAll(() => service.close());

beforeEach(async () => {
  // Warm: the key, the party and the shop were asked for a moment ago.
  await service.call('POST', invoices, { token: merchant.apiKey, body: order });
  sent = [];
  const query = pg.Client.prototype.query;
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...parameters: any[]) {
    const [first] = parameters;
    sent.push(typeof first === 'string' ? first : first.name);
    return (query as any).apply(this, parameters);
  });
});
afterEach(() => void vi.restoreAllMocks());

test('creating an invoice is one', async () => {
  await service.call('POST', invoices, { token: merchant.apiKey, body: order });
  expect(sent).toEqual(['insert_invoice']);
});

test('creating one with an externalID is one, and repeating that is two', async () => {
  const body = { ...order, externalID: 'name' };
  await service.call('POST', invoices, { token: merchant.apiKey, body });
  expect(sent).toEqual(['insert_invoice']);
  await service.call('POST', invoices, { token: merchant.apiKey, body });
  expect(sent.slice(1)).toEqual(['insert_invoice', 'read_invoice_by_external_id']);
});

test('reading an invoice is one, with an API key or with its own token', async () => {
  const created = await service.call('POST', invoices, { token: merchant.apiKey, body: order });
  const { invoice, invoiceAccessToken } = created.body;
  for (const token of [merchant.apiKey, invoiceAccessToken.payload]) {
    sent = [];
    await service.call('GET', `${invoices}/${invoice.id}`, { token });
    expect(sent).toEqual(['read_invoice_of_party']);
    sent = [];
    await service.call('GET', `${invoices}/${invoice.id}/events?limit=100`, { token });
    expect(sent).toEqual(['read_invoice_events']);
  }
});

test('rescinding an invoice is two: the reading and the guarded write', async () => {
  const created = await service.call('POST', invoices, { token: merchant.apiKey, body: order });
  sent = [];
  await service.call('POST', `${invoices}/${created.body.invoice.id}/rescind`, {
    token: merchant.apiKey,
    body: { reason: 'x' },
  });
  expect(sent).toEqual(['read_invoice_of_party', 'change_invoice']);
});

test('an Idempotency-Key makes it a transaction of four around the write', async () => {
  await service.call('POST', invoices, {
    token: merchant.apiKey,
    body: order,
    headers: { 'idempotency-key': 'k1' },
  });
  expect(sent).toEqual([
    'begin',
    'claim_idempotency_key',
    'insert_invoice',
    'store_idempotent_answer',
    'commit',
  ]);
});

test('a request that is refused at the door is none', async () => {
  await service.call('POST', invoices, { token: merchant.apiKey, body: { ...order, amount: 0 } });
  await service.call('POST', invoices, { token: 'garbage', body: order });
  expect(sent).toEqual([]);
});
