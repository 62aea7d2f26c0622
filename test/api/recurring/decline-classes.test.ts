// Who can help after a decline: what merchants see of it, what it stops, and for how long.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Bank, BankResponse } from '../../../src/acquiring/domain/bank-port.ts';
import { laterBy } from '../../../src/clock.ts';
import { invoicesUrl, type CreatedInvoice } from '../../support/worlds/invoices.ts';
import { customersUrl, startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import {
  declinedWith,
  insufficientFunds,
  mastercard,
  recurringWorld,
  type Parent,
  type RecurringWorld,
} from '../../support/worlds/recurring.ts';
import { startNode } from '../../support/service/nodes.ts';
import type { Merchant } from '../../support/service/test-service.ts';

let world: CustomerWorld;
let recurring: RecurringWorld;
/** A new merchant for each test, because a stop reaches every series of the card in the shop. */
let merchant: Merchant;

beforeAll(async () => {
  world = await startCustomerWorld();
  recurring = recurringWorld(world);
});
afterAll(() => world.close());
beforeEach(async () => {
  merchant = await world.createMerchant();
});

const visa = '4242424242424242';
const minute = 60_000;
const lettered = (ending: number) => 100_000 + ending;
const parentOf = (card?: string) => recurring.parent(card, {}, merchant);
const charge = (parent: Parent, of?: number | CreatedInvoice) =>
  recurring.charge(parent, of, { by: merchant });
const charged = (parent: Parent, of?: number | CreatedInvoice) =>
  recurring.charged(parent, of, { by: merchant });
const get = async (url: string, token = merchant.apiKey) =>
  (await world.service.call('GET', url, { token })).body;
const check = ({ invoiceID, paymentID }: Parent) =>
  get(`${invoicesUrl}/${invoiceID}/payments/${paymentID}/recurring`);
const events = async ({ invoiceID, paymentID }: Parent) =>
  (await get(`${invoicesUrl}/${invoiceID}/payments/${paymentID}/recurring/events?limit=100`)).flatMap(
    ({ changes }: { changes: object[] }) => changes,
  );

/** A payment with the payer present, for that invoice or a new one. */
async function pay(amount: number | CreatedInvoice, cardNumber = visa): Promise<CreatedInvoice> {
  const invoice = typeof amount === 'object' ? amount : await recurring.invoice(amount, {}, merchant);
  const { token: paymentToolToken } = await world.tokenize(cardNumber, merchant.apiKey);
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
  const url = `${invoicesUrl}/${invoice.id}/payments`;
  const made = await world.service.call('POST', url, { token: merchant.apiKey, body: { payer } });
  expect(made.status, made.text).toBe(201);
  await world.service.jobs.whenIdle();
  return invoice;
}

/** The next authorisation gets that response. */
function answerNext(answer: BankResponse): void {
  const { banks } = world.service;
  const usual = banks.bankOf;
  banks.bankOf = async (terminal) => {
    const bank = await usual(terminal);
    const send: Bank['send'] = (operation) => {
      if (operation.kind !== 'authorise') return bank.send(operation);
      banks.bankOf = usual;
      return Promise.resolve(answer);
    };
    return { ...bank, send };
  };
}

describe('a decline that only another card or the payer can heal', () => {
  test.each([
    ['newCard', 'code 54', visa, declinedWith(54)],
    ['newCard', 'code N7', mastercard, lettered(99_107)],
    ['payerPresent', 'code 1A', visa, lettered(99_101)],
    ['payerPresent', 'code 65', mastercard, declinedWith(65)],
  ])('%s (%s) ends the series and no other', async (declineClass, rule, card, amount) => {
    const [parent, other] = [await parentOf(card), await parentOf(card)];
    expect(await charged(parent, amount)).toBe('failed');
    world.service.clock.advance(3 * 24 * 60 * minute);
    const refused = await charge(parent);
    expect(refused).toMatchObject({ status: 400, body: { code: 'recurrentStopped', rule, declineClass } });
    expect(refused.body.retryAfter).toBeUndefined();
    expect(await check(parent)).toMatchObject({
      mayCharge: false,
      refusal: { code: 'recurrentStopped', rule, declineClass },
      status: 'stopped',
      declineClass,
    });
    expect(await charged(other)).toBe('captured');
    expect(await charged(await parentOf(card))).toBe('captured');
  });

  test('is in the events of the series, in the error of the payment and in its feed, for merchants alone', async () => {
    const parent = await parentOf();
    const made = await charge(parent, declinedWith(54));
    await world.service.jobs.whenIdle();
    expect(await events(parent)).toMatchObject([
      { changeType: 'SeriesStarted' },
      { changeType: 'RecurringChargeStarted' },
      { changeType: 'RecurringChargeFailed', declineClass: 'newCard' },
      { changeType: 'SeriesStopped', declineClass: 'newCard', rule: 'code 54' },
    ]);
    const url = `${invoicesUrl}/${made.body.invoiceID}`;
    const error = { code: 'authorization_failed', declineClass: 'newCard' };
    expect(await get(`${url}/payments/1`)).toMatchObject({ status: 'failed', error });
    const feed = await get(`${url}/events?limit=100`);
    expect(feed.flatMap(({ changes }: { changes: object[] }) => changes)).toContainEqual(
      expect.objectContaining({ status: 'failed', error: expect.objectContaining(error) }),
    );
    const invoice = await recurring.invoice(declinedWith(54), {}, merchant);
    await pay(invoice);
    const shown = await get(`${invoicesUrl}/${invoice.id}/payments/1`, invoice.token);
    expect(shown.error).toEqual({ code: 'InvalidPaymentTool' });
  });

  test('goes when the payer binds the card again', async () => {
    const customer = await world.createCustomer({}, merchant);
    const bind = async () => {
      const card = await world.tokenize(visa, customer.token);
      const paymentResource = { paymentToolToken: card.token, paymentSession: card.session };
      const url = `${customersUrl}/${customer.id}/bindings`;
      await world.service.call('POST', url, { token: customer.token, body: { paymentResource } });
      await world.service.jobs.whenIdle();
    };
    const chargeCustomer = async (amount: number) => {
      const invoice = await recurring.invoice(amount, {}, merchant);
      const body = { payer: { payerType: 'CustomerPayer', customerID: customer.id } };
      const url = `${invoicesUrl}/${invoice.id}/payments`;
      const made = await world.service.call('POST', url, { token: merchant.apiKey, body });
      await world.service.jobs.whenIdle();
      return made.status === 201 ? 'sent' : made.body.code;
    };
    const state = () => get(`${customersUrl}/${customer.id}/recurring`);
    await bind();
    expect(await chargeCustomer(declinedWith(54))).toBe('sent');
    expect(await chargeCustomer(100)).toBe('recurrentStopped');
    expect(await state()).toMatchObject({ mayCharge: false, declineClass: 'newCard' });
    world.service.clock.advance(24 * 60 * minute);
    await bind();
    expect((await state()).declineClass).toBeUndefined();
    expect(await chargeCustomer(100)).toBe('sent');
  });
});

describe('a decline that no network decided', () => {
  test('follows the class that the bank tells: payerPresent ends the series, stopped all of the card', async () => {
    const [parent, other] = [await parentOf(), await parentOf()];
    expect(await charged(parent, lettered(99_931))).toBe('failed');
    world.service.clock.advance(3 * 24 * 60 * minute);
    expect(await charge(parent)).toMatchObject({
      status: 400,
      body: { code: 'recurrentStopped', rule: 'class payerPresent', declineClass: 'payerPresent' },
    });
    expect(await charged(other, lettered(99_932))).toBe('failed');
    expect(await charge(await parentOf(mastercard))).toMatchObject({ status: 201 });
    world.service.clock.advance(3 * 24 * 60 * minute);
    expect(await charge(other)).toMatchObject({ body: { rule: 'class stopped', declineClass: 'stopped' } });
  });

  test('may say until when a retry is pointless, and is believed for 31 days at most', async () => {
    const word = {
      outcome: 'declined',
      network: 'visa',
      code: 'a_word',
      by: 'acquirer',
      class: 'issuer',
    } as const;
    for (const [days, heard] of [
      [3, 3],
      [3_000, 31],
    ] as const) {
      const parent = await parentOf();
      const now = world.service.clock.now();
      const after = (many: number) => laterBy(now, many * 24 * 60 * minute);
      answerNext({ ...word, notBefore: after(days) });
      expect(await charged(parent)).toBe('failed');
      expect(await charge(parent)).toMatchObject({
        body: { code: 'recurrentRetryTooEarly', rule: 'notBefore', retryAfter: after(heard) },
      });
    }
  });

  test('has its code in the sealed consent, and none of the bank’s words for people', async () => {
    const parent = await parentOf();
    const word = {
      outcome: 'declined',
      network: 'visa',
      code: 'a_word',
      by: 'acquirer',
      class: 'funds',
    } as const;
    answerNext({ ...word, text: 'Ask the branch', references: { acquirer: 'A-1' } });
    expect(await charged(parent)).toBe('failed');
    const { entries } = await get(
      `${invoicesUrl}/${parent.invoiceID}/payments/${parent.paymentID}/recurring/consent`,
    );
    const facts = entries.flatMap((entry: { facts: object[] }) => entry.facts);
    expect(facts.find(({ type }: { type: string }) => type === 'recurring_charge_failed').answer).toEqual({
      network: 'visa',
      code: 'a_word',
    });
  });
});

test('a decline that time heals names its class, and a success clears it', async () => {
  const parent = await parentOf();
  expect(await charged(parent, insufficientFunds)).toBe('failed');
  expect(await check(parent)).toMatchObject({ status: 'active', declineClass: 'funds' });
  world.service.clock.advance(24 * 60 * minute);
  expect(await charged(parent)).toBe('captured');
  expect((await check(parent)).declineClass).toBeUndefined();
});

test('an approval with the advice that it was the last one stops the series as stopped', async () => {
  const parent = await parentOf();
  expect(await charged(parent, 199_907)).toBe('captured');
  expect(await check(parent)).toMatchObject({ refusal: { rule: 'advice 03', declineClass: 'stopped' } });
});

test('advice about a new card on an approval stops nothing', async () => {
  const parent = await parentOf();
  answerNext({ outcome: 'approved', reference: '900000000001', advice: '01' });
  expect(await charged(parent)).toBe('captured');
  expect(await check(parent)).toMatchObject({ mayCharge: true });
});

describe('a decline for a wrong configuration', () => {
  const misconfigured = declinedWith(58);
  const paused = (until: string) => ({
    status: 400,
    body: {
      code: 'recurrentTerminalPaused',
      rule: 'terminalPaused',
      declineClass: 'configuration',
      retryAfter: until,
    },
  });

  test('pauses charges without the payer for 15 minutes, opens no episode and does not use the day', async () => {
    const [parent, other] = [await parentOf(), await parentOf(mastercard)];
    const now = world.service.clock.now();
    expect(await charged(parent, misconfigured)).toBe('failed');
    const until = laterBy(now, 15 * minute);
    const refusedCharge = await charge(parent);
    expect(refusedCharge).toMatchObject(paused(until));
    expect(refusedCharge.headers['retry-after']).toBe('900');
    expect(await charge(other)).toMatchObject(paused(until));
    expect(await check(other)).toMatchObject({
      mayCharge: false,
      refusal: { code: 'recurrentTerminalPaused', retryAfter: until, declineClass: 'configuration' },
    });
    expect(await check(parent)).toMatchObject({ status: 'active', declineClass: 'configuration' });
    expect((await check(parent)).failingSince).toBeUndefined();
    const present = await pay(100);
    expect(await get(`${invoicesUrl}/${present.id}/payments/1`)).toMatchObject({ status: 'captured' });

    world.service.clock.advance(15 * minute - 1);
    expect(await charge(parent)).toMatchObject(paused(until));
    world.service.clock.advance(1);
    expect(await charged(parent)).toBe('captured');
  });

  test('leaves an open episode and its day as they are', async () => {
    const parent = await parentOf();
    expect(await charged(parent, insufficientFunds)).toBe('failed');
    const { failingSince } = await check(parent);
    world.service.clock.advance(24 * 60 * minute);
    expect(await charged(parent, misconfigured)).toBe('failed');
    world.service.clock.advance(15 * minute);
    expect((await check(parent)).failingSince).toBe(failingSince);
    expect(await charged(parent)).toBe('captured');
  });

  test('counts as a decline of the card', async () => {
    const parent = await parentOf();
    for (let times = 0; times < 9; times++) {
      expect(await charged(parent, misconfigured)).toBe('failed');
      world.service.clock.advance(15 * minute);
    }
    expect(await charge(parent)).toMatchObject({ body: { code: 'recurrentRetryLimitReached' } });
  });

  test('leaves charges to the shop’s other terminal', async () => {
    const terminal = { id: 'T2', bankId: 'BANK', merchantId: 'TEST', descriptor: 'TEST SHOP' };
    const shop = { partyId: merchant.partyId, shopId: 'TEST' };
    await world.service.banks.putTerminal({ ...shop, ...terminal, priority: 2 });
    const parent = await parentOf();
    expect(await charged(parent, misconfigured)).toBe('failed');
    expect((await check(parent)).mayCharge).toBe(true);
    const now = world.service.clock.now();
    const wanted = { by: 'merchant', currency: 'RUB', isHold: false, savesCard: false } as const;
    const named = { ...merchant, id: 'TEST' };
    expect(await world.service.banks.terminalOfCharge(named, wanted, now)).toMatchObject({
      value: { id: 'T2' },
    });
    expect(await world.service.banks.terminalFor(named, { ...wanted, by: 'payer' })).toMatchObject({
      value: { id: 'T1' },
    });
    expect(await charged(parent)).toBe('captured');
  });

  test('holds back a charge that waits to be sent', async () => {
    const [parent, other] = [await parentOf(), await parentOf(mastercard)];
    answerNext({ outcome: 'notSent', why: 'ECONNRESET' });
    expect(await charged(parent)).toBe('pending');
    expect(await charged(other, misconfigured)).toBe('failed');
    const invoices = async () => (await world.book()).filter(({ kind }) => kind === 'authorise').length;
    const before = await invoices();
    for (let minutes = 0; minutes < 14; minutes++) await world.later(minute);
    expect(await invoices()).toBe(before);
    for (let minutes = 0; minutes < 14; minutes++) await world.later(minute);
    expect(await invoices()).toBe(before + 1);
    expect(await check(parent)).toMatchObject({ chargesMade: 1 });
  });

  test('by the bank itself pauses too, and is no decline of the card', async () => {
    const parent = await parentOf();
    answerNext({ outcome: 'declined', network: 'bank', code: '30' });
    expect(await charged(parent)).toBe('failed');
    expect(await charge(parent)).toMatchObject({ body: { code: 'recurrentTerminalPaused' } });
  });

  test('of a payment with the payer present pauses nothing', async () => {
    const parent = await parentOf();
    await pay(misconfigured);
    expect(await charged(parent)).toBe('captured');
  });

  test('reaches every node, ends when the operator changes the terminal, and alerts', async () => {
    const node = await startNode(world.service);
    const parent = await parentOf();
    expect(await charged(parent, misconfigured)).toBe('failed');
    const now = world.service.clock.now();
    const shop = { partyId: merchant.partyId, shopId: 'TEST' };
    expect(await node.banks.pausedUntil(shop, now)).toBe(laterBy(now, 15 * minute));
    expect(world.service.logged.join('\n')).toMatch(/"code":"58".*"terminal paused"/);
    expect(await world.metric('mandate_terminals_paused')).toBeGreaterThan(0);
    expect(await world.metric('mandate_configuration_declines_total{bank="BANK"}')).toBeGreaterThan(0);
    const terminal = { id: 'T1', bankId: 'BANK', merchantId: 'TEST', descriptor: 'TEST SHOP' };
    await world.service.banks.putTerminal({ ...shop, ...terminal, priority: 1 });
    expect(await charged(parent)).toBe('captured');
    await node.stop();
  });
});

describe('a final decline with the payer present', () => {
  test('stops charges of the card, until the payer is present again', async () => {
    const parent = await parentOf();
    await pay(declinedWith(43));
    await world.service.jobs.whenIdle();
    expect(await charge(parent)).toMatchObject({
      body: { code: 'recurrentStopped', rule: 'code 43', declineClass: 'newCard' },
    });
    await world.later(1);
    expect(await events(parent)).toContainEqual(
      expect.objectContaining({ changeType: 'SeriesStopped', rule: 'code 43', declineClass: 'newCard' }),
    );
    expect(await charged(await parentOf())).toBe('captured');
  });

  test('stops only its invoice if the issuer stopped only that payment', async () => {
    const parent = await parentOf();
    const invoice = await pay(lettered(99_108));
    expect(await charge(parent, invoice)).toMatchObject({
      body: { code: 'recurrentStopped', rule: 'code R0', declineClass: 'stopped' },
    });
    expect(await charged(parent)).toBe('captured');
    // Every stop of a card is one of all its charges to a node of an older version.
    const stops = `select from card_stop where invoice_id = $1`;
    const { rows } = await world.service.database.withClient((client) => client.query(stops, [invoice.id]));
    expect(rows).toEqual([]);
  });

  test('of an invoice that was stored as a stop of the card is still one of the invoice', async () => {
    const parent = await parentOf();
    const invoice = await recurring.invoice(100, {}, merchant);
    await world.service.database.withClient((client) =>
      client.query(
        `insert into card_stop select card_key, $2, '1', party_id, shop_id, false, $3, 'code R0', 'visa@2026-10-25', 'stopped', true
         from series where series_id = $1`,
        [`${parent.invoiceID}.1`, invoice.id, world.service.clock.now()],
      ),
    );
    expect(await charge(parent, invoice)).toMatchObject({ body: { code: 'recurrentStopped' } });
    expect(await charged(parent)).toBe('captured');
  });

  test('of a verification charge stops them too', async () => {
    const parent = await parentOf();
    const customer = await world.createCustomer({}, merchant);
    answerNext({ outcome: 'declined', network: 'visa', code: 'R1' });
    await world.bound(customer, visa);
    expect(await charge(parent)).toMatchObject({
      body: { code: 'recurrentStopped', rule: 'code R1', declineClass: 'stopped' },
    });
  });

  test('is not one that a mistyped card explains', async () => {
    const parent = await parentOf();
    await pay(declinedWith(54));
    await pay(lettered(99_107));
    expect(await charged(parent)).toBe('captured');
  });
});
