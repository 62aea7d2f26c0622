// A receiver that has only the bodies of webhook events knows what the API shows, after each step of random lives. Who polls has the same.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { subscriptionsTopic } from '../../../../src/subscriptions/webhook-events.ts';
import { Receiver, type Received } from '../../../models/subscriptions/received.ts';
import { startReceiver, type Receiver as Server } from '../../../support/receivers/receiver.ts';
import { webhooksUrl } from '../../../support/receivers/webhooks.ts';
import { often } from '../../../support/service/campaign.ts';
import { chosenSeed } from '../../../support/service/chosen-seed.ts';
import {
  subscriptionsUrl,
  subscriptionWorld,
  type SubscriptionWorld,
} from '../../../support/subscriptions/subscription-world.ts';
import {
  startCustomerWorld,
  type CustomerWorld,
  type MadeCustomer,
} from '../../../support/worlds/customer-world.ts';
import { insufficientFunds } from '../../../support/worlds/recurring.ts';
import type { Merchant } from '../../../support/service/test-service.ts';

const good = '4242424242424242';
const other = '5555555555554444';
/** Approved for the payer, and declined as expired without them. */
const expiredAlone = '4000000000549990';
const dayMs = 86_400_000;
const lives = often(5, 200);
const steps = 12;
const seed = chosenSeed('SUBSCRIPTION_SEED');

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;
let server: Server;

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
  server = await startReceiver();
});
afterAll(async () => {
  await world.close();
  await server.stop();
});

type Pick = <Value>(...from: readonly Value[]) => Value;

function pickFrom(start: number): Pick {
  let state = start;
  return (...from) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return from[Math.floor((state / 4_294_967_296) * from.length)]!;
  };
}

type Life = { by: Merchant; id: string; customer: MadeCustomer | undefined; pick: Pick };

async function started(pick: Pick): Promise<Life> {
  const by = await world.createMerchant();
  const scope = { topic: 'SubscriptionsTopic', shopID: 'TEST', eventTypes: subscriptionsTopic.eventTypes };
  const hook = await subscriptions.call(by, 'POST', webhooksUrl, { scope, url: server.url });
  expect(hook.status, hook.text).toBe(201);
  const more = {
    items: [{ product: 'Tea', price: pick(49_900, 49_900, insufficientFunds) }],
    every: pick('P1M', 'P1M', 'P2W'),
    ...pick({}, {}, { trialDays: 10 }, { anchorDay: 28, firstPeriod: 'proRata' }),
    ...pick({}, { periods: 4 }, { ifUnpaid: pick('end', 'pause') }),
    ...pick({}, { uniqueKey: 'tea', metadata: { of: 'tea' } }),
  };
  if (pick(true, false, false)) {
    const { body } = await subscriptions.createUnpaid(by, { ...more, firstAmount: 100 });
    await subscriptions.pay(by, body.firstInvoiceID);
    return { by, id: body.id, customer: undefined, pick };
  }
  const customer = await world.createCustomer({}, by);
  await world.bound(customer, pick(good, good, expiredAlone));
  const { body } = await subscriptions.create(by, customer.id, more);
  return { by, id: body.id, customer, pick };
}

async function step({ by, id, customer, pick }: Life): Promise<void> {
  const act = (verb: string, body: unknown = {}) =>
    subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/${verb}`, body);
  const { openPeriods, pendingChange } = await subscriptions.get(by, id);
  const { body: clock } = await subscriptions.call(by, 'GET', '/sandbox/clock');
  const later = (days: number) => new Date(Date.parse(clock.now) + days * dayMs).toISOString();
  const [open] = openPeriods;
  const number = open?.number ?? 1;
  const price = pick(1_000, 30_000, 90_000, insufficientFunds);
  const items = [{ product: pick('Tea', 'Two teas'), price }];
  await pick(
    () => subscriptions.moveTo(by, later(pick(1, 3, 9))),
    () => subscriptions.moveTo(by, later(pick(10, 20, 31))),
    () => subscriptions.moveTo(by, later(pick(1, 7, 40))),
    () => act('change', { items, when: 'now' }),
    () => act('change', { items, when: 'now' }),
    () => act('change', { items, when: 'nextPeriod', ...pick({}, { timeZone: 'Asia/Tokyo' }) }),
    () => act('unchange'),
    () => act('pause', { ...pick({}, { resumesAt: later(25) }), by: pick('payer', 'merchant') }),
    () => act('resume'),
    () => customer && world.bound(customer, pick(good, other)),
    () => (open || pendingChange) && subscriptions.pay(by, (open ?? pendingChange).invoiceID),
    () => act(`periods/${number}/charge`),
    () => act(`periods/${number}/close`, { as: pick('forgiven', 'paidElsewhere') }),
    () => act('cancel', { when: 'periodEnd' }),
    () => act('uncancel'),
  )();
}

async function compare({ by, id }: Life, story: string): Promise<string[]> {
  await subscriptions.settle();
  await world.service.webhooks.whenIdle();
  const bodies = server.deliveries
    .map(({ body }) => body)
    .filter(({ subscription }) => subscription.id === id)
    .toSorted((one, other) => one.eventID - other.eventID) as Received[];
  const receiver = new Receiver();
  for (const body of bodies) receiver.take(body);
  expect(receiver.subscription, story).toEqual(await subscriptions.get(by, id));
  expect(receiver.periods, story).toEqual((await subscriptions.periods(by, id)).toReversed());
  expect(await polled(by, id), story).toEqual(bodies.map(changeIn));
  return bodies.map(({ eventType }) => eventType);
}

/** All events, in pages. */
async function polled(by: Merchant, id: string): Promise<unknown[]> {
  const changes: unknown[] = [];
  for (let last = 0; ;) {
    const path = `${subscriptionsUrl}/${id}/events?limit=20&eventID=${last}`;
    const { body: page } = await subscriptions.call(by, 'GET', path);
    changes.push(...page.flatMap((event: { changes: unknown[] }) => event.changes));
    if (page.length === 0) return changes;
    last = page.at(-1).id;
  }
}

/** Without what only a delivery has. */
function changeIn(body: Received): object {
  const { eventID: _, occuredAt: __, topic: ___, eventType: changeType, ...members } = body as Envelope;
  return { changeType, ...members };
}

type Envelope = Received & { readonly eventID: number; readonly occuredAt: string; readonly topic: string };

test(`in ${lives} lives (SUBSCRIPTION_SEED=${seed})`, async () => {
  const heard = new Set<string>();
  for (let number = 0; number < lives; number++) {
    const life = await started(pickFrom(1_000_003 * seed + 7_919 * number));
    for (let count = 0; count < steps; count++) {
      for (const type of await compare(life, `life ${number}, step ${count}`)) heard.add(type);
      await step(life);
    }
    await subscriptions.call(life.by, 'POST', `${subscriptionsUrl}/${life.id}/cancel`, { when: 'now' });
    for (const type of await compare(life, `life ${number}, at its end`)) heard.add(type);
  }
  expect(heard.size).toBeGreaterThan(15);
});
