// Invoices over the API, on a real PostgreSQL.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type Merchant, type TestService } from '../support/test-service.ts';

const invoices = '/v2/processing/invoices';
const order = {
  shopID: 'TEST',
  dueDate: '2026-01-20T10:00:00Z',
  amount: 6000,
  currency: 'RUB',
  product: 'Order 1',
};

let service: TestService;
let merchant: Merchant;

beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
});
afterAll(() => service.close());

describe('create invoice', () => {
  test('answers the invoice, unpaid, and a token that can read it', async () => {
    const created = await service.call('POST', invoices, { token: merchant.apiKey, body: order });
    expect(created.status).toBe(201);
    expect(created.body.invoice).toEqual({
      id: expect.stringMatching(/^[0-9A-Za-z]{23}$/),
      shopID: 'TEST',
      createdAt: '2026-01-19T10:00:00.123000Z',
      dueDate: '2026-01-20T10:00:00.000000Z',
      amount: 6000,
      currency: 'RUB',
      product: 'Order 1',
      metadata: {},
      status: 'unpaid',
    });
    const token = created.body.invoiceAccessToken.payload;
    const read = await service.call('GET', `${invoices}/${created.body.invoice.id}`, { token });
    expect(read.body).toEqual(created.body.invoice);
  });
});
