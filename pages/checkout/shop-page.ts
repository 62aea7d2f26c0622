// Reports progress to the shop's page that opened or framed this one, if its origin is on the shop's list.
// Messages from that page are ignored.
import { existing } from '../docs/elements.ts';

/** A page of an invoice, a customer or a template, and the shop's page that opened it. */
type Here = { readonly kind: string; readonly id: string; readonly shopOrigin?: string };

export type Report =
  | { readonly type: 'opened' | 'closed' }
  | { readonly type: 'resized'; readonly height: number }
  /** While an attempt is pending, closing the page does not end it. */
  | { readonly type: 'progressed'; readonly isPending: boolean }
  | { readonly type: 'finished'; readonly status: string; readonly [id: `${string}ID`]: string };

const shopWindow: Window | null = window.parent !== window ? window.parent : (window.opener as Window | null);

export const isInFrame = window.parent !== window;

export function hasShopPage({ shopOrigin }: Pick<Here, 'shopOrigin'>): boolean {
  return shopOrigin !== undefined && shopWindow !== null;
}

/** A report holds no card data, tokens or names. */
export function tellShop({ shopOrigin, kind, id }: Here, report: Report): void {
  if (shopOrigin === undefined) return;
  shopWindow?.postMessage({ source: 'mandate-checkout', [`${kind}ID`]: id, ...report }, shopOrigin);
}

/** In a sandbox without a list of sites: this one would need it in live mode. */
export function noteUnlisted({
  shopOrigin,
  returnTo,
}: Pick<Here, 'shopOrigin'> & { readonly returnTo?: string }): void {
  const note = document.querySelector<HTMLElement>('#unlisted');
  const sites = [shopOrigin, returnTo].flatMap((site) => (site === undefined ? [] : new URL(site).origin));
  const isForeign = sites.some((site) => site !== location.origin) || (isInFrame && sites.length === 0);
  if (note) note.hidden = !isForeign;
}

/** Its page decides where the payer goes next. */
export function connectShopPage(here: Here): void {
  for (const link of document.querySelectorAll('.back'))
    link.addEventListener('click', (event) => {
      event.preventDefault();
      leave(here);
    });
  const button = existing('close', HTMLButtonElement);
  button.hidden = false;
  button.addEventListener('click', () => leave(here));
  addEventListener('keydown', ({ key }) => key === 'Escape' && leave(here));
}

/** A payment in progress continues without the page. */
export function leave(here: Here): void {
  tellShop(here, { type: 'closed' });
  if (!isInFrame) window.close();
}
