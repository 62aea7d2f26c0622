// mandate webhooks: inspect, resume and replay deliveries, and listen to events in development.
import { topics } from '../../app/composition/topics.ts';
import type { Foundation } from '../../app/composition/foundation.ts';
import { openMerchants } from '../../merchants/merchants.ts';
import { livemodeOf } from '../../livemode.ts';
import { addressOf, listen as listenTo } from '../../webhooks/listen.ts';
import { queuesOf, resume } from '../../webhooks/inspection/inspection.store.ts';
import { isFromAnotherCluster, resetCursor } from '../../webhooks/feed/reset-cursor.store.ts';
import { rewind } from '../../webhooks/feed/replay.store.ts';
import { findWebhooks, loadWebhook, type StoredWebhook } from '../../webhooks/registration/webhooks.store.ts';
import { beginListRebuild } from '../../search/lists/position.store.ts';
import { beginRebuild } from '../../search/position.store.ts';
import { firstSignal } from '../signals.ts';
import { printTable, requireParty, withFoundation } from '../foundation.ts';
import { printJson } from '../json-members.ts';
import { moment } from '../option-values.ts';

const maxShown = 1_000;

export async function listWebhooks(options: { party: string; json?: true }): Promise<void> {
  const found = await withFoundation(async ({ database }) => {
    await requireParty(database, options.party);
    return findWebhooks(database, [options.party]);
  });
  const list = found.map(({ webhook }) => webhook);
  if (options.json) return printJson('webhooks list', list);
  printTable(
    ['webhook', 'topic', 'owner', 'created', 'url', 'events'],
    list.map(({ id, topic, owner, createdAt, url, eventTypes }) => [
      id,
      topic,
      owner.id,
      createdAt.slice(0, 19),
      url,
      eventTypes.join(','),
    ]),
  );
}

export async function listParked(webhookId: string, options: { json?: true }): Promise<void> {
  const rows = await withFoundation(async (foundation) => {
    await webhookNamed(foundation, webhookId);
    return queuesOf(foundation.database, webhookId, { state: 'parked', limit: maxShown });
  });
  const queues = rows.map((row) => ({
    objectId: row.aggregate_id,
    parkedAt: row.stuck_at,
    attempts: row.attempts,
    lastFailure: row.last_failure,
  }));
  if (options.json) return printJson('webhooks parked', queues);
  if (queues.length === 0) return console.log('No queue is parked.');
  printTable(
    ['object', 'parked', 'attempts', 'last failure'],
    queues.map(({ objectId, parkedAt, attempts, lastFailure }) => [
      objectId,
      parkedAt?.slice(0, 19) ?? '',
      String(attempts),
      lastFailure ?? '',
    ]),
  );
}

export async function resumeQueues(webhookId: string, options: { object?: string }): Promise<void> {
  const queues = await withFoundation(async (foundation) => {
    await webhookNamed(foundation, webhookId);
    const { database, ports } = foundation;
    return resume(database, webhookId, ports.clock.now(), options.object);
  });
  console.log(`Queues to resume: ${queues}. A running node starts within a second.`);
}

export async function replay(webhookId: string, options: { since: string; until?: string }): Promise<void> {
  const queues = await withFoundation(async (foundation) => {
    const { config, database, ports, log } = foundation;
    const { webhook } = await webhookNamed(foundation, webhookId);
    const topic = topics.find(({ name }) => name === webhook.topic);
    if (!topic)
      throw new Error(
        `This version does not know the topic ${webhook.topic}. Use the version that the nodes run.`,
      );
    const now = ports.clock.now();
    // Events carry the time of the party, which a test clock may have moved.
    const merchants = openMerchants(database.lookups, ports.clock, livemodeOf(config.mode));
    const party = await merchants.party(webhook.partyId);
    const theirNow = party ? merchants.timeOf(party) : now;
    const since = moment('--since', options.since, theirNow);
    const until = options.until === undefined ? theirNow : moment('--until', options.until, theirNow);
    const reportUnreadable = (aggregateId: string, error: unknown) =>
      log.error({ err: error, aggregateId }, 'event log not readable, skipped');
    return rewind(database, webhook, topic, { since, until, now }, reportUnreadable);
  });
  console.log(`Queues to replay: ${queues}. A running node starts within a second.`);
}

export async function listen(options: { party: string; shop?: string; forward?: string }): Promise<void> {
  const forward = options.forward === undefined ? undefined : addressOf(options.forward);
  const stopped = firstSignal();
  await withFoundation(async ({ database, ports, log }) => {
    const owner = options.shop === undefined ? undefined : { id: options.shop };
    const wanted = { partyId: options.party, ...(owner ? { owner } : {}), ...(forward ? { forward } : {}) };
    let isOver = false;
    void stopped.then(() => (isOver = true));
    await listenTo({
      db: database,
      ...ports,
      log,
      topics,
      ...wanted,
      print: console.log,
      isOver: () => isOver,
    });
  });
}

export async function resetWebhookCursor({ force }: { force?: true }): Promise<void> {
  const events = await withFoundation(async ({ database }) => {
    if (!force && !(await isFromAnotherCluster(database)))
      throw new Error(
        'The event log belongs to this PostgreSQL. Nothing to reset. To reset it anyway, give --force.',
      );
    // First, because it finds by the old numbers that what they counted has to be copied again.
    await beginRebuild(database);
    await beginListRebuild(database);
    return resetCursor(database);
  });
  console.log(
    `Reset the cursor: ${events} events count as sent. Send others again with "mandate webhooks replay".`,
  );
}

async function webhookNamed({ database }: Foundation, webhookId: string): Promise<StoredWebhook> {
  const stored = await loadWebhook(database, webhookId);
  if (!stored)
    throw new Error(
      `Webhook ${webhookId} not found. List webhooks with "mandate webhooks list --party <id>".`,
    );
  return stored;
}
