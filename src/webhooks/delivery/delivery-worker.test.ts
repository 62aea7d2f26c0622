// Who waits for whom: a slow or dead receiver for nobody but itself. The senders are made up, so that the test says when a
// receiver answers; queues and messages are real.
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  delivered,
  startDeliveryWorld,
  until,
  type Arrival,
  type DeliveryWorld,
} from '../../../test/support/receivers/couriers.ts';
import { writeInvoices } from '../../../test/support/database/seeded-events.ts';
import type { PostResponse } from './http-sender.ts';

let world: DeliveryWorld;
beforeAll(async () => void (world = await startDeliveryWorld()));
afterAll(() => world.db.drop());
beforeEach(() => world.empty());

/** Invoices of a shop, each with its events. */
function write(shopId: string, invoices: number, eventsEach: number, writers = 4): Promise<string[]> {
  return writeInvoices(world.db.database, { partyId: 'P', shopId }, { invoices, eventsEach, writers });
}

test('a receiver that does not answer holds up its own, ten at a time, and nobody else', async () => {
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
  expect(slow()).toHaveLength(10);
  // Nine of the ten that fail are followed by others. Then it is known to fail, and has two places until it answers.
  for (const expected of [19, 21, 23]) {
    answerAll({ kind: 'nothing', why: 'timeout' });
    await until(() => slow().length >= expected);
    // Round trips, so that more of them would have been sent by now.
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

test('two nodes never send of one queue at once, and together send everything once', async () => {
  await world.addWebhook('1', 'shop');
  const ids = await write('shop', 60, 6, 4);
  await world.route();
  const underWay = new Set<string>();
  const overlaps: string[] = [];
  const reply = ({ invoice, answer }: Arrival) => {
    if (underWay.has(invoice)) overlaps.push(invoice);
    underWay.add(invoice);
    setImmediate(() => {
      underWay.delete(invoice);
      answer(delivered);
    });
  };
  const nodes = [world.node(reply), world.node(reply)];
  for (const { deliveryWorker } of nodes) deliveryWorker.wake();
  await Promise.all(nodes.map(({ deliveryWorker }) => deliveryWorker.whenIdle()));
  await Promise.all(nodes.map(({ deliveryWorker }) => deliveryWorker.stop()));
  expect(overlaps).toEqual([]);
  const all = nodes.flatMap(({ arrivals }) => arrivals);
  expect(all).toHaveLength(360);
  expect(new Set(all.map(({ invoice }) => invoice))).toEqual(new Set(ids));
  expect(nodes.every(({ arrivals }) => arrivals.length > 0)).toBe(true);
});

test('a node that was too slow writes over nothing of the one that took the queue after it', async () => {
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

test('a node that stood still until another had taken its queue sends nothing of it', async () => {
  await world.addWebhook('1', 'shop');
  await write('shop', 1, 2, 1);
  await world.route();
  let stoodStillMs = 0;
  const nowMs = performance.now.bind(performance);
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => nowMs() + stoodStillMs);
  let looks = 0;
  // The first look is before it has the queue in hand, the second before it sends.
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

test('what a node has in hand when it stops is due for others at once', async () => {
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
  // The ten that failed wait for their next attempt; the five that were in hand are sent with all they have.
  expect(second.arrivals).toHaveLength(10);
});

test('a log that cannot be understood holds up itself alone, and says so', async () => {
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
  expect(world.logged.join('')).toContain('cannot be told');
});

test('a hundred receivers that do not answer leave room for one that does', async () => {
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
  // Of the others nobody has answered.
  expect(arrivals.length - quick().length).toBe(1_000);
  const stopped = deliveryWorker.stop();
  for (const { answer } of arrivals) answer(delivered);
  await stopped;
});

test('a webhook that cannot be loaded holds up nobody claimed with it, and is given up in the end', async () => {
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
  const last_failure = 'an error on our side';
  expect(await queue()).toEqual([{ attempts: 1, last_failure, is_parked: false }]);
  for (let attempt = 2; attempt <= 29; attempt++) {
    world.clock.advance(75 * 60_000);
    deliveryWorker.wake();
    await deliveryWorker.whenIdle();
  }
  await deliveryWorker.stop();
  expect(await queue()).toEqual([{ attempts: 29, last_failure, is_parked: true }]);
});

test('an error of ours while a notice is sent is an attempt that failed', async () => {
  await world.addWebhook('1', 'shop');
  await write('shop', 1, 2);
  await world.route();
  const { deliveryWorker } = world.node(undefined, { unsendable: 'shop' });
  deliveryWorker.wake();
  await deliveryWorker.whenIdle();
  await deliveryWorker.stop();
  const { rows } = await world.query('select attempt, event_type, status, failure from webhook_attempt');
  expect(rows).toEqual([
    { attempt: 1, event_type: 'InvoiceCreated', status: null, failure: 'an error on our side' },
  ]);
});
