// A consent limits charges over the API: amounts, one charge in a period, the shop's time zone.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RecurringSettings } from '../../../src/recurring/domain/settings.ts';
import { storeSettings } from '../../../src/recurring/store/settings.ts';
import { waylay, type FaultyBank } from '../../support/bank/faulty-bank.ts';
import { commandLine } from '../../support/processes/command-line.ts';
import type { Merchant } from '../../support/service/test-service.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import {
  connectionBreaks,
  insufficientFunds,
  recurringWorld,
  type Parent,
  type RecurringWorld,
} from '../../support/worlds/recurring.ts';

let world: CustomerWorld;
let recurring: RecurringWorld;
let bank: FaultyBank;
let merchant: Merchant;

beforeAll(async () => {
  world = await startCustomerWorld();
  recurring = recurringWorld(world);
  bank = waylay(world.service.banks);
});
afterAll(() => world.close());
beforeEach(async () => {
  world.service.clock.set(Date.UTC(2026, 0, 19, 10));
  merchant = await world.createMerchant();
});

const set = (settings: RecurringSettings) =>
  storeSettings(world.service.database, { partyId: merchant.partyId, shopId: 'TEST' }, settings);
const charge = (parent: Parent, amount?: number, body = {}) =>
  recurring.charge(parent, amount, { by: merchant, body });
const charged = (parent: Parent, amount?: number) => recurring.charged(parent, amount, { by: merchant });
const call = async (method: 'GET' | 'POST', path: string, body?: object) => {
  const answer = await world.service.call(method, path, {
    token: merchant.apiKey,
    ...(body ? { body } : {}),
  });
  await world.service.jobs.whenIdle();
  return answer;
};
const pathOf = ({ invoiceID, paymentID }: Parent) => `${invoicesUrl}/${invoiceID}/payments/${paymentID}`;

async function startPayment(recurrentTerms: object, more: object = {}) {
  const invoice = await makeInvoice(world.service, merchant);
  const { token: paymentToolToken } = await world.tokenize('4242424242424242', merchant.apiKey);
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
  const path = `${invoicesUrl}/${invoice.id}/payments`;
  const send = (terms: object) =>
    call('POST', path, { payer, makeRecurrent: true, recurrentTerms: terms, ...more });
  return { answer: await send(recurrentTerms), send, parent: { invoiceID: invoice.id, paymentID: '1' } };
}
const parentWith = async (terms: object) => (await startPayment(terms)).parent;

/** The charge is made and captured, with these warnings. */
async function warned(parent: Parent, amount: number): Promise<string[]> {
  const { status, body } = await charge(parent, amount);
  expect([status, body.code]).toEqual([201, undefined]);
  await world.service.jobs.whenIdle();
  return body.warnings ?? [];
}

describe('the amount of a consent', () => {
  const agreed = { amountRule: { kind: 'fixed', amount: 500 } };

  test('is the largest that is charged, and the bank is not asked for more', async () => {
    const parent = await parentWith(agreed);
    bank.sent.length = 0;
    const answer = await charge(parent, 501);
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'recurrentAmountAboveConsent', rule: 'amount', rulePack: 'house@2026-11-23' },
    });
    expect(answer.body.retryAfter).toBeUndefined();
    await world.service.jobs.whenIdle();
    expect(bank.sent).toEqual([]);
    expect(await warned(parent, 500)).toEqual([]);
    expect(await warned(parent, 499)).toEqual(['amountBelowConsent']);
    expect((await call('GET', `${pathOf(parent)}/recurring?amount=501`)).body).toMatchObject({
      mayCharge: false,
      refusal: { code: 'recurrentAmountAboveConsent' },
    });
  });

  test('may be below a ceiling without a warning', async () => {
    const parent = await parentWith({ amountRule: { kind: 'upTo', amount: 500 } });
    expect(await warned(parent, 100)).toEqual([]);
    expect(await charge(parent, 501)).toMatchObject({ body: { code: 'recurrentAmountAboveConsent' } });
  });

  test('is that of the shop if the payment has no terms', async () => {
    const line = ['shop', 'recurring', 'TEST', '--party', merchant.partyId, '--amount-rule', 'upTo:500'];
    expect((await run(line)).code).toBe(0);
    const parent = await parentWith({});
    expect(await warned(parent, 500)).toEqual([]);
    expect(await charge(parent, 501)).toMatchObject({ body: { code: 'recurrentAmountAboveConsent' } });
  });

  test('changes with the end of the trial, in the time zone of the shop', async () => {
    await set({ timeZone: 'Asia/Vladivostok' });
    const parent = await parentWith({ ...agreed, trialEnd: '2026-01-25', amountAfterTrial: 900 });
    // Midnight is ten hours earlier there.
    expect(await charge(parent, 900)).toMatchObject({ body: { retryAfter: '2026-01-25T14:00:00.000000Z' } });
    world.service.clock.set(Date.UTC(2026, 0, 25, 14));
    expect(await warned(parent, 900)).toEqual([]);
    expect(await charge(parent, 901)).toMatchObject({ body: { code: 'recurrentAmountAboveConsent' } });
  });

  test('binds a saved card too', async () => {
    const customer = await world.createCustomer({}, merchant);
    const { token: paymentToolToken, session: paymentSession } = await world.tokenize(
      '4242424242424242',
      merchant.apiKey,
    );
    const path = `/v2/processing/customers/${customer.id}/bindings`;
    const paymentResource = { paymentToolToken, paymentSession };
    expect((await call('POST', path, { paymentResource, recurrentTerms: agreed })).status).toBe(201);
    const invoice = await makeInvoice(world.service, merchant, { amount: 501 });
    const payer = { payerType: 'CustomerPayer', customerID: customer.id };
    expect(await call('POST', `${invoicesUrl}/${invoice.id}/payments`, { payer })).toMatchObject({
      status: 400,
      body: { code: 'recurrentAmountAboveConsent' },
    });
  });

  test('of a series from before only warns, until the shop enforces it', async () => {
    const parent = await parentWith(agreed);
    await world.service.database.withClient((client) =>
      client.query(`update series set terms = (terms::jsonb - 'bindsAmount')::json where series_id = $1`, [
        `${parent.invoiceID}.1`,
      ]),
    );
    expect(await warned(parent, 501)).toEqual(['amountAboveConsent']);
    const binds = async () => (await call('GET', `${pathOf(parent)}/recurring`)).body.amountBinds;
    expect(await binds()).toBe(false);
    const line = ['shop', 'recurring', 'TEST', '--party', merchant.partyId, '--enforce-amount', 'yes'];
    expect((await run(line)).code).toBe(0);
    expect(await binds()).toBe(true);
    expect(await charge(parent, 501)).toMatchObject({ body: { code: 'recurrentAmountAboveConsent' } });
  });
});

describe('a second charge in one period', () => {
  test('gets a warning; a declined charge does not count, and a refunded one does', async () => {
    const parent = await parentWith({ schedule: 'P1M' });
    expect(await charged(parent, insufficientFunds)).toBe('failed');
    world.service.clock.set(Date.UTC(2026, 0, 21, 10));
    const first = await charge(parent, 100);
    await world.service.jobs.whenIdle();
    expect(first.body.warnings).toBeUndefined();
    expect(await warned(parent, 100)).toEqual(['periodAlreadyCharged']);
    const { body } = await call('GET', `${pathOf(parent)}/recurring/events?limit=100`);
    const changes = body.flatMap((event: any) => event.changes);
    expect(changes).toContainEqual(expect.objectContaining({ warnings: ['periodAlreadyCharged'] }));
    world.service.clock.set(Date.UTC(2026, 1, 20, 10));
    const made = await charge(parent, 100);
    await world.service.jobs.whenIdle();
    expect(made.body.warnings).toBeUndefined();
    const paid = { invoiceID: made.body.invoiceID, paymentID: '1' };
    expect((await call('POST', `${pathOf(paid)}/refunds`, {})).status).toBe(201);
    expect(await warned(parent, 100)).toEqual(['periodAlreadyCharged']);
  });

  test('is refused where the shop says so, until the next period', async () => {
    const line = ['shop', 'recurring', 'TEST', '--party', merchant.partyId, '--period-rule', 'refuse'];
    expect((await run(line)).code).toBe(0);
    const parent = await parentWith({ schedule: 'P1M' });
    expect(await warned(parent, 100)).toEqual([]);
    expect(await charge(parent, 100)).toMatchObject({
      status: 400,
      body: { code: 'recurrentPeriodAlreadyCharged', retryAfter: '2026-02-18T21:00:00.000000Z' },
    });
    world.service.clock.set(Date.UTC(2026, 1, 18, 21));
    expect(await warned(parent, 100)).toEqual([]);
  });

  test('counts a hold once it is captured', async () => {
    const parent = await parentWith({ schedule: 'P1M' });
    const held = await charge(parent, 100, { flow: { type: 'PaymentFlowHold' } });
    await world.service.jobs.whenIdle();
    const hold = { invoiceID: held.body.invoiceID, paymentID: '1' };
    const preview = async () => (await call('GET', `${pathOf(parent)}/recurring`)).body.warnings;
    expect(await preview()).toEqual([]);
    await call('POST', `${pathOf(hold)}/capture`, { reason: 'sent' });
    expect(await preview()).toEqual(['periodAlreadyCharged']);
  });

  test('counts a hold in the period of its capture, also when a later charge was captured before', async () => {
    const parent = await parentWith({ schedule: 'P1M' });
    world.service.clock.set(Date.UTC(2026, 1, 17, 10));
    const held = await charge(parent, 100, { flow: { type: 'PaymentFlowHold' } });
    await world.service.jobs.whenIdle();
    const hold = { invoiceID: held.body.invoiceID, paymentID: '1' };
    expect(await warned(parent, 100)).toEqual([]);
    world.service.clock.set(Date.UTC(2026, 1, 19, 10));
    expect((await call('POST', `${pathOf(hold)}/capture`, { reason: 'sent' })).status).toBe(202);
    expect(await warned(parent, 100)).toEqual(['periodAlreadyCharged']);
  });

  test('is refused while a hold can be captured, and a released hold frees the period', async () => {
    await set({ periodRule: 'refuse' });
    const parent = await parentWith({ schedule: 'P1M' });
    const hold = async () => {
      const { status, body } = await charge(parent, 100, { flow: { type: 'PaymentFlowHold' } });
      await world.service.jobs.whenIdle();
      return status === 201 ? pathOf({ invoiceID: body.invoiceID, paymentID: '1' }) : body;
    };
    const first = await hold();
    expect(await hold()).toMatchObject({ code: 'recurrentPeriodAlreadyCharged', rule: 'holdPending' });
    const { body } = await charge(parent, 100);
    expect([body.code, body.rule, body.retryAfter]).toEqual([
      'recurrentPeriodAlreadyCharged',
      'holdPending',
      undefined,
    ]);
    expect((await call('POST', `${first}/cancel`, { reason: 'not sent' })).status).toBe(202);
    expect(await hold()).toMatch(/payments/);
    // This one is not captured, and the bank releases it.
    world.service.clock.set(Date.UTC(2026, 0, 22, 10));
    await world.later(60_000);
    const last = await hold();
    expect(last).toMatch(/payments/);
    expect((await call('POST', `${last}/capture`, { reason: 'sent' })).status).toBe(202);
    expect(await charge(parent, 100)).toMatchObject({ body: { rule: 'period' } });
  });

  test('is refused while another one is pending', async () => {
    await set({ periodRule: 'refuse' });
    const parent = await parentWith({ schedule: 'P1M' });
    expect(await charged(parent, connectionBreaks)).toBe('pending');
    const { status, body } = await charge(parent, 100);
    expect([status, body.code, body.rule]).toEqual([400, 'recurrentPeriodAlreadyCharged', 'attemptPending']);
    expect(body.retryAfter).toBeUndefined();
  });

  test('is refused to all but one of ten concurrent charges', async () => {
    await set({ periodRule: 'refuse' });
    const parent = await parentWith({ schedule: 'P1M' });
    const answers = await Promise.all(Array.from({ length: 10 }, (_, more) => charge(parent, 100 + more)));
    await world.service.jobs.whenIdle();
    const codes = answers.map(({ status, body }) => body.code ?? status);
    expect(codes.filter((code) => code === 201)).toHaveLength(1);
    expect(codes.filter((code) => code === 'recurrentPeriodAlreadyCharged')).toHaveLength(9);
  });
});

describe('other recurrentTerms under the same externalID', () => {
  const terms = { schedule: 'P1M', amountRule: { kind: 'upTo', amount: 500 } };

  test('are another request: a payment', async () => {
    const { answer, send } = await startPayment(terms, { externalID: 'start' });
    const again = await send(terms);
    expect(again).toMatchObject({ status: 201, body: { id: answer.body.id } });
    for (const other of [{ ...terms, schedule: 'P1W' }, { schedule: 'P1M' }, {}])
      expect(await send(other)).toMatchObject({ status: 409 });
  });

  test('are another request: a binding', async () => {
    const customer = await world.createCustomer({}, merchant);
    const { token: paymentToolToken, session: paymentSession } = await world.tokenize(
      '4242424242424242',
      merchant.apiKey,
    );
    const bind = (recurrentTerms: object) =>
      call('POST', `/v2/processing/customers/${customer.id}/bindings`, {
        paymentResource: { paymentToolToken, paymentSession },
        externalID: 'card',
        recurrentTerms,
      });
    const { body } = await bind(terms);
    expect(await bind(terms)).toMatchObject({ status: 201, body: { id: body.id } });
    expect(await bind({ ...terms, schedule: 'P1W' })).toMatchObject({ status: 409 });
  });
});

describe('the time zone of a shop', () => {
  test('follows from its currency, can be set, and is listed', async () => {
    const zones = async () => {
      const { output } = await run(['shop', 'list', '--party', merchant.partyId, '--json']);
      return JSON.parse(output).map(({ shopId, timeZone }: any) => `${shopId} ${timeZone}`);
    };
    expect(await zones()).toEqual(['TEST Europe/Moscow', 'TEST_EUR UTC', 'TEST_USD UTC']);
    const line = ['shop', 'recurring', 'TEST_EUR', '--party', merchant.partyId, '--time-zone'];
    expect(JSON.parse((await run([...line, 'Europe/Berlin'])).output)).toEqual({ timeZone: 'Europe/Berlin' });
    expect(await zones()).toContain('TEST_EUR Europe/Berlin');
    expect(await run([...line, '+01:00'])).toMatchObject({
      code: 1,
      errors: 'mandate: Unknown --time-zone "+01:00". Use an IANA name such as Europe/Moscow.\n',
    });
  });
});

const run = (line: readonly string[]) =>
  commandLine(line, {
    DATABASE_URL: world.service.testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  });
