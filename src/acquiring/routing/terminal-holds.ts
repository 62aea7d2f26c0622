// How long the bank of a terminal keeps a hold, read through a cache.
import type { Database } from '../../platform/database/database.ts';
import { ttlCache } from '../../platform/database/ttl-cache.ts';
import type { Terminal } from '../domain/bank-port.ts';
import { holdDaysOf, type HoldDays, type Initiation } from '../domain/routing/hold-days.ts';
import { findHoldDays, storeHoldDays } from '../store/hold-days.ts';
import { shopKey, type ShopName } from './shop-terminals.ts';

const maxAgeMs = 1_000;

export function openTerminalHolds({ db, lookups }: { db: Database; lookups: Pick<Database, 'run'> }) {
  const cache = ttlCache({
    maxAgeMs,
    maxEntries: 10_000,
    load: (name: string) => {
      const [partyId, shopId] = JSON.parse(name) as [string, string];
      return findHoldDays(lookups, { partyId, shopId });
    },
  });
  const holds = (shop: ShopName): Promise<readonly HoldDays[]> => cache.get(shopKey(shop));

  return {
    holds,
    /** How many days the terminal's bank keeps a hold. */
    async holdDays(shop: ShopName, { id }: Terminal, network: string, initiation: Initiation) {
      return holdDaysOf(await holds(shop), id, network, initiation);
    },
    async putHoldDays(shop: ShopName, days: HoldDays) {
      await storeHoldDays(db, shop, days);
      cache.forget(shopKey(shop));
    },
  };
}
