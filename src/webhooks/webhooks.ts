// Assembles the module: the feed reader, the delivery worker and what the endpoints need.
import type { Clock } from '../clock.ts';
import { openLoop } from '../platform/jobs/loop.ts';
import { logFailure } from '../platform/jobs/outages.ts';
import { ttlCache } from '../platform/database/ttl-cache.ts';
import type { Database, DatabasePool } from '../platform/database/database.ts';
import type { Owner } from '../platform/events/domain/topic.ts';
import type { Ids } from '../ids.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import { systemDnsLookup, type AddressRule } from './registration/address-guard.ts';
import { openDeliveryWorker, type DeliveryOptions } from './delivery/delivery-worker.ts';
import { ClusterMismatch } from './feed/feed.store.ts';
import { openKeyPairs, type KeyPairs } from './registration/key-pair-pool.ts';
import type { WebhookTarget } from './delivery/sign-message.ts';
import { fanOutOnce } from './feed/fan-out.ts';
import { openSender, type OpenSender } from './delivery/http-sender.ts';
import { decryptKeys, encryptKeys } from './registration/webhook-keys.ts';
import { loadWebhook } from './registration/webhooks.store.ts';

export type Webhooks = ReturnType<typeof openWebhooks>;

/** For endpoints, without `keyPairs`: only `prepare` creates keys, before a transaction starts. */
export type WebhookOperations = Omit<Webhooks, 'keyPairs'>;
/** The named dependencies of an endpoint. */
export type WebhookDeps<Name extends 'db' | 'clock' | 'ids' | 'webhooks'> = Pick<
  {
    readonly db: Database;
    readonly clock: Clock;
    readonly ids: Ids;
    readonly webhooks: WebhookOperations;
  },
  Name
>;

/** Finds out whether the party has the identity, and the identity the wallet. */
export type FindMissingScope = (
  db: Database,
  partyId: string,
  owner: Owner,
) => Promise<'noSuchIdentity' | 'noSuchWallet' | undefined>;

const readEveryMs = 200;
const targetAgeMs = 1_000;

export function openWebhooks(
  options: Omit<DeliveryOptions, 'db' | 'sender' | 'targetOf'> & {
    db: DatabasePool;
    keyring: Keyring;
    rule: AddressRule;
    makeKeyPairs: () => Promise<KeyPairs>;
    missingScope: FindMissingScope;
    /** Replaced where nothing may leave the program. */
    openSender?: OpenSender;
  },
) {
  const { db, clock, log, keyring, topics, rule, timeoutMs } = options;
  const sender = (options.openSender ?? openSender)({ rule, resolve: systemDnsLookup, timeoutMs });
  const targets = ttlCache({ maxAgeMs: targetAgeMs, maxEntries: 10_000, load });
  const deliveryWorker = openDeliveryWorker({
    ...options,
    sender,
    targetOf: (id) => targets.get(id),
  });
  const feed = openLoop(readFeed, reportFailure);

  function reportUnreadable(objectId: string, error: unknown): void {
    log.error({ err: error, objectId }, 'webhook events skipped: the event log is not readable');
  }

  async function load(webhookId: string): Promise<WebhookTarget | undefined> {
    const stored = await loadWebhook(db.lookups, webhookId);
    if (!stored) return undefined;
    const keys = await Promise.all(
      stored.keys.map(async (key) => ({ ...key, ...(await decryptKeys(keyring, webhookId, key)) })),
    );
    return { webhook: stored.webhook, keys };
  }

  /** Again until nothing is new, or another node is reading. */
  async function readFeed(): Promise<void> {
    const seen = await fanOutOnce(db, topics, clock.now(), reportUnreadable);
    if (seen && seen.moved > 0) deliveryWorker.wake();
    if (seen?.more) feed.wake();
  }

  function reportFailure(error: unknown): void {
    if (error instanceof ClusterMismatch) log.error({ err: error }, 'webhook cluster mismatch');
    else logFailure(log, error, {}, 'event log could not be read for webhooks');
  }

  return {
    topics,
    rule,
    keyPairs: openKeyPairs(options.makeKeyPairs),
    encryptKeys: encryptKeys.bind(undefined, keyring),
    sender,
    missingScope: options.missingScope,
    start() {
      feed.every(readEveryMs, feed.wakeIfStill);
      feed.wake();
      deliveryWorker.start();
    },
    wake: () => deliveryWorker.wake(),
    /** Resolves when everything due now has been sent or has failed. */
    async whenIdle() {
      feed.wake();
      await feed.whenIdle();
      deliveryWorker.wake();
      await deliveryWorker.whenIdle();
    },
    targetOf: (id: string) => targets.get(id),
    /** Call it after a change by this node. */
    forget: (id: string) => targets.forget(id),
    reportUnreadable,
    async stop() {
      await feed.stop();
      await deliveryWorker.stop();
      await sender.stop();
    },
  };
}
