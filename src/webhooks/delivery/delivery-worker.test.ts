// A slow or dead receiver delays only its own webhook events.
// The senders are fake, so that the test decides when a receiver answers; queues and messages are real.
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  delivered,
  startDeliveryWorld,
  until,
  type Arrival,
  type DeliveryWorld,
} from '../../../test/support/receivers/delivery-workers.ts';
import { writeInvoices } from '../../../test/support/database/seeded-events.ts';
import type { PostResponse } from './http-sender.ts';

let world: DeliveryWorld;
beforeAll(async () => void (world = await startDeliveryWorld()));
afterAll(() => world.db.drop());
beforeEach(() => world.empty());

/** Creates invoices of a shop, each with its events. */
function write(shopId: string, invoices: number, eventsEach: number, writers = 4): Promise<string[]> {
  return writeInvoices(world.db.database, { partyId: 'P', shopId }, { invoices, eventsEach, writers });
}

test('a receiver that does not answer delays only its own queues, ten at a time', async () => {
  await world.addWebhook('1', 'slow');
  await world.addWebhook('2', 'quick');
  await write('slow', 300, 2, 4);
  await write('quick', 40, 2, 4);
  await world.route();
  const { deliveryWorker, arrivals } = world.node(({ shop, answer }) => {
    if (shop === 'quick') answer(delivered);
  });
  deliveryWorker.wake();
  await until(() => arrivals.filter(({ shop }) => shop === 'quick').length === 80);
  const slow = () => arrivals.filter(({ shop }) => shop === 'slow');
  const answerAll = (answer: PostResponse) => slow().forEach((arrival) => arrival.answer(answer));
  await until(() => slow().length >= 10);
  await world.roundTrips();
  expect(slow()).toHaveLength(10);
  // Nine of the ten failed deliveries are followed by others. After ten failures the webhook has two slots.
  for (const expected of [19, 21, 23]) {
    answerAll({ kind: 'nothing', why: 'timeout' });
    await until(() => slow().length >= expected);
    // Round trips to the database give further deliveries time to start.
    await world.roundTrips();
    expect(slow()).toHaveLength(expected);
  }
  answerAll(delivered);
  await until(() => slow().length >= 33);
  const stopped = deliveryWorker.stop();
  for (const { answer } of arrivals) answer(delivered);
  await stopped;
  expect(world.logged.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([]);
});

test('the events of a queue are read together, and each delivery takes one write', async () => {
  await world.addWebhook('1', 'shop');
  await write('shop', 1, 6, 1);
  await world.route();
  const counts: Record<string, number> = {};
  const onStatement = (name: string) => (counts[name] = (counts[name] ?? 0) + 1);
  const { deliveryWorker, arrivals } = world.node(({ answer }) => answer(delivered), { onStatement });
  deliveryWorker.wake();
  await deliveryWorker.whenIdle();
  await deliveryWorker.stop();
  expect(arrivals).toHaveLength(6);
  const { claim_webhook_queues: claims = 0, ...others } = counts;
  expect(others).toEqual({
    read_logs: 1,
    make_webhook_event_numbers: 1,
    fix_webhook_messages: 1,
    write_webhook_queues: 6,
  });
  // One at first, then at most one when a slot is free and one when the result is stored.
  expect(claims).toBeLessThanOrEqual(1 + 2 * 6);
});

test('two nodes never send from one queue in parallel, and together send everything once', async () => {
  await world.addWebhook('1', 'shop');
  const ids = await write('shop', 60, 6, 4);
  await world.route();
  const underWay = new Set<string>();
  const overlaps: string[] = [];
  const senders = new Set<string>();
  let bothSend = () => {};
  const whenBothSend = new Promise<void>((resolve) => (bothSend = resolve));
  const replyTo =
    (node: string) =>
    ({ invoice, answer }: Arrival) => {
      if (underWay.has(invoice)) overlaps.push(invoice);
      underWay.add(invoice);
      // The first deliveries of a node wait for those of the other, which would find nothing left if it came late.
      if (senders.add(node).size === 2) bothSend();
      void whenBothSend.then(() =>
        setImmediate(() => {
          underWay.delete(invoice);
          answer(delivered);
        }),
      );
    };
  const nodes = [world.node(replyTo('one')), world.node(replyTo('other'))];
  for (const { deliveryWorker } of nodes) deliveryWorker.wake();
  await Promise.all(nodes.map(({ deliveryWorker }) => deliveryWorker.whenIdle()));
  await Promise.all(nodes.map(({ deliveryWorker }) => deliveryWorker.stop()));
  expect(overlaps).toEqual([]);
  const all = nodes.flatMap(({ arrivals }) => arrivals);
  expect(all).toHaveLength(360);
  expect(new Set(all.map(({ invoice }) => invoice))).toEqual(new Set(ids));
  expect(nodes.every(({ arrivals }) => arrivals.length > 0)).toBe(true);
});

test('a node whose lease expired overwrites nothing of the next node', async () => {
  await world.addWebhook('1', 'shop');
  await write('shop', 1, 2, 1);
  await world.route();
  const { deliveryWorker, arrivals } = world.node();
  deliveryWorker.wake();
  await until(() => arrivals.length === 1);
  const taken = `update webhook_queue set wake_at = '2030-01-01', attempts = 3, next_position = 8 returning *`;
  const before = await world.query(taken);
  for (const { answer } of arrivals) answer(delivered);
  await deliveryWorker.whenIdle();
  const after = await world.query('select * from webhook_queue');
  expect(after.rows).toEqual(before.rows);
  expect(arrivals).toHaveLength(1);
  await deliveryWorker.stop();
});

test('a node that was suspended until its lease expired sends nothing', async () => {
  await world.addWebhook('1', 'shop');
  await write('shop', 1, 2, 1);
  await world.route();
  let stoodStillMs = 0;
  const nowMs = performance.now.bind(performance);
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => nowMs() + stoodStillMs);
  let looks = 0;
  // The first load is during the claim, the second before the send.
  const whileLooking = async () => {
    looks += 1;
    if (looks < 2) return;
    stoodStillMs = 60_000;
    await world.query(`update webhook_queue set wake_at = '2030-01-01'`);
  };
  const { deliveryWorker, arrivals } = world.node(({ answer }) => answer(delivered), { whileLooking });
  try {
    deliveryWorker.wake();
    await deliveryWorker.whenIdle();
  } finally {
    spy.mockRestore();
  }
  expect(looks).toBe(2);
  expect(arrivals).toEqual([]);
  await deliveryWorker.stop();
});

test('the unsent queues of a node that stops are due for others immediately', async () => {
  await world.addWebhook('1', 'shop');
  await write('shop', 15, 2, 1);
  await world.route();
  const first = world.node();
  first.deliveryWorker.wake();
  await until(() => first.arrivals.length === 10);
  const stopped = first.deliveryWorker.stop();
  for (const { answer } of first.arrivals) answer({ kind: 'nothing', why: 'ECONNRESET' });
  await stopped;
  const second = world.node(({ answer }) => answer(delivered));
  second.deliveryWorker.wake();
  await second.deliveryWorker.whenIdle();
  await second.deliveryWorker.stop();
  // The ten failed queues wait for a retry. The five unsent queues are sent completely.
  expect(second.arrivals).toHaveLength(10);
});

test('a log that cannot be read delays only its own queue and is logged', async () => {
  await world.addWebhook('1', 'shop');
  const [broken = ''] = await write('shop', 2, 2, 1);
  await world.route();
  await world.db.database.withClient(async (client) => {
    await client.query('alter table event disable trigger event_is_append_only');
    await client.query(
      `update event set facts = '[{"type": "invoice_paid"}, {"type": "invoice_paid"}]' where aggregate_id = $1 and sequence = 2`,
      [broken],
    );
    await client.query('alter table event enable trigger event_is_append_only');
  });
  const { deliveryWorker, arrivals } = world.node(({ answer }) => answer(delivered));
  deliveryWorker.wake();
  await deliveryWorker.whenIdle();
  await deliveryWorker.stop();
  expect(arrivals).toHaveLength(2);
  expect(arrivals.some(({ invoice }) => invoice === broken)).toBe(false);
  expect(world.logged.join('')).toContain('webhook events could not be built');
});

test('a receiver that answers is served while a hundred others do not answer', async () => {
  for (let number = 0; number < 100; number++) await world.addWebhook(String(1_000 + number), 'slow');
  await world.addWebhook('9999', 'quick');
  await write('slow', 12, 2);
  await world.route();
  const { deliveryWorker, arrivals } = world.node(({ shop, answer }) => {
    if (shop === 'quick') answer(delivered);
  });
  deliveryWorker.wake();
  await until(() => arrivals.length === 1_000);
  await write('quick', 5, 2);
  await world.route();
  deliveryWorker.wake();
  const quick = () => arrivals.filter(({ shop }) => shop === 'quick');
  await until(() => quick().length === 10);
  // No other receiver has answered.
  expect(arrivals.length - quick().length).toBe(1_000);
  const stopped = deliveryWorker.stop();
  for (const { answer } of arrivals) answer(delivered);
  await stopped;
});

test('a webhook that cannot be loaded delays no other, and its queue is parked at the end', async () => {
  await world.addWebhook('1', 'sealed');
  await world.addWebhook('2', 'shop');
  await write('sealed', 1, 2);
  await write('shop', 3, 2);
  await world.route();
  const { deliveryWorker, arrivals } = world.node(({ answer }) => answer(delivered), { unloadable: '1' });
  deliveryWorker.wake();
  await deliveryWorker.whenIdle();
  expect(arrivals).toHaveLength(6);
  const queue = async () =>
    (
      await world.query(`select attempts, last_failure, stuck_at is not null as is_parked from webhook_queue
                        where webhook_id = '1'`)
    ).rows;
  const last_failure = 'internal error';
  expect(await queue()).toEqual([{ attempts: 1, last_failure, is_parked: false }]);
  for (let attempt = 2; attempt <= 29; attempt++) {
    world.clock.advance(75 * 60_000);
    deliveryWorker.wake();
    await deliveryWorker.whenIdle();
  }
  await deliveryWorker.stop();
  expect(await queue()).toEqual([{ attempts: 29, last_failure, is_parked: true }]);
});

test('an internal error during a delivery counts as a failed attempt', async () => {
  await world.addWebhook('1', 'shop');
  await write('shop', 1, 2);
  await world.route();
  const { deliveryWorker } = world.node(undefined, { unsendable: 'shop' });
  deliveryWorker.wake();
  await deliveryWorker.whenIdle();
  await deliveryWorker.stop();
  const { rows } = await world.query('select attempt, event_type, status, failure from webhook_attempt');
  expect(rows).toEqual([
    { attempt: 1, event_type: 'InvoiceCreated', status: null, failure: 'internal error' },
  ]);
});
