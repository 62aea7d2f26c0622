// Assembles the module: the feed reader, the delivery worker and what the endpoints need.
import type { Clock } from '../clock.ts';
import { ttlCache } from '../platform/database/ttl-cache.ts';
import type { Database, DatabasePool } from '../platform/database/database.ts';
import type { Owner, Topic } from '../platform/events/domain/topic.ts';
import type { Ids } from '../ids.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { Logger } from '../platform/log.ts';
import { systemDnsLookup, type AddressRule } from './registration/address-guard.ts';
import { openDeliveryWorker } from './delivery/delivery-worker.ts';
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

/** How often the feed is read, and how often due queues of other nodes are claimed. */
const pollEveryMs = 200;
const claimEveryMs = 1_000;
const targetAgeMs = 1_000;

export function openWebhooks(options: {
  db: DatabasePool;
  clock: Clock;
  ids: Ids;
  log: Logger;
  keyring: Keyring;
  topics: readonly Topic[];
  rule: AddressRule;
  delaysSeconds: readonly number[];
  timeoutMs: number;
  makeKeyPairs: () => Promise<KeyPairs>;
  missingScope: FindMissingScope;
  /** Replaced where nothing may leave the program. */
  openSender?: OpenSender;
  countDelivery: (outcome: 'delivered' | 'failed' | 'parked') => void;
}) {
  const { db, clock, log, keyring, topics, rule, timeoutMs } = options;
  const sender = (options.openSender ?? openSender)({ rule, resolve: systemDnsLookup, timeoutMs });
  const targets = ttlCache({ maxAgeMs: targetAgeMs, maxEntries: 10_000, load });
  const deliveryWorker = openDeliveryWorker({
    ...options,
    sender,
    targetOf: (id) => targets.get(id),
  });
  const timers: NodeJS.Timeout[] = [];
  let polling: Promise<void> | undefined;
  let stopping = false;

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

  /** Reads until nothing is new, or another node is reading. */
  function poll(): Promise<void> {
    polling ??= pollAll().finally(() => (polling = undefined));
    return polling;
  }

  async function pollAll(): Promise<void> {
    try {
      for (let more = true; more && !stopping;) {
        const seen = await fanOutOnce(db, topics, clock.now(), reportUnreadable);
        if (seen && seen.moved > 0) deliveryWorker.wake();
        more = seen?.more ?? false;
      }
    } catch (error) {
      if (error instanceof ClusterMismatch) log.error({ err: error }, 'webhook cluster mismatch');
      else log.warn({ err: error }, 'event log could not be read for webhooks');
    }
  }

  return {
    topics,
    rule,
    keyPairs: openKeyPairs(options.makeKeyPairs),
    encryptKeys: encryptKeys.bind(undefined, keyring),
    sender,
    missingScope: options.missingScope,
    start() {
      timers.push(
        setInterval(() => void poll(), pollEveryMs),
        setInterval(() => deliveryWorker.wake(), claimEveryMs),
      );
      void poll();
      deliveryWorker.wake();
    },
    wake: () => deliveryWorker.wake(),
    /** Resolves when everything due now has been sent or has failed. */
    async whenIdle() {
      await poll();
      deliveryWorker.wake();
      await deliveryWorker.whenIdle();
    },
    targetOf: (id: string) => targets.get(id),
    /** Call it after a change by this node. */
    forget: (id: string) => targets.forget(id),
    reportUnreadable,
    async stop() {
      stopping = true;
      timers.forEach(clearInterval);
      await polling;
      await deliveryWorker.stop();
      await sender.stop();
    },
  };
}
