// Recurring charges over the API: possible parents and retry rules, case by case.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { epochMsOf, laterBy, type Instant } from '../../../src/clock.ts';
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
/** A new merchant for each test, because networks count declines by card and shop. */
let merchant: Merchant;
let start: Instant;

beforeAll(async () => {
  world = await startPaymentWorld();
  recurring = recurringWorld(world);
});
afterAll(() => world.close());
beforeEach(async () => {
  merchant = await world.createMerchant();
  // At noon in the shop's zone, so that no test comes near a midnight there.
  world.service.clock.set((Math.floor(epochMsOf(world.service.clock.now()) / day) + 1) * day + 9 * hour);
  start = world.service.clock.now();
});

const hour = 3_600_000;
const day = 24 * hour;
/** The shortest wait after an attempt, in hours. */
const aDay = 22.75;
const parentOf = (card?: string) => recurring.parent(card, {}, merchant);
const charge = (parent: Parent, amount?: number, body = {}) =>
  recurring.charge(parent, amount, { by: merchant, body });
const charged = (parent: Parent, amount?: number) => recurring.charged(parent, amount, { by: merchant });
/** Hours after the first failed attempt. */
const at = (hours: number, ms = 0) => world.service.clock.set(epochMsOf(start) + hours * hour + ms);
const refused = (code: string, retryAfterHours?: number) => ({
  status: 400,
  body: {
    code,
    ...(retryAfterHours === undefined ? {} : { retryAfter: laterBy(start, retryAfterHours * hour) }),
  },
});

describe('a recurring payment', () => {
  test('is returned as pending without card, session or client, and is captured', async () => {
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

  test('is a parent only if it was created with makeRecurrent, and its parent stays one', async () => {
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

  test('sends the initiator and the chain to the bank', async () => {
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

  test('can be a hold, and never requests a challenge', async () => {
    const parent = await parentOf();
    const flow = { type: 'PaymentFlowHold', onHoldExpiration: 'cancel' };
    const held = await charge(parent, 100, { flow });
    expect(held).toMatchObject({ status: 201, body: { flow: { heldUntil: expect.any(String) } } });
    await world.service.jobs.whenIdle();
    const url = `${invoicesUrl}/${held.body.invoiceID}/payments/1`;
    expect((await world.service.call('GET', url, { token: merchant.apiKey })).body.status).toBe('processed');
  });

  test('with an externalID is returned to a repeat without a new check', async () => {
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
  const missing = { invoiceID: 'unknown', paymentID: '1' };

  test('of another shop or party is refused like one that does not exist', async () => {
    const parent = await parentOf();
    const unknown = await charge(missing);
    expect(unknown).toMatchObject(refused('invalidRecurrentParent'));
    const usd = await recurring.invoice(100, { shopID: 'TEST_USD', currency: 'USD' }, merchant);
    const ofOtherShop = await recurring.charge(parent, usd, { by: merchant });
    const ofOtherParty = await recurring.charge(parent, 100, { by: await world.createMerchant() });
    for (const answer of [ofOtherShop, ofOtherParty]) expect(answer.text).toBe(unknown.text);
  });

  test.each([
    ['is pending', connectionBreaks, {}],
    ['has failed', insufficientFunds, {}],
    ['was created without makeRecurrent', 100, { makeRecurrent: false }],
    ['is only held', 100, { flow: { type: 'PaymentFlowHold' } }],
  ])('that %s is refused', async (_, amount, more) => {
    const paying = await world.pay('4242424242424242', { makeRecurrent: true, ...more }, { amount });
    await world.service.jobs.whenIdle();
    const answer = await recurring.charge({ invoiceID: paying.id, paymentID: '1' });
    expect(answer).toMatchObject(refused('invalidRecurrentParent'));
  });

  test('that was held and then cancelled is refused', async () => {
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

  test('that was refunded stays a parent', async () => {
    const parent = await parentOf();
    const url = `${invoicesUrl}/${parent.invoiceID}/payments/1/refunds`;
    await world.service.call('POST', url, { token: merchant.apiKey, body: {} });
    await world.service.jobs.whenIdle();
    expect(await charged(parent)).toBe('captured');
  });

  test('is checked after the invoice, in the error order of the contract', async () => {
    const invoice = await recurring.invoice(100, {}, merchant);
    const parent = await parentOf();
    await recurring.charged(parent, invoice, { by: merchant });
    const answer = await recurring.charge(missing, invoice, { by: merchant });
    expect(answer).toMatchObject(refused('invalidInvoiceStatus'));
  });
});

describe('after a failure', () => {
  test('allows no attempt within 22 hours and 45 minutes, and one from then on', async () => {
    const parent = await parentOf();
    expect(await charged(parent, insufficientFunds)).toBe('failed');
    at(aDay - 1);
    expect((await charge(parent)).headers['retry-after']).toBe('3600');
    // Seconds are rounded up, so waiting for Retry-After is enough.
    at(aDay - 1, 1);
    expect((await charge(parent)).headers['retry-after']).toBe('3600');
    at(aDay, -1_000);
    expect(await charge(parent)).toMatchObject(refused('recurrentRetryTooEarly', aDay));
    at(aDay, -1);
    expect(await charge(parent)).toMatchObject({
      body: {
        rule: 'onceADay',
        rulePack: 'house@2026-11-23',
        message: expect.stringContaining('Too early to retry'),
      },
    });
    expect((await charge(parent)).headers['retry-after']).toBe('1');
    at(aDay);
    expect(await charged(parent)).toBe('captured');
    at(25);
    expect(await charged(parent)).toBe('captured');
    expect(await charged(parent)).toBe('captured');
  });

  test('allows one attempt a day for 31 days within network limits, then only a new invoice', async () => {
    const parent = await parentOf(mastercard);
    const invoice = await recurring.invoice(insufficientFunds, {}, merchant);
    const retry = () => recurring.charged(parent, invoice, { by: merchant });
    expect(await retry()).toBe('failed');
    // The network allows 30 declines in 30 days, so one day in between must pass.
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

  test('a new invoice that fails after the 31 days starts them again', async () => {
    const parent = await parentOf();
    expect(await charged(parent, insufficientFunds)).toBe('failed');
    at(31 * 24 + 1);
    const another = declinedWith(51) + 100_000;
    expect(await charged(parent, another)).toBe('failed');
    at(31 * 24 + 2);
    expect(await charge(parent)).toMatchObject(refused('recurrentRetryTooEarly', 31 * 24 + 1 + aDay));
    at(32 * 24 + 1);
    expect(await charged(parent, another)).toBe('failed');
    at(62 * 24);
    const invoice = await recurring.invoice(another, {}, merchant);
    at(62 * 24 + 1, 1);
    expect(await recurring.charge(parent, invoice, { by: merchant })).toMatchObject(
      refused('recurrentRetryWindowExpired'),
    );
  });

  test('treats another invoice with another amount as a retry', async () => {
    const parent = await parentOf();
    await charged(parent, insufficientFunds);
    at(1);
    expect(await charge(parent, 500)).toMatchObject(refused('recurrentRetryTooEarly', aDay));
  });

  test('follows an advice to wait four days', async () => {
    const parent = await parentOf();
    expect(await charged(parent, waitFourDays)).toBe('failed');
    at(95);
    const answer = await charge(parent);
    expect(answer).toMatchObject(refused('recurrentRetryTooEarly', 96));
    expect(answer.body).toMatchObject({ rule: 'advice 27', rulePack: 'advice@2025-01-01.2' });
    at(96);
    expect(await charged(parent)).toBe('captured');
  });

  test('allows at most fifteen declines of one amount within 30 days for Visa', async () => {
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

  test('hides the bank’s code from a payer’s token', async () => {
    const parent = await parentOf();
    await charged(parent, declinedWith(41));
    const invoice = await recurring.invoice(100, {}, merchant);
    const payer = { payerType: 'RecurrentPayer', recurrentParentPayment: parent, contactInfo: {} };
    const url = `${invoicesUrl}/${invoice.id}/payments`;
    const { text } = await world.service.call('POST', url, { token: invoice.token, body: { payer } });
    expect(text).toContain('recurrentStopped');
    expect(text).not.toContain('41');
  });

  test('refuses to charge a lost card again', async () => {
    const parent = await parentOf();
    expect(await charged(parent, declinedWith(41))).toBe('failed');
    at(24 * 7);
    const answer = await charge(parent);
    expect(answer).toMatchObject(refused('recurrentStopped'));
    expect(answer.body).toMatchObject({ rule: 'code 41', rulePack: 'visa@2025-05-01.2' });
    expect(answer.body.retryAfter).toBeUndefined();
    expect(answer.headers['retry-after']).toBeUndefined();
  });

  test('a stop by the payer ends all series of the card in the shop, until the payer pays again', async () => {
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

  test('a stop of one payment affects only its invoice', async () => {
    const [parent, other, another] = [await parentOf(), await parentOf(), await parentOf(mastercard)];
    const invoice = await recurring.invoice(199_108, {}, merchant); // R0
    expect(await recurring.charged(parent, invoice, { by: merchant })).toBe('failed');
    at(24);
    // Nor does another series charge it, whatever its card, unless the payer agreed to that series later.
    for (const by of [parent, other, another])
      expect(await recurring.charge(by, invoice, { by: merchant })).toMatchObject(
        refused('recurrentStopped'),
      );
    expect(await charged(parent)).toBe('captured');
    expect(await recurring.charged(await parentOf(), invoice, { by: merchant })).toBe('failed');
  });

  test('a new payment by the payer starts without failures', async () => {
    const parent = await parentOf();
    await charged(parent, insufficientFunds);
    at(3);
    expect(await charged(await parentOf(mastercard))).toBe('captured');
    expect(await charge(parent)).toMatchObject(refused('recurrentRetryTooEarly', aDay));
  });

  test('of two concurrent retries one is created', async () => {
    const parent = await parentOf();
    await charged(parent, insufficientFunds);
    at(24);
    const retry = () => charge(parent, insufficientFunds);
    // Both requests wait for the series, which another connection has locked.
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

  test('of two series that charge one invoice, one charges it and the other is unchanged', async () => {
    const parents = [await parentOf(), await parentOf(mastercard)];
    const invoice = await recurring.invoice(6_000, {}, merchant);
    // Both have evaluated their series and wait for the invoice, which another connection has locked.
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

  test('concurrent charges of one series are all created and counted', async () => {
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
    // No write was lost: the count is complete and the hash chain of the log is intact.
    const url = `${invoicesUrl}/${parent.invoiceID}/payments/1/recurring`;
    const ask = async (what: string) => world.service.call('GET', url + what, { token: merchant.apiKey });
    expect((await ask('')).body.chargesMade).toBe(24);
    expect(verifyBundle((await ask('/consent')).text)).toMatchObject({ ok: true });
  });

  test('a pending retry blocks the next without a retryAfter, and without a failure it blocks nothing', async () => {
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

  test('a charge that never reached the bank is no attempt; one whose response was lost is', async () => {
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

  test('ten concurrent charges of one invoice charge it once', async () => {
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
  // A series each: the bank's decline of the first charge stops its own.
  const [inTime, tooLate] = [await parentOf(), await parentOf()];
  const due = { dueDate: '2032-01-01T00:00:00Z' };
  const answerOf = async (parent: typeof inTime) =>
    recurring.charge(parent, await recurring.invoice(100, due, merchant), { by: merchant });
  world.service.clock.set(Date.UTC(2031, 0, 1, 12) - 1);
  expect(await answerOf(inTime)).toMatchObject({
    status: 201,
    body: { warnings: ['recurrentGapExceeded'] },
  });
  world.service.clock.advance(1);
  expect(await answerOf(tooLate)).toMatchObject(refused('recurrentCardExpired'));
});
