// What a merchant does with one period, and how an end is taken back.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { recordStatements } from '../../support/database/sent-statements.ts';
import type { Merchant } from '../../support/service/test-service.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { declinedWith, insufficientFunds } from '../../support/worlds/recurring.ts';
import {
  subscriptionsUrl,
  subscriptionWorld,
  type SubscriptionWorld,
} from '../../support/subscriptions/subscription-world.ts';

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
});
afterAll(() => world.close());

async function started(price: number, more: Record<string, unknown> = {}) {
  const by = await world.createMerchant();
  const customerId = await subscriptions.readyCustomer(by);
  const created = await subscriptions.create(by, customerId, { items: [{ product: 'Tea', price }], ...more });
  expect(created.status, created.text).toBe(201);
  await subscriptions.settle();
  const { id } = created.body;
  const act = async (verb: string, body?: unknown) => {
    const answer = await subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/${verb}`, body);
    await subscriptions.settle();
    return answer;
  };
  const outcomes = async () => (await subscriptions.periods(by, id)).map(({ outcome }) => outcome);
  const triesOf = async (number: number) => {
    const { invoiceID } = (await subscriptions.periods(by, id))[number - 1];
    return (await subscriptions.payments(by, invoiceID)).length;
  };
  return { by, id, act, outcomes, triesOf, get: () => subscriptions.get(by, id) };
}

async function daysLater(by: Merchant, days: number): Promise<void> {
  const { body } = await subscriptions.call(by, 'GET', '/sandbox/clock');
  await subscriptions.moveTo(by, new Date(Date.parse(body.now) + days * 86_400_000).toISOString());
}

test('an end is taken back while the last period runs', async () => {
  const { by, act, get, outcomes } = await started(49_900);
  expect((await act('cancel', { when: 'periodEnd' })).body).toMatchObject({ endsAfterPeriod: 1 });
  const taken = await act('uncancel');
  expect([taken.status, taken.body.status, taken.body.endsAfterPeriod]).toEqual([200, 'active', undefined]);
  expect(await act('uncancel')).toMatchObject({ status: 400, body: { code: 'invalidSubscriptionStatus' } });
  await daysLater(by, 32);
  expect([(await get()).status, await outcomes()]).toEqual(['active', ['paid', 'paid']]);
  await act('cancel', { when: 'now' });
  expect((await act('uncancel')).body).toMatchObject({ code: 'invalidSubscriptionStatus' });
});

test('the first charge takes two writes and one read of the subscription each, and nothing after the last', async () => {
  const sent = recordStatements();
  const { outcomes } = await started(49_900).finally(() => vi.restoreAllMocks());
  expect(await outcomes()).toEqual(['paid']);
  expect(sent.filter((name) => /^(read|change|rest|wake)_subscription$/.test(name))).toEqual([
    'read_subscription',
    'change_subscription',
    'wake_subscription',
    'read_subscription',
    'change_subscription',
  ]);
});

describe('a pause that ends with a new anchor', () => {
  const days = (periods: readonly any[]) =>
    periods.map(({ startsOn, endsOn, outcome, amount }) => [startsOn, endsOn, outcome, amount]);

  test('is skipped up to today, and a whole period starts then', async () => {
    const { by, id, act, get } = await started(49_900, { timeZone: 'UTC', chargeFrom: '00:00' });
    const [first] = await subscriptions.periods(by, id);
    await act('pause', {});
    expect(await act('resume?shiftAnchor=true')).toMatchObject({
      status: 400,
      body: { code: 'invalidRequest', hint: expect.stringContaining(`lasts until ${first.endsOn}`) },
    });
    expect(await get()).toMatchObject({ status: 'paused' });
    await daysLater(by, 45);
    expect(await get()).toMatchObject({ anchorOn: first.startsOn });
    const { body: resumed } = await act('resume?shiftAnchor=true');
    expect(resumed).toMatchObject({ status: 'active' });
    await daysLater(by, 1);
    const periods = await subscriptions.periods(by, id);
    const today = periods.at(-1).startsOn;
    expect([resumed.anchorOn, (await get()).anchorOn]).toEqual([today, today]);
    expect(days(periods.slice(1))).toEqual([
      [first.endsOn, today, 'skipped', 0],
      [today, expect.stringMatching(new RegExp(`-${today.slice(8)}$`)), 'paid', 49_900],
    ]);
    expect(Date.parse(today) - Date.parse(first.startsOn)).toBe(45 * 86_400_000);
    expect(await act('resume?shiftAnchor=true')).toMatchObject({
      status: 400,
      body: { code: 'invalidSubscriptionStatus' },
    });
  });

  test('is refused while a period is unpaid', async () => {
    const { by, act } = await started(declinedWith('03'));
    await act('pause', {});
    await daysLater(by, 5);
    expect((await act('resume?shiftAnchor=maybe')).body).toMatchObject({ code: 'invalidRequest' });
    await daysLater(by, 40);
    expect((await act('resume?shiftAnchor=true')).body).toMatchObject({ code: 'subscriptionPastDue' });
  });
});

describe('an unpaid period', () => {
  test('is tried when the merchant says so, within the rules', async () => {
    const { by, act, get, triesOf } = await started(insufficientFunds);
    await act('periods/1/charge', { afterDays: 12 });
    const { nextTryAt: putOff } = (await get()).openPeriods[0];
    expect((await act('periods/1/charge', {})).status).toBe(200);
    // Once a day: it waits for the next one.
    expect(await triesOf(1)).toBe(1);
    expect(Date.parse((await get()).openPeriods[0].nextTryAt)).toBeLessThan(
      Date.parse(putOff) - 10 * 86_400_000,
    );
    await daysLater(by, 2);
    expect(await triesOf(1)).toBe(2);
  });

  test('is put off to a later day, before the retries are over', async () => {
    const { act, get, by, triesOf } = await started(insufficientFunds);
    const { nextTryAt, graceUntil } = (await get()).openPeriods[0];
    const later = await act('periods/1/charge', { afterDays: 12 });
    const [{ nextTryAt: putOff, graceUntil: end }] = later.body.openPeriods;
    expect(Date.parse(putOff) - Date.parse(nextTryAt)).toBeGreaterThan(7 * 86_400_000);
    expect(end).toBe(graceUntil);
    await daysLater(by, 10);
    expect(await triesOf(1)).toBe(1);
    await daysLater(by, 3);
    expect(await triesOf(1)).toBe(2);
    const tooLate = await act('periods/1/charge', { afterDays: 30 });
    expect([tooLate.status, tooLate.body]).toMatchObject([
      400,
      { code: 'invalidRequest', hint: /retries are over/ },
    ]);
  });

  test('is forgiven, and the next one is charged', async () => {
    const { by, id, act, get, outcomes } = await started(insufficientFunds);
    expect((await act('periods/1/close', { as: 'forgiven' })).body).toMatchObject({
      status: 'active',
      openPeriods: [],
    });
    const [{ invoiceID }] = await subscriptions.periods(by, id);
    expect(await subscriptions.invoice(by, invoiceID)).toMatchObject({ status: 'cancelled' });
    expect((await get()).paidThrough).toBeUndefined();
    await daysLater(by, 32);
    expect(await outcomes()).toEqual(['forgiven', 'open']);
  });

  test('was paid elsewhere, and its invoice cannot be paid again', async () => {
    const { by, id, act, get, outcomes } = await started(insufficientFunds);
    expect((await act('periods/1/close', { as: 'paidElsewhere' })).status).toBe(200);
    const [{ invoiceID, endsOn }] = await subscriptions.periods(by, id);
    expect(await outcomes()).toEqual(['paid']);
    // The midnight of Moscow.
    expect(Date.parse((await get()).paidThrough)).toBe(Date.parse(endsOn) - 3 * 3_600_000);
    expect(await subscriptions.invoice(by, invoiceID)).toMatchObject({ status: 'cancelled' });
    expect((await act('periods/1/close', { as: 'forgiven' })).body).toMatchObject({
      code: 'invalidPeriodStatus',
    });
    expect((await act('periods/1/charge', {})).body).toMatchObject({ code: 'invalidPeriodStatus' });
  });

  test('that was given up, and is paid elsewhere, lets the subscription continue', async () => {
    const { by, act, get } = await started(declinedWith(5), { every: 'P1W' });
    await daysLater(by, 6);
    expect(await get()).toMatchObject({ status: 'unpaid' });
    expect((await act('periods/1/close', { as: 'paidElsewhere' })).body).toMatchObject({ status: 'active' });
  });
});

describe('a missed period', () => {
  /** The first is declined by a mistake, which ends nothing. The second is missed, because the first is unpaid. */
  const missed = async () => {
    const one = await started(declinedWith(58), { every: 'P1W' });
    await one.act('pause', {});
    await daysLater(one.by, 10);
    await one.act('resume');
    expect(await one.outcomes()).toEqual(['open', 'missed']);
    return one;
  };

  test('is charged once the older one is settled, and once only', async () => {
    const { by, id, act, outcomes, triesOf } = await missed();
    expect((await act('periods/2/charge', {})).body).toMatchObject({
      code: 'invalidPeriodStatus',
      hint: 'Period 1 is unpaid. It is charged first.',
    });
    await act('periods/1/close', { as: 'forgiven' });
    const charged = await act('periods/2/charge', {});
    expect(charged.status, charged.text).toBe(200);
    await daysLater(by, 1);
    expect(await outcomes()).toEqual(['forgiven', 'paid']);
    const [, { amount, invoiceID }] = await subscriptions.periods(by, id);
    expect(await subscriptions.invoice(by, invoiceID)).toMatchObject({ status: 'paid', amount });
    expect((await act('periods/2/charge', {})).body).toMatchObject({ code: 'invalidPeriodStatus' });
    expect(await triesOf(2)).toBe(1);
  });

  test.each(['forgiven', 'paidElsewhere'])('is %s', async (as) => {
    const { act, outcomes } = await missed();
    expect((await act('periods/2/close', { as })).status).toBe(200);
    expect(await outcomes()).toEqual(['open', as === 'forgiven' ? 'forgiven' : 'paid']);
  });
});

test('an unknown period is neither charged nor closed', async () => {
  const { act } = await started(49_900);
  expect((await act('periods/7/charge', {})).body).toMatchObject({ code: 'invalidPeriodStatus' });
  expect((await act('periods/7/close', { as: 'forgiven' })).body).toMatchObject({
    code: 'invalidPeriodStatus',
  });
  expect((await act('periods/0/charge', {})).body).toMatchObject({ code: 'invalidRequest' });
  expect((await act('periods/1/charge', { afterDays: 31 })).body).toMatchObject({ code: 'invalidRequest' });
});
