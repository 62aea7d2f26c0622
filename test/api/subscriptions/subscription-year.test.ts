// A year of subscriptions, with the test clock and the public API only.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { insufficientFunds } from '../../support/worlds/recurring.ts';
import { subscriptionWorld, type SubscriptionWorld } from '../../support/subscriptions/subscription-world.ts';

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
});
afterAll(() => world.close());

describe('a year by the test clock', () => {
  test('charges each month once, on the day of the anchor', async () => {
    const merchant = await world.createMerchant();
    const customerId = await subscriptions.readyCustomer(merchant);
    const { body: me } = await subscriptions.call(merchant, 'GET', '/sandbox/clock');
    const year = Number(me.now.slice(0, 4)) + 1;
    await subscriptions.moveTo(merchant, `${year}-01-31T09:00:00Z`);
    const created = await subscriptions.create(merchant, customerId);
    expect(created.status, created.text).toBe(201);
    const { id } = created.body;
    await subscriptions.moveTo(merchant, `${year + 1}-01-30T20:00:00Z`);
    const periods = await subscriptions.periods(merchant, id);
    const leap = year % 4 === 0 ? '29' : '28';
    const days = [
      '01-31',
      `02-${leap}`,
      '03-31',
      '04-30',
      '05-31',
      '06-30',
      '07-31',
      '08-31',
      '09-30',
      '10-31',
      '11-30',
      '12-31',
    ];
    expect(periods.map(({ startsOn, outcome }) => `${startsOn} ${outcome}`)).toEqual(
      days.map((day) => `${year}-${day} paid`),
    );
    const invoices = await Promise.all(
      periods.map(({ invoiceID }) => subscriptions.invoice(merchant, invoiceID)),
    );
    expect(invoices.map(({ status, amount }) => [status, amount])).toEqual(days.map(() => ['paid', 49_900]));
    expect(new Set(periods.map(({ invoiceID }) => invoiceID)).size).toBe(12);
    for (const { invoiceID } of periods) {
      const payments = await subscriptions.payments(merchant, invoiceID);
      expect(payments.map(({ status }) => status)).toEqual(['captured']);
    }
    expect(await subscriptions.get(merchant, id)).toMatchObject({ status: 'active', openPeriods: [] });
  });

  test('retries what fails within the rules, and then does what the merchant has said', async () => {
    const merchant = await world.createMerchant();
    const customerId = await subscriptions.readyCustomer(merchant);
    const items = [{ product: 'Tea', price: insufficientFunds }];
    const ends: Record<string, unknown> = {};
    for (const ifUnpaid of ['unpaid', 'end', 'pause']) {
      const customer = ifUnpaid === 'unpaid' ? customerId : await subscriptions.readyCustomer(merchant);
      const made = await subscriptions.create(merchant, customer, { items, ifUnpaid });
      expect(made.status, made.text).toBe(201);
      ends[ifUnpaid] = made.body.id;
    }
    const { body: me } = await subscriptions.call(merchant, 'GET', '/sandbox/clock');
    const later = new Date(Date.parse(me.now) + 70 * 86_400_000).toISOString();
    await subscriptions.moveTo(merchant, later);
    for (const [ifUnpaid, status] of [
      ['unpaid', 'unpaid'],
      ['end', 'ended'],
      ['pause', 'paused'],
    ] as const) {
      const id = ends[ifUnpaid] as string;
      const [first, ...others] = await subscriptions.periods(merchant, id);
      expect([first.outcome, others], ifUnpaid).toEqual(['unpaid', []]);
      const payments = await subscriptions.payments(merchant, first.invoiceID);
      expect(payments.length, ifUnpaid).toBeGreaterThanOrEqual(5);
      expect(new Set(payments.map(({ status: of }) => of))).toEqual(new Set(['failed']));
      expect(await subscriptions.get(merchant, id)).toMatchObject({ status });
    }
  });
});
