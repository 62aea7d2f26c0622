// How long the bank of a terminal keeps a hold, read through a cache.
import type { Database } from '../../platform/database/database.ts';
import { ttlCache } from '../../platform/database/ttl-cache.ts';
import type { Terminal } from '../domain/bank-port.ts';
import { holdDaysOf, holdTermsOf, type HoldDays, type Initiation } from '../domain/routing/hold-days.ts';
import { findHoldDays, storeHoldDays } from '../store/hold-days.ts';
import type { TerminalRow } from './terminal-rows.ts';
import type { UsableTerminals } from './usable-terminals.ts';
import { shopKey, type ShopName } from './shop-terminals.ts';

const maxAgeMs = 1_000;

export type TerminalHolds = ReturnType<typeof openTerminalHolds>;

export function openTerminalHolds(
  { db, lookups }: { db: Database; lookups: Pick<Database, 'run'> },
  { holdDaysAt }: Pick<UsableTerminals, 'holdDaysAt'>,
) {
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
    /** How many days the terminal's bank keeps a hold. */
    async holdDays(shop: ShopName, { id, bankId }: Terminal, network: string, initiation: Initiation) {
      return holdDaysOf(await holds(shop), id, network, initiation, await holdDaysAt(bankId));
    },
    /** Those that keep a hold as long as the terminal that made it. */
    async holdingAlike<Row extends TerminalRow>(shop: ShopName, heldAt: Terminal, rows: readonly Row[]) {
      const days = await holds(shop);
      const termsOf = async (id: string, bankId: string) => holdTermsOf(days, id, await holdDaysAt(bankId));
      const wanted = await termsOf(heldAt.id, heldAt.bankId);
      const terms = await Promise.all(rows.map((row) => termsOf(row.terminal_id, row.bank_id)));
      return rows.filter((_, at) => terms[at] === wanted);
    },
    async putHoldDays(shop: ShopName, days: HoldDays) {
      await storeHoldDays(db, shop, days);
      cache.forget(shopKey(shop));
    },
  };
}
