// The room put together: what looks through the log, what sends, what sweeps away the old, and what endpoints reach for.
import type { Clock } from '../clock.ts';
import { recentReads } from '../platform/database/ttl-cache.ts';
import type { Database, DatabasePool } from '../platform/database/database.ts';
import type { Owner, Topic } from '../platform/events/domain/topic.ts';
import type { Ids } from '../ids.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { Logger } from '../platform/log.ts';
import { systemResolve, type AddressRule, type Resolve } from './registration/address-guard.ts';
import { openCourier } from './delivery/delivery-worker.ts';
import { ForeignLog } from './feed/feed.store.ts';
import { openKeyPairs, type KeyPairLender } from './registration/key-pair-pool.ts';
import type { Destination } from './delivery/sign-message.ts';
import { routeOnce } from './feed/fan-out.ts';
import { openSender, type OpenSender, type Sender } from './delivery/http-sender.ts';
import { openKeys, sealKeys, type SealKeys } from './registration/webhook-keys.ts';
import { loadWebhook } from './registration/webhooks.store.ts';

export type Webhooks = {
  readonly topics: readonly Topic[];
  readonly rule: AddressRule;
  readonly keyPairs: KeyPairLender;
  readonly sealKeys: SealKeys;
  readonly sender: Sender;
  readonly whatIsMissing: WhatIsMissing;
  start(): void;
  /** Something may be due now. */
  wake(): void;
  /** What there is now, looked through and sent as far as it goes. */
  settled(): Promise<void>;
  destinationOf(webhookId: string): Promise<Destination | undefined>;
  /** After a change this node made itself. */
  forget(webhookId: string): void;
  /** Says that the log of an aggregate cannot be understood, and is passed over. */
  complain(aggregateId: string, error: unknown): void;
  stop(): Promise<void>;
};

/** Whether a party has such an identity, and that such a wallet; the wallets' side knows. */
export type WhatIsMissing = (
  db: Database,
  partyId: string,
  owner: Owner,
) => Promise<'noSuchIdentity' | 'noSuchWallet' | undefined>;

/** How long what was just written waits for the next look at the log, and how long what other nodes left. */
const lookEveryMs = 200;
const claimEveryMs = 1_000;
const destinationAgeMs = 1_000;

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
  whatIsMissing: WhatIsMissing;
  resolve?: Resolve;
  /** Replaced where nothing is to leave the program. */
  openSender?: OpenSender;
  countDelivery: (outcome: 'delivered' | 'failed' | 'parked') => void;
}): Webhooks {
  const { db, clock, log, keyring, topics, rule, timeoutMs, resolve = systemResolve } = options;
  const sender = (options.openSender ?? openSender)({ rule, resolve, timeoutMs });
  const destinations = recentReads({ maxAgeMs: destinationAgeMs, entriesMost: 10_000, load });
  const courier = openCourier({ ...options, sender, destinationOf: (id) => destinations.get(id) });
  const timers: NodeJS.Timeout[] = [];
  let looking: Promise<void> | undefined;
  let stopping = false;

  function complain(aggregateId: string, error: unknown): void {
    log.error({ err: error, aggregateId }, 'the log of an aggregate cannot be told, and was passed over');
  }

  async function load(webhookId: string): Promise<Destination | undefined> {
    const stored = await loadWebhook(db.lookups, webhookId);
    if (!stored) return undefined;
    const keys = await Promise.all(
      stored.keys.map(async (key) => ({ ...key, ...(await openKeys(keyring, webhookId, key)) })),
    );
    return { webhook: stored.webhook, keys };
  }

  /** Looks until nothing is new, or another node is looking. */
  function look(): Promise<void> {
    looking ??= lookThrough().finally(() => (looking = undefined));
    return looking;
  }

  async function lookThrough(): Promise<void> {
    try {
      for (let more = true; more && !stopping;) {
        const seen = await routeOnce(db, topics, clock.now(), complain);
        if (seen && seen.moved > 0) courier.wake();
        more = seen?.more ?? false;
      }
    } catch (error) {
      if (error instanceof ForeignLog) log.error(error.message);
      else log.warn({ err: error }, 'the log could not be looked through; the next turn tries again');
    }
  }

  return {
    topics,
    rule,
    keyPairs: openKeyPairs(),
    sealKeys: (webhookId, pairs, key) => sealKeys(keyring, webhookId, pairs, key),
    sender,
    whatIsMissing: options.whatIsMissing,
    start() {
      timers.push(
        setInterval(() => void look(), lookEveryMs),
        setInterval(() => courier.wake(), claimEveryMs),
      );
      void look();
      courier.wake();
    },
    wake: () => courier.wake(),
    async settled() {
      await look();
      courier.wake();
      await courier.settled();
    },
    destinationOf: (id) => destinations.get(id),
    forget: (id) => destinations.forget(id),
    complain,
    async stop() {
      stopping = true;
      timers.forEach(clearInterval);
      await looking;
      await courier.stop();
      await sender.stop();
    },
  };
}
