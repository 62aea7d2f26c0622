// Where a payer continues after their bank. The service's own pages and those of the shop open at once; a page names any other.
import type { FastifyRequest } from 'fastify';
import { isTrusted } from '../merchants/domain/return-address.ts';
import type { Merchants } from '../merchants/merchants.ts';
import { pageFiles } from '../platform/http/pages/pages.ts';
import type { Onward, SendOn } from '../platform/http/pages/payer-return-route.ts';
import { localeOf } from './domain/checkout-request.ts';
import type { SmallPage } from './challenge-pages.ts';
import { heardPage, leavingPage, onwardPage, type Looks } from './payer-onward-page.ts';
import { sendPage, textOf } from '../platform/http/pages/inline-page.ts';

export function payersOnward(options: {
  readonly mode: 'sandbox' | 'live';
  readonly merchants: Pick<Merchants, 'shop'>;
  readonly publicUrl: () => string;
}): SendOn {
  const { mode, merchants, publicUrl } = options;
  const files = pageFiles('checkout');

  async function pageTo(
    { address, shop }: Onward,
    request: FastifyRequest,
    looks: Looks,
  ): Promise<SmallPage> {
    const origins = (await merchants.shop(shop.partyId, shop.shopId))?.origins ?? [];
    // A sandbox may be reached by another name than its PUBLIC_URL.
    const own = mode === 'sandbox' ? [publicUrl(), `${request.protocol}://${request.host}`] : [publicUrl()];
    return isTrusted(address, origins, own)
      ? onwardPage({ ...looks, address })
      : leavingPage({ ...looks, address, isSandbox: mode === 'sandbox' });
  }

  return async (onward, request, reply) => {
    const looks = {
      style: textOf((await files()).get('checkout.css')),
      locale: localeOf(undefined, request.headers['accept-language']),
    };
    const shown = onward ? await pageTo(onward, request, looks) : heardPage(looks);
    return sendPage(
      shown.html,
      request,
      reply.header('Content-Security-Policy', shown.contentSecurityPolicy),
    );
  };
}
