// Serves the page of a consent link, what its script polls, and the payer's agreement. The address is the payer's proof, so it is
// neither logged nor sent on.
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { holdsCardNumber } from '../cards/domain/written-numbers.ts';
import { parseInstant, type Clock, type Instant } from '../clock.ts';
import type { ConsentLinks } from '../consent-links/port.ts';
import type { LinkState } from '../consent-links/domain/consent-link.ts';
import { defined } from '../defined.ts';
import type { Merchants } from '../merchants/merchants.ts';
import { clientAddress } from '../platform/http/request/client-address.ts';
import { moneyText } from '../receipts/domain/receipt.ts';
import { isStorableText } from '../platform/http/request/json-body.ts';
import { pageFiles } from '../platform/http/pages/pages.ts';
import { payerPath } from '../subscriptions/port.ts';
import { statusOfFault } from '../platform/http/pipeline/send-response.ts';
import type { Logger } from '../platform/log.ts';
import { challengePages } from './challenge-pages.ts';
import { isReturnAllowed, localeOf, type Locale } from './domain/checkout-request.ts';
import {
  consentLinkPage,
  type ConsentProblem,
  type ConsentLinkView,
  type ConsentState,
  type ConsentView,
} from './domain/consent-link-page.ts';
import { brandedStyle, type Assets, type Brand } from './domain/page-parts.ts';
import { consentLinkText, type ConsentLinkText } from './domain/consent-link-text.ts';
import { sendPage, textOf } from '../platform/http/pages/inline-page.ts';
import { openerPolicy, policyOf, sendSmall } from './page-response.ts';
import { awayPage, tryAgainAfterSeconds } from './unavailable-page.ts';

export type ConsentLinkPorts = {
  readonly mode: 'sandbox' | 'live';
  /** False where receipts are not emailed. */
  readonly sendsEmail: boolean;
  readonly log: Pick<Logger, 'error'>;
  readonly clock: Clock;
  readonly merchants: Pick<Merchants, 'shop'>;
  /** What is charged and refunded to check a card, by currency. */
  readonly verificationChargeMinor: ReadonlyMap<string, bigint>;
  readonly consentLinks: Pick<ConsentLinks, 'open' | 'agree'>;
  readonly publicUrl: () => string;
  readonly brandOf: (shop: { readonly partyId: string; readonly shopId: string }) => Promise<Brand>;
};

type Link = {
  Params: { readonly linkId: string; readonly secret: string };
  Querystring: Record<string, unknown>;
};
type Shown = {
  readonly shop: string;
  readonly isTest: boolean;
  readonly verification: string;
  readonly text: ConsentLinkText;
  readonly returnTo?: string;
};

const path = '/consent';
const maxUserAgent = 500;

export function addConsentLinkRoutes(app: FastifyInstance, ports: ConsentLinkPorts): void {
  const { mode, consentLinks } = ports;
  const files = pageFiles('consent');
  const assetsOf = async () => {
    const all = await files();
    return { script: textOf(all.get('consent.js')), style: textOf(all.get('consent.css')) };
  };

  async function find({ params: { linkId, secret } }: FastifyRequest<Link>): Promise<LinkState | undefined> {
    return isStorableText(linkId + secret) ? consentLinks.open(linkId, secret) : undefined;
  }

  app.get<Link>(`${path}/:linkId/:secret`, async (request, reply) => {
    request.operation = 'consentLinkPage';
    const assets = await assetsOf();
    const accepted = request.headers['accept-language'];
    let locale = localeOf(request.query['locale'], accepted);
    try {
      const linkState = await find(request);
      locale = localeOf(request.query['locale'] ?? linkState?.link.language, accepted);
      const payerPage = payerPageIn(request.query['returnTo'], ports);
      const view = linkState ? await viewFor(linkState, locale, payerPage, ports) : { locale, state: dead };
      const branded = { ...assets, style: brandedStyle(assets.style, view.link?.brand) };
      reply.code(linkState ? 200 : 404).headers(headersOf(branded, mode));
      return await sendPage(consentLinkPage(view, branded), request, reply);
    } catch (error) {
      ports.log.error({ err: error, operation: request.operation }, 'request failed');
      const { html, contentSecurityPolicy } = awayPage(locale, assets.style);
      reply.code(statusOfFault(error, request.method)).header('Retry-After', String(tryAgainAfterSeconds));
      return sendPage(html, request, reply.header('Content-Security-Policy', contentSecurityPolicy));
    }
  });

  app.get<Link>(`${path}/:linkId/:secret/state`, async (request, reply) => {
    request.operation = 'consentLinkState';
    const linkState = await find(request);
    return reply.code(linkState ? 200 : 404).send(linkState ? stateOf(linkState) : dead);
  });

  app.post<Link>(`${path}/:linkId/:secret`, async (request, reply) => {
    request.operation = 'agreeToConsentLink';
    const linkState = await find(request);
    const { status, body } = linkState ? await agree(linkState, request, ports) : { status: 404, body: dead };
    return reply.code(status).send(body);
  });

  addReturn(app, assetsOf, mode);
}

/** The way back from the bank: to the link's page, which only its tab knows, or to one that says that the bank has replied. */
function addReturn(
  app: FastifyInstance,
  assetsOf: () => Promise<Assets>,
  mode: ConsentLinkPorts['mode'],
): void {
  const { consentBack } = challengePages(mode);
  app.get(`${path}/return`, (request, reply) => sendSmall(consentBack, request, reply));
  app.get<{ Querystring: Record<string, unknown> }>(`${path}/heard`, async (request, reply) => {
    request.operation = 'consentLinkPage';
    const assets = await assetsOf();
    const locale = localeOf(request.query['locale'], request.headers['accept-language']);
    reply.headers(headersOf(assets, mode));
    return sendPage(consentLinkPage({ locale, state: { view: 'heard' } }, assets), request, reply);
  });
}

const dead: ConsentState = { view: 'dead' };

/** No site may frame the page, and none has opened it. */
function headersOf(assets: Assets, mode: ConsentLinkPorts['mode']): Record<string, string> {
  return { ...policyOf(assets, [], mode), ...openerPolicy(false) };
}

async function viewFor(
  linkState: LinkState,
  locale: Locale,
  payerPage: string | undefined,
  ports: ConsentLinkPorts,
): Promise<ConsentLinkView> {
  const shown = await shownOf(linkState, locale, ports);
  const { link: asked, series } = linkState;
  const { lastDigits } = series.card;
  const brand = await ports.brandOf(asked);
  const returning = payerPage === undefined ? {} : { returnTo: payerPage, payerPage };
  const link = { ...shown, ...returning, lastDigits, brand, textHash: hashOf(shown.text.evidence) };
  return { locale, state: stateOf(linkState), link };
}

/** The page of a subscription that the payer came from. Nothing else may be named by an address. */
function payerPageIn(
  address: unknown,
  { publicUrl }: Pick<ConsentLinkPorts, 'publicUrl'>,
): string | undefined {
  const base = `${publicUrl()}${payerPath}/`;
  if (typeof address !== 'string' || !address.startsWith(base)) return undefined;
  return /^[\w-]+\/[\w.-]+$/.test(address.slice(base.length)) ? address : undefined;
}

async function shownOf(
  { link, series }: LinkState,
  locale: Locale,
  {
    merchants,
    verificationChargeMinor,
    sendsEmail,
  }: Pick<ConsentLinkPorts, 'merchants' | 'verificationChargeMinor' | 'sendsEmail'>,
): Promise<Shown> {
  const shop = await merchants.shop(link.partyId, link.shopId);
  if (!shop) throw new Error(`Shop ${link.shopId} not found.`);
  const { mandate, card } = series;
  const { currency } = mandate.payment;
  const terms = {
    shop: shop.name,
    lastDigits: card.lastDigits,
    currency,
    before: mandate,
    after: link.terms,
    isMailed: sendsEmail && mandate.payer.contactInfo.email !== undefined,
  };
  const { redirectUrl } = link;
  const mayReturn = isReturnAllowed(redirectUrl, shop.origins);
  return {
    shop: shop.name,
    isTest: !shop.livemode,
    verification: moneyText({ minor: verificationChargeMinor.get(currency) ?? 0n, currency }, locale),
    text: consentLinkText(terms, locale),
    ...(mayReturn ? defined({ returnTo: redirectUrl }) : {}),
  };
}

async function agree(
  linkState: LinkState,
  request: FastifyRequest<Link>,
  ports: ConsentLinkPorts,
): Promise<{ readonly status: number; readonly body: object }> {
  const agreed = agreementIn(request.body);
  const ip = clientAddress(request);
  if (!agreed || ip === undefined) return { status: 400, body: { code: 'invalidRequest' } };
  const { evidence } = (await shownOf(linkState, agreed.locale, ports)).text;
  // After another link of the series, the payer has compared with what no longer holds.
  if (linkState.status === 'open' && hashOf(evidence) !== agreed.textHash)
    return { status: 409, body: { code: 'termsChanged' } };
  const begun = await ports.consentLinks.agree(linkState, {
    text: evidence,
    locale: agreed.locale,
    tickedAt: earlierOf(agreed.tickedAt, ports.clock.now()),
    userAgent: keptUserAgent(request.headers['user-agent']),
    clientInfo: { fingerprint: agreed.fingerprint, ip },
  });
  if (begun.ok) return { status: 200, body: stateOf(begun.value) };
  const { code, waitSeconds } = begun.refusal;
  return { status: code === 'tooManyBindings' ? 429 : 400, body: { code, ...defined({ waitSeconds }) } };
}

/** A payer cannot change what their browser calls itself, so a name that must not be kept is left out. */
function keptUserAgent(name = ''): string {
  const kept = name.slice(0, maxUserAgent);
  return holdsCardNumber(kept) ? '' : kept;
}

const viewOf = {
  open: 'form',
  authenticating: 'waiting',
  done: 'done',
  expired: 'expired',
  cancelled: 'cancelled',
} as const satisfies Record<LinkState['status'], ConsentView>;

function stateOf({ status, binding }: LinkState): ConsentState {
  const state = binding?.state;
  if (status === 'authenticating' && state?.name === 'challenged') {
    const { interaction } = state;
    const { url } = interaction;
    return {
      view: 'challenge',
      interaction: 'form' in interaction ? { url, form: interaction.form } : { url },
    };
  }
  const problem = state?.name === 'failed' ? problemOf(state.failure[0]) : undefined;
  return { view: viewOf[status], ...defined({ problem }) };
}

function problemOf(code: string): ConsentProblem {
  if (code === 'preauthorization_failed') return 'unconfirmed';
  return code === 'timeout' ? 'timeout' : 'declined';
}

type Agreed = {
  readonly tickedAt: Instant;
  readonly textHash: string;
  readonly locale: Locale;
  readonly fingerprint: string;
};

/** Undefined for what the page never sends. */
function agreementIn(body: unknown): Agreed | undefined {
  const { ticked, tickedAt, textHash, locale, fingerprint } = read(body);
  const at = typeof tickedAt === 'string' ? parseInstant(tickedAt) : undefined;
  if (ticked !== true || at === undefined) return undefined;
  if (typeof textHash !== 'string' || (locale !== 'en' && locale !== 'ru')) return undefined;
  if (typeof fingerprint !== 'string' || fingerprint.length > 1_000 || !isStorableText(fingerprint))
    return undefined;
  if (holdsCardNumber(fingerprint)) return undefined;
  return { tickedAt: at, textHash, locale, fingerprint };
}

function read(body: unknown): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.isBuffer(body) ? body.toString() : '');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** The payer's clock may be fast, but no tick is later than its arrival. */
function earlierOf(told: Instant, now: Instant): Instant {
  return told < now ? told : now;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
