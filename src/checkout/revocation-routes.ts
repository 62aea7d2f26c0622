// Serves the page on which a payer ends recurring charges, opened by the link on each receipt. Only its button changes something,
// because mail programs open links.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Invoice } from '../invoices/domain/invoice.ts';
import type { Merchants } from '../merchants/merchants.ts';
import type { Database } from '../platform/database/database.ts';
import { isStorableText } from '../platform/http/request/json-body.ts';
import { pageFiles } from '../platform/http/pages/pages.ts';
import { statusOfFault } from '../platform/http/pipeline/send-response.ts';
import type { Logger } from '../platform/log.ts';
import type { LinkSecrets } from '../platform/keys/link-secrets.ts';
import type { ConsentFollowers, Consents } from '../recurring/port.ts';
import { revokePath } from '../recurring/domain/revoke-link.ts';
import type { Series } from '../recurring/domain/series.ts';
import { localeOf, type Locale } from './domain/checkout-request.ts';
import {
  noLinkParts,
  revocationParts,
  seriesStatusOf,
  type SeriesShown,
} from './domain/revocation/revocation-page.ts';
import { brandedStyle, type Brand } from './domain/page-parts.ts';
import { sendPage, textOf } from '../platform/http/pages/inline-page.ts';
import { sheetPage } from './sheet-page.ts';
import { awayPage, tryAgainAfterSeconds } from './unavailable-page.ts';

export type RevocationPorts = {
  readonly db: Database;
  readonly log: Pick<Logger, 'error'>;
  readonly consents: Consents;
  readonly linkSecrets: LinkSecrets;
  readonly customers: ConsentFollowers;
  readonly merchants: Pick<Merchants, 'party' | 'shop' | 'timeOf'>;
  readonly brandOf: (shop: { readonly partyId: string; readonly shopId: string }) => Promise<Brand>;
  readonly invoiceOf: (id: string) => Promise<Invoice | undefined>;
};

type Link = {
  Params: { readonly seriesId: string; readonly secret: string };
  Querystring: Record<string, unknown>;
};
type LinkRequest = FastifyRequest<Link>;

export function addRevocationRoutes(app: FastifyInstance, ports: RevocationPorts): void {
  const files = pageFiles('checkout');
  const styleOf = async () => textOf((await files()).get('checkout.css'));
  const path = `${revokePath}/:seriesId/:secret`;

  async function show(request: LinkRequest, reply: FastifyReply, series: Series | undefined) {
    const locale = languageOf(request);
    const shown = series && (await shownOf(series, ports));
    const view = request.query['kept'] === 'true' ? 'kept' : 'question';
    const parts = shown ? revocationParts(view, shown, locale) : noLinkParts(locale);
    const style = brandedStyle(await styleOf(), shown?.brand);
    const { html, contentSecurityPolicy } = sheetPage({
      view: 'revoke',
      locale,
      style,
      isOwn: true,
      ...parts,
    });
    reply.code(series ? 200 : 404).headers({
      'Content-Security-Policy': contentSecurityPolicy,
      'Referrer-Policy': 'no-referrer',
      'X-Robots-Tag': 'noindex',
    });
    return sendPage(html, request, reply);
  }

  app.get<Link>(path, async (request, reply) => {
    request.operation = 'withdrawPage';
    try {
      return await show(request, reply, await linked(request, ports));
    } catch (error) {
      ports.log.error({ err: error, operation: request.operation }, 'request failed');
      return sendAway(request, reply.code(statusOfFault(error, request.method)), await styleOf());
    }
  });

  app.post<Link>(path, async (request, reply) => {
    request.operation = 'withdrawByPayer';
    try {
      const series = await linked(request, ports);
      if (!series) return await show(request, reply, series);
      await revoke(series, ports);
    } catch (error) {
      ports.log.error({ err: error, operation: request.operation }, 'request failed');
    }
    // Also after a fault: the page reads whether the consent is revoked.
    const { locale } = request.query;
    return reply.redirect(locale === undefined ? '?' : `?locale=${languageOf(request)}`, 303);
  });
}

function sendAway(request: LinkRequest, reply: FastifyReply, style: string) {
  const { html, contentSecurityPolicy } = awayPage(languageOf(request), style);
  reply.headers({ 'Retry-After': tryAgainAfterSeconds, 'Content-Security-Policy': contentSecurityPolicy });
  return sendPage(html, request, reply);
}

async function revoke(series: Series, { db, consents, customers, merchants }: RevocationPorts) {
  const now = await timeOf(series, merchants);
  await db.transaction(async (tx) => {
    await consents.revoke(tx, series.id, { by: 'payer' }, now);
    await customers.onConsentRevoked(tx, series, consents, now);
  });
}

async function linked({ params }: LinkRequest, { db, consents, linkSecrets }: RevocationPorts) {
  const { seriesId, secret } = params;
  if (!isStorableText(seriesId) || !(await linkSecrets.isSecret('withdraw', seriesId, secret)))
    return undefined;
  return (await consents.find(db, seriesId))?.series;
}

async function timeOf(series: Series, merchants: RevocationPorts['merchants']): Promise<Instant> {
  const party = await merchants.party(series.partyId);
  if (!party) throw new Error(`The party of series ${series.id} was not found.`);
  return merchants.timeOf(party);
}

async function shownOf(
  series: Series,
  { merchants, invoiceOf, brandOf, log }: RevocationPorts,
): Promise<SeriesShown> {
  const { partyId, shopId, root, card, mandate } = series;
  const shop = await merchants.shop(partyId, shopId);
  if (!shop) throw new Error(`The shop of series ${series.id} was not found.`);
  // The payer can end the charges without these.
  const ifReadable = <Part>(part: Promise<Part>) =>
    part.catch((error: unknown) => void log.error({ err: error }, 'part of a page not read'));
  const invoice = 'invoiceId' in root ? await ifReadable(invoiceOf(root.invoiceId)) : undefined;
  return {
    shop: shop.name,
    isTest: !shop.livemode,
    brand: (await ifReadable(brandOf({ partyId, shopId }))) ?? {},
    status: seriesStatusOf(series, await timeOf(series, merchants)),
    card,
    terms: mandate,
    currency: mandate.payment.currency,
    ...defined({ product: invoice?.product }),
  };
}

function languageOf({ query, headers }: LinkRequest): Locale {
  return localeOf(query['locale'], headers['accept-language']);
}
