// A year of subscriptions, with the test clock and the public API only.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Merchant } from '../../support/service/test-service.ts';
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

/** How often the clock of that merchant has stopped from now on. */
async function countedStops({ partyId }: Merchant): Promise<() => Promise<number>> {
  const query = (sql: string) =>
    world.service.testDatabase.database.withClient((client) => client.query(sql));
  await query('create table clock_stop (party_id text)');
  await query(`create function count_stop() returns trigger language plpgsql as
    $$ begin insert into clock_stop values (new.party_id); return null; end $$`);
  await query(`grant insert on clock_stop to public`);
  await query(
    'create trigger counted after insert or update on test_clock for each row execute function count_stop()',
  );
  return async () => {
    const { rows } = await query(
      `select count(*)::int as stops from clock_stop where party_id = '${partyId}'`,
    );
    return rows[0].stops;
  };
}

/** Oldest first, from all pages. */
async function everyPeriod(merchant: Merchant, id: string): Promise<any[]> {
  const path = `/v2/processing/subscriptions/${id}/periods?limit=100`;
  const { body } = await subscriptions.call(merchant, 'GET', path);
  return body.toReversed();
}

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

  test('of 400 days in one go stops where something happens, and charges each period once, in order', async () => {
    const merchant = await world.createMerchant();
    const ids: string[] = [];
    for (const every of ['P1M', 'P1W', 'P10D']) {
      const customerId = await subscriptions.readyCustomer(merchant);
      ids.push(
        (await subscriptions.create(merchant, customerId, { every, timeZone: 'Europe/Berlin' })).body.id,
      );
    }
    await subscriptions.settle();
    const stops = await countedStops(merchant);
    const { body: me } = await subscriptions.call(merchant, 'GET', '/sandbox/clock');
    await subscriptions.moveTo(merchant, new Date(Date.parse(me.now) + 400 * 86_400_000).toISOString());
    let charged = 0;
    for (const id of ids) {
      const periods = await everyPeriod(merchant, id);
      charged += periods.length - 1;
      expect(periods.map(({ number, outcome }) => [number, outcome])).toEqual(
        periods.map((__, place) => [place + 1, 'paid']),
      );
      const days = periods.map(({ dueAt }) => dueAt);
      expect(days).toEqual(days.toSorted());
      expect(periods.slice(1).map(({ startsOn }) => startsOn)).toEqual(
        periods.slice(0, -1).map(({ endsOn }) => endsOn),
      );
      expect(new Set(periods.map(({ invoiceID }) => invoiceID)).size).toBe(periods.length);
      for (const { invoiceID } of periods) {
        const payments = await subscriptions.payments(merchant, invoiceID);
        expect(payments.map(({ status }) => status)).toEqual(['captured']);
      }
    }
    // 13 months, 57 weeks, and 40 times ten days.
    expect(charged).toBe(13 + 57 + 40);
    // The charge of a period and its receipt, and what a job may find out later. No stop is for a look at the day.
    expect(await stops()).toBeLessThan(3 * charged);
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
