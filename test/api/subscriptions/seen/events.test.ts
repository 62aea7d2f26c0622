// What who polls the events of a subscription gets.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  eventsAfter,
  listSubscriptionEvents,
} from '../../../../src/subscriptions/api/list-subscription-events.ts';
import { subscriptionFact } from '../../../../src/subscriptions/store/codec.ts';
import { changesBy, subscriptionsTopic } from '../../../../src/subscriptions/webhook-events.ts';
import { subscriptionsUrl, subscriptionWorld } from '../../../support/subscriptions/subscription-world.ts';
import type { Merchant } from '../../../support/service/test-service.ts';
import { startCustomerWorld, type CustomerWorld } from '../../../support/worlds/customer-world.ts';
import { exampleLogs } from '../../../../tools/documents/example-logs.ts';

let world: CustomerWorld;
let merchant: Merchant;
let id: string;

beforeAll(async () => {
  world = await startCustomerWorld();
  ({ merchant } = world);
  const subscriptions = subscriptionWorld(world);
  const customerId = await subscriptions.readyCustomer(merchant);
  ({ id } = (await subscriptions.create(merchant, customerId)).body);
  await subscriptions.settle();
  await subscriptions.call(merchant, 'POST', `${subscriptionsUrl}/${id}/pause`, { by: 'payer' });
});
afterAll(() => world.close());

const poll = (query: string, of = id, by = merchant) =>
  subscriptionWorld(world).call(by, 'GET', `${subscriptionsUrl}/${of}/events${query}`);

type Event = { readonly id: number; readonly changes: readonly { readonly changeType: string }[] };

/** Of a list of events with changes. */
type ResponseSchema = {
  readonly items: {
    readonly properties: { readonly changes: { readonly items: { readonly properties: object } } };
  };
};

const typesIn = (events: readonly Event[]) =>
  events.flatMap(({ changes }) => changes.map(({ changeType }) => changeType));

test('the oldest event comes first, with the subscription right after each change', async () => {
  const { body } = await poll('?limit=100');
  expect(typesIn(body)).toEqual([
    'SubscriptionCreated',
    'SubscriptionStarted',
    'SubscriptionPeriodCreated',
    'SubscriptionChargeStarted',
    'SubscriptionPeriodPaid',
    'SubscriptionPaused',
  ]);
  expect(body.at(-1)).toEqual({
    id: expect.any(Number),
    createdAt: expect.any(String),
    changes: [
      {
        changeType: 'SubscriptionPaused',
        by: 'payer',
        subscription: await subscriptionWorld(world).get(merchant, id),
      },
    ],
  });
});

test('pages of one event add up to the whole, and nothing follows the last', async () => {
  const { body: all } = await poll('?limit=1000');
  const pages: Event[] = [];
  for (let last = 0; ;) {
    const { body: page } = await poll(`?limit=1&eventID=${last}`);
    if (page.length === 0) break;
    expect(page).toHaveLength(1);
    pages.push(...page);
    last = page[0].id;
  }
  expect(pages).toEqual(all);
});

test.each(['', '?limit=0', '?limit=x', '?limit=1&eventID=-1'])('is refused with "%s"', async (query) => {
  const refused = await poll(query);
  expect([refused.status, refused.body.code], refused.text).toEqual([400, 'invalidRequest']);
});

test('another merchant, and who names no subscription, find none', async () => {
  const other = await world.createMerchant();
  expect(await poll('?limit=1', id, other)).toMatchObject({ status: 404 });
  expect(await poll('?limit=1', 'unknown')).toMatchObject({ status: 404 });
});

test('a page builds what it shows, and reads one event if nothing is new', async () => {
  const log = exampleLogs.SubscriptionsTopic![0]!.map((event) => ({
    ...event,
    facts: subscriptionFact.known(event.facts),
  }));
  const last = log.at(-1)!.sequence;
  const work = async (seen: number, limit: number) => {
    let [read, built] = [0, 0];
    const reads = async (page: { after: number; limit: number }) => {
      const events = log.filter(({ sequence }) => sequence > page.after).slice(0, page.limit);
      read += events.length;
      return events;
    };
    const page = await eventsAfter(reads, { seen, limit }, (...event) => {
      built += 1;
      return changesBy(...event);
    });
    return { shown: page?.length, read, built };
  };
  expect(await work(last, 1)).toEqual({ shown: 0, read: 0, built: 0 });
  expect(await work(0, 1)).toEqual({ shown: 1, read: log.length, built: 1 });
  expect(await work(last - 1, 1000)).toEqual({ shown: 1, read: log.length + 1, built: 1 });
});

test('no member of a webhook event is missing, whatever has happened', () => {
  const sent = exampleLogs.SubscriptionsTopic!.flatMap((log) => subscriptionsTopic.webhookEventsOf(log));
  const response = listSubscriptionEvents.response as unknown as ResponseSchema;
  const { properties } = response.items.properties.changes.items;
  const undeclared = sent.flatMap(({ eventType, members }) =>
    Object.keys(members)
      .filter((name) => !(name in properties))
      .map((name) => `${eventType} ${name}`),
  );
  expect(undeclared).toEqual([]);
  expect(new Set(sent.map(({ eventType }) => eventType))).toEqual(new Set(subscriptionsTopic.eventTypes));
});
