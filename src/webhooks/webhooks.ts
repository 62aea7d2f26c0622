// The room put together: what looks through the log, what sends, what sweeps away the old, and what endpoints reach for.
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

/** What endpoints take: fresh keys are made before there is a transaction, in `prepare` alone. */
export type WebhookOperations = Omit<Webhooks, 'keyPairs'>;
/** Of what endpoints about webhooks take, what one of them names. */
export type WebhookDeps<Name extends 'db' | 'clock' | 'ids' | 'webhooks'> = Pick<
  {
    readonly db: Database;
    readonly clock: Clock;
    readonly ids: Ids;
    readonly webhooks: WebhookOperations;
  },
  Name
>;

/** Whether a party has such an identity, and that such a wallet; the wallets' side knows. */
export type FindMissingScope = (
  db: Database,
  partyId: string,
  owner: Owner,
) => Promise<'noSuchIdentity' | 'noSuchWallet' | undefined>;

/** How long what was just written waits for the next look at the log, and how long what other nodes left. */
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
  /** Replaced where nothing is to leave the program. */
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

  /** Says that the log of an aggregate cannot be understood, and is passed over. */
  function reportUnreadable(aggregateId: string, error: unknown): void {
    log.error({ err: error, aggregateId }, 'the log of an aggregate cannot be told, and was passed over');
  }

  async function load(webhookId: string): Promise<WebhookTarget | undefined> {
    const stored = await loadWebhook(db.lookups, webhookId);
    if (!stored) return undefined;
    const keys = await Promise.all(
      stored.keys.map(async (key) => ({ ...key, ...(await decryptKeys(keyring, webhookId, key)) })),
    );
    return { webhook: stored.webhook, keys };
  }

  /** Looks until nothing is new, or another node is looking. */
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
      if (error instanceof ClusterMismatch) log.error(error.message);
      else log.warn({ err: error }, 'the log could not be looked through; the next turn tries again');
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
    /** When all there is now is sent as far as it goes. */
    async whenIdle() {
      await poll();
      deliveryWorker.wake();
      await deliveryWorker.whenIdle();
    },
    targetOf: (id: string) => targets.get(id),
    /** After a change this node made itself. */
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
