// A subscription that continues one of elsewhere, and one that a customer has only once.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Merchant } from '../../support/service/test-service.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import {
  subscriptionsUrl,
  subscriptionWorld,
  type SubscriptionWorld,
} from '../../support/subscriptions/subscription-world.ts';

const dayMs = 86_400_000;

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
});
afterAll(() => world.close());

async function merchantOfMarch() {
  const by = await world.createMerchant();
  const customerId = await subscriptions.readyCustomer(by);
  await subscriptions.moveTo(by, '2027-03-10T12:00:00Z');
  const outcomes = async (id: string) =>
    (await subscriptions.periods(by, id)).map((one) => [one.number, one.startsOn, one.outcome]);
  return { by, customerId, outcomes };
}

describe('a subscription of elsewhere', () => {
  test('keeps its dates and numbers, and is first charged at its due time', async () => {
    const { by, customerId, outcomes } = await merchantOfMarch();
    const continuesWith = { number: 8, startsOn: '2027-03-31' };
    const { body } = await subscriptions.create(by, customerId, { continuesWith, anchorDay: 31 });
    expect(body).toMatchObject({ status: 'active', continuesWith, anchorDay: 31, openPeriods: [] });
    await subscriptions.settle();
    expect(await outcomes(body.id)).toEqual([]);
    const upcoming = await subscriptions.call(by, 'GET', `${subscriptionsUrl}/${body.id}/upcoming?count=3`);
    expect(upcoming.body.map(({ number, startsOn }: any) => [number, startsOn])).toEqual([
      [8, '2027-03-31'],
      [9, '2027-04-30'],
      [10, '2027-05-31'],
    ]);
    // Its window in Moscow begins at 03:00 UTC.
    await subscriptions.moveTo(by, '2027-03-31T02:59:00Z');
    expect(await outcomes(body.id)).toEqual([]);
    await subscriptions.moveTo(by, '2027-05-01T12:00:00Z');
    expect(await outcomes(body.id)).toEqual([
      [8, '2027-03-31', 'paid'],
      [9, '2027-04-30', 'paid'],
    ]);
  });

  test.each([
    ['current', ['missed', 'missed', 'paid']],
    ['all', ['paid']],
    ['none', ['missed', 'missed', 'missed']],
  ])('that is late is charged as %s says', async (catchUp, expected) => {
    const { by, customerId, outcomes } = await merchantOfMarch();
    const continuesWith = { number: 1, startsOn: '2027-01-01' };
    const { body } = await subscriptions.create(by, customerId, { continuesWith, catchUp });
    await subscriptions.settle();
    expect((await outcomes(body.id)).map(([, , outcome]) => outcome)).toEqual(expected);
  });

  test.each([
    [{ number: 1, startsOn: '2026-03-08' }, '`continuesWith.startsOn` must be of the last 366'],
    [{ number: 1, startsOn: '2037-03-18' }, 'or the next 3,660 days'],
    [{ number: 1, startsOn: '2027-02-30' }, '`continuesWith` needs a number from 1 on, and a date.'],
    [{ number: 0, startsOn: '2027-04-01' }, 'continuesWith.number'],
    [{ number: 1, startsOn: 'soon' }, 'continuesWith.startsOn'],
    [{ number: 1 }, 'continuesWith.startsOn'],
  ])('is refused with %j', async (continuesWith, message) => {
    const { by, customerId } = await merchantOfMarch();
    const answer = await subscriptions.create(by, customerId, { continuesWith });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalidRequest']);
    expect(answer.body.message).toContain(message);
  });

  test('does not start with a payment', async () => {
    const continuesWith = { number: 2, startsOn: '2027-04-01' };
    const answer = await subscriptions.createUnpaid(world.merchant, { continuesWith });
    expect([answer.status, answer.body.message]).toEqual([400, '`continuesWith` needs `customerID`.']);
  });
});

describe('a unique key', () => {
  const keyed = (by: Merchant, customerId: string, more: Record<string, unknown> = {}) =>
    subscriptions.create(by, customerId, { uniqueKey: 'tea', ...more });

  test('refuses a second subscription with the ID of the first one, until that has ended', async () => {
    const by = await world.createMerchant();
    const customerId = await subscriptions.readyCustomer(by);
    const first = await keyed(by, customerId);
    expect([first.status, first.body.uniqueKey]).toEqual([201, 'tea']);
    const second = await keyed(by, customerId, { externalID: 'again' });
    expect([second.status, second.body.code, second.body.id]).toEqual([
      400,
      'subscriptionKeyTaken',
      first.body.id,
    ]);
    // Neither another key nor another customer is touched, and the external ID is free.
    expect((await keyed(by, customerId, { uniqueKey: 'Tea' })).status).toBe(201);
    expect((await keyed(by, await subscriptions.readyCustomer(by))).status).toBe(201);
    await subscriptions.settle();
    const end = `${subscriptionsUrl}/${first.body.id}/cancel`;
    expect((await subscriptions.call(by, 'POST', end, { when: 'periodEnd' })).status).toBe(200);
    expect((await keyed(by, customerId)).body.code).toBe('subscriptionKeyTaken');
    expect((await subscriptions.call(by, 'POST', end, { when: 'now' })).status).toBe(200);
    const third = await keyed(by, customerId, { externalID: 'again' });
    expect(third.status, third.text).toBe(201);
    const repeat = await keyed(by, customerId, { externalID: 'again' });
    expect([repeat.status, repeat.body.id]).toEqual([201, third.body.id]);
  });

  test('is free when the job ends the subscription', async () => {
    const by = await world.createMerchant();
    const first = await subscriptions.createUnpaid(by, { uniqueKey: 'tea' });
    expect(first.status).toBe(201);
    const taken = await subscriptions.createUnpaid(by, { uniqueKey: 'tea' });
    expect([taken.body.code, taken.body.id]).toEqual(['subscriptionKeyTaken', first.body.id]);
    const { body } = await subscriptions.call(by, 'GET', '/sandbox/clock');
    await subscriptions.moveTo(by, new Date(Date.parse(body.now) + 1.1 * dayMs).toISOString());
    expect((await subscriptions.createUnpaid(by, { uniqueKey: 'tea' })).status).toBe(201);
  });

  test('lets one of two win that come at once', async () => {
    const by = await world.createMerchant();
    const customerId = await subscriptions.readyCustomer(by);
    const answers = await Promise.all(Array.from({ length: 6 }, () => keyed(by, customerId)));
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    for (const { status, body } of answers)
      if (status !== 201) expect([body.code, body.id]).toEqual(['subscriptionKeyTaken', made[0]?.body.id]);
  });
});
