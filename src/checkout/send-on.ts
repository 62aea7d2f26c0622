// Where a payer continues after their bank. The service's own pages and those of the shop open at once; a page names any other.
import { isTrusted } from '../merchants/domain/return-address.ts';
import type { Merchants } from '../merchants/merchants.ts';
import { pageFiles } from '../platform/http/pages/pages.ts';
import type { SendOn } from '../platform/http/pages/payer-return.ts';
import { localeOf } from './domain/checkout-request.ts';
import { leavingPage, onwardPage } from './leaving-page.ts';
import { sendPage, textOf } from './page-response.ts';

export function payersOnward(options: {
  readonly mode: 'sandbox' | 'live';
  readonly merchants: Pick<Merchants, 'shop'>;
  readonly publicUrl: () => string;
}): SendOn {
  const { mode, merchants, publicUrl } = options;
  const files = pageFiles('checkout');
  return async ({ address, shop: { partyId, shopId } }, request, reply) => {
    const origins = (await merchants.shop(partyId, shopId))?.origins ?? [];
    // A sandbox may be reached by another name than its PUBLIC_URL.
    const own = mode === 'sandbox' ? [publicUrl(), `${request.protocol}://${request.host}`] : [publicUrl()];
    const style = textOf((await files()).get('checkout.css'));
    const locale = localeOf(undefined, request.headers['accept-language']);
    const looks = { address, locale, style };
    const shown = isTrusted(address, origins, own)
      ? onwardPage(looks)
      : leavingPage({ ...looks, isSandbox: mode === 'sandbox' });
    return sendPage(
      shown.html,
      request,
      reply.header('Content-Security-Policy', shown.contentSecurityPolicy),
    );
  };
}
