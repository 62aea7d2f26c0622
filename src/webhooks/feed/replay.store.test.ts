// A replay during normal operation loses neither replayed nor new events.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  delivered,
  startDeliveryWorld,
  until,
  type Arrival,
  type DeliveryWorld,
} from '../../../test/support/receivers/delivery-workers.ts';
import { factsOfInvoice, writeInvoices } from '../../../test/support/database/seeded-events.ts';
import { epochMsOf, instantAt } from '../../clock.ts';
import { invoicesTopic } from '../../payments/webhook-events.ts';
import { rewind } from './replay.store.ts';
import type { PostResponse } from '../delivery/http-sender.ts';
import type { Webhook } from '../domain/webhook.ts';

let world: DeliveryWorld;
beforeAll(async () => void (world = await startDeliveryWorld()));
afterAll(() => world.db.drop());
beforeEach(() => world.empty());

const refuse = (aggregateId: string, error: unknown) => {
  throw new Error(`${aggregateId}: ${String(error)}`);
};
const replayAll = (webhook: Webhook) =>
  rewind(world.db.database, webhook, invoicesTopic, world.allTime(), refuse);

const typesOf = (arrivals: readonly Arrival[]) => arrivals.map(({ eventType }) => eventType);
const timedOut: PostResponse = { kind: 'nothing', why: 'timeout' };

test.each([
  { what: 'is delivered', answer: delivered, lastFailure: null },
  { what: 'fails', answer: timedOut, lastFailure: 'timeout' },
])(
  'a queue rewound during a delivery keeps its new cursor when that $what',
  async ({ answer, lastFailure }) => {
    const webhook = await world.addWebhook('1', 'shop');
    await writeInvoices(
      world.db.database,
      { partyId: 'P', shopId: 'shop' },
      { invoices: 1, eventsEach: 4, writers: 1 },
    );
    await world.route();
    const { deliveryWorker, arrivals } = world.node();
    deliveryWorker.wake();
    await until(() => arrivals.length === 1);
    arrivals[0]?.answer(delivered);
    await until(() => arrivals.length === 2);
    arrivals[1]?.answer(delivered);
    await until(() => arrivals.length === 3);
    expect(await replayAll(webhook)).toBe(1);
    arrivals[2]?.answer(answer);
    await deliveryWorker.stop();
    const { rows } = await world.query('select attempts, stuck_at, last_failure from webhook_queue');
    expect(rows).toEqual([{ attempts: 0, stuck_at: null, last_failure: lastFailure }]);
    // The first two again, the delivery in progress, which was not acknowledged, and the rest.
    expect(typesOf(await world.sendAll())).toEqual([
      'InvoiceCreated',
      'PaymentStarted',
      'PaymentFailed',
      'InvoiceCancelled',
    ]);
  },
);

test('a replay before the feed has read the log loses no new events', async () => {
  const longAgo = epochMsOf(world.clock.now()) - 3_600_000;
  const facts = factsOfInvoice({ partyId: 'P', shopId: 'shop', invoiceId: 'I' }, 4, instantAt(longAgo));
  const write = (sequence: number, atMs: number) =>
    world.query(
      `insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
       values ('I', $1, 'invoice', 'P', $2, $3)`,
      [sequence, instantAt(atMs), JSON.stringify(facts[sequence - 1])],
    );
  await write(1, longAgo);
  const webhook = await world.addWebhook('1', 'shop');
  await write(2, longAgo + 1_000_000);
  const stretch = { since: instantAt(longAgo), until: instantAt(longAgo + 1), now: world.clock.now() };
  expect(await rewind(world.db.database, webhook, invoicesTopic, stretch, refuse)).toBe(1);
  await world.route();
  expect(typesOf(await world.sendAll())).toEqual(['InvoiceCreated', 'PaymentStarted']);
  // New events alone cause no replay.
  await write(3, longAgo + 2_000_000);
  const later = {
    since: instantAt(longAgo + 2_000_000),
    until: instantAt(longAgo + 2_000_001),
    now: world.clock.now(),
  };
  expect(await rewind(world.db.database, webhook, invoicesTopic, later, refuse)).toBe(0);
  await world.route();
  expect(typesOf(await world.sendAll())).toEqual(['PaymentFailed']);
});

test('queues without matching events are not rewound', async () => {
  const webhook = await world.addWebhook('1', 'shop', ['PaymentRefunded']);
  await writeInvoices(
    world.db.database,
    { partyId: 'P', shopId: 'shop' },
    { invoices: 3, eventsEach: 2, writers: 1 },
  );
  await world.route();
  expect(await replayAll(webhook)).toBe(0);
});

test('events of another shop or party are not replayed', async () => {
  const webhook = await world.addWebhook('1', 'shop');
  const write = (partyId: string, shopId: string) =>
    writeInvoices(world.db.database, { partyId, shopId }, { invoices: 2, eventsEach: 2, writers: 1 });
  const [own] = [await write('P', 'shop'), await write('P', 'other'), await write('Q', 'shop')];
  await world.route();
  await world.sendAll();
  expect(await replayAll(webhook)).toBe(2);
  expect(new Set((await world.sendAll()).map(({ invoice }) => invoice))).toEqual(new Set(own));
});
