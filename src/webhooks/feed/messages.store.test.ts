// Event numbers are assigned once by any node, and increase within an aggregate.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startDeliveryWorld, type DeliveryWorld } from '../../../test/support/receivers/delivery-workers.ts';
import { factsOfInvoice, writeInvoices } from '../../../test/support/database/seeded-events.ts';
import { instantAt } from '../../clock.ts';
import { invoicesTopic } from '../../payments/webhook-events.ts';
import { messagesFor, type Selection } from './messages.store.ts';
import { rewind } from './replay.store.ts';

let world: DeliveryWorld;
beforeAll(async () => void (world = await startDeliveryWorld()));
afterAll(() => world.db.drop());
beforeEach(() => world.empty());

const refuse = (aggregateId: string, error: unknown) => {
  throw new Error(`${aggregateId}: ${String(error)}`);
};

test('two nodes that build messages of one invoice in parallel get the same messages', async () => {
  const ids = await writeInvoices(
    world.db.database,
    { partyId: 'P', shopId: 'shop' },
    { invoices: 40, eventsEach: 2, writers: 2 },
  );
  for (const aggregateId of ids) {
    const all: Selection[] = [
      { topic: 'InvoicesTopic', aggregateId, select: (webhookEvents) => webhookEvents },
    ];
    const ask = () => messagesFor(world.db.database, [invoicesTopic], all, world.clock.now(), refuse);
    const [[first], [second]] = await Promise.all([ask(), ask()]);
    expect(first).toHaveLength(2);
    expect(second).toEqual(first);
  }
});

test('numbers increase within an invoice even if later events were sent first', async () => {
  const facts = factsOfInvoice({ partyId: 'P', shopId: 'shop', invoiceId: 'I' }, 140, instantAt(0));
  const write = (from: number, to: number) =>
    world.query(
      `insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
       select 'I', $1::int + n - 1, 'invoice', 'P', now(), fact
       from json_array_elements($2) with ordinality as fresh (fact, n)`,
      [from, JSON.stringify(facts.slice(from - 1, to))],
    );
  await write(1, 135);
  const webhook = await world.addWebhook('1', 'shop');
  await write(136, 140);
  await world.route();
  expect(await world.sendAll()).toHaveLength(5);
  await rewind(world.db.database, webhook, invoicesTopic, world.allTime(), refuse);
  const ids = (await world.sendAll()).map(({ eventID }) => eventID);
  expect(ids).toHaveLength(140);
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
});
