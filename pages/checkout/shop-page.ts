// The page of the shop that opened this one, in whose frame it may be: it is told what happens, never asked anything, and what
// it says is not listened to. Only an origin on the shop's list is told.
import type { CheckoutFacts } from '../../src/checkout/domain/checkout-page.ts';

export type Told =
  | { readonly type: 'opened' | 'closed' }
  | { readonly type: 'resized'; readonly height: number }
  | { readonly type: 'finished'; readonly status: string; readonly [id: `${string}ID`]: string };

const shopWindow: Window | null = window.parent !== window ? window.parent : (window.opener as Window | null);

export const isInFrame = window.parent !== window;

export function hasShopPage({ shopOrigin }: CheckoutFacts): boolean {
  return shopOrigin !== undefined && shopWindow !== null;
}

/** There are no card data, tokens or names in it. */
export function tellShop({ shopOrigin, kind, id }: CheckoutFacts, told: Told): void {
  if (shopOrigin === undefined) return;
  shopWindow?.postMessage({ source: 'mandate-checkout', [`${kind}ID`]: id, ...told }, shopOrigin);
}
