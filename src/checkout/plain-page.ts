// Pages for payers without a script, at an address that is the payer's proof. Only a form changes something, because mail programs open
// links; after it the browser is sent back, so that a reload repeats nothing.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pageFiles } from '../platform/http/pages/pages.ts';
import { sendPage, textOf } from '../platform/http/pages/inline-page.ts';
import { isStorableText } from '../platform/http/request/json-body.ts';
import { statusOfFault } from '../platform/http/pipeline/send-response.ts';
import type { Logger } from '../platform/log.ts';
import { localeOf, type Locale } from './domain/checkout-request.ts';
import { brandedStyle, type Brand } from './domain/page-parts.ts';
import { sheetPage } from './sheet-page.ts';
import { awayPage, tryAgainAfterSeconds } from './unavailable-page.ts';

export type Link = { readonly id: string; readonly secret: string };
export type Fields = Readonly<Record<string, unknown>>;

export type PlainParts = {
  readonly title: string;
  readonly brand?: Brand;
  /** This and `content` are HTML. */
  readonly summary?: string;
  readonly content: string;
};

export type PlainPage<Found> = {
  /** Followed by the ID and the secret of a link. */
  readonly path: string;
  readonly view: string;
  /** The names in logs and metrics. */
  readonly shows: string;
  readonly acts: string;
  /** The page whose style it has. */
  readonly style: string;
  /** Undefined if the link is good for nothing. */
  find(link: Link): Promise<Found | undefined>;
  partsOf(found: Found | undefined, query: Fields, locale: Locale): Promise<PlainParts>;
  /** What the page's form asks for. Returns where the browser goes, if not to the page itself. */
  act(found: Found, form: URLSearchParams, locale: Locale): Promise<string | undefined>;
};

type LinkRequest = FastifyRequest<{ Params: Link; Querystring: Fields }>;

export function addPlainPage<Found>(
  app: FastifyInstance,
  log: Pick<Logger, 'error'>,
  { path, view, style: styled, ...page }: PlainPage<Found>,
): void {
  const files = pageFiles(styled);
  const styleOf = async () => textOf((await files()).get(`${styled}.css`));
  const find = async ({ params: { id, secret } }: LinkRequest) =>
    isStorableText(id + secret) ? page.find({ id, secret }) : undefined;

  async function show(request: LinkRequest, reply: FastifyReply, found: Found | undefined) {
    const locale = languageOf(request);
    const { brand, ...parts } = await page.partsOf(found, request.query, locale);
    const style = brandedStyle(await styleOf(), brand);
    const { html, contentSecurityPolicy } = sheetPage({ view, locale, style, isOwn: true, ...parts });
    reply.code(found ? 200 : 404).headers({
      'Content-Security-Policy': contentSecurityPolicy,
      'Referrer-Policy': 'no-referrer',
      'X-Robots-Tag': 'noindex',
    });
    return sendPage(html, request, reply);
  }

  app.get<{ Params: Link; Querystring: Fields }>(`${path}/:id/:secret`, async (request, reply) => {
    request.operation = page.shows;
    try {
      return await show(request, reply, await find(request));
    } catch (error) {
      log.error({ err: error, operation: request.operation }, 'request failed');
      return sendAway(request, reply.code(statusOfFault(error, request.method)), await styleOf());
    }
  });

  app.post<{ Params: Link; Querystring: Fields }>(`${path}/:id/:secret`, async (request, reply) => {
    request.operation = page.acts;
    const locale = languageOf(request);
    let address: string | undefined;
    try {
      const found = await find(request);
      if (!found) return await show(request, reply, found);
      address = await page.act(found, formOf(request.body), locale);
    } catch (error) {
      log.error({ err: error, operation: request.operation }, 'request failed');
    }
    // Also after a fault: the page reads what is true.
    const back = request.query['locale'] === undefined ? '?' : `?locale=${locale}`;
    return reply.redirect(address ?? back, 303);
  });
}

function sendAway(request: LinkRequest, reply: FastifyReply, style: string) {
  const { html, contentSecurityPolicy } = awayPage(languageOf(request), style);
  reply.headers({ 'Retry-After': tryAgainAfterSeconds, 'Content-Security-Policy': contentSecurityPolicy });
  return sendPage(html, request, reply);
}

function formOf(body: unknown): URLSearchParams {
  return new URLSearchParams(Buffer.isBuffer(body) ? body.toString() : '');
}

function languageOf({ query, headers }: LinkRequest): Locale {
  return localeOf(query['locale'], headers['accept-language']);
}
