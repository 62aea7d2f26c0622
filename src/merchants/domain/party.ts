// Parties and shops, and whether they may trade. The operator sets `isBlocked`, the merchant `isSuspended`: either refuses new
// writes, but reads and payments in progress continue.
import type { Instant } from '../../clock.ts';
import type { Fees } from '../../platform/ledger/domain/fee.ts';
import type { Currency } from '../../money.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';

export type Party = {
  readonly id: string;
  readonly name: string;
  readonly isBlocked: boolean;
  readonly isSuspended: boolean;
  /** How far a test clock has moved the party's time forward. */
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
  readonly whenShort: WhenShort;
  readonly threeDSecure: ThreeDSecureWish;
  /** Payments without a series have receipts too. */
  readonly oneOffReceipts: boolean;
  readonly isBlocked: boolean;
  readonly isSuspended: boolean;
  readonly createdAt: Instant;
  /** The origins of the shop's pages, which may frame the checkout and receive the payer back. */
  readonly origins: readonly string[];
};

/** What a refund does if the shop's balance is too small: fail, take the balance down to the overdraft limit, or wait. */
export const whenShortChoices = ['refuse', 'overdraft', 'wait'] as const;
export type WhenShort = (typeof whenShortChoices)[number];

/** What a bank is asked to do about 3-D Secure with a payer who is present. */
export const threeDSecureWishes = ['always', 'whenTheBankSays', 'never'] as const;
export type ThreeDSecureWish = (typeof threeDSecureWishes)[number];

/** Limited because the origins are in a header of every response. */
export const maxOrigins = 20;

export const tradingRefusals = ['invalidShopID', 'invalidPartyStatus', 'invalidShopStatus'] as const;
export type TradingRefusal = (typeof tradingRefusals)[number];

/** The first checks of every write. */
export function requireTrading(party: Party, shop: Shop | undefined): Outcome<Shop, TradingRefusal> {
  if (!shop) return refuse('invalidShopID');
  if (party.isBlocked || party.isSuspended) return refuse('invalidPartyStatus');
  if (shop.isBlocked || shop.isSuspended) return refuse('invalidShopStatus');
  return accept(shop);
}

/** The origin as browsers write it. Undefined for anything that is not an http or https URL. */
export function originOf(address: string): string | undefined {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return undefined;
  return new URL(address).origin;
}
