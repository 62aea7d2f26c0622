// A card that was entered with the access token of an invoice or a customer is worth nothing once that object has ended.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cardBody, paymentResourcesUrl } from '../../support/worlds/cards.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';

const customersUrl = '/v2/processing/customers';
let world: PaymentWorld;

beforeAll(async () => void (world = await startPaymentWorld()));
afterAll(() => world.close());

const call = (method: 'POST' | 'DELETE', url: string, body?: unknown, token = world.merchant.apiKey) =>
  world.service.call(method, url, { token, ...(body === undefined ? {} : { body }) });

type Entered = { readonly paymentToolToken: string; readonly paymentSession: string };

async function enter(token: string): Promise<Entered> {
  const { body } = await call('POST', paymentResourcesUrl, cardBody(), token);
  return body;
}

async function payAnother({ paymentToolToken }: Entered) {
  const { id } = await makeInvoice(world.service, world.merchant);
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
  const { status, body } = await call('POST', `${invoicesUrl}/${id}/payments`, {
    flow: { type: 'PaymentFlowInstant' },
    payer,
  });
  return status === 201 ? 201 : body.code;
}

async function bindToAnother({ paymentToolToken, paymentSession }: Entered) {
  const { customer } = await makeCustomer();
  const { status, body } = await call('POST', `${customersUrl}/${customer.id}/bindings`, {
    paymentResource: { paymentToolToken, paymentSession },
  });
  return status === 201 ? 201 : body.code;
}

async function makeCustomer() {
  const { body } = await call('POST', customersUrl, { shopID: 'TEST', contactInfo: {}, metadata: {} });
  return body;
}

test('a card entered for an invoice is refused once the invoice is cancelled', async () => {
  const invoice = await makeInvoice(world.service, world.merchant);
  const card = await enter(invoice.token);
  expect(await payAnother(card)).toBe(201);
  await call('POST', `${invoicesUrl}/${invoice.id}/rescind`, { reason: 'over' });
  expect(await payAnother(card)).toBe('invalidPaymentToolToken');
  expect(await bindToAnother(card)).toBe('invalidPaymentToolToken');
  expect(await payAnother(await enter(invoice.token))).toBe('invalidPaymentToolToken');
});

test('a card entered for an invoice is refused once the invoice is paid', async () => {
  const invoice = await makeInvoice(world.service, world.merchant);
  const card = await enter(invoice.token);
  expect(await payAnother(card)).toBe(201);
  const payer = { payerType: 'PaymentResourcePayer', ...card, contactInfo: {} };
  const payment = { flow: { type: 'PaymentFlowInstant' }, payer };
  const { status } = await call('POST', `${invoicesUrl}/${invoice.id}/payments`, payment, invoice.token);
  expect(status).toBe(201);
  await world.service.jobs.whenIdle();
  expect(await payAnother(card)).toBe('invalidPaymentToolToken');
  expect(await bindToAnother(card)).toBe('invalidPaymentToolToken');
  expect(await payAnother(await enter(invoice.token))).toBe('invalidPaymentToolToken');
});

test('a card entered for a customer is refused once the customer is deleted', async () => {
  const { customer, customerAccessToken } = await makeCustomer();
  const card = await enter(customerAccessToken.payload);
  expect(await payAnother(card)).toBe(201);
  expect((await call('DELETE', `${customersUrl}/${customer.id}`)).status).toBe(204);
  expect(await payAnother(card)).toBe('invalidPaymentToolToken');
  expect(await bindToAnother(card)).toBe('invalidPaymentToolToken');
});
