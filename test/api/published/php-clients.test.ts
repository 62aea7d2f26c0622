// PHP writes an empty object as []. It is read as {} where the object may be empty, and nowhere else.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import { cardBody, paymentResourcesUrl } from '../../support/worlds/cards.ts';
import { customersUrl } from '../../support/worlds/customer-world.ts';
import { invoicesUrl, order } from '../../support/worlds/invoices.ts';
import { webhooksUrl } from '../../support/receivers/webhooks.ts';

let world: PaymentWorld;
beforeAll(async () => void (world = await startPaymentWorld()));
afterAll(() => world.close());

const post = (url: string, body: unknown) =>
  world.service.call('POST', url, { token: world.merchant.apiKey, body });
const identitiesUrl = '/wallet/v0/identities';
const identity = { name: 'A', provider: 'test' };

describe('[] in place of an object that may be empty', () => {
  test('is {} in an invoice, also for a repeat', async () => {
    const made = await post(invoicesUrl, { ...order, externalID: 'php', metadata: [] });
    expect(made).toMatchObject({ status: 201, body: { invoice: { metadata: {} } } });
    const again = await post(invoicesUrl, { ...order, externalID: 'php', metadata: {} });
    expect(again.body.invoice).toEqual(made.body.invoice);
  });

  test('is {} in a customer, also for a repeat', async () => {
    const customer = { shopID: 'TEST', externalID: 'php' };
    const made = await post(customersUrl, { ...customer, contactInfo: [], metadata: [] });
    expect(made).toMatchObject({ status: 201, body: { customer: { contactInfo: {}, metadata: {} } } });
    const again = await post(customersUrl, { ...customer, contactInfo: {}, metadata: {} });
    expect(again.body.customer).toEqual(made.body.customer);
  });

  test('is {} within a payer of any type', async () => {
    const card = await world.tokenize('4242424242424242');
    const { body: created } = await post(invoicesUrl, order);
    const payer = {
      payerType: 'PaymentResourcePayer',
      paymentToolToken: card.token,
      contactInfo: [],
      sessionInfo: [],
    };
    const url = `${invoicesUrl}/${created.invoice.id}/payments`;
    const payment = await post(url, { flow: { type: 'PaymentFlowInstant' }, payer, metadata: [] });
    expect(payment).toMatchObject({ status: 201, body: { payer: { contactInfo: {} }, metadata: {} } });
    const parent = { invoiceID: 'x', paymentID: '1' };
    const again = { payerType: 'RecurrentPayer', recurrentParentPayment: parent, contactInfo: [] };
    const refused = await post(url, { flow: { type: 'PaymentFlowInstant' }, payer: again });
    expect(refused.body.code).not.toBe('invalidRequest');
  });

  test('is {} in the wallets API', async () => {
    const made = await post(identitiesUrl, { ...identity, metadata: [] });
    expect(made).toMatchObject({ status: 201, body: { metadata: {} } });
  });

  test('stays a list within data of the client’s own', async () => {
    const metadata = { list: [], deep: { list: [[]] } };
    expect((await post(invoicesUrl, { ...order, metadata })).body.invoice.metadata).toEqual(metadata);
  });
});

test.each<[string, string, unknown]>([
  ['the body', invoicesUrl, []],
  ['an object with required members', webhooksUrl, { url: 'https://shop.example', scope: [] }],
  ['an object that names its type', paymentResourcesUrl, { ...cardBody(), paymentTool: [] }],
  ['a text', invoicesUrl, { ...order, product: [] }],
  ['a list that is not empty', invoicesUrl, { ...order, metadata: [1] }],
])('[] in place of %s is refused', async (_, url, body) => {
  expect(await post(url, body)).toMatchObject({ status: 400, body: { code: 'invalidRequest' } });
});

test('an empty cart stays one', async () => {
  const answer = await post(invoicesUrl, { ...order, cart: [] });
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalidInvoiceCart' } });
});

describe('an identity without a class', () => {
  test('is a person, also for a repeat that says so', async () => {
    const made = await post(identitiesUrl, { ...identity, externalID: 'classless' });
    expect(made).toMatchObject({ status: 201, body: { class: 'person' } });
    const again = await post(identitiesUrl, { ...identity, externalID: 'classless', class: 'person' });
    expect(again).toMatchObject({ status: 201, body: { id: made.body.id } });
    const other = await post(identitiesUrl, { ...identity, externalID: 'classless', class: 'company' });
    expect(other.status).toBe(409);
  });

  test.each([null, '', 7])('is not one whose class is %j', async (of) => {
    expect(await post(identitiesUrl, { ...identity, class: of })).toMatchObject({ status: 400 });
  });
});
