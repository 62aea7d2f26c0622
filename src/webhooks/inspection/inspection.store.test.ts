// What merchants and operators see of queues, and can do with them, while nodes have claimed some.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  delivered,
  startDeliveryWorld,
  until,
  type DeliveryWorld,
} from '../../../test/support/receivers/delivery-workers.ts';
import { writeInvoices } from '../../../test/support/database/seeded-events.ts';
import { laterBy } from '../../clock.ts';
import { attemptsOf, lags, parkedQueues, resume, type AttemptCursor } from './inspection.store.ts';

let world: DeliveryWorld;
beforeAll(async () => void (world = await startDeliveryWorld()));
afterAll(() => world.db.drop());
beforeEach(() => world.empty());

test('a claimed queue is not resumed, whatever the clock of its node says', async () => {
  await world.addWebhook('1', 'shop');
  await writeInvoices(
    world.db.database,
    { partyId: 'P', shopId: 'shop' },
    { invoices: 1, eventsEach: 2, writers: 1 },
  );
  await world.route();
  const beforeTheClaim = world.clock.now();
  world.clock.advance(1);
  const first = world.node();
  const second = world.node(({ answer }) => answer(delivered));
  first.deliveryWorker.wake();
  await until(() => first.arrivals.length === 1);
  expect(await resume(world.db.database, '1', beforeTheClaim)).toBe(0);
  second.deliveryWorker.wake();
  await second.deliveryWorker.whenIdle();
  expect(second.arrivals).toEqual([]);
  for (const { answer } of first.arrivals) answer({ kind: 'nothing', why: 'timeout' });
  await first.deliveryWorker.whenIdle();
  // While it waits for a retry, no node has claimed it.
  expect(await resume(world.db.database, '1', world.clock.now())).toBe(1);
  second.deliveryWorker.wake();
  await second.deliveryWorker.whenIdle();
  expect(second.arrivals).toHaveLength(2);
  await first.deliveryWorker.stop();
  await second.deliveryWorker.stop();
});

test('the lag is that of the longest waiting event, even if others are due before it', async () => {
  await world.addWebhook('1', 'shop');
  const now = world.clock.now();
  const insert = (id: string, ageMs: number, dueInMs: number, copies: number) =>
    world.query(
      `insert into webhook_queue (aggregate_id, webhook_id, next_position, last_position, waiting_since, wake_at)
       select $1 || n, '1', 8, 8, $2, $3 from generate_series(1, $4::int) as n`,
      [id, laterBy(now, -ageMs), laterBy(now, dueInMs), copies],
    );
  await insert('old', 20 * 3_600_000, 3_600_000, 1);
  await insert('new', 1_000, 1_000, 1_500);
  expect(await lags(world.db.database, 1)).toEqual([
    { webhook_id: '1', oldest: laterBy(now, -20 * 3_600_000) },
  ]);
});

test('parked queues of a deleted webhook are not counted', async () => {
  await world.addWebhook('1', 'shop');
  await world.query(
    `insert into webhook_queue (aggregate_id, webhook_id, next_position, last_position, stuck_at)
     values ('I', '1', 8, 8, now()), ('I', 'gone', 8, 8, now())`,
  );
  expect(await parkedQueues(world.db.database)).toBe(1);
});

test('pages of attempts include all with the same time', async () => {
  await world.addWebhook('1', 'shop');
  await writeInvoices(
    world.db.database,
    { partyId: 'P', shopId: 'shop' },
    { invoices: 9, eventsEach: 2, writers: 1 },
  );
  await world.route();
  expect(await world.sendAll()).toHaveLength(18);
  const seen: string[] = [];
  let after: AttemptCursor | undefined;
  for (let page = 0; page < 10; page++) {
    const rows = await attemptsOf(world.db.database, '1', { limit: 5, ...(after ? { after } : {}) });
    const last = rows.at(-1);
    if (!last) break;
    seen.push(...rows.map(({ aggregate_id, position }) => `${aggregate_id} ${position}`));
    after = {
      attemptedAt: last.attempted_at,
      aggregateId: last.aggregate_id,
      position: Number(last.position),
      attempt: last.attempt,
    };
  }
  expect(new Set(seen).size).toBe(18);
  expect(seen).toHaveLength(18);
});
