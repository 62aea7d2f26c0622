// What operators see of subscriptions that only a person can help.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { declinedWith } from '../../support/worlds/recurring.ts';
import { subscriptionWorld, type SubscriptionWorld } from '../../support/subscriptions/subscription-world.ts';

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
});
afterAll(() => world.close());

async function metric(name: string): Promise<number> {
  const { text } = await world.service.call('GET', '/metrics');
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.split(' ')[1]);
}

test('a subscription that fails by a mistake, and one that is parked, are counted', async () => {
  const before = [
    await metric('mandate_subscriptions_misconfigured'),
    await metric('mandate_subscriptions_parked'),
  ];
  expect(before).toEqual([0, 0]);
  const by = await world.createMerchant();
  const customerId = await subscriptions.readyCustomer(by);
  const items = [{ product: 'Tea', price: declinedWith(58) }];
  const { body } = await subscriptions.create(by, customerId, { items });
  await subscriptions.settle();
  expect((await subscriptions.get(by, body.id)).openPeriods).toMatchObject([
    { declineClass: 'configuration' },
  ]);
  expect(await metric('mandate_subscriptions_misconfigured')).toBe(1);
  await world.service.database.withClient((client) =>
    client.query(
      `update subscription set state = (state::jsonb || '{"parkedFor": "periodAhead"}')::json where subscription_id = $1`,
      [body.id],
    ),
  );
  expect(await metric('mandate_subscriptions_parked')).toBe(1);
});

test('what is due, and for how long it has been, is shown before it is charged', async () => {
  const due = (within: string) => metric(`mandate_subscriptions_due{within="${within}"}`);
  const by = await world.createMerchant();
  const customerId = await subscriptions.readyCustomer(by);
  const { body } = await subscriptions.create(by, customerId, { trialDays: 30 });
  await subscriptions.settle();
  expect(await metric('mandate_subscriptions_due_age_seconds')).toBe(0);
  const before = [await due('1h'), await due('6h'), await due('24h'), await due('48h')];
  const wakeIn = (hours: number) =>
    world.service.database.withClient((client) =>
      client.query(
        `update subscription set wake_at = $2::timestamptz + $3 * interval '1 hour' where subscription_id = $1`,
        [body.id, world.service.clock.now(), hours],
      ),
    );
  const more = async () =>
    [await due('1h'), await due('6h'), await due('24h'), await due('48h')].map(
      (count, index) => count - (before[index] ?? 0),
    );
  const inHour = (hour: number) => metric(`mandate_subscriptions_due_in_hour{hour="${hour}"}`);
  const [eleventh, twelfth] = [await inHour(11), await inHour(12)];
  await wakeIn(12);
  expect(await more()).toEqual([0, 0, 1, 1]);
  expect([await inHour(11), await inHour(12)]).toEqual([eleventh + 1, twelfth]);
  await wakeIn(-2);
  expect(await more()).toEqual([1, 1, 1, 1]);
  expect(await metric('mandate_subscriptions_due_age_seconds')).toBe(7_200);
});
