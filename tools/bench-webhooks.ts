// How many deliveries a second one node makes to a fast receiver in a process of its own, on a private PostgreSQL that really
// syncs to disk; and how long a day's events take to be sent again. `npx tsx tools/bench-webhooks.ts [invoices] [events each]`
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { instantAt, systemClock } from '../src/clock.ts';
import { openDatabase } from '../src/platform/database/database.ts';
import { startEmbedded } from '../src/sandbox/postgres/server.ts';
import { migrate } from '../src/platform/database/migrate.ts';
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
import { temporaryFolder } from '../test/support/test-cluster.ts';
import { writeInvoices } from '../test/support/seeded-events.ts';
import { readOptions, wholeNumber } from './script-options.ts';

const { words } = readOptions(
  `
npm run bench:webhooks -- [6000] [6]
  how many deliveries a second one node makes: of so many invoices, so many events each`,
  {},
  { wordsMost: 2 },
);
const invoices = wholeNumber('the number of invoices', words[0] ?? '6000');
const eventsEach = wholeNumber('the number of events', words[1] ?? '6');

const { folder, remove } = temporaryFolder();
const server = await startEmbedded({ dataFolder: folder, log: () => {} });
const db = openDatabase({ connection: server.connection, maxConnections: 10 });
const child = fork(fileURLToPath(new URL('../test/support/receiver-child.ts', import.meta.url)), {
  execArgv: ['--import', 'tsx'],
  stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
});
try {
  await migrate(db);
  const clock = systemClock;
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  const { port } = JSON.parse(line.toString()) as { port: number };
  const keyring = await openKeyring(db.lookups, localMasterKey(Buffer.alloc(32, 1)), clock);
  const partyId = randomIds.next();
  await db.run(insertParty, { party_id: partyId, name: 'Bench', created_at: clock.now() });
  const webhook: Webhook = {
    id: webhookIdOf(randomIds.next()),
    partyId,
    topic: 'InvoicesTopic',
    owner: { id: 'TEST' },
    eventTypes: invoicesTopic.eventTypes,
    url: `http://127.0.0.1:${port}/notices`,
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
  await delivered('sent again', { from: events, to: 2 * events, beganMs });
  await webhooks.stop();
  keyring.stop();

  async function delivered(
    what: string,
    { from, to, beganMs = performance.now() }: { from: number; to: number; beganMs?: number },
  ): Promise<void> {
    const before = process.cpuUsage();
    while ((await received()) < to) await new Promise((resolve) => setTimeout(resolve, 20));
    const { user, system } = process.cpuUsage(before);
    const count = to - from;
    const perSecond = (count * 1_000) / (performance.now() - beganMs);
    const cpu = Math.round((user + system) / count);
    console.log(
      `${what}: ${count} in ${seconds(beganMs)} s, ${perSecond.toFixed(0)}/s, ${cpu} µs of this process each`,
    );
  }
} finally {
  child.kill();
  await db.end();
  await server.stop();
  await remove();
}

async function received(): Promise<number> {
  child.send('received');
  const [answer] = (await once(child, 'message')) as [{ received: number }];
  return answer.received;
}

function seconds(sinceMs: number): string {
  return ((performance.now() - sinceMs) / 1_000).toFixed(1);
}
