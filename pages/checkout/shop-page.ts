// Reports progress to the shop's page that opened or framed this one, if its origin is on the shop's list.
// Messages from that page are ignored.
import type { CheckoutFacts } from '../../src/checkout/domain/checkout-page.ts';

export type Report =
  | { readonly type: 'opened' | 'closed' }
  | { readonly type: 'resized'; readonly height: number }
  /** While an attempt is pending, closing the page does not end it. */
  | { readonly type: 'progressed'; readonly isPending: boolean }
  | { readonly type: 'finished'; readonly status: string; readonly [id: `${string}ID`]: string };

const shopWindow: Window | null = window.parent !== window ? window.parent : (window.opener as Window | null);

export const isInFrame = window.parent !== window;

export function hasShopPage({ shopOrigin }: CheckoutFacts): boolean {
  return shopOrigin !== undefined && shopWindow !== null;
}

/** A report holds no card data, tokens or names. */
export function tellShop({ shopOrigin, kind, id }: CheckoutFacts, report: Report): void {
  if (shopOrigin === undefined) return;
  shopWindow?.postMessage({ source: 'mandate-checkout', [`${kind}ID`]: id, ...report }, shopOrigin);
}
