// How many round trips to the database each request takes. A number that grows here is a decision, not an accident.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { recordStatements } from '../../support/database/sent-statements.ts';
import { makeInvoice } from '../../support/worlds/invoices.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';
import { recurringWorld } from '../../support/worlds/recurring.ts';
import type { Merchant, TestService } from '../../support/service/test-service.ts';

const invoices = '/v2/processing/invoices';
const order = {
  shopID: 'TEST',
  dueDate: '2030-01-01T00:00:00Z',
  amount: 100,
  currency: 'RUB',
  product: 'Order',
};

let world: PayoutWorld;
let service: TestService;
let merchant: Merchant;
let sent: string[];

beforeAll(async () => {
  world = await startPayoutWorld();
  ({ service, merchant } = world);
});
afterAll(() => world.close());

beforeEach(async () => {
  // The key, the party and the shop are cached, and time stands still.
  const nowMs = performance.now();
  vi.spyOn(performance, 'now').mockReturnValue(nowMs);
  await service.call('POST', invoices, { token: merchant.apiKey, body: order });
  // A new connection finds out which server it has reached, and a bank's first words are kept: no request asks for either.
  sent = recordStatements((name) => !/pg_postmaster_start_time|store_abilities/.test(name));
});
afterEach(() => void vi.restoreAllMocks());

test('creating an invoice takes one', async () => {
  await service.call('POST', invoices, { token: merchant.apiKey, body: order });
  expect(sent).toEqual(['insert_invoice']);
});

test('creating an invoice with an externalID takes one, and repeating it two', async () => {
  const body = { ...order, externalID: 'name' };
  await service.call('POST', invoices, { token: merchant.apiKey, body });
  expect(sent).toEqual(['insert_invoice']);
  await service.call('POST', invoices, { token: merchant.apiKey, body });
  expect(sent.slice(1)).toEqual(['insert_invoice', 'read_invoice_by_external_id']);
});

test('reading an invoice takes one, with an API key or with its own token', async () => {
  const created = await service.call('POST', invoices, { token: merchant.apiKey, body: order });
  const { invoice, invoiceAccessToken } = created.body;
  for (const token of [merchant.apiKey, invoiceAccessToken.payload]) {
    sent.length = 0;
    await service.call('GET', `${invoices}/${invoice.id}`, { token });
    expect(sent).toEqual(['read_invoice_of_party']);
    sent.length = 0;
    await service.call('GET', `${invoices}/${invoice.id}/events?limit=100`, { token });
    expect(sent).toEqual(['read_invoice_events']);
  }
});

test('rescinding an invoice takes two: the read and the guarded write', async () => {
  const created = await service.call('POST', invoices, { token: merchant.apiKey, body: order });
  sent.length = 0;
  await service.call('POST', `${invoices}/${created.body.invoice.id}/rescind`, {
    token: merchant.apiKey,
    body: { reason: 'x' },
  });
  expect(sent).toEqual(['read_invoice_of_party', 'change_invoice']);
});

test('an Idempotency-Key adds a transaction of four around the write', async () => {
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

test('tokenising a card takes one', async () => {
  await world.tokenize('4242424242424242');
  sent.length = 0;
  await world.tokenize('4242424242424242');
  expect(sent).toEqual(['insert_card']);
});

/** Every writing statement outside a transaction is a transaction of its own; a commit is one in any case. */
function writeTransactions(names: readonly string[]): string[] {
  let isInTransaction = false;
  return names.filter((name) => {
    if (name === 'begin') isInTransaction = true;
    if (name === 'commit') isInTransaction = false;
    return name === 'commit' || (!isInTransaction && !/^(begin|read_|find_)/.test(name));
  });
}

test('a charge takes three writing transactions, and so does a refund with the poll that finds it', async () => {
  await world.paid('4242424242424242');
  const { id } = await makeInvoice(service, merchant);
  const { token: paymentToolToken } = await world.tokenize('4242424242424242');
  sent.length = 0;
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
  await service.call('POST', `${invoices}/${id}/payments`, { token: merchant.apiKey, body: { payer } });
  await service.jobs.whenIdle();
  expect((await world.payment({ id, token: '' })).status).toBe('captured');
  expect(writeTransactions(sent)).toEqual([
    'insert_payment',
    'take_card_and_security_code',
    'change_payment',
  ]);

  sent.length = 0;
  await service.call('POST', `${invoices}/${id}/payments/1/refunds`, { token: merchant.apiKey, body: {} });
  await service.jobs.whenIdle();
  const ofRefund = writeTransactions(sent).filter((name) => !/^claim_due_(?!payment$)/.test(name));
  // The poll claims until it finds no more.
  expect([...new Set(ofRefund)]).toEqual(['commit', 'claim_due_payment', 'end_refund']);
});

test('creating a payment takes three, and its step with the bank two more', async () => {
  await world.paid('4242424242424242');
  const { id } = await makeInvoice(service, merchant);
  const { token: paymentToolToken } = await world.tokenize('4242424242424242');
  sent.length = 0;
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
  const started = await service.call('POST', `${invoices}/${id}/payments`, {
    token: merchant.apiKey,
    body: { payer },
  });
  expect(started.status).toBe(201);
  await service.jobs.whenIdle();
  expect(sent).toEqual([
    'read_card_of_party',
    'read_payable_invoice',
    'insert_payment',
    'take_card_and_security_code',
    'change_payment',
  ]);
});

test('a recurring charge takes three, its step with the bank two more, and its receipt two', async () => {
  const recurrentParentPayment = await recurringWorld(world).parent();
  service.clock.advance(60_000);
  const { id } = await makeInvoice(service, merchant);
  sent.length = 0;
  const payer = { payerType: 'RecurrentPayer', recurrentParentPayment, contactInfo: {} };
  const started = await service.call('POST', `${invoices}/${id}/payments`, {
    token: merchant.apiKey,
    body: { payer },
  });
  expect(started.status).toBe(201);
  await service.jobs.whenIdle();
  expect(sent).toEqual([
    'read_payable_invoice',
    'read_charge_history',
    'start_charge',
    'read_encrypted_card',
    'approve_charge',
    'read_invoice',
    'end_payer_email',
  ]);
});

test('creating a refund takes four with a transaction of one statement, and its step with the bank two more', async () => {
  const { id } = await world.paid('4242424242424242');
  sent.length = 0;
  await service.call('POST', `${invoices}/${id}/payments/1/refunds`, { token: merchant.apiKey, body: {} });
  await service.jobs.whenIdle();
  expect(sent.slice(0, 4)).toEqual(['read_payment', 'begin', 'start_refund', 'commit']);
  // Besides those of the poll that finds it.
  const ofPayments = sent.slice(4).filter((name) => /refund|payment/.test(name) && !/due/.test(name));
  expect(ofPayments).toEqual(['read_payment', 'end_refund']);
});

test('reading payments takes one, and reading an unknown one two', async () => {
  const { id } = await world.paid('4242424242424242');
  for (const [path, statements] of [
    [`/${id}/payments`, ['read_payments_of_invoice']],
    [`/${id}/payments/1`, ['read_payment']],
    [`/${id}/payments/2`, ['read_payment', 'read_payments_of_invoice']],
  ] as const) {
    sent.length = 0;
    await service.call('GET', `${invoices}${path}`, { token: merchant.apiKey });
    expect(sent).toEqual(statements);
  }
});

test('creating a withdrawal takes three, and its step with the bank three more', async () => {
  const { id: destination } = await world.destinationFor('4242424242424242');
  await world.withdraw(1_000, destination);
  await service.jobs.whenIdle();
  sent.length = 0;
  expect((await world.withdraw(1_000, destination)).status).toBe(202);
  await service.jobs.whenIdle();
  expect(sent.slice(0, 3)).toEqual(['read_wallet', 'read_destination', 'insert_withdrawal']);
  expect(sent.slice(3)).toEqual(['claim_send_of_withdrawal', 'read_encrypted_card', 'end_withdrawal']);
});

test('reading a withdrawal takes one', async () => {
  const { id: destination } = await world.destinationFor('4242424242424242');
  const { id } = (await world.withdraw(1_000, destination)).body;
  await service.jobs.whenIdle();
  sent.length = 0;
  await world.get(`/wallet/v0/withdrawals/${id}`);
  expect(sent).toEqual(['read_withdrawal']);
});

test('creating, reading and finding a customer, and reading its bindings and events, take one each', async () => {
  const customers = '/v2/processing/customers';
  const body = { shopID: 'TEST', contactInfo: {} };
  const { body: made } = await service.call('POST', customers, { token: merchant.apiKey, body });
  expect(sent).toEqual(['insert_customer']);
  const reads = {
    '': 'read_customer_of_party',
    '/bindings': 'read_bindings_of_customer',
    '/bindings/1': 'read_binding_of_customer',
    '/events?limit=9': 'read_customer_events',
  };
  for (const [path, name] of Object.entries(reads)) {
    sent.length = 0;
    await service.call('GET', `${customers}/${made.customer.id}${path}`, { token: merchant.apiKey });
    expect(sent).toEqual([name]);
  }
});

test('binding a card takes three, or four without a consent; its charge three more, and its refund one transaction with its series', async () => {
  const customers = '/v2/processing/customers';
  const person = { shopID: 'TEST', contactInfo: {} };
  const { body: made } = await service.call('POST', customers, { token: merchant.apiKey, body: person });
  const bind = async () => {
    const card = await world.tokenize('4242424242424242');
    const body = { paymentResource: { paymentToolToken: card.token, paymentSession: card.session } };
    sent.length = 0;
    const url = `${customers}/${made.customer.id}/bindings`;
    expect((await service.call('POST', url, { token: merchant.apiKey, body })).status).toBe(201);
    await service.jobs.whenIdle();
  };
  await bind();
  await bind();
  expect(sent.slice(0, 4)).toEqual([
    'read_card_of_party',
    'read_customer_of_party',
    'read_recurring_settings',
    'insert_binding',
  ]);
  const step = sent
    .slice(4)
    .filter((name) => /binding|encrypted_card|security_code/.test(name) && !/due/.test(name));
  expect(step).toEqual([
    'take_card_and_security_code',
    'change_binding',
    // The series is identified by the card's number.
    'read_encrypted_card',
    'name_series_of_binding',
    'change_binding',
  ]);
});

test('a request without a valid token takes none', async () => {
  await service.call('POST', invoices, { token: merchant.apiKey, body: { ...order, amount: 0 } });
  await service.call('POST', invoices, { token: 'garbage', body: order });
  expect(sent).toEqual([]);
});
