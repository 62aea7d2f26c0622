// npm run bench:webhooks: measures deliveries per second of one node to a fast receiver, and then their replay.
import { instantAt, systemClock } from '../src/clock.ts';
import { randomIds } from '../src/ids.ts';
import { openKeyring } from '../src/platform/keys/keyring.ts';
import { localMasterKey } from '../src/platform/keys/master-key.ts';
import { openLog } from '../src/platform/log.ts';
import { insertParty } from '../src/merchants/store/parties.ts';
import { invoicesTopic } from '../src/payments/webhook-events.ts';
import { usualDelaysSeconds } from '../src/webhooks/domain/queue-rules.ts';
import { makeKeyPairs } from '../src/webhooks/registration/key-pair-pool.ts';
import { rewind } from '../src/webhooks/feed/replay.store.ts';
import { encryptKeys } from '../src/webhooks/registration/webhook-keys.ts';
import { storeNewWebhook } from '../src/webhooks/registration/webhooks.store.ts';
import { webhookIdOf, type Webhook } from '../src/webhooks/domain/webhook.ts';
import { openWebhooks } from '../src/webhooks/webhooks.ts';
import { writeInvoices } from '../test/support/database/seeded-events.ts';
import { readOptions, refuse, wholeNumber } from '../tools/script-options.ts';
import { openPrivateDatabase } from './harness/private-database.ts';
import { openWebhookReceiver } from './workloads/webhook-receiver.ts';

const { words } = readOptions(
  `npm run bench:webhooks -- [INVOICES] [EVENTS]
Measures webhook deliveries per second of one node, on a PostgreSQL that syncs to disk, and then replays them.
  INVOICES  invoices with events; 6000 by default
  EVENTS    events of each invoice, an even number; 6 by default
Example: npm run bench:webhooks -- 6000 6`,
  {},
  { maxWords: 2 },
);
const invoices = wholeNumber('the number of invoices', words[0] ?? '6000');
const eventsEach = wholeNumber('the number of events', words[1] ?? '6', 2);
// An invoice is created and cancelled, and each payment between them starts and fails: two events each.
if (eventsEach % 2 !== 0) refuse(`the number of events must be even, not ${eventsEach}`);

const { db, close } = await openPrivateDatabase({ connections: 10 });
const receiver = await openWebhookReceiver();
try {
  const clock = systemClock;
  const keyring = await openKeyring(db.lookups, localMasterKey(Buffer.alloc(32, 1)), clock);
  const partyId = randomIds.next();
  await db.run(insertParty, { party_id: partyId, name: 'Bench', created_at: clock.now() });
  const webhook: Webhook = {
    id: webhookIdOf(randomIds.next()),
    partyId,
    topic: 'InvoicesTopic',
    owner: { id: 'TEST' },
    eventTypes: invoicesTopic.eventTypes,
    url: receiver.url,
    createdAt: clock.now(),
  };
  const pairs = await makeKeyPairs();
  const { keys } = encryptKeys(keyring, webhook.id, pairs, { keyVersion: 1, signsFrom: clock.now() });
  await storeNewWebhook(db, webhook, keys);
  await writeInvoices(db, { partyId, shopId: 'TEST' }, { invoices, eventsEach, writers: 8 });
  const webhooks = openWebhooks({
    db,
    clock,
    ids: randomIds,
    log: openLog({ level: 'warn', human: true }),
    keyring,
    topics: [invoicesTopic],
    rule: 'anywhere',
    delaysSeconds: usualDelaysSeconds,
    timeoutMs: 10_000,
    makeKeyPairs,
    missingScope: () => Promise.resolve(undefined),
    countDelivery: () => {},
  });
  const events = invoices * eventsEach;
  webhooks.start();
  await delivered('first delivery', { from: 0, to: events });
  const since = instantAt(Date.now() - 24 * 3_600_000);
  const beganMs = performance.now();
  const topic = invoicesTopic;
  const queues = await rewind(
    db,
    webhook,
    topic,
    { since, until: clock.now(), now: clock.now() },
    console.error,
  );
  console.log(`${queues} queues rewound in ${seconds(beganMs)} s`);
  webhooks.wake();
  await delivered('replay', { from: events, to: 2 * events, beganMs });
  await webhooks.stop();
  keyring.stop();

  async function delivered(
    what: string,
    { from, to, beganMs = performance.now() }: { from: number; to: number; beganMs?: number },
  ): Promise<void> {
    const before = process.cpuUsage();
    await receiver.untilReceived(to);
    const { user, system } = process.cpuUsage(before);
    const count = to - from;
    const perSecond = (count * 1_000) / (performance.now() - beganMs);
    const cpu = Math.round((user + system) / count);
    console.log(
      `${what}: ${count} in ${seconds(beganMs)} s, ${perSecond.toFixed(0)}/s, ${cpu} µs of this process each`,
    );
  }
} finally {
  receiver.stop();
  await close();
}

function seconds(sinceMs: number): string {
  return ((performance.now() - sinceMs) / 1_000).toFixed(1);
}
