// The details of a subscription as a merchant changes and reads them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { subscriptionsUrl, subscriptionWorld } from '../../../support/subscriptions/subscription-world.ts';
import type { Merchant } from '../../../support/service/test-service.ts';
import { startCustomerWorld, type CustomerWorld } from '../../../support/worlds/customer-world.ts';

let world: CustomerWorld;
let subscriptions: ReturnType<typeof subscriptionWorld>;
let merchant: Merchant;

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
  ({ merchant } = world);
});
afterAll(() => world.close());

async function started(more: Record<string, unknown> = {}, by = merchant): Promise<string> {
  const customerId = await subscriptions.readyCustomer(by);
  const { status, body, text } = await subscriptions.create(by, customerId, more);
  expect(status, text).toBe(201);
  await subscriptions.settle();
  return body.id;
}

const patch = (id: string, body: unknown, by = merchant) =>
  world.service.call('PATCH', `${subscriptionsUrl}/${id}`, { token: by.apiKey, body });

test('are changed, read back, and sent once', async () => {
  const id = await started({ metadata: { plan: 'tea' } });
  expect(await subscriptions.get(merchant, id)).toMatchObject({ detailsVersion: 1, catchUp: 'current' });
  const body = { detailsVersion: 1, metadata: { plan: 'coffee' }, catchUp: 'all' };
  for (const _ of ['first', 'repeat']) {
    const changed = await patch(id, body);
    expect(changed.status, changed.text).toBe(200);
    expect(changed.body).toMatchObject({ ...body, detailsVersion: 2 });
  }
  expect(await subscriptions.get(merchant, id)).toMatchObject({ ...body, detailsVersion: 2 });
  const { body: events } = await subscriptions.call(
    merchant,
    'GET',
    `${subscriptionsUrl}/${id}/events?limit=100`,
  );
  const sent = events
    .flatMap(({ changes }: { changes: { changeType: string }[] }) => changes)
    .filter(({ changeType }: { changeType: string }) => changeType === 'SubscriptionDetailsChanged');
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatchObject({
    changed: ['metadata', 'catchUp'],
    subscription: { ...body, detailsVersion: 2 },
  });
});

test('are a conflict for the second of two who have read the same', async () => {
  const id = await started();
  expect(await patch(id, { detailsVersion: 1, catchUp: 'all' })).toMatchObject({ status: 200 });
  const second = await patch(id, { detailsVersion: 1, catchUp: 'none', metadata: { a: 1 } });
  expect([second.status, second.body]).toEqual([
    409,
    {
      detailsVersion: '2',
      differs: 'metadata, catchUp',
      message: 'Another request has changed the subscription',
      hint: expect.stringContaining('detailsVersion'),
    },
  ]);
  expect(await subscriptions.get(merchant, id)).toMatchObject({ catchUp: 'all', metadata: {} });
});

test('stay as they are if nothing is sent', async () => {
  const id = await started({ metadata: { plan: 'tea' } });
  const before = await subscriptions.get(merchant, id);
  expect((await patch(id, { detailsVersion: 1 })).body).toEqual(before);
});

test.each<[string, unknown]>([
  ['no version', { catchUp: 'all' }],
  ['a version below 1', { detailsVersion: 0 }],
  ['an unknown word', { detailsVersion: 1, catchUp: 'some' }],
  ['too much metadata', { detailsVersion: 1, metadata: { text: 'a'.repeat(4_096) } }],
  ['no date', { detailsVersion: 1, endsOn: 'soon' }],
  ['an end in the past', { detailsVersion: 1, endsOn: '2020-01-01' }],
])('are refused with %s', async (_, body) => {
  const refused = await patch(await started(), body);
  expect([refused.status, refused.body.code], refused.text).toEqual([400, 'invalidRequest']);
});

test('an end by date stops the periods to come, at the creation and later', async () => {
  const by = await world.createMerchant();
  const id = await started({ every: 'P1W' }, by);
  const { body: coming } = await subscriptions.call(by, 'GET', `${subscriptionsUrl}/${id}/upcoming`);
  const endsOn = coming[1].startsOn;
  expect((await patch(id, { detailsVersion: 1, endsOn }, by)).body).toMatchObject({ endsOn });
  const other = await started({ every: 'P1W', endsOn }, by);
  expect(await subscriptions.get(by, other)).toMatchObject({ endsOn });
  await subscriptions.moveTo(by, new Date(Date.parse(endsOn) + 30 * 86_400_000).toISOString());
  for (const one of [id, other]) {
    expect((await subscriptions.periods(by, one)).map(({ outcome }) => outcome)).toEqual(['paid', 'paid']);
    expect(await subscriptions.get(by, one)).toMatchObject({ status: 'ended', endReason: 'finished' });
  }
});

test('an end by date is refused at the creation with a number of periods, and if it leaves none', async () => {
  const customerId = await subscriptions.readyCustomer(merchant);
  for (const [more, message] of [
    [{ endsOn: '2099-01-01', periods: 3 }, /both an end/],
    [{ endsOn: '2020-01-01' }, /after today/],
  ] as const) {
    const refused = await subscriptions.create(merchant, customerId, more);
    expect([refused.status, refused.body.code], refused.text).toEqual([400, 'invalidRequest']);
    expect(refused.text).toMatch(message);
  }
});
