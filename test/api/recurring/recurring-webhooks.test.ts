// Webhook events of series, delivered to a receiver over real HTTP.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { epochMsOf } from '../../../src/clock.ts';
import { recurringTopic } from '../../../src/recurring/webhook-events.ts';
import { invoicesUrl } from '../../support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import {
  contentIsSigned,
  standardIsSigned,
  startReceiver,
  type Receiver,
} from '../../support/receivers/receiver.ts';
import {
  declinedWith,
  recurringWorld,
  type Parent,
  type RecurringWorld,
} from '../../support/worlds/recurring.ts';
import type { Merchant } from '../../support/service/test-service.ts';

let world: PaymentWorld;
let recurring: RecurringWorld;
let receiver: Receiver;
let merchant: Merchant;
beforeAll(async () => {
  world = await startPaymentWorld();
  recurring = recurringWorld(world);
  receiver = await startReceiver();
});
afterAll(async () => {
  await world.close();
  await receiver.stop();
});
beforeEach(async () => {
  merchant = await world.createMerchant();
  receiver.deliveries.length = 0;
});

const call = (method: 'GET' | 'POST', url: string, body?: object) =>
  world.service.call(method, url, { token: merchant.apiKey, ...(body ? { body } : {}) });

async function subscribe(topic: string, eventTypes: readonly string[], shopID = 'TEST') {
  const made = await call('POST', '/v2/processing/webhooks', {
    scope: { topic, shopID, eventTypes },
    url: receiver.url,
  });
  expect(made).toMatchObject({ status: 201, body: { scope: { topic, eventTypes } } });
  return made.body;
}

const parentOf = () => recurring.parent(undefined, {}, merchant);
const settled = async () => {
  world.service.jobs.wake();
  await world.service.jobs.whenIdle();
  await world.service.webhooks.whenIdle();
};
const story = () =>
  receiver.deliveries.map(({ body }) => `${body.series.rootPayment.invoiceID} ${body.eventType}`);
const changesOf = async ({ invoiceID }: Parent): Promise<string[]> => {
  const { body } = await call('GET', `${invoicesUrl}/${invoiceID}/payments/1/recurring/events?limit=100`);
  return body.flatMap(({ changes }: any) => changes.map(({ changeType }: any) => changeType));
};

test('a stop is sent, signed, for each affected series and only to registered webhooks', async () => {
  const webhook = await subscribe('RecurringTopic', ['SeriesStopped']);
  await subscribe('CustomersTopic', ['CustomerReady']);
  await subscribe('RecurringTopic', recurringTopic.eventTypes, 'TEST_USD');
  const [one, another] = [await parentOf(), await parentOf()];
  expect(await recurring.charged(one, declinedWith(41), { by: merchant })).toBe('failed');
  await settled();
  expect(story().sort()).toEqual([one, another].map(({ invoiceID }) => `${invoiceID} SeriesStopped`).sort());
  const nowSeconds = Math.floor(epochMsOf(world.service.clock.now()) / 1_000);
  for (const delivery of receiver.deliveries) {
    expect(delivery.body).toMatchObject({
      topic: 'RecurringTopic',
      eventID: expect.any(Number),
      series: { status: 'stopped', shopID: 'TEST', card: { paymentSystem: 'visa', lastDigits: '4242' } },
      rule: 'code 41',
      rulePack: 'visa@2025-05-01.2',
    });
    expect(delivery.raw.toString()).not.toMatch(/v1\.|424242/);
    expect(contentIsSigned(delivery, webhook.publicKey)).toBe(true);
    expect(standardIsSigned(delivery, webhook.signingSecret, nowSeconds)).toBe(true);
  }
});

test('all events of a series are delivered once and in order', async () => {
  await subscribe('RecurringTopic', recurringTopic.eventTypes);
  const parent = await parentOf();
  await recurring.charged(parent, 100, { by: merchant, body: { makeRecurrent: true } });
  await recurring.charged(parent, declinedWith(51), { by: merchant });
  const { text } = (await call('GET', `${invoicesUrl}/${parent.invoiceID}/payments/1/receipt`)).body;
  const link = new URL(/open (\S+)/.exec(text)![1]!).pathname;
  for (const _ of ['once', 'again']) expect((await world.service.call('POST', link)).status).toBe(303);
  await settled();
  const told = receiver.deliveries.map(({ body }) => body.eventType);
  expect(told).toEqual(await changesOf(parent));
  expect(told).toEqual([
    'SeriesStarted',
    'RecurringChargeStarted',
    'RecurringChargeSucceeded',
    'ParentAdded',
    'RecurringChargeStarted',
    'RecurringChargeFailed',
    'ConsentWithdrawn',
  ]);
  expect(receiver.deliveries.at(-1)?.body).toMatchObject({ by: 'payer', series: { status: 'withdrawn' } });
  const numbers = receiver.deliveries.map(({ body }) => body.eventID);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
});

test('advance notices are sent at their time on the party’s clock', async () => {
  await subscribe('RecurringTopic', ['NoticeDue']);
  const parent = await parentOf();
  const now = '2031-02-01T00:00:00Z';
  expect((await call('POST', '/sandbox/clock', { now })).status).toBe(200);
  await settled();
  const told = receiver.deliveries.map(
    ({ body }) => `${body.occuredAt.slice(0, 10)} ${body.notice} ${body.about.slice(0, 10)}`,
  );
  expect(told.slice(-3)).toEqual([
    '2030-11-02 cardExpiring 2031-01-01',
    '2030-12-02 cardExpiring 2031-01-01',
    '2030-12-25 cardExpiring 2031-01-01',
  ]);
  expect(told.filter((each) => each.includes('gapNearing'))).toHaveLength(1);
  expect(told).toHaveLength((await changesOf(parent)).filter((type) => type === 'NoticeDue').length);
});

test('event types of another topic are refused with the list of valid ones', async () => {
  const scope = { topic: 'RecurringTopic', shopID: 'TEST', eventTypes: ['PaymentCaptured'] };
  const refused = await call('POST', '/v2/processing/webhooks', { scope, url: receiver.url });
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalidRequest' } });
  expect(refused.body.message).toContain('SeriesStopped');
});
