// The way of payers to the issuer's pages of the simulated banks, through the service's own address: a bank listens on its
// machine alone, payers may be anywhere. Each bank has a path of its own, so that any node can lead to the bank of any other.
import type { FastifyInstance } from 'fastify';
import { openLink, type Link } from '../acquiring/adapters/http/link.ts';
import { defined } from '../defined.ts';

const basePath = '/sandbox/banks';
const connectMs = 2_000;
const answerMs = 10_000;

/** What of an answer is for the browser; the rest is between the two servers. */
const passedOn = [
  'content-type',
  'location',
  'cache-control',
  'referrer-policy',
  'x-content-type-options',
  'content-security-policy',
];

/** What a bank has to be told, so that the pages it sends payers to are reached through here. */
export function issuerUrlOf(publicUrl: string, bankId: string): string {
  return `${publicUrl}${basePath}/${bankId}`;
}

export function simulatedBankIdOf(id: string): string {
  return `SIMULATED_${id.slice(0, 8)}`;
}

/** `urlOf` answers where a bank listens. Only simulated banks have pages here. */
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
        const text = 'The simulated bank does not answer: the node that runs it is away. Try again later.';
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
