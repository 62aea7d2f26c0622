// How long the vault retains a card: only while something needs it, by src/app/card-needs.ts.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { epochMsOf, instantAt } from '../../../src/clock.ts';
import { customers } from '../../../src/customers/port.ts';
import {
  startCustomerWorld,
  type CustomerWorld,
  type MadeCustomer,
} from '../../support/worlds/customer-world.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import {
  declinedWith,
  recurringWorld,
  type Parent,
  type RecurringWorld,
} from '../../support/worlds/recurring.ts';
import type { Answer } from '../../support/service/test-service.ts';
import { waylay, type FaultyBank } from '../../support/bank/faulty-bank.ts';

const visa = '4242424242424242';
const mastercard = '5555555555554444';
const declined = '4000000000000002';
const challenged = '4012888888881881';
const minute = 60_000;
const day = 24 * 60 * minute;

let world: CustomerWorld;
let recurring: RecurringWorld;
let wayward: FaultyBank;
beforeAll(async () => {
  world = await startCustomerWorld();
  recurring = recurringWorld(world);
  wayward = waylay(world.service.banks);
});
afterAll(() => world.close());
beforeEach(async () => {
  await sql('delete from card');
});

async function sql<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  const { rows } = await world.service.database.withClient((client) => client.query<Row>(text, values));
  return rows;
}

const cardsLeft = async (): Promise<number> => (await sql('select 1 from card')).length;

/** Moves past the hour in which a token can be used or its request repeated. */
const whenTokensAreDead = () => world.later(61 * minute);

const post = (url: string, body: object): Promise<Answer> =>
  world.service.call('POST', url, { token: world.merchant.apiKey, body });

async function chargeCustomer(customer: MadeCustomer, amount = 6_000): Promise<string> {
  const invoice = await makeInvoice(world.service, world.merchant, { amount });
  const payer = { payerType: 'CustomerPayer', customerID: customer.id };
  const made = await post(`${invoicesUrl}/${invoice.id}/payments`, { payer });
  if (made.status !== 201) return made.body.code;
  await world.service.jobs.whenIdle();
  return (await world.payment(invoice)).status;
}

const withdrawConsent = ({ invoiceID, paymentID }: Parent) =>
  post(`${invoicesUrl}/${invoiceID}/payments/${paymentID}/recurring/withdraw`, { reason: 'no more' });

describe('a payment', () => {
  test('retains its card while its request can be repeated, and no longer', async () => {
    const invoice = await makeInvoice(world.service, world.merchant);
    const { token: paymentToolToken } = await world.tokenize(visa);
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
    const ask = () => post(`${invoicesUrl}/${invoice.id}/payments`, { payer, externalID: invoice.id });
    expect((await ask()).status).toBe(201);
    await world.service.jobs.whenIdle();
    await world.later(59 * minute);
    expect((await ask()).status).toBe(201);
    await whenTokensAreDead();
    expect(await cardsLeft()).toBe(0);
    // Everything else works without the card.
    const refund = await post(`${invoicesUrl}/${invoice.id}/payments/1/refunds`, { amount: 10 });
    expect(refund).toMatchObject({ status: 201 });
    await world.service.jobs.whenIdle();
    expect(await world.payment(invoice)).toMatchObject({
      status: 'captured',
      payer: { paymentToolDetails: { lastDigits: '4242' } },
    });
  });

  test('can be captured without its card', async () => {
    const held = await world.paid(visa, { flow: { type: 'PaymentFlowHold' } });
    await whenTokensAreDead();
    expect(await cardsLeft()).toBe(0);
    await post(`${invoicesUrl}/${held.id}/payments/1/capture`, { reason: 'r' });
    await world.service.jobs.whenIdle();
    expect(await world.payment(held)).toMatchObject({ status: 'captured' });
  });

  test('that may start a series retains its card until its outcome is known', async () => {
    const held = await world.paid(visa, { flow: { type: 'PaymentFlowHold' }, makeRecurrent: true });
    await world.later(2 * day);
    expect(await cardsLeft()).toBe(1);
    await post(`${invoicesUrl}/${held.id}/payments/1/capture`, { reason: 'r' });
    await world.service.jobs.whenIdle();
    await world.later(day);
    expect(await cardsLeft()).toBe(1);
    const other = await world.paid(visa, { flow: { type: 'PaymentFlowHold' }, makeRecurrent: true });
    await post(`${invoicesUrl}/${other.id}/payments/1/cancel`, { reason: 'r' });
    await world.later(2 * day);
    expect(await cardsLeft()).toBe(1);
  });

  test('of ten concurrent requests is the only one that retains a card', async () => {
    const invoice = await makeInvoice(world.service, world.merchant);
    const tokens = await Promise.all(Array.from({ length: 10 }, () => world.tokenize(visa)));
    const answers = await Promise.all(
      tokens.map(({ token: paymentToolToken }) =>
        post(`${invoicesUrl}/${invoice.id}/payments`, {
          payer: { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} },
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(await sql('select retained_for from card where is_retained')).toEqual([
      { retained_for: [`payment/${invoice.id}/1`] },
    ]);
    await world.service.jobs.whenIdle();
  });

  test('shares a card with another payment, and the longer need applies', async () => {
    const { token: paymentToolToken } = await world.tokenize(visa);
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
    const [one, two] = [
      await makeInvoice(world.service, world.merchant),
      await makeInvoice(world.service, world.merchant),
    ];
    await post(`${invoicesUrl}/${one.id}/payments`, { payer, makeRecurrent: true });
    await post(`${invoicesUrl}/${two.id}/payments`, { payer });
    await world.service.jobs.whenIdle();
    await world.later(10 * day);
    expect(await cardsLeft()).toBe(1);
    await withdrawConsent({ invoiceID: one.id, paymentID: '1' });
    await world.later(0);
    expect(await cardsLeft()).toBe(0);
  });
});

describe('a series', () => {
  test('retains its card until the consent is revoked; the refusal of a later charge says so', async () => {
    const parent = await recurring.parent();
    await world.later(40 * day);
    expect(await recurring.charged(parent)).toBe('captured');
    expect((await withdrawConsent(parent)).status).toBeLessThan(300);
    await world.later(0);
    expect(await cardsLeft()).toBe(0);
    expect(await recurring.charged(parent)).toBe('recurrentConsentRevoked');
    const { invoiceID, paymentID } = parent;
    const consent = await world.service.call(
      'GET',
      `${invoicesUrl}/${invoiceID}/payments/${paymentID}/recurring`,
      { token: world.merchant.apiKey },
    );
    expect(consent.text).toContain('"lastDigits":"4242"');
  });

  test('that the network has stopped deletes its card, as do the shop’s other series of the card', async () => {
    const [one, another] = [await recurring.parent(), await recurring.parent()];
    await whenTokensAreDead();
    expect(await cardsLeft()).toBe(2);
    expect(await recurring.charged(one, declinedWith(41))).toBe('failed');
    // The first job writes the stop into the other series. The second one deletes the cards.
    await world.later(0);
    await world.later(0);
    expect(await cardsLeft()).toBe(0);
    expect(await recurring.charged(another)).toBe('recurrentStopped');
  });

  test.each([
    ['with another card', 54],
    ['with the payer', 65],
  ])('that is stopped alone and continues %s retains its card for 31 days', async (_, code) => {
    const [stopped, other] = [await recurring.parent(mastercard), await recurring.parent(mastercard)];
    await whenTokensAreDead();
    expect(await recurring.charged(stopped, declinedWith(code))).toBe('failed');
    await world.later(31 * day - minute);
    expect(await cardsLeft()).toBe(2);
    await world.later(2 * minute);
    expect(await cardsLeft()).toBe(1);
    expect(await recurring.charged(other)).toBe('captured');
  });

  test('runs a card job once a quarter, so that a clock can be moved over years', async () => {
    await recurring.parent(mastercard);
    await whenTokensAreDead();
    const looks = () => world.metric('mandate_job_runs_total{job="card",outcome="done"}');
    const before = await looks();
    for (let days = 0; days < 365; days += 20) await world.later(20 * day);
    expect(await cardsLeft()).toBe(1);
    expect((await looks()) - before).toBeLessThan(6);
  });

  test('that is revoked during a charge retains its card until the charge has ended', async () => {
    const parent = await recurring.parent();
    await whenTokensAreDead();
    wayward.always('authorise', 'not sent');
    wayward.always('inquire', { outcome: 'unknown', why: 'silence' });
    expect(await recurring.charged(parent)).toBe('pending');
    await withdrawConsent(parent);
    await world.later(minute);
    expect(await cardsLeft()).toBe(1);
    wayward.always('authorise', undefined);
    wayward.always('inquire', undefined);
    await world.later(10 * minute);
    await world.later(2 * day);
    expect(await cardsLeft()).toBe(0);
  });
});

describe('a binding', () => {
  test('that has failed retains no card', async () => {
    const binding = await world.bound(await world.createCustomer(), declined);
    expect(await world.binding(binding)).toMatchObject({ status: 'failed' });
    await whenTokensAreDead();
    expect(await cardsLeft()).toBe(0);
  });

  test('that waits for its payer or its verification refund retains its card', async () => {
    await world.bound(await world.createCustomer(), challenged);
    wayward.always('reverse', 'message lost');
    await world.bound(await world.createCustomer(), visa);
    await world.later(9 * minute);
    expect(await sql('select 1 from card where is_retained')).toHaveLength(2);
    await world.later(2 * minute);
    await whenTokensAreDead();
    // The payer did not return. The verification refund of the other binding is still pending.
    expect(await cardsLeft()).toBe(1);
    wayward.always('reverse', undefined);
    await world.later(2 * day);
    expect(await cardsLeft()).toBe(1);
  });

  test('retains its card until it is revoked', async () => {
    const customer = await world.createCustomer();
    const binding = await world.bound(customer, visa);
    await world.later(40 * day);
    expect(await chargeCustomer(customer)).toBe('captured');
    expect((await world.withdraw(binding)).status).toBe(204);
    await world.later(0);
    expect(await cardsLeft()).toBe(0);
    expect(await world.binding(binding)).toMatchObject({
      paymentResource: { paymentToolDetails: { lastDigits: '4242' } },
    });
  });

  test('that is revoked within an hour is still returned to a repeat, and then retains no card', async () => {
    const customer = await world.createCustomer();
    const { token: paymentToolToken, session: paymentSession } = await world.tokenize(visa);
    const body = { paymentResource: { paymentToolToken, paymentSession }, externalID: customer.id };
    const ask = () => post(`/v2/processing/customers/${customer.id}/bindings`, body);
    const created = await ask();
    await world.service.jobs.whenIdle();
    expect((await world.withdraw({ ...customer, bindingId: created.body.id, created })).status).toBe(204);
    await world.later(minute);
    expect(await ask()).toMatchObject({ status: 201, body: { id: created.body.id } });
    await whenTokensAreDead();
    expect(await cardsLeft()).toBe(0);
  });

  test('of a card bound twice retains neither card a day after the payer revoked the consent', async () => {
    const customer = await world.createCustomer();
    const first = await world.bound(customer, visa);
    const again = await world.bound(customer, visa);
    await whenTokensAreDead();
    expect(await cardsLeft()).toBe(2);
    // By way of the series, which knows the first card.
    const [series] = await sql<{ series_id: string }>(
      'select series_id from series where series_id like $1',
      [`${customer.id}%`],
    );
    const { consents, database: db, clock } = world.service;
    await db.transaction(async (tx) => {
      const ended = await consents.revoke(tx, series!.series_id, { by: 'payer' }, clock.now());
      await customers.onConsentRevoked(tx, ended!, consents, clock.now());
    });
    for (const binding of [first, again]) {
      expect(await world.binding(binding, world.merchant.apiKey)).toHaveProperty('withdrawnAt');
    }
    await world.later(day + minute);
    expect(await cardsLeft()).toBe(0);
  });

  test('of a card bound again with a shorter consent retains neither card when that has ended', async () => {
    const customer = await world.createCustomer();
    await world.bound(customer, visa);
    await whenTokensAreDead();
    const validUntil = instantAt(epochMsOf(world.service.clock.now()) + 5 * day).slice(0, 10);
    await world.bind(customer, visa, { recurrentTerms: { validUntil } });
    await world.service.jobs.whenIdle();
    await world.later(4 * day);
    expect(await cardsLeft()).toBe(2);
    await world.later(3 * day);
    expect(await cardsLeft()).toBe(0);
  });

  test('of a deleted customer retains its card for at most a day', async () => {
    const customer = await world.createCustomer();
    await world.bound(customer, visa);
    await whenTokensAreDead();
    const { apiKey: token } = world.merchant;
    await world.service.call('DELETE', `/v2/processing/customers/${customer.id}`, { token });
    await world.later(day);
    expect(await cardsLeft()).toBe(0);
  });

  test('with an ended consent is refused for that reason without its card, and a new card is charged', async () => {
    const customer = await world.createCustomer();
    await world.bound(customer, visa);
    await whenTokensAreDead();
    await sql(
      `update series set terms = (terms::jsonb || '{"endsAt":"2026-01-01T00:00:00.000000Z"}')::json
               where series_id like $1`,
      [`${customer.id}%`],
    );
    // No event marks the end of the consent; only the card’s own job finds it.
    await world.later(91 * day);
    expect(await cardsLeft()).toBe(0);
    expect(await chargeCustomer(customer)).toBe('recurrentConsentExpired');
    // Binding the same card again renews the consent. Revoking that binding makes the first one active, whose card is
    // deleted.
    const later = { ...customer, token: world.merchant.apiKey };
    const again = await world.bound(later, visa);
    expect(await chargeCustomer(customer)).toBe('captured');
    await world.withdraw(again);
    expect(await chargeCustomer(customer)).toBe('customerNotReady');
    await world.bound(later, mastercard);
    expect(await chargeCustomer(customer)).toBe('captured');
  });
});

test('a retained card without a stored reason is never deleted', async () => {
  await world.paid(visa);
  await sql('update card set retained_for = null, wake_at = null');
  await world.later(10 * day);
  expect(await cardsLeft()).toBe(1);
});

test('what the browser reported is dropped from a retained card once its token is dead', async () => {
  const parent = await recurring.parent(visa);
  await sql(`update card set client_info = (client_info::jsonb || '{"browser": {"language": "en"}}')::json`);
  const browsers = () =>
    sql(
      `select client_info -> 'browser' ->> 'language' as reported, client_info ->> 'fingerprint' as by from card`,
    );
  await world.later(58 * minute);
  expect(await browsers()).toEqual([{ reported: 'en', by: 'a browser' }]);
  await whenTokensAreDead();
  expect(await browsers()).toEqual([{ reported: null, by: 'a browser' }]);
  await withdrawConsent(parent);
});
