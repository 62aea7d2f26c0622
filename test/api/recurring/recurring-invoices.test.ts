// The merchant says with the invoice that its payment saves the card, and on which terms. No form in a browser changes that.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { requestFingerprint } from '../../../src/platform/http/idempotent-create.ts';
import type { RecurringSettings } from '../../../src/recurring/domain/settings.ts';
import { storeSettings } from '../../../src/recurring/store/settings.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { invoicesUrl, makeInvoice, order, type CreatedInvoice } from '../../support/worlds/invoices.ts';
import { recurringWorld, type RecurringWorld } from '../../support/worlds/recurring.ts';
import { startTestService, type Answer, type Merchant } from '../../support/service/test-service.ts';

const card = '4242424242424242';
const terms = { schedule: 'P1M', amountRule: { kind: 'fixed', amount: 29_900 } };
const wish = { makeRecurrent: true, recurrentTerms: terms };
const others = { schedule: 'P1Y', amountRule: { kind: 'upTo', amount: 1 } };
const consent = { ticked: true, tickedAt: '2026-01-19T09:59:00Z', text: 'I agree.', locale: 'en' };
const withoutAmount = 'consentWithoutAmount;field="recurrentTerms.amountRule"';
const missing = 'consentMissing;field="recurrentTerms.consent"';

let world: CustomerWorld;
let recurring: RecurringWorld;
let merchant: Merchant;

beforeAll(async () => {
  world = await startCustomerWorld();
  recurring = recurringWorld(world);
});
afterAll(() => world.close());
beforeEach(async () => {
  world.service.clock.set(Date.UTC(2026, 0, 19, 10));
  merchant = await world.createMerchant();
});

const set = (settings: RecurringSettings) =>
  storeSettings(world.service.database, { partyId: merchant.partyId, shopId: 'TEST' }, settings);
const warnings = ({ headers }: Answer) => headers['mandate-warnings'];
const read = async (path: string) =>
  (await world.service.call('GET', `${invoicesUrl}/${path}`, { token: merchant.apiKey })).body;
const create = (more: object) =>
  world.service.call('POST', invoicesUrl, { token: merchant.apiKey, body: { ...order, ...more } });
const invoiceWith = (more: object) => makeInvoice(world.service, merchant, { ...more });

/** With the invoice's own token, as a form in a browser pays, or with another one. */
async function pay(invoice: CreatedInvoice, more: object = {}, token = invoice.token): Promise<Answer> {
  const { token: paymentToolToken } = await world.tokenize(card, token);
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
  const url = `${invoicesUrl}/${invoice.id}/payments`;
  const paid = await world.service.call('POST', url, { token, body: { payer, ...more } });
  await world.service.jobs.whenIdle();
  return paid;
}
const termsOf = async ({ id }: CreatedInvoice) => (await read(`${id}/payments/1/recurring`)).terms;

describe('an invoice', () => {
  test('shows what its payment is to be, to the merchant and to its token', async () => {
    const trial = { ...terms, validUntil: '2030-12-31', trialEnd: '2026-03-01', amountAfterTrial: 49_900 };
    const made = await create({ makeRecurrent: true, recurrentTerms: trial });
    expect(made).toMatchObject({
      status: 201,
      body: { invoice: { makeRecurrent: true, recurrentTerms: trial } },
    });
    const { id } = made.body.invoice;
    expect(await read(id)).toMatchObject({ makeRecurrent: true, recurrentTerms: trial });
    const token = made.body.invoiceAccessToken.payload;
    const { body } = await world.service.call('GET', `${invoicesUrl}/${id}/events?limit=1`, { token });
    expect(body[0].changes[0].invoice).toMatchObject({ makeRecurrent: true, recurrentTerms: trial });
  });

  test('says nothing of it if it is for a single payment', async () => {
    const made = await create({ makeRecurrent: false });
    expect(made.status).toBe(201);
    for (const name of ['makeRecurrent', 'recurrentTerms'])
      expect(made.body.invoice).not.toHaveProperty(name);
  });

  test('without terms has none to show', async () => {
    const { id } = await invoiceWith({ makeRecurrent: true });
    expect((await read(id)).makeRecurrent).toBe(true);
    expect(await read(id)).not.toHaveProperty('recurrentTerms');
  });

  test.each([
    [{ recurrentTerms: terms }, 'recurrentTerms', 'requires makeRecurrent'],
    [{ makeRecurrent: false, recurrentTerms: {} }, 'recurrentTerms', 'requires makeRecurrent'],
    [{ ...wish, recurrentTerms: { schedule: ' ' } }, 'recurrentTerms.schedule', 'empty'],
    [{ ...wish, recurrentTerms: { schedule: `pay ${card}` } }, 'recurrentTerms.schedule', 'card number'],
    [{ ...wish, recurrentTerms: { validUntil: '2026-02-30' } }, 'recurrentTerms.validUntil', 'calendar day'],
    [
      { ...wish, recurrentTerms: { amountAfterTrial: 1 } },
      'recurrentTerms.amountAfterTrial',
      'requires trialEnd',
    ],
    [{ ...wish, recurrentTerms: { amountRule: { kind: 'fixed', amount: 0 } } }, 'body', ''],
    [{ makeRecurrent: 'yes' }, 'makeRecurrent', ''],
  ])('with %j is refused', async (more, where, why) => {
    const made = await create(more);
    expect(made).toMatchObject({ status: 400, body: { code: 'invalidRequest' } });
    expect(made.body.message).toContain(`Request parameter: ${where}`);
    expect(made.body.message).toContain(why);
  });

  test('with an undeclared consent of any form ignores it', async () => {
    for (const sent of [5, null, { text: 5 }]) {
      const made = await create({ ...wish, recurrentTerms: { ...terms, consent: sent } });
      expect(made.status).toBe(201);
      expect(made.body.invoice.recurrentTerms).toEqual(terms);
    }
  });

  test('is another request if its wish or its terms differ', async () => {
    const asked = { externalID: 'order-1', ...wish };
    const [first, same] = [await create(asked), await create(asked)];
    expect([same.status, same.body.invoice.id]).toEqual([201, first.body.invoice.id]);
    for (const more of [{ makeRecurrent: true, recurrentTerms: others }, { makeRecurrent: true }, {}]) {
      const other = await create({ externalID: 'order-1', ...more });
      expect([other.status, other.body.id]).toEqual([409, first.body.invoice.id]);
    }
  });

  test('for a single payment has the fingerprint it had before', async () => {
    const { body } = await create({ externalID: 'order-2' });
    const { rows } = await world.service.database.withClient((client) =>
      client.query('select fingerprint from external_id where entity_id = $1', [body.invoice.id]),
    );
    const { shopID, amount, currency, product, dueDate } = order;
    const before = [shopID, amount, currency, product, dueDate, undefined, undefined, undefined];
    expect(rows[0].fingerprint).toEqual(requestFingerprint(before));
  });

  test('is warned about if the consent will name no amount', async () => {
    expect(warnings(await create(wish))).toBeUndefined();
    expect(warnings(await create({}))).toBeUndefined();
    expect(warnings(await create({ makeRecurrent: true }))).toBe(withoutAmount);
    expect(warnings(await create({ makeRecurrent: true, recurrentTerms: { schedule: 'P1M' } }))).toBe(
      withoutAmount,
    );
    await set({ terms: { amountRule: { kind: 'variable', text: 'the price of each order' } } });
    expect(warnings(await create({ makeRecurrent: true }))).toBeUndefined();
    // Terms of its own are one block, so the shop's amount does not apply.
    expect(warnings(await create({ makeRecurrent: true, recurrentTerms: { schedule: 'P1M' } }))).toBe(
      withoutAmount,
    );
  });
});

test('warnings about a consent come in live mode too, after those about unknown members', async () => {
  const sandbox = await create({ makeRecurrent: true, makeRecurent: true });
  expect(warnings(sandbox)).toBe(
    `unknownMember;field="makeRecurent";nearest="makeRecurrent", ${withoutAmount}`,
  );
  const live = await startTestService({ MANDATE_MODE: 'live', PUBLIC_URL: 'https://pay.example' });
  try {
    const { apiKey: token } = await live.createMerchant();
    const body = { ...order, makeRecurrent: true };
    const made = await live.call('POST', invoicesUrl, { token, body });
    expect([made.status, warnings(made)]).toEqual([201, withoutAmount]);
    expect(made.headers['access-control-expose-headers']).toContain('Mandate-Warnings');
  } finally {
    await live.close();
  }
});

describe('a form that pays such an invoice', () => {
  test.each<[string, object]>([
    ['drops the wish', { recurrentTerms: { consent } }],
    ['denies the wish', { makeRecurrent: false, recurrentTerms: { consent } }],
    ['changes the terms', { makeRecurrent: true, recurrentTerms: { ...others, consent } }],
  ])('and %s changes nothing', async (_, more) => {
    const invoice = await invoiceWith(wish);
    const paid = await pay(invoice, more);
    expect([paid.status, paid.body.makeRecurrent, warnings(paid)]).toEqual([201, true, undefined]);
    expect(await termsOf(invoice)).toEqual(terms);
    const bundle = await read(`${invoice.id}/payments/1/recurring/consent`);
    expect(bundle.entries[0].facts[0].terms.mandate).toMatchObject({
      amountRule: { kind: 'fixed', amountMinor: 29_900 },
      schedule: 'P1M',
      consent: { text: 'I agree.' },
      evidence: 'attestedByMerchant',
    });
    const parent = { invoiceID: invoice.id, paymentID: '1' };
    expect((await recurring.charge(parent, 29_901, { by: merchant })).body.code).toBe(
      'recurrentAmountAboveConsent',
    );
    expect(await recurring.charged(parent, 29_900, { by: merchant })).toBe('captured');
  });

  test('is warned that it sends no consent', async () => {
    const invoice = await invoiceWith(wish);
    const paid = await pay(invoice);
    expect([paid.status, paid.body.makeRecurrent, warnings(paid)]).toEqual([201, true, missing]);
    expect((await read(`${invoice.id}/payments/1/recurring`)).consentEvidence).toBe('missing');
  });

  test('is refused without a consent where the shop requires one', async () => {
    await set({ requireConsentEvidence: true });
    const invoice = await invoiceWith(wish);
    for (const more of [{}, { makeRecurrent: false }, { makeRecurrent: true, recurrentTerms: others }])
      expect((await pay(invoice, more)).body.code).toBe('operationNotPermitted');
    expect((await pay(invoice, { recurrentTerms: { consent } })).status).toBe(201);
  });

  test('says the terms if the invoice does not, and else the shop does', async () => {
    await set({ terms: { schedule: 'P2W' } });
    const [asked, plain] = [
      await invoiceWith({ makeRecurrent: true }),
      await invoiceWith({ makeRecurrent: true }),
    ];
    await pay(asked, { recurrentTerms: { ...others, consent } });
    expect(await termsOf(asked)).toEqual(others);
    expect(warnings(await pay(plain))).toBe(`${withoutAmount}, ${missing}`);
    expect(await termsOf(plain)).toEqual({ schedule: 'P2W' });
  });

  test('always has the payer authenticated, as the card is saved', async () => {
    const paid = await pay(await invoiceWith(wish), { threeDSecure: 'never' }, merchant.apiKey);
    expect([paid.status, paid.body.message]).toEqual([
      400,
      expect.stringContaining('must not be never with makeRecurrent'),
    ]);
  });

  test('and comes again gets the same payment', async () => {
    const invoice = await invoiceWith(wish);
    const asked = { externalID: 'pay-1', recurrentTerms: { consent } };
    const [first, again] = [await pay(invoice, asked), await pay(invoice, asked)];
    expect([first.status, again.status, again.body.id]).toEqual([201, 201, first.body.id]);
    const another = { ...asked, recurrentTerms: { consent: { ...consent, text: 'I do not.' } } };
    expect((await pay(invoice, another)).status).toBe(409);
  });
});

test('an API key may pay such an invoice on terms of its own', async () => {
  const invoice = await invoiceWith(wish);
  await pay(invoice, { recurrentTerms: { ...others, consent } }, merchant.apiKey);
  expect(await termsOf(invoice)).toEqual(others);
  const plain = await invoiceWith(wish);
  await pay(plain, {}, merchant.apiKey);
  expect(await termsOf(plain)).toEqual(terms);
});

test('charges without a card form follow their own request', async () => {
  const [first, second] = [await invoiceWith(wish), await invoiceWith(wish)];
  const parent = await recurring.parent(card, {}, merchant);
  expect(await recurring.charge(parent, first, { by: merchant })).toMatchObject({
    status: 201,
    body: { makeRecurrent: false },
  });
  const customer = await world.createCustomer({}, merchant);
  await world.bound(customer, card);
  const url = `${invoicesUrl}/${second.id}/payments`;
  const payer = { payerType: 'CustomerPayer', customerID: customer.id };
  const charged = await world.service.call('POST', url, { token: merchant.apiKey, body: { payer } });
  expect([charged.status, charged.body.makeRecurrent, warnings(charged)]).toEqual([201, false, undefined]);
  await world.service.jobs.whenIdle();
});

describe('a request that asks to save the card', () => {
  test('still needs makeRecurrent with its terms', async () => {
    const paid = await pay(await invoiceWith({}), { recurrentTerms: { ...terms, consent } });
    expect([paid.status, paid.body.message]).toEqual([
      400,
      expect.stringContaining('requires makeRecurrent'),
    ]);
  });

  test('is warned about what its consent lacks', async () => {
    const ask = async (recurrentTerms?: object) =>
      warnings(await pay(await invoiceWith({}), { makeRecurrent: true, recurrentTerms }));
    expect(await ask({ ...terms, consent })).toBeUndefined();
    expect(await ask({ schedule: 'P1M', consent })).toBe(withoutAmount);
    expect(await ask(terms)).toBe(missing);
    expect(await ask()).toBe(`${withoutAmount}, ${missing}`);
    await set({ terms: { amountRule: { kind: 'upTo', amountMinor: 1 } } });
    expect(await ask({ consent })).toBeUndefined();
  });

  test('is warned about if it is a binding', async () => {
    const ask = async (recurrentTerms?: object) => {
      const customer = await world.createCustomer({}, merchant);
      const { token: paymentToolToken, session: paymentSession } = await world.tokenize(card, customer.token);
      const made = await world.service.call('POST', `/v2/processing/customers/${customer.id}/bindings`, {
        token: customer.token,
        body: { paymentResource: { paymentToolToken, paymentSession }, recurrentTerms },
      });
      await world.service.jobs.whenIdle();
      expect(made.status).toBe(201);
      return warnings(made);
    };
    expect(await ask({ ...terms, consent })).toBeUndefined();
    expect(await ask({ consent })).toBe(withoutAmount);
    expect(await ask()).toBe(`${withoutAmount}, ${missing}`);
  });
});
