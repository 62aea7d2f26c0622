// What the rest of the house asks about merchants: a party, one of its shops, and what time it is for them. Answers may
// be a second old; a write that must not be fooled by that repeats the question in its own statement.
import { laterBy, type Clock, type Instant } from '../clock.ts';
import { recentReads } from '../database/recent-reads.ts';
import type { Database } from '../database/database.ts';
import { partyFromRow, readParty, readShop, shopFromRow } from './party.store.ts';
import type { Party, Shop } from './party.ts';

export type Merchants = {
  party(partyId: string): Promise<Party | undefined>;
  shop(partyId: string, shopId: string): Promise<Shop | undefined>;
  /**
   * For who holds a connection already: what is not in memory is read on that one. Were he to wait for another, a full
   * pool of such holders would wait for each other.
   */
  within(tx: Database): Merchants;
  /** Real time, moved forward by the party's test clock. */
  timeOf(party: Party): Instant;
  /** After a change this node made itself, so that its own next request sees it. */
  forget(partyId: string): void;
};

const maxAgeMs = 1_000;

export function openMerchants(db: Database, clock: Clock): Merchants {
  const parties = recentReads({
    maxAgeMs,
    entriesMost: 10_000,
    load: (partyId: string) => partyOn(db, partyId),
  });
  const shops = recentReads({
    maxAgeMs,
    entriesMost: 10_000,
    load: (name: string) => shopOn(db, ...(JSON.parse(name) as [string, string])),
  });

  const merchants: Merchants = {
    party: (partyId) => parties.get(partyId),
    shop: (partyId, shopId) => shops.get(JSON.stringify([partyId, shopId])),
    within: (tx) => ({
      ...merchants,
      party: (partyId) => inMemoryElse(merchants.party(partyId), () => partyOn(tx, partyId)),
      shop: (partyId, shopId) =>
        inMemoryElse(merchants.shop(partyId, shopId), () => shopOn(tx, partyId, shopId)),
    }),
    timeOf: (party) => laterBy(clock.now(), party.clockOffsetMs),
    forget: (partyId) => parties.forget(partyId),
  };
  return merchants;
}

async function partyOn(db: Database, partyId: string): Promise<Party | undefined> {
  const [row] = await db.run(readParty, { party_id: partyId });
  return row && partyFromRow(row);
}

async function shopOn(db: Database, partyId: string, shopId: string): Promise<Shop | undefined> {
  const [row] = await db.run(readShop, { party_id: partyId, shop_id: shopId });
  return row && shopFromRow(row);
}

const notInMemory = Symbol('not in memory');

/** Of two promises that are settled already a race takes the first: a value from memory is one of those. */
async function inMemoryElse<T>(remembered: Promise<T>, read: () => Promise<T>): Promise<T> {
  const value = await Promise.race([remembered, Promise.resolve(notInMemory)]);
  return value === notInMemory ? read() : (value as T);
}
