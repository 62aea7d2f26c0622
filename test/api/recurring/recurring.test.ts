// Charges without the payer, over the API, with the simulated bank and a clock under the test's control: whom they may be
// made from, and the rules of trying again after a failure, case by case.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { epochMsOf, instantAt, laterBy, type Instant } from '../../../src/clock.ts';
import { verifyBundle } from '../../../src/recurring/consent-bundle.ts';
import { invoicesUrl } from '../../support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import {
  connectionBreaks,
  declinedWith,
  insufficientFunds,
  mastercard,
  recurringWorld,
  stoppedByPayer,
  waitFourDays,
  type Parent,
  type RecurringWorld,
} from '../../support/worlds/recurring.ts';
import type { Merchant } from '../../support/service/test-service.ts';
import { countWaiting } from '../../support/database/waiting.ts';

let world: PaymentWorld;
let recurring: RecurringWorld;
/** Of each test its own: the networks count what happens to a card in a shop. */
let merchant: Merchant;
let start: Instant;

beforeAll(async () => {
  world = await startPaymentWorld();
  recurring = recurringWorld(world);
});
afterAll(() => world.close());
beforeEach(async () => {
  merchant = await world.createMerchant();
  start = world.service.clock.now();
});

const hour = 3_600_000;
const parentOf = (card?: string) => recurring.parent(card, {}, merchant);
const charge = (parent: Parent, amount?: number, body = {}) =>
  recurring.charge(parent, amount, { by: merchant, body });
const charged = (parent: Parent, amount?: number) => recurring.charged(parent, amount, { by: merchant });
/** Hours after the first failing attempt was made. */
const at = (hours: number, ms = 0) => world.service.clock.set(epochMsOf(start) + hours * hour + ms);
const refused = (code: string, retryAfterHours?: number) => ({
  status: 400,
  body: {
    code,
    ...(retryAfterHours === undefined ? {} : { retryAfter: laterBy(start, retryAfterHours * hour) }),
  },
});

describe('a recurring payment', () => {
  test('is answered pending, without anything of the card, the session or the client, and is captured', async () => {
    const parent = await parentOf();
    const made = await charge(parent, 4_200, { makeRecurrent: true, metadata: { month: 2 } });
    expect(made).toMatchObject({ status: 201 });
    expect(made.body).toEqual({
      id: '1',
      invoiceID: expect.any(String),
      createdAt: expect.any(String),
      amount: 4_200,
      currency: 'RUB',
      flow: { type: 'PaymentFlowInstant' },
      payer: {
        payerType: 'RecurrentPayer',
        recurrentParentPayment: parent,
        contactInfo: { email: 'payer@example.com' },
      },
      makeRecurrent: true,
      metadata: { month: 2 },
      status: 'pending',
    });
    await world.service.jobs.whenIdle();
    const url = `${invoicesUrl}/${made.body.invoiceID}/payments/1`;
    expect((await world.service.call('GET', url, { token: merchant.apiKey })).body).toMatchObject({
      status: 'captured',
      payer: made.body.payer,
    });
  });

  test('that was made recurrent is a parent itself; one that was not is none, and the old parent stays', async () => {
    const parent = await parentOf();
    const next = await charge(parent, 100, { makeRecurrent: true });
    await world.service.jobs.whenIdle();
    const last = await charge({ invoiceID: next.body.invoiceID, paymentID: '1' }, 100);
    await world.service.jobs.whenIdle();
    expect(last).toMatchObject({ status: 201 });
    expect(last.body.warnings).toBeUndefined();
    const none = await charge({ invoiceID: last.body.invoiceID, paymentID: '1' });
    expect(none).toMatchObject(refused('invalidRecurrentParent'));
    const older = await charge(parent, 100);
    expect(older).toMatchObject({ status: 201, body: { warnings: ['recurrentParentNotLatest'] } });
    await world.service.jobs.whenIdle();
  });

  test('tells the bank who started it, and of which chain it is', async () => {
    const parent = await parentOf();
    const next = await charge(parent, 100, { makeRecurrent: true });
    await world.service.jobs.whenIdle();
    await charge({ invoiceID: next.body.invoiceID, paymentID: '1' }, 100);
    await world.service.jobs.whenIdle();
    const { rows } = await world.service.database.withClient((client) =>
      client.query(
        `select terms->'payer'->>'rootNetworkTransactionId' as root,
                terms->'payer'->>'previousNetworkTransactionId' as previous,
                state->'approval'->>'networkTransactionId' as own
         from payment where party_id = $1 order by own`,
        [merchant.partyId],
      ),
    );
    const [first, second, third] = rows;
    expect(first).toMatchObject({ root: null, previous: null, own: expect.any(String) });
    expect(second).toMatchObject({ root: first.own, previous: first.own });
    expect(third).toMatchObject({ root: first.own, previous: second.own });
  });

  test('may be a hold, and never asks for the payer', async () => {
    const parent = await parentOf();
    const flow = { type: 'PaymentFlowHold', onHoldExpiration: 'cancel' };
    const held = await charge(parent, 100, { flow });
    expect(held).toMatchObject({ status: 201, body: { flow: { heldUntil: expect.any(String) } } });
    await world.service.jobs.whenIdle();
    const url = `${invoicesUrl}/${held.body.invoiceID}/payments/1`;
    expect((await world.service.call('GET', url, { token: merchant.apiKey })).body.status).toBe('processed');
  });

  test('that was made with an externalID is answered again without any new check', async () => {
    const parent = await parentOf();
    const invoice = await recurring.invoice(insufficientFunds, {}, merchant);
    const body = { externalID: 'month 2' };
    const first = await recurring.charge(parent, invoice, { by: merchant, body });
    await world.service.jobs.whenIdle();
    const again = await recurring.charge(parent, invoice, { by: merchant, body });
    expect(again).toMatchObject({ status: 201, body: { id: first.body.id, status: 'failed' } });
    expect(await recurring.charge(parent, invoice, { by: merchant })).toMatchObject(
      refused('recurrentRetryTooEarly'),
    );
    const headers = { 'idempotency-key': 'k1' };
    const other = await recurring.charge(await parentOf(), 100, { by: merchant, headers });
    expect(other.status).toBe(201);
    await world.service.jobs.whenIdle();
  });
});

describe('a parent', () => {
  const nobody = { invoiceID: 'nobody', paymentID: '1' };

  test('of another shop or another party is answered like one that does not exist', async () => {
    const parent = await parentOf();
    const unknown = await charge(nobody);
    expect(unknown).toMatchObject(refused('invalidRecurrentParent'));
    const usd = await recurring.invoice(100, { shopID: 'TEST_USD', currency: 'USD' }, merchant);
    const ofOtherShop = await recurring.charge(parent, usd, { by: merchant });
    const ofOtherParty = await recurring.charge(parent, 100, { by: await world.createMerchant() });
    for (const answer of [ofOtherShop, ofOtherParty]) expect(answer.text).toBe(unknown.text);
  });

  test.each([
    ['is pending', connectionBreaks, {}],
    ['has failed', insufficientFunds, {}],
    ['was not made recurrent', 100, { makeRecurrent: false }],
    ['is only held', 100, { flow: { type: 'PaymentFlowHold' } }],
  ])('that %s is none', async (_, amount, more) => {
    const paying = await world.pay('4242424242424242', { makeRecurrent: true, ...more }, { amount });
    await world.service.jobs.whenIdle();
    const answer = await recurring.charge({ invoiceID: paying.id, paymentID: '1' });
    expect(answer).toMatchObject(refused('invalidRecurrentParent'));
  });

  test('that was held and then cancelled is none', async () => {
    const flow = { type: 'PaymentFlowHold' };
    const paying = await world.pay('4242424242424242', { makeRecurrent: true, flow }, { amount: 100 });
    await world.service.jobs.whenIdle();
    const url = `${invoicesUrl}/${paying.id}/payments/1`;
    const { apiKey: token } = world.merchant;
    await world.service.call('POST', `${url}/cancel`, { token, body: { reason: 'x' } });
    await world.service.jobs.whenIdle();
    expect((await world.payment(paying)).status).toBe('cancelled');
    const answer = await recurring.charge({ invoiceID: paying.id, paymentID: '1' });
    expect(answer).toMatchObject(refused('invalidRecurrentParent'));
  });

  test('whose money was given back stays one', async () => {
    const parent = await parentOf();
    const url = `${invoicesUrl}/${parent.invoiceID}/payments/1/refunds`;
    await world.service.call('POST', url, { token: merchant.apiKey, body: {} });
    await world.service.jobs.whenIdle();
    expect(await charged(parent)).toBe('captured');
  });

  test('is asked for after the invoice, so that the order of errors is that of the contract', async () => {
    const invoice = await recurring.invoice(100, {}, merchant);
    const parent = await parentOf();
    await recurring.charged(parent, invoice, { by: merchant });
    const answer = await recurring.charge(nobody, invoice, { by: merchant });
    expect(answer).toMatchObject(refused('invalidInvoiceStatus'));
  });
});

describe('after a failure', () => {
  test('no attempt within 24 hours, and one from then on', async () => {
    const parent = await parentOf();
    expect(await charged(parent, insufficientFunds)).toBe('failed');
    at(23);
    expect((await charge(parent)).headers['retry-after']).toBe('3600');
    // Seconds are rounded up: whoever waits for as many is not too early.
    at(23, 1);
    expect((await charge(parent)).headers['retry-after']).toBe('3600');
    at(24, -1_000);
    expect(await charge(parent)).toMatchObject(refused('recurrentRetryTooEarly', 24));
    at(24, -1);
    expect(await charge(parent)).toMatchObject({
      body: {
        rule: 'onceADay',
        rulePack: 'house@2026-01-01',
        message: expect.stringContaining('Too early to retry'),
      },
    });
    expect((await charge(parent)).headers['retry-after']).toBe('1');
    at(24);
    expect(await charged(parent)).toBe('captured');
    at(25);
    expect(await charged(parent)).toBe('captured');
    expect(await charged(parent)).toBe('captured');
  });

  test('tries once a day for 31 days, as far as the card network bears it, then the invoice is dead and a new one is not', async () => {
    const parent = await parentOf(mastercard);
    const invoice = await recurring.invoice(insufficientFunds, {}, merchant);
    const retry = () => recurring.charged(parent, invoice, { by: merchant });
    expect(await retry()).toBe('failed');
    // The network bears 30 declines in 30 days: the day between them is for waiting.
    for (let day = 1; day < 30; day++) {
      at(day * 24);
      expect(await retry(), `day ${day}`).toBe('failed');
    }
    at(31 * 24);
    expect(await retry()).toBe('failed');
    at(31 * 24, 1);
    expect(await recurring.charge(parent, invoice, { by: merchant })).toMatchObject(
      refused('recurrentRetryWindowExpired'),
    );
    at(31 * 24 + 1);
    expect(await charged(parent, 777)).toBe('captured');
  });

  test('a new invoice after the 31 days that fails too begins them anew', async () => {
    const parent = await parentOf();
    expect(await charged(parent, insufficientFunds)).toBe('failed');
    at(31 * 24 + 1);
    const another = declinedWith(51) + 100_000;
    expect(await charged(parent, another)).toBe('failed');
    at(31 * 24 + 2);
    expect(await charge(parent)).toMatchObject(refused('recurrentRetryTooEarly', 32 * 24 + 1));
    at(32 * 24 + 1);
    expect(await charged(parent, another)).toBe('failed');
    at(62 * 24);
    const invoice = await recurring.invoice(another, {}, merchant);
    at(62 * 24 + 1, 1);
    expect(await recurring.charge(parent, invoice, { by: merchant })).toMatchObject(
      refused('recurrentRetryWindowExpired'),
    );
  });

  test('another invoice with another amount is still a retry', async () => {
    const parent = await parentOf();
    await charged(parent, insufficientFunds);
    at(1);
    expect(await charge(parent, 500)).toMatchObject(refused('recurrentRetryTooEarly', 24));
  });

  test('an advice to wait four days is heeded', async () => {
    const parent = await parentOf();
    expect(await charged(parent, waitFourDays)).toBe('failed');
    at(95);
    const answer = await charge(parent);
    expect(answer).toMatchObject(refused('recurrentRetryTooEarly', 96));
    expect(answer.body).toMatchObject({ rule: 'advice 27', rulePack: 'advice@2025-01-01' });
    at(96);
    expect(await charged(parent)).toBe('captured');
  });

  test('fifteen declines of one amount within 30 days are all that Visa gets', async () => {
    const parent = await parentOf();
    for (let day = 0; day < 15; day++) {
      at(day * 24);
      expect(await charged(parent, insufficientFunds)).toBe('failed');
    }
    at(16 * 24);
    expect(await charge(parent, insufficientFunds)).toMatchObject(
      refused('recurrentRetryLimitReached', 30 * 24),
    );
    at(30 * 24);
    expect(await charged(parent, insufficientFunds)).toBe('failed');
  });

  test('the payer’s token is not told by which code', async () => {
    const parent = await parentOf();
    await charged(parent, declinedWith(41));
    const invoice = await recurring.invoice(100, {}, merchant);
    const payer = { payerType: 'RecurrentPayer', recurrentParentPayment: parent, contactInfo: {} };
    const url = `${invoicesUrl}/${invoice.id}/payments`;
    const { text } = await world.service.call('POST', url, { token: invoice.token, body: { payer } });
    expect(text).toContain('recurrentStopped');
    expect(text).not.toContain('41');
  });

  test('a lost card is not charged again', async () => {
    const parent = await parentOf();
    expect(await charged(parent, declinedWith(41))).toBe('failed');
    at(24 * 7);
    const answer = await charge(parent);
    expect(answer).toMatchObject(refused('recurrentStopped'));
    expect(answer.body).toMatchObject({ rule: 'code 41', rulePack: 'visa@2025-05-01' });
    expect(answer.body.retryAfter).toBeUndefined();
    expect(answer.headers['retry-after']).toBeUndefined();
  });

  test('a stop by the payer ends every series of the shop on the card, until he pays again himself', async () => {
    const [one, another] = [await parentOf(), await parentOf()];
    const elsewhere = await recurring.parent(undefined, { shopID: 'TEST_USD', currency: 'USD' }, merchant);
    expect(await charged(one, stoppedByPayer)).toBe('failed');
    for (const parent of [one, another]) {
      expect(await charge(parent)).toMatchObject(refused('recurrentStopped'));
    }
    const usd = await recurring.invoice(100, { shopID: 'TEST_USD', currency: 'USD' }, merchant);
    expect(await recurring.charged(elsewhere, usd, { by: merchant })).toBe('captured');
    at(1);
    expect(await charged(await parentOf())).toBe('captured');
    expect(await charge(one)).toMatchObject(refused('recurrentStopped'));
  });

  test('a stop of one payment is for its invoice alone', async () => {
    const parent = await parentOf();
    const invoice = await recurring.invoice(199_108, {}, merchant); // R0
    expect(await recurring.charged(parent, invoice, { by: merchant })).toBe('failed');
    at(24);
    expect(await recurring.charge(parent, invoice, { by: merchant })).toMatchObject(
      refused('recurrentStopped'),
    );
    expect(await charged(parent)).toBe('captured');
  });

  test('a new payment by the payer starts anew', async () => {
    const parent = await parentOf();
    await charged(parent, insufficientFunds);
    at(3);
    expect(await charged(await parentOf(mastercard))).toBe('captured');
    expect(await charge(parent)).toMatchObject(refused('recurrentRetryTooEarly', 24));
  });

  test('two retries at once: one is made', async () => {
    const parent = await parentOf();
    await charged(parent, insufficientFunds);
    at(24);
    const retry = () => charge(parent, insufficientFunds);
    // Both have come as far as the series, which somebody else holds, before either goes on.
    const { withClient } = world.service.database;
    const both = await withClient(async (client) => {
      await client.query('begin');
      await client.query('select from series where series_id = $1 for update', [`${parent.invoiceID}.1`]);
      const asked = [retry(), retry()];
      while ((await client.query(countWaiting)).rows[0].count < 2) await new Promise(setImmediate);
      await client.query('commit');
      return asked;
    });
    const answers = await Promise.all(both);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
    expect(answers.find(({ status }) => status === 400)?.body).toMatchObject({
      code: 'recurrentRetryTooEarly',
    });
    await world.service.jobs.whenIdle();
  });

  test('two series at once for one invoice: one charges it, and the other is as it was', async () => {
    const parents = [await parentOf(), await parentOf(mastercard)];
    const invoice = await recurring.invoice(6_000, {}, merchant);
    // Both have asked their series and wait for the invoice, which somebody else holds.
    const both = await world.service.database.withClient(async (client) => {
      await client.query('begin');
      await client.query('select from invoice where invoice_id = $1 for update', [invoice.id]);
      const asked = parents.map((parent) => recurring.charge(parent, invoice, { by: merchant }));
      while ((await client.query(countWaiting)).rows[0].count < 2) await new Promise(setImmediate);
      await client.query('commit');
      return asked;
    });
    const answers = await Promise.all(both);
    await world.service.jobs.whenIdle();
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
    const lengths = await Promise.all(
      parents.map(async ({ invoiceID }) => {
        const url = `${invoicesUrl}/${invoiceID}/payments/1/recurring/events?limit=100`;
        return (await world.service.call('GET', url, { token: merchant.apiKey })).body.length;
      }),
    );
    expect(lengths.sort()).toEqual([1, 3]);
  });

  test('many charges at once of one series: all are made, and each is counted', async () => {
    const parent = await parentOf();
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, number) => charge(parent, 1_000 + number)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    await world.service.jobs.whenIdle();
    const events = await world.service.call(
      'GET',
      `${invoicesUrl}/${parent.invoiceID}/payments/1/recurring/events?limit=100`,
      { token: merchant.apiKey },
    );
    const types = events.body.map(({ changes }: any) => changes[0].changeType);
    const count = (type: string) => types.filter((each: string) => each === type).length;
    expect(count('RecurringChargeStarted')).toBe(24);
    expect(count('RecurringChargeSucceeded')).toBe(24);
    // Nobody has written over what another has: the count goes on from each to the next, and the log's chain holds.
    const url = `${invoicesUrl}/${parent.invoiceID}/payments/1/recurring`;
    const ask = async (what: string) => world.service.call('GET', url + what, { token: merchant.apiKey });
    expect((await ask('')).body.chargesMade).toBe(24);
    expect(verifyBundle((await ask('/consent')).text)).toMatchObject({ ok: true });
  });

  test('a retry that is pending blocks the next, and nobody knows until when; without a failure it blocks nothing', async () => {
    const parent = await parentOf();
    await charged(parent, connectionBreaks);
    expect(await charged(parent)).toBe('captured');
    const failing = await parentOf();
    await charged(failing, insufficientFunds);
    at(24);
    expect(await charged(failing, connectionBreaks)).toBe('pending');
    at(49);
    const answer = await charge(failing);
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'recurrentRetryTooEarly', rule: 'attemptPending' },
    });
    expect(answer.body.retryAfter).toBeUndefined();
  });

  test('a charge that never reached the bank was no attempt; one that was lost on the way back was', async () => {
    const outcomeOf = async (amount: number) => {
      const parent = await parentOf();
      const made = await charge(parent, amount);
      await world.service.jobs.whenIdle();
      world.service.clock.advance(31 * 60_000);
      world.service.jobs.wake();
      await world.service.jobs.whenIdle();
      const url = `${invoicesUrl}/${made.body.invoiceID}/payments/1`;
      const { status } = (await world.service.call('GET', url, { token: merchant.apiKey })).body;
      const next = await charge(parent, 100);
      await world.service.jobs.whenIdle();
      return [status, next.body.code ?? next.body.status];
    };
    expect(await outcomeOf(199_903)).toEqual(['failed', 'pending']);
    expect(await outcomeOf(connectionBreaks)).toEqual(['captured', 'pending']);
  });

  test('ten charges at once of one invoice: it is charged once', async () => {
    const parent = await parentOf();
    const invoice = await recurring.invoice(100, {}, merchant);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => recurring.charge(parent, invoice, { by: merchant })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    await world.service.jobs.whenIdle();
    const url = `${invoicesUrl}/${invoice.id}/payments`;
    expect((await world.service.call('GET', url, { token: merchant.apiKey })).body).toHaveLength(1);
  });
});

test('an expired card is not charged', async () => {
  const parent = await parentOf();
  world.service.clock.set(Date.UTC(2031, 0, 1, 12) - 1);
  const due = { dueDate: instantAt(Date.UTC(2032, 0, 1)) };
  const last = await recurring.invoice(100, due, merchant);
  const early = await recurring.charge(parent, last, { by: merchant });
  expect(early).toMatchObject({ status: 201, body: { warnings: ['recurrentGapExceeded'] } });
  world.service.clock.advance(1);
  const late = await recurring.invoice(100, due, merchant);
  expect(await recurring.charge(parent, late, { by: merchant })).toMatchObject(
    refused('recurrentCardExpired'),
  );
});
