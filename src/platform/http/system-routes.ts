// Routes outside the API: health for load balancers, metrics for monitoring, the OpenAPI document.
import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Metrics } from './metrics.ts';
import { sendFile, servedFile, type ServedFile } from './pages/pages.ts';

export function addSystemRoutes(
  app: FastifyInstance,
  options: {
    /** Written on the first request: it would take a tenth of the start. */
    openApi: () => unknown;
    metrics: Metrics;
    /** `open` to every caller, open with a token, or closed. */
    metricsAccess: 'open' | 'closed' | { readonly token: string };
    /** The names of what is not ready; empty when requests can be served. */
    notReady: () => Promise<string[]>;
    /** What a ready node's operator should look at. */
    warnings: () => string[];
  },
): void {
  let document: ServedFile | undefined;
  // Load balancers and monitoring may send HEAD.
  const withHead = { exposeHeadRoute: true };

  app.get('/openapi.json', withHead, (request, reply) => {
    request.operation = 'openapi';
    document ??= servedFile('openapi.json', Buffer.from(JSON.stringify(options.openApi())));
    return sendFile(document, request, reply);
  });

  app.get('/health/live', withHead, (request, reply) => {
    request.operation = 'health';
    return reply.send({ status: 'ok' });
  });

  app.get('/health/ready', withHead, async (request, reply) => {
    request.operation = 'health';
    const notReady = await options.notReady();
    return reply
      .code(notReady.length === 0 ? 200 : 503)
      .send(notReady.length === 0 ? readyBody(options.warnings()) : { status: 'unavailable', notReady });
  });

  app.get('/metrics', withHead, async (request, reply) => {
    request.operation = 'metrics';
    const { metricsAccess } = options;
    if (metricsAccess === 'closed') return reply.callNotFound();
    if (metricsAccess !== 'open' && !isToken(request.headers.authorization, metricsAccess.token)) {
      return reply.code(401).header('WWW-Authenticate', 'Bearer').send();
    }
    const { contentType, text } = await options.metrics.render();
    return reply.type(contentType).send(text);
  });
}

function readyBody(warnings: readonly string[]): object {
  return warnings.length === 0 ? { status: 'ok' } : { status: 'ok', warnings };
}

function isToken(header: string | undefined, token: string): boolean {
  const given = Buffer.from(header ?? '');
  const expected = Buffer.from(`Bearer ${token}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
