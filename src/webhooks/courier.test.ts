// Who waits for whom: a slow or dead receiver for nobody but itself. The senders are made up, so that the test says when a
// receiver answers; queues and messages are real.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.ts';
import { testClock } from '../../test/support/test-service.ts';
import { writeInvoices } from '../../test/support/told-logs.ts';
import { randomIds } from '../ids.ts';
import { openLog } from '../log.ts';
import { invoicesTopic } from '../payments/payment.notices.ts';
import { openCourier, type Courier } from './courier.ts';
import { usualDelaysSeconds } from './delivery.ts';
import { routeOnce } from './router.ts';
import type { Answer, Post } from './sending.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ed25519 = generateKeyPairSync('ed25519').privateKey;
const secret = randomBytes(32);
const timeoutMs = 10_000;

let db: TestDatabase;
let logged: string[];
const clock = testClock();

beforeAll(async () => void (db = await createTestDatabase()));
afterAll(() => db.drop());
beforeEach(async () => {
  logged = [];
  await db.database.withClient((client) =>
    client.query(
      'truncate webhook, webhook_key, webhook_queue, webhook_message, webhook_attempt, webhook_series',
    ),
  );
});

async function addWebhook(id: string, shopId: string): Promise<void> {
  await db.database.withClient(async (client) => {
    await client.query(
      `insert into webhook (webhook_id, party_id, topic, owner_id, event_types, url, created_at)
       values ($1, 'P', 'InvoicesTopic', $2, $3, $4, now())`,
      [id, shopId, invoicesTopic.eventTypes.join(' '), `http://${shopId}.example/`],
    );
    await client.query(
      `insert into webhook_key (webhook_id, generation, public_key, signing_public_key, sealed, seal_generation, signs_from)
       values ($1, 1, '', '', '', 1, now())`,
      [id],
    );
  });
}

type Arrival = { shop: string; invoice: string; eventType: string; answer: (answer: Answer) => void };

function node(reply?: (arrival: Arrival) => void): { courier: Courier; arrivals: Arrival[] } {
  const arrivals: Arrival[] = [];
  const courier = openCourier({
    db: db.database,
    clock,
    ids: randomIds,
    log: openLog({ level: 'debug', human: false, destination: { write: (line) => void logged.push(line) } }),
    topics: [invoicesTopic],
    sender: {
      post: ({ url, body }: Post) =>
        new Promise((resolve) => {
          const { invoice, eventType } = JSON.parse(body.toString()) as {
            invoice: { id: string };
            eventType: string;
          };
          const [shop = ''] = url.hostname.split('.');
          const arrival = { shop, invoice: invoice.id, eventType, answer: resolve };
          arrivals.push(arrival);
          reply?.(arrival);
        }),
      stop: () => Promise.resolve(),
    },
    delaysSeconds: usualDelaysSeconds,
    timeoutMs,
    destinationOf: async (webhookId) => {
      const { rows } = await db.database.withClient((client) =>
        client.query('select url from webhook where webhook_id = $1', [webhookId]),
      );
      const [row] = rows as { url: string }[];
      return (
        row && {
          webhook: {
            url: row.url,
            partyId: 'P',
            topic: 'InvoicesTopic',
            eventTypes: invoicesTopic.eventTypes,
          },
          keys: [{ generation: 1, signsFrom: clock.now(), rsa, ed25519, secret }],
        }
      );
    },
    countDelivery: () => {},
  });
  return { courier, arrivals };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

async function route(): Promise<void> {
  while ((await routeOnce(db.database, [invoicesTopic], clock.now()))?.more);
}

const delivered: Answer = { came: 'status', status: 200 };

test('a receiver that does not answer holds up its own, ten at a time, and nobody else', async () => {
  await addWebhook('1', 'slow');
  await addWebhook('2', 'quick');
  await writeInvoices(
    db.database,
    { partyId: 'P', shopId: 'slow' },
    { invoices: 300, eventsEach: 2, writers: 4 },
  );
  await writeInvoices(
    db.database,
    { partyId: 'P', shopId: 'quick' },
    { invoices: 40, eventsEach: 2, writers: 4 },
  );
  await route();
  const { courier, arrivals } = node(({ shop, answer }) => {
    if (shop === 'quick') answer(delivered);
  });
  courier.wake();
  await until(() => arrivals.filter(({ shop }) => shop === 'quick').length === 80);
  const slow = () => arrivals.filter(({ shop }) => shop === 'slow');
  const answerAll = (answer: Answer) => slow().forEach((arrival) => arrival.answer(answer));
  expect(slow()).toHaveLength(10);
  // Nine of the ten that fail are followed by others. Then it is known to fail, and has two places until it answers.
  for (const expected of [19, 21, 23]) {
    answerAll({ came: 'nothing', why: 'timeout' });
    await until(() => slow().length >= expected);
    // Round trips, so that more of them would have been sent by now.
    for (let trip = 0; trip < 30; trip++) await db.database.withClient((client) => client.query('select 1'));
    expect(slow()).toHaveLength(expected);
  }
  answerAll(delivered);
  await until(() => slow().length >= 33);
  const stopped = courier.stop();
  for (const { answer } of arrivals) answer(delivered);
  await stopped;
  expect(logged.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([]);
});

test('two nodes never send of one queue at once, and together send everything once', async () => {
  await addWebhook('1', 'shop');
  const ids = await writeInvoices(
    db.database,
    { partyId: 'P', shopId: 'shop' },
    { invoices: 60, eventsEach: 6, writers: 4 },
  );
  await route();
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
  const nodes = [node(reply), node(reply)];
  for (const { courier } of nodes) courier.wake();
  await Promise.all(nodes.map(({ courier }) => courier.settled()));
  await Promise.all(nodes.map(({ courier }) => courier.stop()));
  expect(overlaps).toEqual([]);
  const all = nodes.flatMap(({ arrivals }) => arrivals);
  expect(all).toHaveLength(360);
  expect(new Set(all.map(({ invoice }) => invoice))).toEqual(new Set(ids));
  expect(nodes.every(({ arrivals }) => arrivals.length > 0)).toBe(true);
});

test('a node that was too slow writes over nothing of the one that took the queue after it', async () => {
  await addWebhook('1', 'shop');
  await writeInvoices(
    db.database,
    { partyId: 'P', shopId: 'shop' },
    { invoices: 1, eventsEach: 2, writers: 1 },
  );
  await route();
  const { courier, arrivals } = node();
  courier.wake();
  await until(() => arrivals.length === 1);
  const taken = `update webhook_queue set wake_at = '2030-01-01', attempts = 3, next_position = 8 returning *`;
  const before = await db.database.withClient((client) => client.query(taken));
  for (const { answer } of arrivals) answer(delivered);
  await courier.settled();
  const after = await db.database.withClient((client) => client.query('select * from webhook_queue'));
  expect(after.rows).toEqual(before.rows);
  expect(arrivals).toHaveLength(1);
  await courier.stop();
});

test('what a node has in hand when it stops is due for others at once', async () => {
  await addWebhook('1', 'shop');
  await writeInvoices(
    db.database,
    { partyId: 'P', shopId: 'shop' },
    { invoices: 15, eventsEach: 2, writers: 1 },
  );
  await route();
  const first = node();
  first.courier.wake();
  await until(() => first.arrivals.length === 10);
  const stopped = first.courier.stop();
  for (const { answer } of first.arrivals) answer({ came: 'nothing', why: 'ECONNRESET' });
  await stopped;
  const second = node(({ answer }) => answer(delivered));
  second.courier.wake();
  await second.courier.settled();
  await second.courier.stop();
  // The ten that failed wait for their next attempt; the five that were in hand are sent with all they have.
  expect(second.arrivals).toHaveLength(10);
});

test('a log that cannot be understood holds up itself alone, and says so', async () => {
  await addWebhook('1', 'shop');
  const [broken = ''] = await writeInvoices(
    db.database,
    { partyId: 'P', shopId: 'shop' },
    { invoices: 2, eventsEach: 2, writers: 1 },
  );
  await route();
  await db.database.withClient(async (client) => {
    await client.query('alter table event disable trigger event_is_append_only');
    await client.query(
      `update event set facts = '[{"type": "invoice_paid"}, {"type": "invoice_paid"}]' where aggregate_id = $1 and sequence = 2`,
      [broken],
    );
    await client.query('alter table event enable trigger event_is_append_only');
  });
  const { courier, arrivals } = node(({ answer }) => answer(delivered));
  courier.wake();
  await courier.settled();
  await courier.stop();
  expect(arrivals).toHaveLength(2);
  expect(arrivals.some(({ invoice }) => invoice === broken)).toBe(false);
  expect(logged.join('')).toContain('cannot be told');
});
