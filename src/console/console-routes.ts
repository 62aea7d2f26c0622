// Serves the console: its page, the link that opens a session, and what the page reads. It reads by the operations of the API, each
// called for the party of the session.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../caller.ts';
import { holdsCardNumber } from '../cards/domain/written-numbers.ts';
import { modeName } from '../livemode.ts';
import type { Merchants } from '../merchants/merchants.ts';
import type { Database } from '../platform/database/database.ts';
import type { AnyEndpoint } from '../platform/http/endpoint.ts';
import { scopesOf } from '../platform/http/access.ts';
import { policyHash } from '../platform/http/pages/csp-hash.ts';
import { sendPage, textOf, zippedOnce } from '../platform/http/pages/inline-page.ts';
import { pageFiles } from '../platform/http/pages/pages.ts';
import { routerPathOf } from '../platform/http/paths/router-path.ts';
import { networkOf } from '../platform/http/request/client-address.ts';
import type { RateLimit } from '../platform/http/request/rate-limit.ts';
import { contextOf, requestHandler, type PipelineDeps } from '../platform/http/request-pipeline.ts';
import { partyShown } from './domain/session.ts';
import { shownBody } from './domain/shown-body.ts';
import { mayOpenAt, sessionNamedBy, type ConsoleSessions, type Session } from './sessions.ts';

type Language = 'en' | 'ru';

/** What an operator reads of the whole service. */
export type OperatorView = { readonly name: string; readonly read: () => Promise<unknown> };

export type ConsolePorts<Deps extends { readonly db: Database }, PrepareDeps> = {
  readonly sessions: ConsoleSessions;
  /** By the language of the page. */
  readonly pipelines: Readonly<Record<Language, PipelineDeps<Deps, PrepareDeps>>>;
  /** Reads alone. */
  readonly endpoints: readonly AnyEndpoint<Deps, PrepareDeps>[];
  readonly operatorViews: readonly OperatorView[];
  readonly merchants: Pick<Merchants, 'party'>;
  /** Not of shops of the other mode: a database that became live still has the payments of its sandbox. */
  readonly isOfMode: (partyId: string, ids: unknown) => Promise<boolean>;
  /** Of each session, whatever it reads. */
  readonly requests: RateLimit;
  /** Of made-up links and sessions, by network. */
  readonly failures: RateLimit;
};

const apiPath = '/console/api';
const maxLinkBytes = 1_000;
/** Only an operator's session reads it. */
const partyHeader = 'mandate-console-party';

export function addConsoleRoutes<Deps extends { readonly db: Database }, PrepareDeps>(
  app: FastifyInstance,
  ports: ConsolePorts<Deps, PrepareDeps>,
): void {
  const { pipelines, endpoints, operatorViews } = ports;
  void app.register((routes, _options, done) => {
    routes.addHook('onRequest', (request, reply, next) => {
      request.operation = 'console';
      // No other site reads it.
      reply.removeHeader('Access-Control-Allow-Origin').removeHeader('Access-Control-Expose-Headers');
      reply.header('Cross-Origin-Resource-Policy', 'same-origin');
      next();
    });
    addPage(routes);
    addSession(routes, ports);
    for (const endpoint of endpoints) {
      requireRead(endpoint);
      const answers = {
        en: requestHandler(pipelines.en, endpoint),
        ru: requestHandler(pipelines.ru, endpoint),
      };
      routes.get(`${apiPath}${routerPathOf(endpoint.path)}`, { onSend: showBody }, async (request, reply) => {
        const caller = await callerOf(ports, request, reply);
        if (!caller) return reply;
        if (!(await ports.isOfMode(caller.partyId, request.params))) return notFound(reply);
        const context = await contextOf(pipelines.en, caller, request, reply);
        if (!context) return reply;
        request.context = context;
        await answers[languageOf(request)](context, request, reply);
        return reply;
      });
    }
    for (const { name, read } of operatorViews) {
      routes.get(`${apiPath}/operator/${name}`, async (request, reply) => {
        const session = await sessionOf(ports, request, reply);
        if (!session) return reply;
        if (session.viewer.kind !== 'operator') return notFound(reply);
        return reply.send(await read());
      });
    }
    for (const path of [apiPath, `${apiPath}/*`]) routes.get(path, (_request, reply) => notFound(reply));
    done();
  });
}

/** The page says the one that it is in. */
function languageOf({ headers }: FastifyRequest): Language {
  return headers['accept-language'] === 'ru' ? 'ru' : 'en';
}

async function showBody(_request: FastifyRequest, _reply: FastifyReply, payload: unknown): Promise<unknown> {
  return typeof payload === 'string' && payload !== '' ? shownBody(payload) : payload;
}

/** The console has no acts yet, and an act needs more than a session. */
function requireRead({ method, operation, access }: AnyEndpoint): void {
  if (method !== 'GET' || scopesOf(access).some((scope) => !scope.endsWith(':read')))
    throw new Error(`The console cannot offer ${operation}: it is not a read.`);
}

/** One document for every path: its script reads the address. It shows nothing of a party, so it needs no session. */
function addPage(routes: FastifyInstance): void {
  const files = pageFiles('console');
  const build = (all: Awaited<ReturnType<typeof files>>) => {
    const [script, style] = [textOf(all.get('console.js')), textOf(all.get('console.css'))];
    const html = textOf(all.get('index.html'))
      .replace('<style></style>', () => `<style>${style}</style>`)
      .replace('<script type="module"></script>', () => `<script type="module">${script}</script>`);
    return { html, policy: policyOf(script, style), zipped: zippedOnce(html) };
  };
  let built: ReturnType<typeof build> | undefined;
  for (const path of ['/console', '/console/*']) {
    routes.get(path, { exposeHeadRoute: true }, async (request, reply) => {
      const { html, policy, zipped } = (built ??= build(await files()));
      reply.headers({
        'Content-Security-Policy': policy,
        'X-Frame-Options': 'DENY',
        'Cross-Origin-Opener-Policy': 'same-origin',
        'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), usb=()',
      });
      return sendPage(html, request, reply, zipped);
    });
  }
}

function policyOf(script: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src ${policyHash(script)}`,
    `style-src ${policyHash(style)}`,
    "connect-src 'self'",
    'img-src data:',
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

function addSession<Deps extends { readonly db: Database }, PrepareDeps>(
  routes: FastifyInstance,
  ports: ConsolePorts<Deps, PrepareDeps>,
): void {
  const { sessions, pipelines, merchants } = ports;
  const pipeline = pipelines.en;
  const mode = modeName(pipeline.livemode);

  // A link is opened by a click, which sends a POST: what fetches the address for a preview does not use it up.
  routes.post(`${apiPath}/session`, { bodyLimit: maxLinkBytes }, async (request, reply) => {
    if (!isOfThisSite(request, 'always')) return reply.code(403).send({ code: 'otherSite' });
    if (!mayOpenAt(pipeline.publicUrl(), pipeline.livemode))
      return reply.code(403).send({ code: 'notHttps' });
    const opened = await unlessTooMany(ports, request, reply, () => sessions.open(linkIn(request.body)));
    if (reply.sent) return reply;
    if (!opened) return reply.code(410).send({ code: 'linkUnusable' });
    const { id, viewer, madeBy, credential } = opened;
    const replaced = await sessions.find(credentialIn(request, cookieNameOf(pipeline)) ?? '');
    if (replaced) await sessions.end(replaced.id);
    pipeline.log.info({ consoleSession: id, ...viewer, madeBy }, 'console session opened');
    return reply.header('Set-Cookie', cookieOf(pipeline, credential)).send({ mode });
  });

  routes.post(`${apiPath}/session/end`, { bodyLimit: maxLinkBytes }, async (request, reply) => {
    if (!isOfThisSite(request, 'always')) return reply.code(403).send({ code: 'otherSite' });
    const session = await sessionOf(ports, request, reply);
    if (!session) return reply;
    await sessions.end(session.id);
    return reply
      .header('Set-Cookie', cookieOf(pipeline, '', 0))
      .code(204)
      .send();
  });

  routes.get(`${apiPath}/session`, async (request, reply) => {
    const session = await sessionOf(ports, request, reply);
    if (!session) return reply;
    const { viewer, endsAt } = session;
    const partyId = partyShown(viewer, partyNamedBy(request));
    const party = partyId === undefined ? undefined : await merchants.party(partyId);
    return reply.send({
      mode,
      isOperator: viewer.kind === 'operator',
      endsAt,
      ...(party ? { party: { id: party.id, name: party.name } } : {}),
    });
  });
}

/** Undefined once it has sent a response. */
async function callerOf<Deps extends { readonly db: Database }, PrepareDeps>(
  ports: ConsolePorts<Deps, PrepareDeps>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller | undefined> {
  const session = await sessionOf(ports, request, reply);
  if (!session) return undefined;
  if (namesCardNumber(request)) return void reply.code(400).send({ code: 'cardNumber' });
  const partyId = partyShown(session.viewer, partyNamedBy(request));
  if (partyId === undefined || !(await ports.merchants.party(partyId)))
    return void reply.code(404).send({ code: 'partyNotFound' });
  // The operations know no other caller that reads whatever its party may read.
  const scopes = [...new Set(ports.endpoints.flatMap(({ access }) => scopesOf(access)))];
  return { kind: 'apiKey', keyId: `console ${session.id}`, partyId, scopes };
}

/** Undefined once it has sent a response. */
async function sessionOf<Deps extends { readonly db: Database }, PrepareDeps>(
  ports: ConsolePorts<Deps, PrepareDeps>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Session | undefined> {
  if (!isOfThisSite(request, 'ifSaid')) return void reply.code(403).send({ code: 'otherSite' });
  const credential = credentialIn(request, cookieNameOf(ports.pipelines.en));
  if (credential === undefined) return void sessionEnded(reply);
  const named = sessionNamedBy(credential);
  const waitSeconds = named === undefined ? undefined : ports.requests.take(named);
  if (waitSeconds !== undefined) return void tooManyRequests(reply, waitSeconds);
  const { sessions } = ports;
  const find = () => sessions.find(credential);
  // Made-up sessions lock no open one out.
  const session = sessions.hasWorked(credential)
    ? await find()
    : await unlessTooMany(ports, request, reply, find);
  if (session) request.consoleSession = session.id;
  if (session || reply.sent) return session;
  // The cookie stays: this request may be late, and the browser may have a newer one.
  return void sessionEnded(reply);
}

function sessionEnded(reply: FastifyReply): FastifyReply {
  return reply.code(401).send({ code: 'sessionEnded' });
}

function tooManyRequests(reply: FastifyReply, waitSeconds: number): FastifyReply {
  return reply.code(429).header('Retry-After', String(waitSeconds)).send({ code: 'tooManyRequests' });
}

function notFound(reply: FastifyReply): FastifyReply {
  return reply.code(404).send({ code: 'notFound' });
}

type Counting = {
  readonly failures: RateLimit;
  readonly pipelines: {
    readonly en: { readonly forwarding: { countedAs(request: FastifyRequest): string } };
  };
};

/** Counts as a failure until it has succeeded, so those at the same time do not pass the limit. Undefined also once it has sent 429. */
async function unlessTooMany<Found>(
  { failures, pipelines }: Counting,
  request: FastifyRequest,
  reply: FastifyReply,
  find: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  const network = networkOf(pipelines.en.forwarding.countedAs(request));
  const waitSeconds = failures.take(network);
  if (waitSeconds !== undefined) return void tooManyRequests(reply, waitSeconds);
  let hasFailed = false;
  try {
    const found = await find();
    hasFailed = found === undefined;
    return found;
  } finally {
    // Also when the database is unavailable, which is not the caller's fault.
    if (!hasFailed) failures.giveBack(network);
  }
}

/** Browsers say which site a request comes from. Those over plain HTTP say it only of a POST, by its origin. */
function isOfThisSite({ headers }: FastifyRequest, needed: 'always' | 'ifSaid'): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = headers;
  return origin === undefined ? needed === 'ifSaid' : origin.replace(/^https?:\/\//, '') === host;
}

type Place = { readonly livemode: boolean; readonly publicUrl: () => string };

/** A browser keeps a `__Host-` cookie only from https, and a sandbox is often at http://127.0.0.1. Each mode has its own. */
function cookieNameOf({ livemode, publicUrl }: Place): string {
  return `${isSecure(publicUrl()) ? '__Host-' : ''}mandate-console-${modeName(livemode)}`;
}

function isSecure(publicUrl: string): boolean {
  return publicUrl.startsWith('https:');
}

function cookieOf(place: Place, credential: string, maxAgeSeconds?: number): string {
  return [
    `${cookieNameOf(place)}=${credential}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Strict',
    ...(isSecure(place.publicUrl()) ? ['Secure'] : []),
    ...(maxAgeSeconds === undefined ? [] : [`Max-Age=${maxAgeSeconds}`]),
  ].join('; ');
}

function credentialIn({ headers }: FastifyRequest, name: string): string | undefined {
  const cookies = (headers.cookie ?? '').split(/; */);
  return cookies.find((cookie) => cookie.startsWith(`${name}=`))?.slice(name.length + 1);
}

function partyNamedBy({ headers }: FastifyRequest): string | undefined {
  const named = headers[partyHeader];
  return typeof named === 'string' && named !== '' ? named : undefined;
}

/**
 * A search box is where a card number is pasted. Paths and page tokens are made by the service, and the ID of a webhook has the digits of
 * a card number.
 */
function namesCardNumber({ query }: FastifyRequest): boolean {
  const { continuationToken: _, ...filters } = query as Record<string, unknown>;
  return Object.values(filters)
    .flat()
    .some((value) => typeof value === 'string' && holdsCardNumber(value));
}

function linkIn(body: unknown): string {
  try {
    const bytes = Buffer.isBuffer(body) ? body : undefined;
    const { link } = JSON.parse(bytes?.toString() ?? '{}') as { readonly link?: unknown };
    return typeof link === 'string' ? link : '';
  } catch {
    return '';
  }
}
