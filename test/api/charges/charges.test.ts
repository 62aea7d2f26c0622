// POST /v2/processing/charges: an invoice and the charge of a stored card, both or neither, and once for each external ID.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waylay, type FaultyBank } from '../../support/bank/faulty-bank.ts';
import type { Answer } from '../../support/service/test-service.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { dueAfter } from '../../support/worlds/due-date.ts';
import { invoicesUrl, order } from '../../support/worlds/invoices.ts';
import { insufficientFunds, recurringWorld, type Parent } from '../../support/worlds/recurring.ts';

const chargesUrl = '/v2/processing/charges';
const visa = '4242424242424242';
const dayMs = 24 * 3_600_000;

let world: CustomerWorld;
let bank: FaultyBank;
let parent: Parent;
let ids = 0;

beforeAll(async () => {
  world = await startCustomerWorld();
  bank = waylay(world.service.banks);
  parent = await recurringWorld(world).parent();
});
afterAll(() => world.close());

type Parts = { readonly invoice?: Record<string, unknown>; readonly payment?: Record<string, unknown> };

const nextId = () => `charge-${++ids}`;
const byParent = (of = parent) => ({
  payerType: 'RecurrentPayer',
  recurrentParentPayment: of,
  contactInfo: { email: 'payer@example.com' },
});
const bodyOf = (externalID: string | undefined, { invoice = {}, payment = {} }: Parts = {}) => ({
  invoice: { ...order, externalID, ...invoice },
  payment: { payer: byParent(), ...payment },
});

function charge(externalID: string | undefined, parts?: Parts, headers: Record<string, string> = {}) {
  const { apiKey: token } = world.merchant;
  return world.service.call('POST', chargesUrl, { token, body: bodyOf(externalID, parts), headers });
}

const namesIn = ({ status, body }: Answer) => [
  status,
  body.invoice?.id,
  body.payment?.invoiceID,
  body.payment?.id,
];
const sentFor = ({ body }: Answer) =>
  bank.sent.filter(({ operationId }) => operationId.startsWith(`${body.invoice.id}.`)).length;

/** Rows of what a charge writes. */
async function written(): Promise<unknown> {
  const counts = ['invoice', 'payment', 'external_id', 'event', 'exchange', 'series_attempt'].map(
    (table) => `(select count(*)::int from ${table}) as ${table}`,
  );
  const { rows } = await world.service.database.withClient((client) =>
    client.query(`select ${counts.join(', ')}`),
  );
  return rows[0];
}

describe('a charge', () => {
  test('of a series creates its invoice and pays it', async () => {
    const made = await charge(nextId(), {
      invoice: { metadata: { of: 'invoice' } },
      payment: { metadata: { of: 'payment' } },
    });
    expect(made, made.text).toMatchObject({
      status: 201,
      body: {
        invoice: { status: 'unpaid', amount: 6000, metadata: { of: 'invoice' } },
        payment: {
          id: '1',
          status: 'pending',
          metadata: { of: 'payment' },
          payer: { payerType: 'RecurrentPayer' },
        },
      },
    });
    await world.service.jobs.whenIdle();
    const { id } = made.body.invoice;
    const { apiKey: token } = world.merchant;
    const invoice = await world.service.call('GET', `${invoicesUrl}/${id}`, { token });
    expect(invoice.body.status).toBe('paid');
    expect((await world.payment({ id, token })).status).toBe('captured');
    expect(sentFor(made)).toBe(1);
  });

  test('of a customer waits for its outcome', async () => {
    const customer = await world.createCustomer();
    await world.bound(customer, visa);
    const payment = {
      payer: { payerType: 'CustomerPayer', customerID: customer.id },
      flow: { type: 'PaymentFlowHold' },
    };
    const made = await charge(nextId(), { payment }, { prefer: 'wait=10' });
    expect(made, made.text).toMatchObject({ status: 201, body: { payment: { status: 'processed' } } });
    expect(made.headers['preference-applied']).toBe('wait=10');
    const paid = await charge(nextId(), {}, { prefer: 'wait=10' });
    expect(paid.body).toMatchObject({ invoice: { status: 'paid' }, payment: { status: 'captured' } });
  });

  test('that the bank declines leaves a failed payment and an unpaid invoice', async () => {
    const other = await recurringWorld(world).parent();
    const parts = { invoice: { amount: insufficientFunds }, payment: { payer: byParent(other) } };
    const made = await charge(nextId(), parts, { prefer: 'wait=10' });
    expect(made.body).toMatchObject({ invoice: { status: 'unpaid' }, payment: { status: 'failed' } });
  });

  test('needs a key that may also create invoices', async () => {
    const { partyId } = world.merchant;
    for (const scopes of [['payments:write'], ['invoices:write']]) {
      const token = await world.service.apiKeys.create({ partyId, name: 'half', scopes });
      const refused = await world.service.call('POST', chargesUrl, { token, body: bodyOf(nextId()) });
      expect([refused.status, refused.headers['www-authenticate']]).toEqual([
        401,
        'Bearer error="insufficient_scope", scope="payments:write invoices:write"',
      ]);
    }
  });
});

describe('a repeat', () => {
  test('returns the same invoice and payment, before the outcome and after it', async () => {
    const id = nextId();
    let answer = () => {};
    bank.meanwhile('authorise', () => new Promise<void>((resolve) => (answer = resolve)));
    const first = await charge(id);
    const before = await charge(id, { invoice: { metadata: { not: 'compared' } } });
    expect(namesIn(before)).toEqual(namesIn(first));
    expect(before.body.payment.status).toBe('pending');
    answer();
    await world.service.jobs.whenIdle();
    const after = await charge(id, {}, { prefer: 'wait=10' });
    expect(namesIn(after)).toEqual(namesIn(first));
    expect(after.body).toMatchObject({ invoice: { status: 'paid' }, payment: { status: 'captured' } });
    expect(sentFor(first)).toBe(1);
  });

  test('after the due date returns both as they are now', async () => {
    const id = nextId();
    const other = await recurringWorld(world).parent();
    const dueDate = dueAfter(world.service.clock.now(), 60_000);
    const parts = { invoice: { amount: insufficientFunds, dueDate }, payment: { payer: byParent(other) } };
    const first = await charge(id, parts, { prefer: 'wait=10' });
    await world.later(120_000);
    const repeat = await charge(id, parts);
    expect(namesIn(repeat)).toEqual(namesIn(first));
    expect(repeat.body).toMatchObject({ invoice: { status: 'cancelled' }, payment: { status: 'failed' } });
  });

  test.each([
    ['another amount', { invoice: { amount: 7000 } }],
    ['another flow', { payment: { flow: { type: 'PaymentFlowHold' } } }],
    ['another payer', { payment: { payer: byParent({ invoiceID: 'another', paymentID: '1' }) } }],
  ])('with %s is a conflict', async (_, parts) => {
    const id = nextId();
    const first = await charge(id);
    const other = await charge(id, parts);
    expect(other, other.text).toMatchObject({
      status: 409,
      body: { externalID: id, id: first.body.invoice.id },
    });
    await world.service.jobs.whenIdle();
  });

  test('with another due date is a conflict that names it', async () => {
    const id = nextId();
    await charge(id);
    const { status, body } = await charge(id, { invoice: { dueDate: '2031-02-03T10:00:00Z' } });
    expect({ status, hint: body.hint }).toEqual({ status: 409, hint: expect.stringContaining('dueDate') });
    await world.service.jobs.whenIdle();
  });

  test('of an invoice that was created alone is a conflict, and the other way round', async () => {
    const { apiKey: token } = world.merchant;
    const alone = (externalID: string) =>
      world.service.call('POST', invoicesUrl, { token, body: { ...order, externalID } });
    const [first, second] = [nextId(), nextId()];
    await alone(first);
    expect((await charge(first)).status).toBe(409);
    await charge(second);
    expect((await alone(second)).status).toBe(409);
    await world.service.jobs.whenIdle();
  });

  test('at the same time charges once, though a rule allows one charge a day', async () => {
    const of = await recurringWorld(world).parent();
    const payment = { payer: byParent(of) };
    await charge(nextId(), { invoice: { amount: insufficientFunds }, payment }, { prefer: 'wait=10' });
    await world.later(dayMs);
    const id = nextId();
    const all = await Promise.all([1, 2, 3, 4, 5].map(() => charge(id, { payment })));
    for (const one of all) expect(namesIn(one), one.text).toEqual(namesIn(all[0] as Answer));
    expect(all[0]?.status).toBe(201);
    await world.service.jobs.whenIdle();
    expect(sentFor(all[0] as Answer)).toBe(1);
    expect(await world.differences()).toEqual([]);
  });

  test('at the same time with other Idempotency-Keys charges once', async () => {
    const id = nextId();
    const keys = ['one', 'two', 'three'].map((key) => ({ 'idempotency-key': `${id}.${key}` }));
    const all = await Promise.all(keys.map((headers) => charge(id, {}, headers)));
    for (const one of all) expect(namesIn(one), one.text).toEqual(namesIn(all[0] as Answer));
    await world.service.jobs.whenIdle();
    expect(sentFor(all[0] as Answer)).toBe(1);
  });
});

describe('a refused charge leaves nothing and its ID free:', () => {
  type Refused = { readonly code: string; parts(): Promise<Parts> };
  const refusals: Record<string, Refused> = {
    'too early': {
      code: 'recurrentRetryTooEarly',
      async parts() {
        const payment = { payer: byParent(await recurringWorld(world).parent()) };
        await charge(nextId(), { invoice: { amount: insufficientFunds }, payment }, { prefer: 'wait=10' });
        return { payment };
      },
    },
    'a consent that was revoked': {
      code: 'recurrentConsentRevoked',
      async parts() {
        const of = await recurringWorld(world).parent();
        const url = `${invoicesUrl}/${of.invoiceID}/payments/1/recurring/withdraw`;
        await world.service.call('POST', url, { token: world.merchant.apiKey, body: { reason: 'x' } });
        return { payment: { payer: byParent(of) } };
      },
    },
    'a parent that does not exist': {
      code: 'invalidRecurrentParent',
      parts: async () => ({ payment: { payer: byParent({ invoiceID: 'none', paymentID: '1' }) } }),
    },
    'a parent of another shop': {
      code: 'invalidRecurrentParent',
      parts: async () => ({ invoice: { shopID: 'TEST_USD', currency: 'USD' } }),
    },
    'a customer who does not exist': {
      code: 'invalidRequest',
      parts: async () => ({ payment: { payer: { payerType: 'CustomerPayer', customerID: 'none' } } }),
    },
    'a customer without a card': {
      code: 'customerNotReady',
      async parts() {
        const { id } = await world.createCustomer();
        return { payment: { payer: { payerType: 'CustomerPayer', customerID: id } } };
      },
    },
    'a due date in the past': {
      code: 'invalidInvoiceStatus',
      parts: async () => ({ invoice: { dueDate: '2020-01-01T00:00:00Z' } }),
    },
    'another currency': { code: 'invalidRequest', parts: async () => ({ invoice: { currency: 'EUR' } }) },
    'a deadline that has passed': {
      code: 'invalidProcessingDeadline',
      parts: async () => ({ payment: { processingDeadline: '2020-01-01T00:00:00Z' } }),
    },
    'no amount': { code: 'invalidInvoiceCost', parts: async () => ({ invoice: { amount: undefined } }) },
  };

  test.each(Object.entries(refusals))('%s', async (_, { code, parts }) => {
    const id = nextId();
    const asked = await parts();
    const before = await written();
    for (const headers of [{}, { 'idempotency-key': id }] as Record<string, string>[]) {
      const refused = await charge(id, asked, headers);
      expect(refused.body, refused.text).toMatchObject({ code });
    }
    expect(await written()).toEqual(before);
    expect((await charge(id)).status).toBe(201);
    await world.service.jobs.whenIdle();
  });
});

describe('a message names the part that is wrong:', () => {
  const large = { text: 'x'.repeat(70_000) };
  const terms = { validUntil: '2030-02-31' };
  test.each<[string, Parts & { readonly id?: undefined }]>([
    ['invoice.externalID', { invoice: { externalID: undefined } }],
    ['invoice.metadata', { invoice: { metadata: large } }],
    ['invoice.recurrentTerms', { invoice: { recurrentTerms: {} } }],
    ['invoice.recurrentTerms.validUntil', { invoice: { makeRecurrent: true, recurrentTerms: terms } }],
    ['payment.metadata', { payment: { metadata: large } }],
    ['payment.externalID', { payment: { externalID: 'x' } }],
    ['payment.recurrentTerms', { payment: { recurrentTerms: {} } }],
    ['payment.recurrentTerms.validUntil', { payment: { recurrentTerms: terms } }],
    ['payment.threeDSecure', { payment: { threeDSecure: 'always' } }],
    [
      'payment.payer',
      { payment: { payer: { payerType: 'PaymentResourcePayer', paymentToolToken: 'x', contactInfo: {} } } },
    ],
    [
      'payment.payer.present',
      { payment: { payer: { payerType: 'CustomerPayer', customerID: 'x', present: true } } },
    ],
    [
      'payment.payer.cvv',
      { payment: { payer: { payerType: 'CustomerPayer', customerID: 'x', cvv: '123' } } },
    ],
    [
      'payment.payer.sessionInfo.redirectUrl',
      {
        payment: {
          payer: { payerType: 'CustomerPayer', customerID: 'x', sessionInfo: { redirectUrl: 'x' } },
        },
      },
    ],
  ])('%s', async (name, parts) => {
    const refused = await charge(nextId(), parts);
    expect([refused.status, refused.body.code]).toEqual([400, 'invalidRequest']);
    expect(refused.body.message).toContain(`Request parameter: ${name}, `);
  });
});
