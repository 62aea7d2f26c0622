// Serves the checkout page, the script by which shops open it, and the two pages on the way to the payer's bank and back.
// No address is logged, because it may hold a token.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { statusOfFault } from '../platform/http/pipeline/send-response.ts';
import { isStorableText } from '../platform/http/request/json-body.ts';
import { pageFiles, sendFile } from '../platform/http/pages/pages.ts';
import type { Logger } from '../platform/log.ts';
import type { Customer } from '../customers/domain/customer.ts';
import { lineCostMinor, type CartLine, type Invoice } from '../invoices/domain/invoice.ts';
import type { AcceptedNetworks } from '../merchants/domain/accepted-networks.ts';
import { originOf } from '../merchants/domain/party.ts';
import { decimalsOf } from '../money.ts';
import { firstStated, type MandateTerms } from '../receipts/domain/terms.ts';
import { awayPage, tryAgainAfterSeconds } from './unavailable-page.ts';
import { challengePages } from './challenge-pages.ts';
import { sendPage, textOf } from '../platform/http/pages/inline-page.ts';
import { openerPolicy, policyOf, sendSmall } from './page-response.ts';
import { checkoutPage, type CheckoutView, type Order, type View } from './domain/checkout-page.ts';
import { brandedStyle, type Assets, type Brand } from './domain/page-parts.ts';
import { paymentLinkPage } from './domain/payment-link/payment-link-page.ts';
import { needsConsent } from './domain/consent-text.ts';
import {
  anySite,
  isReturnAllowed,
  localeOf,
  readCheckoutRequest,
  readPaymentLink,
  type CheckoutRequest,
} from './domain/checkout-request.ts';
import { defined } from '../defined.ts';
import type { AccessTokens } from '../platform/keys/access-token.ts';
import type { Merchants } from '../merchants/merchants.ts';

export type CheckoutPorts = {
  readonly mode: 'sandbox' | 'live';
  readonly publicUrl: () => string;
  /** What is charged and refunded to check a card, by currency. */
  readonly verificationChargeMinor: ReadonlyMap<string, bigint>;
  /** False where receipts are not emailed. */
  readonly sendsEmail: boolean;
  readonly log: Pick<Logger, 'error'>;
  readonly tokens: Pick<AccessTokens, 'verify'>;
  readonly merchants: Pick<Merchants, 'shop'>;
  readonly invoiceOf: (id: string) => Promise<Invoice | undefined>;
  readonly templateOf: (
    id: string,
  ) => Promise<{ readonly partyId: string; readonly shopId: string } | undefined>;
  readonly customerOf: (
    id: string,
  ) => Promise<{ readonly customer: Customer; readonly isBinding: boolean } | undefined>;
  readonly networksFor: AcceptedNetworks;
  readonly brandOf: (shop: { readonly partyId: string; readonly shopId: string }) => Promise<Brand>;
  /** The shop's standard terms, for links that state none. */
  readonly termsOf: (shop: {
    readonly partyId: string;
    readonly shopId: string;
  }) => Promise<MandateTerms | undefined>;
};

/** The origins of this page, and whether the payer returns from their bank. */
type Place = {
  readonly ownOrigins: readonly string[];
  /** Of the page that led here, as the browser says. */
  readonly from: string | undefined;
  readonly returned: boolean;
};

export function addCheckoutRoutes(app: FastifyInstance, ports: CheckoutPorts): void {
  const embed = pageFiles('embed');
  const { start, back } = challengePages(ports.mode);

  app.get<{ Querystring: Record<string, unknown> }>('/checkout', async (request, reply) => {
    request.operation = 'checkout';
    const accepted = request.headers['accept-language'];
    const link = readPaymentLink(request.query, accepted);
    const wanted = link?.wanted ?? readCheckoutRequest(request.query, accepted);
    const place = placeOf(request, ports.publicUrl());
    const locale = wanted?.locale ?? localeOf(request.query['locale'], accepted);
    const assets = await assetsOf(link ? 'payment-link' : 'checkout');
    try {
      const find = link ? findTemplate : findSubject;
      const { view, origins } = await lookAt(wanted ?? { ...nothingWanted, locale }, find, ports, place);
      const branded = { ...assets, style: brandedStyle(assets.style, view.brand) };
      reply.code(view.view === 'dead' ? 404 : 200).headers({
        ...policyOf(branded, origins, ports.mode),
        ...openerPolicy(view.hasOpener === true),
      });
      const html = link ? paymentLinkPage(view, link.amountMinor, branded) : checkoutPage(view, branded);
      return await sendPage(html, request, reply);
    } catch (error) {
      ports.log.error({ err: error, operation: request.operation }, 'request failed');
      const { html, contentSecurityPolicy } = awayPage(locale, assets.style);
      reply.code(statusOfFault(error, request.method)).header('Retry-After', String(tryAgainAfterSeconds));
      return sendPage(html, request, reply.header('Content-Security-Policy', contentSecurityPolicy));
    }
  });

  addOlderAddresses(app);

  app.get('/checkout.js', async (request, reply) => {
    request.operation = 'checkoutScript';
    const file = (await embed()).get('embed.js');
    if (!file) throw new Error('the script for shops is missing from the build');
    // Sites with a cross-origin embedder policy load only what allows it.
    return sendFile(file, request, reply.header('Cross-Origin-Resource-Policy', 'cross-origin'));
  });

  app.get<{ Querystring: Record<string, unknown> }>('/checkout/challenge', (request, reply) => {
    // A window whose page has no opener keeps its name only under the same opener policy.
    const isAlone = request.query['alone'] === 'true';
    return sendSmall(start, request, reply.headers(openerPolicy(!isAlone)));
  });
  // The checkout it leads to must see that it comes from here.
  app.get('/checkout/return', (request, reply) =>
    sendSmall(back, request, reply.header('Referrer-Policy', 'origin')),
  );
}

/** In links and pages that shops made for the service they come from. */
function addOlderAddresses(app: FastifyInstance): void {
  app.get('/v1/checkout.html', (request, reply) => {
    request.operation = 'checkout';
    return reply.redirect(`../checkout${/\?.*/.exec(request.url)?.[0] ?? ''}`);
  });
  app.get('/tokenizer.js', (request, reply) => {
    request.operation = 'tokenizerScript';
    return reply.code(410).type('text/plain; charset=utf-8').send(noTokenizer);
  });
}

/** For the developer who looks why their form does nothing. */
const noTokenizer =
  'There is no tokenizer script here. Send the card to POST /v2/processing/payment-resources with the access token of the invoice or the ' +
  'customer, or take payments with the checkout: /checkout.js.\n';

function placeOf(
  request: FastifyRequest<{ Querystring: Record<string, unknown> }>,
  publicUrl: string,
): Place {
  return {
    ownOrigins: ownOrigins(publicUrl, request),
    from: originOf(request.headers.referer ?? ''),
    returned: request.query['returned'] === 'true',
  };
}

/** Both pages have the same style. */
async function assetsOf(page: 'checkout' | 'payment-link'): Promise<Assets> {
  const [files, styles] = [await pageFiles(page)(), await pageFiles('checkout')()];
  return { script: textOf(files.get(`${page}.js`)), style: textOf(styles.get('checkout.css')) };
}

/** The first view, and the sites that may frame it. What is not found may be framed by no site. */
async function lookAt(
  wanted: CheckoutRequest,
  find: (wanted: CheckoutRequest, ports: CheckoutPorts) => Promise<Found | undefined>,
  ports: CheckoutPorts,
  { ownOrigins, from, returned }: Place,
): Promise<{ view: CheckoutView; origins: readonly string[] }> {
  const { mode, tokens, merchants } = ports;
  const found = wanted.id !== '' && isStorableText(wanted.id) ? await find(wanted, ports) : undefined;
  const shop = found && (await merchants.shop(found.partyId, found.shopId));
  if (!found || !shop) return { view: { request: wanted, view: 'dead' }, origins: [] };
  const origins = sitesOf(shop, mode, ownOrigins);
  const { token, redirectUrl, cancelUrl, shopOrigin } = wanted;
  const subject = token === undefined ? undefined : await tokens.verify(token);
  const isGood = subject?.kind === wanted.kind && subject.entityId === wanted.id;
  const order = isGood ? found.order : undefined;
  const asked = { ...wanted, recurring: wanted.recurring || order?.recurring !== undefined };
  const view: CheckoutView = {
    request: { ...asked, terms: await termsOf(asked, found, order, ports) },
    shop: {
      name: shop.name,
      isTest: !shop.livemode,
      currency: shop.currency,
      minorDigits: decimalsOf(shop.currency),
    },
    networks: await ports.networksFor(shop, {
      flow: { type: asked.hold === undefined ? 'instant' : 'hold' },
      makeRecurrent: asked.kind === 'customer' || asked.recurring,
    }),
    brand: await ports.brandOf({ partyId: shop.partyId, shopId: shop.id }),
    view: isGood ? found.view : viewWithoutToken(wanted, returned),
    isOpen: origins.includes(anySite),
    isMailed: ports.sendsEmail && found.hasEmail !== false,
    ...defined({ order, verificationMinor: verificationOf(shop.currency, ports) }),
    ...(isReturnAllowed(redirectUrl, origins) ? defined({ returnTo: redirectUrl }) : {}),
    ...(isReturnAllowed(cancelUrl, origins) ? defined({ cancelTo: cancelUrl }) : {}),
    ...(shopOrigin !== undefined && isReturnAllowed(shopOrigin, origins)
      ? { shopOrigin, hasOpener: from !== undefined && [shopOrigin, ...ownOrigins].includes(from) }
      : {}),
  };
  return { view, origins };
}

/** In a sandbox, any site until the shop lists some; its demo shop is served from the same origin. In live mode the listed ones alone. */
function sitesOf(
  { origins }: { readonly origins: readonly string[] },
  mode: CheckoutPorts['mode'],
  ownOrigins: readonly string[],
): readonly string[] {
  if (mode === 'live') return origins;
  return origins.length === 0 ? [anySite] : [...origins, ...ownOrigins];
}

function verificationOf(
  currency: string,
  { verificationChargeMinor }: Pick<CheckoutPorts, 'verificationChargeMinor'>,
): number | undefined {
  const minor = verificationChargeMinor.get(currency);
  return minor === undefined ? undefined : Number(minor);
}

/** A proxy may change the host, so the address of the service counts first. Payers may also reach it by another name. */
function ownOrigins(publicUrl: string, { protocol, host }: FastifyRequest): string[] {
  const origins = [publicUrl, `${protocol}://${host}`].flatMap((address) => originOf(address) ?? []);
  return [...new Set(origins)];
}

/**
 * Read before the payer agrees: the terms they see are the terms that are stored. Without its token nothing of the invoice is shown, so
 * the script takes its terms first.
 */
async function termsOf(
  wanted: CheckoutRequest,
  shop: { readonly partyId: string; readonly shopId: string },
  order: Order | undefined,
  ports: Pick<CheckoutPorts, 'termsOf'>,
): Promise<MandateTerms> {
  const mayAsk = needsConsent(wanted) || order === undefined;
  return mayAsk ? firstStated(order?.recurring, wanted.terms, await ports.termsOf(shop)) : wanted.terms;
}

const nothingWanted = {
  kind: 'invoice',
  id: '',
  theme: 'main',
  obscureCardCvv: false,
  requireCardHolder: false,
  recurring: false,
  privateReturn: false,
  terms: {},
} as const;

/** The invoice or customer of a page, and the first view for a payer with its token. */
type Found = {
  readonly partyId: string;
  readonly shopId: string;
  readonly view: View;
  readonly order?: Order;
  /** Of a customer: the checkout asks for no address. */
  readonly hasEmail?: boolean;
};

async function findSubject(
  { kind, id }: CheckoutRequest,
  { invoiceOf, customerOf }: CheckoutPorts,
): Promise<Found | undefined> {
  if (kind === 'invoice') {
    const invoice = await invoiceOf(id);
    return invoice && { ...invoice, view: viewOfInvoice(invoice), order: orderOf(invoice) };
  }
  const known = await customerOf(id);
  if (!known || known.customer.state.name === 'deleted') return undefined;
  // A customer with a card may save another. The script resumes a binding in progress.
  const { customer, isBinding } = known;
  const hasEmail = customer.contactInfo.email !== undefined;
  return { ...customer, hasEmail, view: isBinding ? 'loading' : 'form' };
}

/** Its token is not read here, so nothing of it is shown but its shop. */
async function findTemplate(
  { id }: CheckoutRequest,
  { templateOf }: CheckoutPorts,
): Promise<Found | undefined> {
  const template = await templateOf(id);
  return template && { ...template, view: 'loading' };
}

function viewOfInvoice({ status, paymentInProgress }: Invoice): View {
  if (status === 'cancelled') return 'cancelled';
  return status === 'unpaid' && !paymentInProgress ? 'form' : 'loading';
}

function viewWithoutToken({ token, shopOrigin }: CheckoutRequest, returned: boolean): View {
  if (token !== undefined) return 'dead';
  // A shop's page has just opened it: the script brings the token.
  return shopOrigin !== undefined && !returned ? 'form' : 'loading';
}

function orderOf({ amount, product, description, cart, recurring }: Invoice): Order {
  return {
    amountMinor: Number(amount.minor),
    product,
    ...defined({ description, recurring, cart: cart?.map(cartLineOf) }),
  };
}

function cartLineOf(line: CartLine) {
  const { product, quantity } = line;
  return { product, quantity: Number(quantity), costMinor: Number(lineCostMinor(line)) };
}
