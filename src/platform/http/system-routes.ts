// What is not the API: health for load balancers, metrics for monitoring, the OpenAPI document.
import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Metrics } from './metrics.ts';

export function addSystemRoutes(
  app: FastifyInstance,
  options: {
    /** Written when somebody asks for it the first time: it would be a tenth of the start. */
    openApi: () => unknown;
    metrics: Metrics;
    /** `open` for everybody; a token; or closed. */
    metricsAccess: 'open' | 'closed' | { readonly token: string };
    /** What is not ready, by name; an empty list when requests can be served. */
    notReady: () => Promise<string[]>;
  },
): void {
  let openApiText: string | undefined;
  // Load balancers and monitoring ask for the head alone.
  const asked = { exposeHeadRoute: true };

  app.get('/openapi.json', asked, (request, reply) => {
    request.operation = 'openapi';
    openApiText ??= JSON.stringify(options.openApi());
    return reply.type('application/json; charset=utf-8').send(openApiText);
  });

  app.get('/health/live', asked, (request, reply) => {
    request.operation = 'health';
    return reply.send({ status: 'ok' });
  });

  app.get('/health/ready', asked, async (request, reply) => {
    request.operation = 'health';
    const notReady = await options.notReady();
    return reply
      .code(notReady.length === 0 ? 200 : 503)
      .send(notReady.length === 0 ? { status: 'ok' } : { status: 'unavailable', notReady });
  });

  app.get('/metrics', asked, async (request, reply) => {
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

function isToken(header: string | undefined, token: string): boolean {
  const given = Buffer.from(header ?? '');
  const expected = Buffer.from(`Bearer ${token}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
