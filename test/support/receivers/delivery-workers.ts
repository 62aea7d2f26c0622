// Delivery workers on real queues with made-up receivers, so that the test decides when one responds and how.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { randomIds } from '../../../src/ids.ts';
import { openLog } from '../../../src/platform/log.ts';
import { invoicesTopic } from '../../../src/payments/webhook-events.ts';
import { openDeliveryWorker, type DeliveryWorker } from '../../../src/webhooks/delivery/delivery-worker.ts';
import { usualDelaysSeconds } from '../../../src/webhooks/domain/queue-rules.ts';
import { fanOutOnce } from '../../../src/webhooks/feed/fan-out.ts';
import type { PostResponse, Post } from '../../../src/webhooks/delivery/http-sender.ts';
import type { Webhook } from '../../../src/webhooks/domain/webhook.ts';
import { instantAt } from '../../../src/clock.ts';
import { createTestDatabase, type TestDatabase } from '../database/test-database.ts';
import { testClock } from '../service/test-service.ts';

export const delivered: PostResponse = { kind: 'status', status: 200 };

export type Arrival = {
  readonly shop: string;
  readonly invoice: string;
  readonly eventType: string;
  readonly eventID: number;
  readonly answer: (answer: PostResponse) => void;
};
export type TestNode = { readonly deliveryWorker: DeliveryWorker; readonly arrivals: Arrival[] };

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ed25519 = generateKeyPairSync('ed25519').privateKey;
const secret = randomBytes(32);
const timeoutMs = 10_000;

export type DeliveryWorld = Awaited<ReturnType<typeof startDeliveryWorld>>;

export async function startDeliveryWorld() {
  const db: TestDatabase = await createTestDatabase();
  const clock = testClock();
  const logged: string[] = [];
  const query = (text: string, values: unknown[] = []): Promise<pg.QueryResult> =>
    db.database.withClient((client) => client.query(text, values));

  /** Resets everything to the beginning. */
  async function empty(): Promise<void> {
    logged.length = 0;
    await query('alter table event disable trigger event_is_append_only');
    await query('delete from event');
    await query('alter table event enable trigger event_is_append_only');
    await query(
      'truncate webhook, webhook_key, webhook_queue, webhook_message, webhook_attempt, webhook_event_number',
    );
    await query('update webhook_feed set seen = pg_current_snapshot()::text, mismatch_since = null');
  }

  /** For a shop of party P. */
  async function addWebhook(
    id: string,
    shopId: string,
    eventTypes = invoicesTopic.eventTypes,
  ): Promise<Webhook> {
    const webhook: Webhook = {
      id,
      partyId: 'P',
      topic: 'InvoicesTopic',
      owner: { id: shopId },
      eventTypes,
      url: `http://${shopId}.example/`,
      createdAt: clock.now(),
    };
    await query(
      `insert into webhook (webhook_id, party_id, topic, owner_id, event_types, url, created_at)
       values ($1, 'P', 'InvoicesTopic', $2, $3, $4, $5)`,
      [id, shopId, eventTypes.join(' '), webhook.url, webhook.createdAt],
    );
    await query(
      `insert into webhook_key (webhook_id, key_version, public_key, signing_public_key, ciphertext, ciphertext_key_version, signs_from)
       values ($1, 1, '', '', '', 1, now())`,
      [id],
    );
    return webhook;
  }

  function node(
    reply?: (arrival: Arrival) => void,
    faults: {
      readonly unloadable?: string;
      readonly unsendable?: string;
      /** Each time a webhook is looked up. */
      readonly whileLooking?: () => Promise<void>;
      /** With the name of each statement. */
      readonly onStatement?: (name: string) => void;
    } = {},
  ): TestNode {
    const arrivals: Arrival[] = [];
    const deliveryWorker = openDeliveryWorker({
      db: {
        ...db.database,
        run(statement, ...values) {
          faults.onStatement?.(statement.name);
          return db.database.run(statement, ...values);
        },
      },
      clock,
      ids: randomIds,
      log: openLog({
        level: 'debug',
        human: false,
        destination: { write: (line) => void logged.push(line) },
      }),
      topics: [invoicesTopic],
      sender: {
        post: ({ url, body }: Post) =>
          new Promise((resolve) => {
            const { invoice, eventType, eventID } = JSON.parse(body.toString()) as {
              invoice: { id: string };
              eventType: string;
              eventID: number;
            };
            const [shop = ''] = url.hostname.split('.');
            if (shop === faults.unsendable) throw new Error('nothing can be sent to this shop');
            const arrival = { shop, invoice: invoice.id, eventType, eventID, answer: resolve };
            arrivals.push(arrival);
            reply?.(arrival);
          }),
        stop: () => Promise.resolve(),
      },
      delaysSeconds: usualDelaysSeconds,
      timeoutMs,
      targetOf: async (webhookId) => {
        await faults.whileLooking?.();
        if (webhookId === faults.unloadable) throw new Error('its keys cannot be decrypted');
        const { rows } = await query('select url, event_types from webhook where webhook_id = $1', [
          webhookId,
        ]);
        const [row] = rows as { url: string; event_types: string }[];
        return (
          row && {
            webhook: {
              url: row.url,
              partyId: 'P',
              topic: 'InvoicesTopic',
              eventTypes: row.event_types.split(' '),
            },
            keys: [{ keyVersion: 1, signsFrom: clock.now(), rsa, ed25519, secret }],
          }
        );
      },
      countDelivery: () => {},
    });
    return { deliveryWorker, arrivals };
  }

  return {
    db,
    clock,
    logged,
    query,
    empty,
    addWebhook,
    node,
    /** Reads all new events into the queues. */
    async route(): Promise<void> {
      const reportUnreadable = (aggregateId: string, error: unknown) =>
        void logged.push(`${aggregateId}: ${String(error)}`);
      while ((await fanOutOnce(db.database, [invoicesTopic], clock.now(), reportUnreadable))?.more);
    },
    /** A new node sends everything that is due. */
    async sendAll(): Promise<Arrival[]> {
      const { deliveryWorker, arrivals } = node(({ answer }) => answer(delivered));
      deliveryWorker.wake();
      await deliveryWorker.whenIdle();
      await deliveryWorker.stop();
      return arrivals;
    },
    /** Round trips, in which more would have been sent if it were due. */
    async roundTrips(count = 30): Promise<void> {
      for (let trip = 0; trip < count; trip++) await query('select 1');
    },
    allTime: () => ({ since: instantAt(0), until: instantAt(Date.now() + 1e9), now: clock.now() }),
  };
}

export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
