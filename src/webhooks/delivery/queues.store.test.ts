// Only results under the valid lease of a queue are stored.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startDeliveryWorld, type DeliveryWorld } from '../../../test/support/receivers/delivery-workers.ts';
import { writeInvoices } from '../../../test/support/database/seeded-events.ts';
import { laterBy } from '../../clock.ts';
import { claim, write, type QueueWrite } from './queues.store.ts';

let world: DeliveryWorld;
beforeAll(async () => void (world = await startDeliveryWorld()));
afterAll(() => world.db.drop());
beforeEach(() => world.empty());

const leaseMs = 1_000;
const bounds = { leaseMs, limitEach: 10, limit: 10, busy: [], turn: 1 };

test.each(['first', 'last'])(
  'a node that claimed its own queue again writes nothing under the old lease, written %s',
  async (place) => {
    const { db, clock } = world;
    await world.addWebhook('1', 'shop');
    await writeInvoices(
      db.database,
      { partyId: 'P', shopId: 'shop' },
      { invoices: 1, eventsEach: 2, writers: 1 },
    );
    await world.route();
    const later = laterBy(clock.now(), 2 * leaseMs);
    const [slow] = await claim(db.database, clock.now(), bounds);
    const [again] = await claim(db.database, later, bounds);
    const failed: QueueWrite = {
      queue: slow!,
      cursor: slow!.cursor,
      outcome: 'retry',
      at: laterBy(later, 60_000),
      failure: 'timeout',
    };
    const leaseEnd = laterBy(later, 3 * leaseMs);
    const following = { ...again!.cursor, next: again!.cursor.last };
    const acknowledged: QueueWrite = { queue: again!, cursor: following, outcome: 'continue', leaseEnd };
    const writes = place === 'first' ? [failed, acknowledged] : [acknowledged, failed];
    expect(await write(db.database, writes, later)).toEqual(writes.map((one) => one === acknowledged));
    const { rows } = await world.query('select next_position, attempts, last_failure from webhook_queue');
    expect(rows).toEqual([{ next_position: BigInt(following.next), attempts: 0, last_failure: null }]);
  },
);
