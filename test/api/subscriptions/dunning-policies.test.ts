// Dunning policies of a shop: how they are saved, which subscription has which, and what is refused.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isInTrial } from '../../../src/subscriptions/domain/dunning/policies.ts';
import type { Answer, Merchant } from '../../support/service/test-service.ts';
import { startNode } from '../../support/service/nodes.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { insufficientFunds } from '../../support/worlds/recurring.ts';
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

const plain = { tries: [2, 5], windowDays: 9 };

function policies(by: Merchant, shop = 'TEST') {
  const url = `/v2/processing/shops/${shop}/dunning-policies`;
  return {
    url,
    get: (path = '') => subscriptions.call(by, 'GET', `${url}${path}`),
    put: (name: string, body: unknown): Promise<Answer> =>
      world.service.call('PUT', `${url}/${name}`, { token: by.apiKey, body }),
  };
}

/** Declined, but for the payer approved. */
const unreliable = { card: '4000000000549990', price: 500 };

async function sold(
  by: Merchant,
  more: Record<string, unknown> = {},
  { card, price }: { card?: string; price: number } = { price: insufficientFunds },
) {
  const customerId = await subscriptions.readyCustomer(by, card);
  const items = [{ product: 'Tea', price }];
  const created = await subscriptions.create(by, customerId, { items, ...more });
  expect(created.status, created.text).toBe(201);
  await subscriptions.settle();
  const { id } = created.body;
  return {
    id,
    created: created.body,
    get: () => subscriptions.get(by, id),
    move: (policy: string): Promise<Answer> =>
      world.service.call('PUT', `${subscriptionsUrl}/${id}/dunning-policy`, {
        token: by.apiKey,
        body: { policy },
      }),
    tries: async (number: number) => {
      const { invoiceID } = (await subscriptions.periods(by, id))[number - 1];
      return (await subscriptions.payments(by, invoiceID)).length;
    },
  };
}

async function daysLater(by: Merchant, days: number): Promise<void> {
  const { body } = await subscriptions.call(by, 'GET', '/sandbox/clock');
  await subscriptions.moveTo(by, new Date(Date.parse(body.now) + days * 86_400_000).toISOString());
}

describe('a policy', () => {
  test('is read as it was saved, with what it left out', async () => {
    const by = await world.createMerchant();
    const { put, get } = policies(by);
    const saved = await put('gentle', plain);
    expect([saved.status, saved.body]).toEqual([
      200,
      {
        name: 'gentle',
        version: 1,
        createdAt: expect.any(String),
        tries: [2, 5],
        windowDays: 9,
        at: { from: '06:00', until: '10:00' },
        byClass: {},
        emailDays: [0, 5],
        ifUnpaid: 'unpaid',
        stack: false,
      },
    ]);
    const whole = {
      tries: [1, 4],
      windowDays: 20,
      at: { from: '00:01', until: '02:00' },
      byClass: {
        funds: { onDays: [1, 15, 31], within: 4 },
        vague: { maxTries: 0 },
        issuer: { tries: [8] },
        technical: { tries: [1], maxTries: 2 },
      },
      emailDays: [1, 19],
      ifUnpaid: 'end',
      stack: true,
      trial: { policy: 'gentle', percent: 50 },
    };
    expect((await put('whole', whole)).body).toMatchObject({ ...whole, version: 1 });
    expect((await get('/whole')).body).toMatchObject(whole);
    expect((await get()).body.map(({ name }: { name: string }) => name)).toEqual(['gentle', 'whole']);
  });

  test('has a new version with other content, and none with the same', async () => {
    const by = await world.createMerchant();
    const { put, get } = policies(by);
    const first = await put('gentle', plain);
    expect((await put('gentle', { ...plain, emailDays: [0, 5], stack: false })).body).toEqual(first.body);
    expect((await put('gentle', { ...plain, windowDays: 10 })).body).toMatchObject({ version: 2 });
    expect((await put('gentle', plain)).body).toMatchObject({ version: 3 });
    expect((await get('/gentle')).body).toMatchObject({ version: 3, windowDays: 9 });
    expect((await get('/gentle?version=2')).body).toMatchObject({ version: 2, windowDays: 10 });
    expect((await get('/gentle?version=4')).status).toBe(404);
  });

  test('that two requests save at once has a version for each', async () => {
    const by = await world.createMerchant();
    const { put, get } = policies(by);
    const saved = await Promise.all(
      [6, 7, 8, 9].map((windowDays) => put('gentle', { ...plain, windowDays })),
    );
    expect(saved.map(({ body }) => body.version).toSorted()).toEqual([1, 2, 3, 4]);
    expect((await get('/gentle')).body.version).toBe(4);
  });

  test('is of one shop and one party', async () => {
    const [by, other] = [await world.createMerchant(), await world.createMerchant()];
    await policies(by).put('gentle', plain);
    expect((await policies(other).get()).body).toEqual([]);
    expect((await policies(other).get('/gentle')).status).toBe(404);
    expect((await policies(by, 'TEST_USD').get()).body).toEqual([]);
    for (const wrong of [await policies(by, 'none').get(), await policies(by, 'none').put('gentle', plain)])
      expect(wrong).toMatchObject({ status: 404, body: { message: 'Shop not found' } });
  });

  test.each<[string, string, object, RegExp]>([
    ['two tries on one local date', 'a', { ...plain, tries: [2, 2] }, /Rule onceADay of house@.*on one day/],
    [
      'more tries than a network allows',
      'a',
      { tries: Array.from({ length: 15 }, (_, n) => n + 1), windowDays: 20 },
      /Rule declinesIn30Days of visa@.*15 attempts/,
    ],
    [
      'more tries of a class than a network allows',
      'a',
      {
        ...plain,
        windowDays: 20,
        byClass: { funds: { tries: Array.from({ length: 15 }, (_, n) => n + 1) } },
      },
      /Rule declinesIn30Days of visa@/,
    ],
    ['a try after the end', 'a', { ...plain, tries: [10] }, /after `windowDays`/],
    ['an email after the end', 'a', { ...plain, emailDays: [10] }, /`emailDays`/],
    ['hours that end before they start', 'a', { ...plain, at: { from: '10:00', until: '06:00' } }, /`at`/],
    ['a stack for as long as a card is retried', 'a', { tries: [1], windowDays: 31, stack: true }, /`stack`/],
    ['a trial of no policy', 'a', { ...plain, trial: { policy: 'no', percent: 5 } }, /`trial`.*no is none/],
    ['a trial of itself', 'a', { ...plain, trial: { policy: 'a', percent: 5 } }, /`trial`/],
    ['the name of the built-in one', 'usual', plain, /built-in/],
  ])('with %s is refused', async (_, name, body, hint) => {
    const by = await world.createMerchant();
    const { put, get } = policies(by);
    const refused = await put(name, body);
    expect([refused.status, refused.body.code]).toEqual([400, 'invalidDunningPolicy']);
    expect(refused.body.hint).toMatch(hint);
    expect((await get()).body).toEqual([]);
  });

  test.each<[string, object]>([
    ['no tries', { windowDays: 9 }],
    ['no window', { tries: [1] }],
    ['a window of more than 31 days', { ...plain, windowDays: 32 }],
    ['a try at once', { ...plain, tries: [0] }],
    ['half a day', { ...plain, tries: [1.5] }],
    ['a day that no month has', { ...plain, byClass: { funds: { onDays: [32] } } }],
    ['a final action that does not exist', { ...plain, ifUnpaid: 'forget' }],
    ['a trial of all', { ...plain, trial: { policy: 'a', percent: 100 } }],
  ])('with %s is no request', async (_, body) => {
    const by = await world.createMerchant();
    const { put } = policies(by);
    expect((await put('a', body)).body).toMatchObject({ code: 'invalidRequest' });
    expect((await put('A b', plain)).status).toBe(400);
  });
});

describe('a subscription', () => {
  test('has the built-in policy if the shop has no default', async () => {
    const by = await world.createMerchant();
    const { created } = await sold(by);
    expect(created).toMatchObject({ dunning: { policy: 'usual', version: 1 }, ifUnpaid: 'unpaid' });
    expect(created).not.toHaveProperty('dunningPolicy');
  });

  test('has the default of its shop, unless it names another or says `ifUnpaid`', async () => {
    const by = await world.createMerchant();
    const { put } = policies(by);
    await put('default', { ...plain, ifUnpaid: 'pause' });
    await put('gentle', plain);
    const shown = async (more: object) => {
      const { created } = await sold(by, { ...more });
      return [created.dunningPolicy, created.dunning, created.ifUnpaid];
    };
    expect(await shown({})).toEqual(['default', { policy: 'default', version: 1 }, 'pause']);
    expect(await shown({ dunningPolicy: 'gentle' })).toEqual([
      'gentle',
      { policy: 'gentle', version: 1 },
      'unpaid',
    ]);
    expect(await shown({ ifUnpaid: 'end' })).toEqual([undefined, { policy: 'usual', version: 1 }, 'end']);
  });

  test('is refused with a policy that does not exist, does not fit its periods, or is half said', async () => {
    const by = await world.createMerchant();
    await policies(by).put('gentle', plain);
    const customerId = await subscriptions.readyCustomer(by);
    const refused = async (more: object) => {
      const { status, body } = await subscriptions.create(by, customerId, { ...more });
      return [status, body.code, body.hint ?? body.message];
    };
    expect(await refused({ dunningPolicy: 'none' })).toMatchObject([404, undefined, /dunning-policies/]);
    expect(await refused({ dunningPolicy: 'gentle', every: 'P1W' })).toMatchObject([
      400,
      'invalidDunningPolicy',
      /Rule nextPeriod: `windowDays` of policy gentle must be less than 6/,
    ]);
    expect(await refused({ dunningPolicy: 'gentle', ifUnpaid: 'end' })).toMatchObject([
      400,
      'invalidRequest',
      /part of `dunningPolicy`/,
    ]);
  });

  test('is tried on the days of its policy, and ended by it', async () => {
    const by = await world.createMerchant();
    await policies(by).put('gentle', { ...plain, ifUnpaid: 'end' });
    const { get, tries } = await sold(by, { dunningPolicy: 'gentle' });
    const [{ nextTryAt }] = (await get()).openPeriods;
    const dayInMoscow = (time: string) => Math.floor((Date.parse(time) + 3 * 3_600_000) / 86_400_000);
    expect(dayInMoscow(nextTryAt)).toBe(dayInMoscow((await get()).createdAt) + 2);
    for (const [ms, made] of [
      [-1_000, 1],
      [1_000, 2],
    ] as const) {
      await subscriptions.moveTo(by, new Date(Date.parse(nextTryAt) + ms).toISOString());
      await subscriptions.settle();
      expect(await tries(1)).toBe(made);
    }
    await daysLater(by, 4);
    expect([await tries(1), (await get()).status]).toEqual([3, 'pastDue']);
    await daysLater(by, 4);
    expect(await get()).toMatchObject({ status: 'ended', endReason: 'unpaid' });
  });

  test('keeps the version of an unpaid period, and has the newest one with the next', async () => {
    const by = await world.createMerchant();
    const { put } = policies(by);
    await put('gentle', { ...plain, ifUnpaid: 'pause' });
    const { id, get, tries } = await sold(by, { dunningPolicy: 'gentle' });
    await put('gentle', { tries: [1, 2, 3], windowDays: 9 });
    await daysLater(by, 6);
    expect(await tries(1)).toBe(3);
    expect((await get()).openPeriods).toMatchObject([
      { number: 1, dunning: { policy: 'gentle', version: 1 } },
    ]);
    await subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/periods/1/close`, { as: 'forgiven' });
    await daysLater(by, 31);
    expect(await get()).toMatchObject({
      dunning: { policy: 'gentle', version: 2 },
      openPeriods: [{ number: 2, dunning: { policy: 'gentle', version: 2 } }],
    });
    expect(await tries(2)).toBe(4);
  });

  test('keeps its version if the newest does not fit its periods', async () => {
    const by = await world.createMerchant();
    const { put } = policies(by);
    await put('gentle', { tries: [1], windowDays: 4, ifUnpaid: 'pause' });
    const { id, get } = await sold(by, { dunningPolicy: 'gentle', every: 'P1W' });
    await put('gentle', plain);
    await subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/periods/1/close`, { as: 'forgiven' });
    await daysLater(by, 8);
    expect(await get()).toMatchObject({ dunning: { version: 1 }, openPeriods: [{ number: 2 }] });
  });

  test('is moved to another policy, with the period that is unpaid', async () => {
    const by = await world.createMerchant();
    const { put } = policies(by);
    await put('gentle', plain);
    await put('slow', { tries: [6], windowDays: 12, ifUnpaid: 'end' });
    const { get, move, tries } = await sold(by, { dunningPolicy: 'gentle' });
    const [before] = (await get()).openPeriods;
    const moved = await move('slow');
    expect([moved.status, moved.body]).toMatchObject([
      200,
      { dunningPolicy: 'slow', dunning: { policy: 'slow', version: 1 }, ifUnpaid: 'end' },
    ]);
    const [after] = moved.body.openPeriods;
    expect(after.dunning).toEqual({ policy: 'slow', version: 1 });
    const days = (one: string, other: string) =>
      Math.round((Date.parse(one) - Date.parse(other)) / 86_400_000);
    expect([days(after.nextTryAt, before.nextTryAt), days(after.graceUntil, before.graceUntil)]).toEqual([
      4, 3,
    ]);
    expect((await move('slow')).body).toEqual(moved.body);
    await daysLater(by, 5.5);
    expect(await tries(1)).toBe(1);
    await daysLater(by, 7);
    expect([await tries(1), (await get()).status]).toEqual([2, 'ended']);
    expect((await move('gentle')).body).toMatchObject({ code: 'invalidSubscriptionStatus' });
  });

  test('is not moved to a policy that does not exist, or does not fit', async () => {
    const by = await world.createMerchant();
    await policies(by).put('gentle', plain);
    const { move, get } = await sold(by, { every: 'P1W' });
    expect(await move('none')).toMatchObject({ status: 404, body: { message: 'Dunning policy not found' } });
    expect(await move('gentle')).toMatchObject({ status: 400, body: { code: 'invalidDunningPolicy' } });
    expect((await get()).dunning).toEqual({ policy: 'usual', version: 1 });
    const unknown = await world.service.call('PUT', `${subscriptionsUrl}/none/dunning-policy`, {
      token: by.apiKey,
      body: { policy: 'gentle' },
    });
    expect(unknown).toMatchObject({ status: 404, body: { message: 'Subscription not found' } });
  });

  test('of a trial has one of two policies, and says which', async () => {
    const by = await world.createMerchant();
    const { put } = policies(by);
    const trial = { name: 'default', trial: { policy: 'slow', percent: 50 } };
    await put('slow', { tries: [6], windowDays: 12 });
    await put('default', { ...plain, trial: trial.trial });
    const customerId = await subscriptions.readyCustomer(by);
    for (let n = 0; n < 24; n++) {
      const { body } = await subscriptions.create(by, customerId);
      expect(body.dunningPolicy).toBe('default');
      expect(body.dunning.policy).toBe(isInTrial(trial, body.id) ? 'slow' : 'default');
      expect((await subscriptions.get(by, body.id)).dunning).toEqual(body.dunning);
    }
  });

  test('with a stack asks for the next period while the older is unpaid', async () => {
    const by = await world.createMerchant();
    await policies(by).put('club', { tries: [1], windowDays: 30, stack: true });
    const { id } = await sold(by, { dunningPolicy: 'club', every: 'P1W' });
    await daysLater(by, 15);
    const rows = await subscriptions.periods(by, id);
    expect(rows.map(({ outcome }) => outcome)).toEqual(['open', 'open', 'open']);
    expect(new Set(rows.map(({ invoiceID }) => invoiceID)).size).toBe(3);
  });

  test.each(['cancel', 'charge'] as const)(
    'with a stack hears of a younger period that is paid: %s',
    async (then) => {
      const by = await world.createMerchant();
      await policies(by).put('club', { tries: [1], windowDays: 30, stack: true });
      const { id, get } = await sold(by, { dunningPolicy: 'club', every: 'P1W' }, unreliable);
      await daysLater(by, 15);
      const [oldest, younger] = await subscriptions.periods(by, id);
      const paid = await subscriptions.pay(by, younger.invoiceID, undefined, {
        flow: { type: 'PaymentFlowInstant' },
      });
      expect(paid.status, paid.text).toBe(201);
      await subscriptions.settle();
      const rows = await subscriptions.periods(by, id);
      expect(rows.map(({ outcome }) => outcome)).toEqual(['open', 'paid', 'open']);
      // The midnight of Moscow.
      expect(Date.parse((await get()).paidThrough)).toBe(Date.parse(younger.endsOn) - 3 * 3_600_000);
      if (then === 'charge') {
        const body = { as: 'forgiven' };
        await subscriptions.call(
          by,
          'POST',
          `${subscriptionsUrl}/${id}/periods/${oldest.number}/close`,
          body,
        );
      } else {
        const ended = await subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/cancel`, {
          when: 'now',
        });
        expect([ended.status, ended.body.status]).toEqual([200, 'ended']);
      }
      const after = await subscriptions.periods(by, id);
      expect(after.map(({ outcome }) => outcome)).toEqual(
        then === 'charge' ? ['forgiven', 'paid', 'open'] : ['unpaid', 'paid', 'unpaid'],
      );
    },
  );

  test('records the change of its policy', async () => {
    const by = await world.createMerchant();
    await policies(by).put('gentle', plain);
    const { id, move } = await sold(by);
    expect((await move('gentle')).status).toBe(200);
    const { rows } = await world.service.testDatabase.database.withClient((client) =>
      client.query(`select facts from event where aggregate_id = '${id}' order by sequence desc limit 1`),
    );
    expect(rows[0].facts).toMatchObject([{ type: 'dunning_policy_changed', name: 'gentle' }]);
  });
});

test('a subscription that follows a new version does so once, also with two nodes', async () => {
  const by = await world.createMerchant();
  const { put } = policies(by);
  await put('gentle', plain);
  const { id } = await sold(by, { dunningPolicy: 'gentle', items: [{ product: 'Tea', price: 500 }] });
  await put('gentle', { ...plain, windowDays: 12 });
  const other = await startNode(world.service);
  world.service.clock.advance(31.5 * 86_400_000);
  for (const node of [other, world.service]) node.jobs.wake();
  await Promise.all([other.jobs.whenIdle(), world.service.jobs.whenIdle()]);
  await subscriptions.settle();
  await other.stop();
  const { rows } = await world.service.testDatabase.database.withClient((client) =>
    client.query(
      `select count(*)::int as changes from event, json_array_elements(facts) as fact
       where aggregate_id = '${id}' and fact->>'type' = 'dunning_policy_changed'`,
    ),
  );
  expect(rows).toEqual([{ changes: 1 }]);
  expect(await subscriptions.get(by, id)).toMatchObject({ dunning: { version: 2 }, status: 'active' });
  expect((await subscriptions.periods(by, id)).map(({ outcome }) => outcome)).toEqual(['paid', 'paid']);
});

describe('the time of a try', () => {
  const charge = (by: Merchant, id: string, body: unknown) =>
    subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/periods/1/charge`, body);

  test('is the exact one that the merchant sets', async () => {
    const by = await world.createMerchant();
    const { id, get, tries } = await sold(by);
    const [{ graceUntil }] = (await get()).openPeriods;
    const at = new Date(Date.parse(graceUntil) - 86_400_000).toISOString();
    expect((await charge(by, id, { at })).body.openPeriods).toMatchObject([{ graceUntil }]);
    expect(Date.parse((await get()).openPeriods[0].nextTryAt)).toBe(Date.parse(at));
    await daysLater(by, 20);
    expect(await tries(1)).toBe(1);
    await subscriptions.moveTo(by, at);
    await subscriptions.settle();
    expect(await tries(1)).toBe(2);
  });

  test('is never earlier than the rules allow', async () => {
    const by = await world.createMerchant();
    const { id, get, tries } = await sold(by);
    const soon = new Date(
      Date.parse((await subscriptions.call(by, 'GET', '/sandbox/clock')).body.now) + 60_000,
    );
    expect((await charge(by, id, { at: soon.toISOString() })).status).toBe(200);
    await subscriptions.moveTo(by, new Date(soon.getTime() + 60_000).toISOString());
    await subscriptions.settle();
    expect(await tries(1)).toBe(1);
    expect(Date.parse((await get()).openPeriods[0].nextTryAt)).toBeGreaterThan(soon.getTime() + 3_600_000);
  });

  test('is refused if it is over, too late, or said twice', async () => {
    const by = await world.createMerchant();
    const { id, get } = await sold(by);
    const [{ graceUntil }] = (await get()).openPeriods;
    const refused = async (body: object) => {
      const { status, body: answer } = await charge(by, id, body);
      return [status, answer.code, answer.hint ?? answer.message];
    };
    expect(await refused({ at: '2020-01-01T00:00:00Z' })).toMatchObject([400, 'invalidRequest', /future/]);
    expect(await refused({ at: graceUntil })).toMatchObject([
      400,
      'invalidRequest',
      /Choose an earlier time/,
    ]);
    expect(await refused({ at: graceUntil, afterDays: 1 })).toMatchObject([
      400,
      'invalidRequest',
      /not both/,
    ]);
    expect(await refused({ at: 'tomorrow' })).toMatchObject([400, 'invalidRequest', expect.any(String)]);
  });
});
