// What other modules read of merchants: a party, its shops, and its time. Results may be 1 s old; a write that needs the
// current state reads it again in its own statement.
import { laterBy, type Clock, type Instant } from '../clock.ts';
import { ttlCache } from '../platform/database/ttl-cache.ts';
import type { Database } from '../platform/database/database.ts';
import {
  listShopsOf,
  partyFromRow,
  readParty,
  readShop,
  readStrictIds,
  shopFromRow,
} from './store/parties.ts';
import type { Outcome } from '../refusal.ts';
import { requireTrading, type Party, type Shop, type TradingRefusal } from './domain/party.ts';

export type Merchants = {
  party(partyId: string): Promise<Party | undefined>;
  /** A shop of the other mode counts as blocked. */
  shop(partyId: string, shopId: string): Promise<Shop | undefined>;
  shops(partyId: string): Promise<Shop[]>;
  /** The shop, if it exists and both it and its party may trade. */
  trading(shop: { partyId: string; shopId: string }): Promise<Outcome<Shop, TradingRefusal>>;
  /** Whether the shop of a request refuses card numbers as IDs too. */
  refusesNumberedIds(
    partyId: string,
    of: { shopId?: string; invoiceId?: string; customerId?: string },
  ): Promise<boolean>;
  /** Real time, moved forward by the party's test clock. */
  timeOf(party: Party): Instant;
  /** Called after a change of a party, or of a shop of it, on this node, so that its next request sees the change. */
  forget(partyId: string, shopId?: string): void;
};

const maxAgeMs = 1_000;

/** `lookups` is the read-only pool, so a call inside a transaction does not wait for a second connection. */
export function openMerchants(lookups: Pick<Database, 'run'>, clock: Clock, livemode: boolean): Merchants {
  // A sandbox shop in a database that became live: its charges would be real, but booked as test money.
  const asHere = (shop: Shop): Shop => (shop.livemode === livemode ? shop : { ...shop, isBlocked: true });

  const parties = ttlCache({
    maxAgeMs,
    maxEntries: 10_000,
    load: async (partyId: string): Promise<Party | undefined> => {
      const [row] = await lookups.run(readParty, { party_id: partyId });
      return row && partyFromRow(row);
    },
  });
  const shops = ttlCache({
    maxAgeMs,
    maxEntries: 10_000,
    load: async (name: string): Promise<Shop | undefined> => {
      const [partyId, shopId] = JSON.parse(name) as [string, string];
      const [row] = await lookups.run(readShop, { party_id: partyId, shop_id: shopId });
      return row && asHere(shopFromRow(row));
    },
  });

  const nameOf = (partyId: string, shopId: string) => JSON.stringify([partyId, shopId]);
  const shopOf = (partyId: string, shopId: string) => shops.get(nameOf(partyId, shopId));

  return {
    party: (partyId) => parties.get(partyId),
    shop: shopOf,
    shops: async (partyId) =>
      (await lookups.run(listShopsOf, { party_id: partyId })).map((row) => asHere(shopFromRow(row))),
    async trading({ partyId, shopId }) {
      const party = await parties.get(partyId);
      if (!party) throw new Error(`party ${partyId} not found`);
      return requireTrading(party, await shopOf(partyId, shopId));
    },
    async refusesNumberedIds(party_id, { shopId, invoiceId, customerId }) {
      const of = { shop_id: shopId ?? null, invoice_id: invoiceId ?? null, customer_id: customerId ?? null };
      const [row] = await lookups.run(readStrictIds, { party_id, ...of });
      return row?.is_strict ?? false;
    },
    timeOf: (party) => laterBy(clock.now(), party.clockOffsetMs),
    forget(partyId, shopId) {
      parties.forget(partyId);
      if (shopId !== undefined) shops.forget(nameOf(partyId, shopId));
    },
  };
}
