// Parties (merchants) and their shops, and whether they may trade at all. Either flag stops every write of the party or
// shop it is on: blocked is set by the operator, suspended by the owner. Reads go on, and so do payments already running.
import type { Instant } from '../../clock.ts';
import type { Fees } from '../../platform/ledger/domain/fee.ts';
import type { Currency } from '../../money.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';

export type Party = {
  readonly id: string;
  readonly name: string;
  readonly isBlocked: boolean;
  readonly isSuspended: boolean;
  /** How far the party's time has been moved forward; 0 unless a sandbox's test clock was used. */
  readonly clockOffsetMs: number;
};

export type Shop = {
  readonly id: string;
  readonly partyId: string;
  readonly livemode: boolean;
  readonly name: string;
  readonly description?: string;
  readonly url: string;
  readonly categoryId: number;
  readonly currency: Currency;
  readonly fees: Fees;
  readonly isBlocked: boolean;
  readonly isSuspended: boolean;
  readonly createdAt: Instant;
  /** Of its own pages: they may show the checkout in a frame, and get the payer back. */
  readonly origins: readonly string[];
};

/** The most one shop may have: they stand in a header of every answer. */
export const maxOrigins = 20;

export const tradingRefusals = ['invalidShopID', 'invalidPartyStatus', 'invalidShopStatus'] as const;
export type TradingRefusal = (typeof tradingRefusals)[number];

/** The checks that open every write: the party and the shop exist and may trade. */
export function requireTrading(party: Party, shop: Shop | undefined): Outcome<Shop, TradingRefusal> {
  if (!shop) return refuse('invalidShopID');
  if (party.isBlocked || party.isSuspended) return refuse('invalidPartyStatus');
  if (shop.isBlocked || shop.isSuspended) return refuse('invalidShopStatus');
  return accept(shop);
}

/** An origin as browsers write it, or undefined for what is none, or not one of the web. */
export function originOf(address: string): string | undefined {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return undefined;
  return new URL(address).origin;
}
