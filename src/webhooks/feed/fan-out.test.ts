// A webhook receives all events written after it was created, whatever happens to other webhooks.
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startDeliveryWorld, type DeliveryWorld } from '../../../test/support/receivers/delivery-workers.ts';
import { factsOfInvoice, writeInvoices } from '../../../test/support/database/seeded-events.ts';
import { instantAt } from '../../clock.ts';

let world: DeliveryWorld;
beforeAll(async () => void (world = await startDeliveryWorld()));
afterAll(() => world.db.drop());
beforeEach(() => world.empty());

const insert = `insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
                values ($1, $2, 'invoice', 'P', now(), $3)`;

test('an event written after the webhook is sent, even if its transaction began before', async () => {
  const facts = factsOfInvoice({ partyId: 'P', shopId: 'shop', invoiceId: 'I' }, 4, instantAt(0));
  await world.query(insert, ['I', 1, JSON.stringify(facts[0])]);
  let early: pg.ClientBase | undefined;
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  let begun = () => {};
  const hasBegun = new Promise<void>((resolve) => (begun = resolve));
  const over = world.db.database.withClient(async (client) => {
    early = client;
    await client.query('begin');
    // Like a request with an Idempotency-Key, which gets its transaction number before it reads.
    await client.query('select pg_current_xact_id()');
    begun();
    await ended;
    await client.query('commit');
  });
  await hasBegun;
  // Another transaction ends in between, so that the first is not the latest.
  await world.query(insert, ['other', 1, '[]']);
  await world.addWebhook('1', 'shop');
  await world.query(insert, ['I', 2, JSON.stringify(facts[1])]);
  await early?.query(insert, ['I', 3, JSON.stringify(facts[2])]);
  end();
  await over;
  await world.route();
  const told = (await world.sendAll()).map(({ eventType }) => eventType);
  expect(told).toEqual(['PaymentStarted', 'PaymentFailed']);
});

test('a webhook of an earlier version receives the events of transactions after its own', async () => {
  await world.addWebhook('1', 'shop');
  await world.query('update webhook set created_snapshot = null');
  await writeInvoices(
    world.db.database,
    { partyId: 'P', shopId: 'shop' },
    { invoices: 1, eventsEach: 2, writers: 1 },
  );
  await world.addWebhook('2', 'shop');
  await world.query('update webhook set created_snapshot = null');
  await world.route();
  const { rows } = await world.query('select webhook_id, last_position from webhook_queue');
  expect(rows).toEqual([{ webhook_id: '1', last_position: expect.anything() as unknown }]);
});

test('a log that cannot be read blocks no other webhook events and is reported', async () => {
  await world.addWebhook('1', 'shop');
  await world.query(insert, ['broken', 1, '[{"type": "invoice_from_the_future"}]']);
  await world.query(insert, ['broken', 2, '[{"type": "invoice_paid"}]']);
  const ids = await writeInvoices(
    world.db.database,
    { partyId: 'P', shopId: 'shop' },
    { invoices: 3, eventsEach: 2, writers: 1 },
  );
  await world.route();
  expect(new Set((await world.sendAll()).map(({ invoice }) => invoice))).toEqual(new Set(ids));
  expect(world.logged.join('\n')).toContain('broken');
});
