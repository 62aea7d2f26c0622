// Charging a customer by its bound card, over both prefixes. The card is the one that is active when the payment is created,
// and the rules of recurring charges apply.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dueAfter } from '../../support/worlds/due-date.ts';
import { holdsCardNumber } from '../../../src/cards/domain/written-numbers.ts';
import { verifyBundle } from '../../../src/recurring/consent-bundle.ts';
import {
  customersUrl,
  startCustomerWorld,
  type CustomerWorld,
  type MadeBinding,
  type MadeCustomer,
} from '../../support/worlds/customer-world.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import { countWaiting } from '../../support/database/waiting.ts';

const good = '4242424242424242';
const other = '5555555555554444';
const day = 24 * 3_600_000;

let world: CustomerWorld;
let token: string;
beforeAll(async () => {
  world = await startCustomerWorld();
  token = world.merchant.apiKey;
});
afterAll(() => world.close());

async function charge(
  customer: { id: string },
  more: Record<string, unknown> = {},
  {
    prefix = 'v2',
    invoice: terms = {} as Record<string, unknown>,
    by = undefined as string | undefined,
  } = {},
) {
  const invoice = await makeInvoice(world.service, world.merchant, terms);
  const url = `${invoicesUrl.replace('v2', prefix)}/${invoice.id}/payments`;
  const payer = { payerType: 'CustomerPayer', customerID: customer.id };
  const body = { flow: { type: 'PaymentFlowInstant' }, payer, ...more };
  const created = await world.service.call('POST', url, { token: by ?? invoice.token, body });
  return { ...invoice, created };
}

async function readyCustomer(card = good): Promise<MadeCustomer> {
  const customer = await world.createCustomer();
  await world.bound(customer, card);
  return customer;
}

describe('a customer who is ready', () => {
  test.each(['v2', 'v1'])(
    'is charged over /%s with the invoice’s token, without a challenge',
    async (prefix) => {
      const customer = await readyCustomer();
      const charged = await charge(customer, { metadata: { month: 1 } }, { prefix });
      expect(charged.created).toMatchObject({ status: 201 });
      expect(charged.created.body).toMatchObject({ status: 'pending', makeRecurrent: false });
      expect(charged.created.body.payer).toEqual({
        payerType: 'CustomerPayer',
        customerID: customer.id,
        paymentToolDetails: expect.objectContaining({ cardNumberMask: '424242******4242' }),
      });
      await world.service.jobs.whenIdle();
      expect(await world.payment(charged)).toMatchObject({ status: 'captured', amount: 6000 });
      expect(await world.changes(charged)).not.toContainEqual(
        expect.objectContaining({ changeType: 'PaymentInteractionRequested' }),
      );
    },
  );

  test.each(['4012888888881881', '4929172190150505'])(
    'with the card %s was challenged when it was bound, and is not when it is charged',
    async (card) => {
      const customer = await world.createCustomer();
      await world.authenticateBinding(await world.bound(customer, card), 'confirm');
      const charged = await charge(customer);
      await world.service.jobs.whenIdle();
      expect(await world.payment(charged)).toMatchObject({ status: 'captured' });
    },
  );

  test('can also be charged by hold and by API key, and refunded', async () => {
    const customer = await readyCustomer();
    const held = await charge(customer, { flow: { type: 'PaymentFlowHold' } }, { by: token });
    await world.service.jobs.whenIdle();
    expect(await world.payment(held)).toMatchObject({ status: 'processed' });
    const charged = await charge(customer);
    await world.service.jobs.whenIdle();
    const refunds = `${invoicesUrl}/${charged.id}/payments/1/refunds`;
    expect((await world.service.call('POST', refunds, { token, body: {} })).status).toBe(201);
    await world.later(1_000);
    expect(await world.payment(charged)).toMatchObject({ status: 'refunded' });
  });

  test('is charged with the card that is active when the payment is created, despite later changes', async () => {
    const customer = await world.createCustomer();
    const first = await world.bound(customer, good);
    const before = await charge(customer);
    await world.bound(customer, other);
    const after = await charge(customer);
    await world.withdraw(first);
    await world.service.jobs.whenIdle();
    const cardOf = async (invoice: { id: string; token: string }) =>
      (await world.payment(invoice)).payer.paymentToolDetails.lastDigits;
    expect([await cardOf(before), await cardOf(after)]).toEqual(['4242', '4444']);
    expect(await world.payment(before)).toMatchObject({ status: 'captured' });
    expect(await world.payment(after)).toMatchObject({ status: 'captured' });
  });

  test('whose active card changes while the charge waits for its lock is charged with the new one', async () => {
    const customer = await world.createCustomer();
    const first = await world.bound(customer, good);
    const second = await world.bound(customer, other);
    const activate = 'update customer set active_binding_id = $2 where customer_id = $1';
    const invoice = await makeInvoice(world.service, world.merchant);
    const asked = await world.service.database.withClient(async (client) => {
      await client.query('begin');
      await client.query(activate, [customer.id, first.bindingId]);
      const payer = { payerType: 'CustomerPayer', customerID: customer.id };
      const body = { flow: { type: 'PaymentFlowInstant' }, payer };
      const charged = world.service.call('POST', `${invoicesUrl}/${invoice.id}/payments`, { token, body });
      while ((await client.query(countWaiting)).rows[0].count < 1) await new Promise(setImmediate);
      await client.query('commit');
      return [charged];
    });
    const [created] = await Promise.all(asked);
    expect(created).toMatchObject({ status: 201 });
    expect(created?.body.payer.paymentToolDetails.lastDigits).toBe('4242');
    await world.service.jobs.whenIdle();
    // Back to what the customer's log says.
    await world.service.database.withClient((client) =>
      client.query(activate, [customer.id, second.bindingId]),
    );
  });

  test('is not charged by the IDs of its bindings as if they were payments, active or not', async () => {
    const customer = await world.createCustomer();
    const bindings = [await world.bound(customer, good), await world.bound(customer, other)];
    const seriesIds: string[] = [];
    for (const { bindingId } of bindings) {
      const url = `${customersUrl}/${customer.id}/bindings/${bindingId}/consent`;
      seriesIds.push((await world.service.call('GET', url, { token })).body.seriesId);
    }
    const named = (paymentID: string, invoiceID = customer.id) => ({
      payerType: 'RecurrentPayer',
      recurrentParentPayment: { invoiceID, paymentID },
      contactInfo: {},
    });
    const unknown = await charge(customer, { payer: named('1', 'nothing') }, { by: token });
    expect(unknown.created).toMatchObject({ status: 400, body: { code: 'invalidRecurrentParent' } });
    for (const seriesId of seriesIds) {
      const [ofCustomer, card] = seriesId.split('.');
      expect([ofCustomer, card]).toEqual([customer.id, expect.stringMatching(/^[0-9a-f]{16}$/)]);
      const refused = await charge(customer, { payer: named(card!) }, { by: token });
      // One of a thousand is written like the number of a card.
      const body = holdsCardNumber(card!) ? { code: 'invalidRequest' } : unknown.created.body;
      expect(refused.created).toMatchObject({ status: 400, body });
      const url = `${invoicesUrl}/${refused.id}/payments`;
      expect(await world.service.call('GET', url, { token })).toMatchObject({ status: 200, body: [] });
    }
  });

  test('who is deleted afterwards keeps the existing payments unchanged', async () => {
    const customer = await readyCustomer();
    const charged = await charge(customer);
    const url = `/v2/processing/customers/${customer.id}`;
    expect((await world.service.call('DELETE', url, { token })).status).toBe(204);
    await world.service.jobs.whenIdle();
    expect(await world.payment(charged)).toMatchObject({
      status: 'captured',
      payer: { payerType: 'CustomerPayer', customerID: customer.id },
    });
    expect((await charge(customer)).created.body).toEqual({
      code: 'invalidRequest',
      message: 'Customer not found',
    });
  });

  test('is charged once by two requests with one external ID', async () => {
    const customer = await readyCustomer();
    const charged = await charge(customer, { externalID: 'once' });
    const again = await world.service.call('POST', `${invoicesUrl}/${charged.id}/payments`, {
      token,
      body: { externalID: 'once', payer: { payerType: 'CustomerPayer', customerID: customer.id } },
    });
    expect(again).toMatchObject({ status: 201, body: { id: '1', invoiceID: charged.id } });
    await world.service.jobs.whenIdle();
  });
});

describe('no charge is created', () => {
  test.each<[string, () => Promise<{ id: string }>, object]>([
    [
      'for an unknown customer',
      () => Promise.resolve({ id: 'unknown' }),
      { code: 'invalidRequest', message: 'Customer not found' },
    ],
    [
      'for a customer without a card',
      () => world.createCustomer(),
      { code: 'customerNotReady', message: 'Specified customer is not ready' },
    ],
    [
      'for a customer whose card is not bound yet',
      async () => world.bound(await world.createCustomer(), '4012888888881881'),
      { code: 'customerNotReady', message: 'Specified customer is not ready' },
    ],
    [
      'for a customer whose only card was revoked',
      async () => {
        const customer = await world.createCustomer();
        await world.withdraw(await world.bound(customer, good));
        return customer;
      },
      { code: 'customerNotReady', message: 'Specified customer is not ready' },
    ],
    [
      'for a customer of another shop',
      async () => world.bound(await world.createCustomer({ shopID: 'TEST_EUR' }), good),
      { code: 'invalidRequest', message: 'Invalid customer' },
    ],
    [
      'for a customer of another merchant',
      async () => world.createCustomer({}, await world.createMerchant()),
      { code: 'invalidRequest', message: 'Customer not found' },
    ],
  ])('%s', async (_, customerOf, body) => {
    expect((await charge(await customerOf())).created).toMatchObject({ status: 400, body });
  });

  test('with makeRecurrent, or by the customer’s token', async () => {
    const customer = await readyCustomer();
    expect((await charge(customer, { makeRecurrent: true })).created).toMatchObject({
      status: 400,
      body: { code: 'invalidRequest', message: 'Invalid payer' },
    });
    expect((await charge(customer, {}, { by: customer.token })).created.status).toBe(401);
  });
});

describe('the rules of recurring charges', () => {
  // The last five digits of this amount make the simulated bank decline a recurring charge.
  const poor = { amount: 99_051 };

  test('apply to a customer and a card: after a failure the next charge is possible a day later', async () => {
    const customer = await readyCustomer();
    const failed = await charge(customer, {}, { invoice: poor });
    await world.service.jobs.whenIdle();
    expect(await world.payment(failed)).toMatchObject({ status: 'failed' });
    const soon = await charge(customer);
    expect(soon.created).toMatchObject({
      status: 400,
      body: { code: 'recurrentRetryTooEarly', retryAfter: expect.any(String) },
    });
    // Another card can be charged immediately. Binding the first card again does not lift its wait.
    await world.bound(customer, other);
    expect((await charge(customer)).created.status).toBe(201);
    await world.service.jobs.whenIdle();
    await world.bound(customer, good);
    expect((await charge(customer)).created).toMatchObject({ body: { code: 'recurrentRetryTooEarly' } });
    world.service.clock.advance(day);
    const later = await charge(customer);
    expect(later.created.status).toBe(201);
    await world.service.jobs.whenIdle();
    expect(await world.payment(later)).toMatchObject({ status: 'captured' });
  });

  test('are shown in the series of the payment, which started with the binding', async () => {
    const customer = await world.createCustomer();
    const { bindingId } = await world.bound(customer, good);
    const charged = await charge(customer);
    await world.service.jobs.whenIdle();
    const url = `${invoicesUrl}/${charged.id}/payments/1`;
    const series = await world.service.call('GET', `${url}/recurring`, { token });
    expect(series).toMatchObject({
      status: 200,
      body: {
        mayCharge: true,
        status: 'active',
        chargesMade: 1,
        rootBinding: { customerID: customer.id, customerBindingID: bindingId },
        card: { lastDigits: '4242' },
      },
    });
    const receipt = await world.service.call('GET', `${url}/receipt`, { token });
    expect(receipt.body.text).toMatch(/recurring transaction/i);
  });

  test('include the terms that the payer agreed to when the card was bound', async () => {
    const customer = await world.createCustomer();
    const recurrentTerms = { schedule: 'P1M', validUntil: '2030-12-31' };
    await world.bind(customer, good, { recurrentTerms });
    await world.service.jobs.whenIdle();
    const charged = await charge(customer);
    await world.service.jobs.whenIdle();
    const url = `${invoicesUrl}/${charged.id}/payments/1/recurring`;
    expect((await world.service.call('GET', url, { token })).body.terms).toMatchObject(recurrentTerms);
  });
});

describe('checking a charge in advance', () => {
  const ask = (customer: { id: string }, amount?: number) =>
    world.service.call(
      'GET',
      `${customersUrl}/${customer.id}/recurring${amount ? `?amount=${amount}` : ''}`,
      {
        token,
      },
    );
  const declined = { amount: 99_051 };

  test('returns what creating the payment would return, for the active card', async () => {
    const customer = await world.createCustomer();
    const { bindingId } = await world.bound(customer, good);
    expect(await ask(customer)).toMatchObject({
      status: 200,
      body: {
        mayCharge: true,
        status: 'active',
        rootBinding: { customerID: customer.id, customerBindingID: bindingId },
        card: { lastDigits: '4242' },
        chargesMade: 0,
      },
    });
    await charge(customer, {}, { invoice: declined });
    await world.service.jobs.whenIdle();
    const { code, retryAfter } = (await charge(customer)).created.body;
    expect(code).toBe('recurrentRetryTooEarly');
    expect((await ask(customer)).body).toMatchObject({ mayCharge: false, refusal: { code, retryAfter } });
    const another = await world.bound(customer, other);
    expect((await ask(customer)).body).toMatchObject({ mayCharge: true, card: { lastDigits: '4444' } });
    await world.withdraw(another);
    expect((await ask(customer)).body).toMatchObject({ mayCharge: false, refusal: { retryAfter } });
  });

  test('with an amount includes the declines that the network counts', async () => {
    const merchant = await world.createMerchant();
    const customer = await world.createCustomer({}, merchant);
    await world.bound(customer, good);
    const askHere = async (amount: number) =>
      (
        await world.service.call('GET', `${customersUrl}/${customer.id}/recurring?amount=${amount}`, {
          token: merchant.apiKey,
        })
      ).body;
    const dueDate = dueAfter(world.service.clock.now(), 90 * day);
    for (let tries = 0; tries < 15; tries++) {
      const invoice = await makeInvoice(world.service, merchant, { ...declined, dueDate });
      const payer = { payerType: 'CustomerPayer', customerID: customer.id };
      const made = await world.service.call('POST', `${invoicesUrl}/${invoice.id}/payments`, {
        token: merchant.apiKey,
        body: { payer },
      });
      expect(made.status, made.text).toBe(201);
      await world.service.jobs.whenIdle();
      world.service.clock.advance(day);
    }
    expect(await askHere(declined.amount)).toMatchObject({
      mayCharge: false,
      refusal: { code: 'recurrentRetryLimitReached' },
    });
    expect(await askHere(100)).toMatchObject({ mayCharge: true });
  });

  test('is refused for a customer without a card, or of another merchant', async () => {
    expect(await ask(await world.createCustomer())).toMatchObject({
      status: 400,
      body: { code: 'customerNotReady' },
    });
    expect(await ask({ id: 'unknown' })).toMatchObject({ status: 404 });
    const stranger = await world.createMerchant();
    const customer = await readyCustomer();
    const url = `${customersUrl}/${customer.id}/recurring`;
    expect(await world.service.call('GET', url, { token: stranger.apiKey })).toMatchObject({ status: 404 });
  });
});

describe('the consent behind a card', () => {
  const consentOf = (binding: MadeBinding) =>
    world.service.call('GET', `${customersUrl}/${binding.id}/bindings/${binding.bindingId}/consent`, {
      token,
    });
  const typesIn = async (binding: MadeBinding): Promise<string[]> =>
    (await consentOf(binding)).body.entries.flatMap(({ facts }: any) => facts.map(({ type }: any) => type));
  const consent = (text: string) => ({
    consent: { ticked: true, tickedAt: '2026-01-01T00:00:00Z', text },
  });

  test('is available before the first charge, sealed, and includes the terms of a second binding', async () => {
    const customer = await world.createCustomer();
    const first = await world.bind(customer, good, {
      recurrentTerms: { schedule: 'P1M', ...consent('monthly') },
    });
    await world.service.jobs.whenIdle();
    expect(verifyBundle((await consentOf(first)).text)).toMatchObject({ ok: true });
    const again = await world.bind(customer, good, {
      recurrentTerms: { schedule: 'P1Y', ...consent('yearly') },
    });
    await world.service.jobs.whenIdle();
    const { text, body } = await consentOf(again);
    expect(verifyBundle(text)).toMatchObject({ ok: true });
    expect(body.seriesId).toBe((await consentOf(first)).body.seriesId);
    const facts = body.entries.flatMap((entry: any) => entry.facts);
    expect(facts).toMatchObject([
      { type: 'series_started', terms: { mandate: { schedule: 'P1M', consent: { text: 'monthly' } } } },
      { type: 'consent_renewed', mandate: { schedule: 'P1Y', consent: { text: 'yearly' } } },
    ]);
    const url = `${customersUrl}/${customer.id}/recurring`;
    expect((await world.service.call('GET', url, { token })).body.terms).toEqual({ schedule: 'P1Y' });
    const failed = await world.bound(await world.createCustomer(), '4000000000000002');
    expect(await consentOf(failed)).toMatchObject({ status: 404 });
  });

  test('ends with the last binding of the card, and names who revoked it', async () => {
    const customer = await world.createCustomer();
    const [first, again] = [await world.bound(customer, good), await world.bound(customer, good)];
    await world.bound(customer, other);
    expect((await world.withdraw(first)).status).toBe(204);
    expect(await typesIn(again)).not.toContain('consent_withdrawn');
    expect((await world.withdraw(again, customer.token)).status).toBe(204);
    const { entries } = (await consentOf(again)).body;
    expect(entries.at(-1).facts).toEqual([{ type: 'consent_withdrawn', by: 'payer' }]);
    expect((await world.customer(customer)).status).toBe('ready');
    const bound = await world.bound(customer, good);
    expect((await typesIn(bound)).at(-1)).toBe('consent_renewed');
    const charged = await charge(customer);
    await world.service.jobs.whenIdle();
    expect(await world.payment(charged)).toMatchObject({ status: 'captured' });
  });

  test('ends with the customer', async () => {
    const customer = await world.createCustomer();
    const binding = await world.bound(customer, good);
    const charged = await charge(customer);
    await world.service.jobs.whenIdle();
    const url = `${customersUrl}/${customer.id}`;
    expect((await world.service.call('DELETE', url, { token })).status).toBe(204);
    const events = `${invoicesUrl}/${charged.id}/payments/1/recurring`;
    expect((await world.service.call('GET', events, { token })).body).toMatchObject({ status: 'withdrawn' });
    expect((await consentOf(binding)).status).toBe(404);
  });

  test('revokes the binding too when the payer revokes it by the link, and the customer is unready', async () => {
    const customer = await world.createCustomer();
    const binding = await world.bound(customer, good);
    const charged = await charge(customer);
    await world.service.jobs.whenIdle();
    const receipt = await world.service.call('GET', `${invoicesUrl}/${charged.id}/payments/1/receipt`, {
      token,
    });
    const link = new URL(/open (\S+)/.exec(receipt.body.text)![1]!).pathname;
    for (const _ of ['once', 'again']) {
      expect((await world.service.call('POST', link, { body: '' })).status).toBe(303);
    }
    expect((await world.customer(customer)).status).toBe('unready');
    expect(await world.binding(binding)).toMatchObject({ withdrawnAt: expect.any(String) });
    expect((await charge(customer)).created).toMatchObject({
      status: 400,
      body: { code: 'customerNotReady' },
    });
    const withdrawn = (await typesIn(binding)).filter((type) => type === 'consent_withdrawn');
    expect(withdrawn).toHaveLength(1);
  });

  test('leaves the customer’s other card when the merchant revokes it', async () => {
    const customer = await world.createCustomer();
    await world.bound(customer, other);
    await world.bound(customer, good);
    const charged = await charge(customer);
    await world.service.jobs.whenIdle();
    const url = `${invoicesUrl}/${charged.id}/payments/1/recurring/withdraw`;
    expect((await world.service.call('POST', url, { token, body: { reason: 'x' } })).status).toBe(204);
    expect((await world.customer(customer)).status).toBe('ready');
    const next = await charge(customer);
    expect(next.created.body.payer.paymentToolDetails.cardNumberMask).toMatch(/4444$/);
    await world.service.jobs.whenIdle();
  });
});

test('in the end the bank’s report, payments, bindings and the ledger agree', async () => {
  expect(await world.differences()).toEqual([]);
});
