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
