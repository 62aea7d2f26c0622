// The terminals of each shop: read through a cache, changed by the operator, paused by a declined operation.
import { laterBy, type Clock, type Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { ttlCache } from '../../platform/database/ttl-cache.ts';
import type { Terminal } from '../domain/bank-port.ts';
import { pauseTerminal, shopTerminals, terminalsOfParty } from '../store/banks.ts';
import { inUse, notPaused, pauseEndOf, rowOf, terminalFrom, type NewTerminal } from './terminal-rows.ts';

export type ShopName = { readonly partyId: string; readonly shopId: string };

/** Why a terminal is paused: the declined operation, for the operator. */
export type Misconfigured = {
  readonly operationId: string;
  readonly network: string;
  readonly code: string;
};

const maxAgeMs = 1_000;
/** Long enough for the operator to act, short enough that a code sent by mistake does little harm. */
const pauseMs = 15 * 60_000;

/** The key of a cache. */
export const shopKey = ({ partyId, shopId }: ShopName): string => JSON.stringify([partyId, shopId]);

export type ShopTerminalsOptions = {
  readonly db: Database;
  /** The read-only pool, so that no transaction is needed. */
  readonly lookups: Pick<Database, 'run'>;
  readonly clock: Clock;
  /** Alerts the operator. Called once the pause is stored. */
  readonly onPaused: (terminal: Terminal, because: Misconfigured, until: Instant) => void;
};

export type ShopTerminals = ReturnType<typeof openShopTerminals>;

export function openShopTerminals({ db, lookups, clock, onPaused }: ShopTerminalsOptions) {
  const ofShops = ttlCache({
    maxAgeMs,
    maxEntries: 10_000,
    load: (name: string) => {
      const [party_id, shop_id] = JSON.parse(name) as [string, string];
      return lookups.run(shopTerminals.read, { party_id, shop_id });
    },
  });

  return {
    inUse: async (shop: ShopName) => inUse(await ofShops.get(shopKey(shop))),
    terminalsOf: (partyId: string) => terminalsOf(lookups, partyId),
    /** Until when the shop takes no charge without the payer. */
    async pausedUntil(shop: ShopName, now: Instant): Promise<Instant | undefined> {
      return pauseEndOf(inUse(await ofShops.get(shopKey(shop))), now);
    },
    /** Whether the terminal of a charge without the payer is paused, though it was not when the charge was created. */
    async isPaused(shop: ShopName, { id }: Terminal, now: Instant): Promise<boolean> {
      const rows = await ofShops.get(shopKey(shop));
      return notPaused(rows, now).every(({ terminal_id }) => terminal_id !== id);
    },
    /** In the transaction that ends the declined charge. Every node knows it within a second. */
    async pauseTerminal(
      tx: Database,
      shop: ShopName,
      terminal: Terminal,
      because: Misconfigured,
      now: Instant,
    ) {
      const until = laterBy(now, pauseMs);
      await storePause(tx, shop, terminal, because, until);
      tx.afterCommit(() => {
        ofShops.forget(shopKey(shop));
        onPaused(terminal, because, until);
      });
    },
    /** Adds or changes a terminal. False when it exists with another bank, which may know its payments. */
    async putTerminal(terminal: NewTerminal): Promise<boolean> {
      const row = { ...rowOf(terminal, clock.now()), shop_id: terminal.shopId };
      const rows = await db.run(shopTerminals.upsert, row);
      ofShops.forget(shopKey(terminal));
      return rows.length > 0;
    },
  };
}

async function storePause(
  tx: Database,
  { partyId, shopId }: ShopName,
  { id }: Terminal,
  { network, code, operationId }: Misconfigured,
  until: Instant,
): Promise<void> {
  const because = `${network} ${code} ${operationId}`;
  await tx.run(pauseTerminal, { party_id: partyId, shop_id: shopId, terminal_id: id, until, because });
}

/** Those of all its shops. Another party may share one. */
async function terminalsOf(lookups: Pick<Database, 'run'>, partyId: string) {
  const rows = await lookups.run(terminalsOfParty, { party_id: partyId });
  return rows.map(({ shop_id: shopId, is_shared: isShared, ...row }) => ({
    ...terminalFrom(row),
    shopId,
    isShared,
  }));
}
