// The HTTP server: routes from the endpoints, fixed headers, CORS, 404 and 405, one log line and one metric per request.
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { codeOf } from '../../error-code.ts';
import type { Database } from '../database/database.ts';
import type { Logger } from '../log.ts';
import { openRequest, requestHandler, type RequestContext, type PipelineDeps } from './request-pipeline.ts';
import { sendRefusal, statusOfFault } from './pipeline/send-response.ts';
import { limitConnections } from './connections.ts';
import type { AnyEndpoint } from './endpoint.ts';
import type { Metrics } from './metrics.ts';
import { pathForRouter, readablePath, routerPathOf } from './paths/router-path.ts';
import { addUnimplemented, type UnimplementedOperation } from './paths/unimplemented.ts';
import { maxBodyBytes } from './request/caller-limits.ts';
import { proxyCheck } from './proxies/proxies.ts';
import { warningsHeader } from './request/warnings.ts';
import { maxRequestIdCharacters, apiFamilyOf } from './errors/error-response.ts';

const requestTimeoutMs = 30_000;
const lateCheckMs = 1_000;
const keepAliveMs = 65_000; // longer than a load balancer's usual 60 s, so that the load balancer hangs up first

/** The schema refuses longer IDs only after the line's IDs were read. */
const maxLoggedCharacters = 200;

const fixedHeaders = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': `X-Request-ID, Retry-After, Idempotent-Replayed, Preference-Applied, WWW-Authenticate, ${warningsHeader}`,
};
const apiHeaders = { 'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'" };
const preflightHeaders = {
  'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
  'Access-Control-Allow-Headers':
    'x-requested-with, content-type, accept, authorization, x-request-id, x-request-deadline, idempotency-key, prefer',
  'Access-Control-Max-Age': '86400',
};

declare module 'fastify' {
  interface FastifyRequest {
    operation: string;
    contentType: string;
    context: RequestContext | undefined;
    /** The session of the console that asks, known also where no operation is called. */
    consoleSession: string | undefined;
    createdId: string | undefined;
    startedAtMs: number;
  }
}

const noSuchPath = {
  message: 'Not found',
  hint: 'No operation has this path. `/docs` lists all of them.',
};

type ServerOptions<Deps extends { readonly db: Database }, PrepareDeps> = {
  pipeline: PipelineDeps<Deps, PrepareDeps>;
  endpoints: readonly AnyEndpoint<Deps, PrepareDeps>[];
  unimplemented: readonly UnimplementedOperation[];
  log: Logger;
  metrics: Metrics;
  trustedProxies: readonly string[];
  /** Open at the same time; 0 for no limit. */
  maxConnections: number;
  /** Of a request without an ID. Without it, such a request is refused. */
  newRequestId: (() => string) | undefined;
  /** The response to a browser that asks for an address that does not exist. */
  sendNotFoundPage: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
};

export function buildServer<Deps extends { readonly db: Database }, PrepareDeps>(
  options: ServerOptions<Deps, PrepareDeps>,
): FastifyInstance {
  const { pipeline, endpoints, log, metrics } = options;
  const answerFault = faultHandler(log);
  const app = openFastify(options, answerFault);
  limitConnections(app.server, options.maxConnections, proxyCheck(options.trustedProxies));
  app.decorateRequest('operation', 'unknown');
  app.decorateRequest('contentType', '');
  app.decorateRequest('context', undefined);
  app.decorateRequest('consoleSession', undefined);
  app.decorateRequest('createdId', undefined);
  app.decorateRequest('startedAtMs', 0);

  const methodsOf = methodsByPath([...endpoints, ...options.unimplemented]);
  app.addHook('onRequest', (request, reply, done) => {
    request.startedAtMs = performance.now();
    pipeline.forwarding.observe(request);
    addFixedHeaders(request, reply, options.newRequestId);
    if (request.method === 'OPTIONS') return void reply.headers(preflightHeaders).code(204).send();
    // Without authentication, and before the framework reads a body.
    const others = request.is404 ? methodsOf(request.url) : undefined;
    if (others) return void reply.code(405).header('Allow', others.join(', ')).send();
    done();
  });

  logRequests(app, metrics, log);

  // Bodies are read as bytes, and parsed by the pipeline once the caller is known. Operations without a body ignore it.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  app.setNotFoundHandler((request, reply) => {
    const { accept = '' } = request.headers;
    const isBrowser = request.method === 'GET' && accept.includes('text/html');
    reply.code(404);
    return isBrowser ? options.sendNotFoundPage(request, reply) : reply.send(noSuchPath);
  });
  app.setErrorHandler((error, request, reply) => answerFault(error, request, reply));
  for (const endpoint of endpoints) addEndpoint(app, pipeline, endpoint, log);
  addUnimplemented(app, options.unimplemented);
  return app;
}

type FaultHandler = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void;

function openFastify(
  { trustedProxies, newRequestId }: Pick<ServerOptions<never, never>, 'trustedProxies' | 'newRequestId'>,
  answerFault: FaultHandler,
): FastifyInstance {
  return Fastify({
    logger: false,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    bodyLimit: maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    // Node looks for late requests at intervals only, and has a time of its own for headers.
    http: { headersTimeout: requestTimeoutMs, connectionsCheckingInterval: lateCheckMs },
    keepAliveTimeout: keepAliveMs,
    // A caller that still has a connection when the service stops gets the usual response.
    return503OnClosing: false,
    exposeHeadRoutes: false,
    // Longer than any URL Node reads: the schema limits the length of an ID.
    routerOptions: { maxParamLength: 16_384 },
    rewriteUrl: pathForRouter,
    clientErrorHandler: (error, socket) => respondToInvalidHttp(error, socket),
    // A URL that cannot be read arrives here, past all hooks.
    frameworkErrors: (error, request, reply) => {
      addFixedHeaders(request, reply, newRequestId);
      answerFault(error, request, reply);
    },
  });
}

function logRequests(app: FastifyInstance, metrics: Metrics, log: Logger): void {
  // Redaction by field name is off: it takes more time than the rest of the line, and every field is listed below. Card numbers are
  // still masked.
  const requestLog = log.child({}, { redact: [] });
  app.addHook('onResponse', (request, reply, done) => {
    const durationMs = performance.now() - request.startedAtMs;
    metrics.observeRequest(request.operation, reply.statusCode, durationMs / 1000);
    const caller = request.context?.caller;
    // Load balancers check the health every few seconds, so lines of healthy nodes would bury the others.
    const level = request.operation === 'health' && reply.statusCode < 400 ? 'debug' : 'info';
    // One literal with all members, because it is created for each request. Members without a value are left out of the line.
    requestLog[level](
      {
        partyId: caller?.partyId,
        keyId: caller?.kind === 'apiKey' ? caller.keyId : undefined,
        consoleSession: request.consoleSession,
        tokenFor: caller && caller.kind !== 'apiKey' ? `${caller.kind} ${caller.entityId}` : undefined,
        requestId: reply.getHeader('x-request-id'),
        operation: request.operation,
        objectId: caller && objectIdOf(request),
        method: request.method,
        status: reply.statusCode,
        durationMs: Math.round(durationMs * 10) / 10,
      },
      'request',
    );
    done();
  });
}

function faultHandler(log: Logger): FaultHandler {
  return (error, request, reply) => {
    const code = codeOf(error);
    // The framework's own errors about the request, or a caller that disconnected in the middle of it. Every other error is a fault.
    const family = apiFamilyOf(request.url);
    if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return sendRefusal(family, reply, { code: 'requestTooLarge' });
    const isCutOff = request.raw.destroyed && !request.raw.complete;
    if (isCutOff || /^FST_ERR_(BAD_URL|MAX_PARAM_LENGTH|CTP_|ROUTE_MISSING|.*INVALID)/.test(code)) {
      const message =
        code === 'FST_ERR_BAD_URL'
          ? 'The path is not percent-encoded UTF-8. Encode it again.'
          : 'The request cannot be read. Check its headers and the length of its body.';
      return sendRefusal(family, reply, { code: 'invalidRequest', message });
    }
    const status = statusOfFault(error, request.method);
    if (status === 503) reply.header('Retry-After', '1');
    log.error(
      { err: error, operation: request.operation, requestId: reply.getHeader('x-request-id') },
      'request failed',
    );
    void reply.code(status).send();
  };
}

function addEndpoint<Deps extends { readonly db: Database }, PrepareDeps>(
  app: FastifyInstance,
  pipeline: PipelineDeps<Deps, PrepareDeps>,
  endpoint: AnyEndpoint<Deps, PrepareDeps>,
  log: Logger,
): void {
  const answer = requestHandler(pipeline, endpoint);
  app.route({
    method: endpoint.method,
    url: routerPathOf(endpoint.path),
    onRequest: async (request, reply) => {
      request.operation = endpoint.operation;
      reply.headers(apiHeaders);
      // The framework would refuse some types before the pipeline can, even if the body is ignored.
      request.contentType = request.raw.headers['content-type'] ?? '';
      delete request.raw.headers['content-type'];
      request.context = await openRequest(pipeline, endpoint, request, reply);
      return request.context ? undefined : reply;
    },
    handler: async (request, reply) => {
      if (!request.context) throw new Error('A request reached its handler without passing the pipeline.');
      try {
        await answer(request.context, request, reply);
      } catch (error) {
        if (!request.context.deadline.isOver) throw error;
        log.error(
          { err: error, operation: request.operation, requestId: request.headers['x-request-id'] },
          'work failed after its deadline',
        );
      }
    },
  });
}

/** The IDs in the path and the one that was created: `INVOICE/1` for a payment. Only IDs: a token in a path is a secret. */
function objectIdOf({ params, createdId }: FastifyRequest): string | undefined {
  const named = Object.entries((params ?? {}) as Record<string, string>).flatMap(([name, value]) =>
    name.endsWith('ID') ? [value] : [],
  );
  const ids = createdId === undefined ? named : [...named, createdId];
  return ids.length === 0 ? undefined : ids.join('/').slice(0, maxLoggedCharacters);
}

/** The methods of a path, if it exists. Called only if no route was found. */
function methodsByPath(
  operations: readonly Pick<AnyEndpoint, 'method' | 'path'>[],
): (url: string) => string[] | undefined {
  const known = new Map<string, string[]>();
  for (const { path, method } of operations) known.set(path, [...(known.get(path) ?? []), method]);
  const patterns = [...known].map(([path, methods]) => {
    const pattern = path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]*');
    return [new RegExp(`^${pattern}$`), methods] as const;
  });
  return (url) => {
    const path = readablePath(url);
    return path === undefined ? undefined : patterns.find(([pattern]) => pattern.test(path))?.[1];
  };
}

/** The HTTP parser has failed: there is neither request nor reply, only a socket. */
function respondToInvalidHttp(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const [status, message] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'The headers are larger than 16 KiB. Send less.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'The request did not arrive in time. Send it again.']
        : ['400 Bad Request', 'This is not an HTTP/1.1 request. Send HTTP/1.1 without TLS.'];
  const body = JSON.stringify({ code: 'invalidRequest', message });
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nConnection: close`;
  socket.end(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

/** A year, as soon as the caller is known to come by TLS: only a declared proxy can say so. */
const strictTransport = 'max-age=31536000';

function addFixedHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  newRequestId: (() => string) | undefined,
): void {
  reply.headers(fixedHeaders);
  if (request.protocol === 'https') reply.header('Strict-Transport-Security', strictTransport);
  const requestId = request.headers['x-request-id'] ?? newRequestId?.();
  if (
    typeof requestId === 'string' &&
    /^[\x20-\x7e]+$/.test(requestId) &&
    requestId.length <= maxRequestIdCharacters[apiFamilyOf(request.url)]
  ) {
    reply.header('X-Request-ID', requestId);
  }
}
