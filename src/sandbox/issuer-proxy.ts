// Serves the issuer's pages of simulated banks under the service's address, because a bank listens only on its machine.
// Each bank has its own path, so that any node can forward to any bank.
import type { FastifyInstance } from 'fastify';
import { openLink, type Link } from '../acquiring/adapters/http/link.ts';
import { defined } from '../defined.ts';

const basePath = '/sandbox/banks';
const connectMs = 2_000;
const answerMs = 10_000;

/** The response headers passed on to the browser. */
const passedOn = [
  'content-type',
  'location',
  'cache-control',
  'referrer-policy',
  'x-content-type-options',
  'content-security-policy',
];

/** The public URL to configure at a bank, so that its pages are reached through this proxy. */
export function issuerUrlOf(publicUrl: string, bankId: string): string {
  return `${publicUrl}${basePath}/${bankId}`;
}

export function simulatedBankIdOf(id: string): string {
  return `SIMULATED_${id.slice(0, 8)}`;
}

/** `urlOf` returns the address of a bank. Only simulated banks have pages here. */
export function addIssuerGate(
  app: FastifyInstance,
  urlOf: (bankId: string) => Promise<string | undefined>,
): void {
  const links = new Map<string, Link>();
  app.addHook('onClose', async () => {
    await Promise.all([...links.values()].map((link) => link.stop()));
  });

  app.route<{ Params: { bankId: string; page: string } }>({
    method: ['GET', 'POST'],
    url: `${basePath}/:bankId/issuer/:page`,
    handler: async (request, reply) => {
      request.operation = 'issuerPage';
      const { bankId, page } = request.params;
      const isKnown = /^SIMULATED_[0-9a-f]{8}$/.test(bankId) && /^(challenge|decision)$/.test(page);
      const url = isKnown ? await urlOf(bankId) : undefined;
      if (url === undefined) {
        reply.callNotFound();
        return reply;
      }
      const link = links.get(url) ?? openLink(url, connectMs);
      links.set(url, link);
      const [, query] = request.url.split('?');
      const body = Buffer.isBuffer(request.body) ? request.body : undefined;
      const exchange = await link.ask({
        method: request.method === 'POST' ? 'POST' : 'GET',
        target: `/issuer/${page}${query === undefined ? '' : `?${query}`}`,
        headers: { 'content-type': request.headers['content-type'] ?? 'application/x-www-form-urlencoded' },
        ...defined({ body }),
        answerMs,
      });
      if (exchange.kind === 'nothing') {
        const text =
          'The simulated bank is not available: the node that runs it has stopped. Try again later.';
        return reply.code(503).type('text/plain; charset=utf-8').send(text);
      }
      for (const name of passedOn) {
        const value = exchange.headers[name];
        if (value !== undefined) reply.header(name, value);
      }
      return reply.code(exchange.status).send(exchange.body);
    },
  });
}
