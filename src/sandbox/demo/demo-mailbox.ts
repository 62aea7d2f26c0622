// The mailbox of the demo shop's payers: the emails about its orders, from the sandbox's outbox.
// A browser must name the orders, so that it reads only its own emails.
import type { FastifyInstance } from 'fastify';

type PayerEmail = {
  readonly id: string;
  readonly html?: string;
};

/** The number of orders a browser remembers. */
const maxOrders = 20;
/** Isolates an email like a mail program: own origin, no scripts, nothing loaded, links in a new tab. */
const emailPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'self'; " +
  'sandbox allow-popups allow-popups-to-escape-sandbox';

export function addDemoMailbox(
  app: FastifyInstance,
  shop: {
    readonly knows: (orderId: string) => boolean;
    /** Sends a request of the shop's server to the API. */
    readonly ask: (path: string) => Promise<{ readonly status: number; readonly answer: unknown }>;
  },
): void {
  async function emailsOf(orderId: string): Promise<readonly PayerEmail[]> {
    if (!shop.knows(orderId)) return [];
    const { status, answer } = await shop.ask(`/sandbox/outbox?invoiceID=${orderId}`);
    return status === 200 ? (answer as PayerEmail[]) : [];
  }

  app.get<{ Querystring: { orders?: string | string[] } }>('/demo/letters', async (request, reply) => {
    request.operation = 'demo';
    const orders = String(request.query.orders ?? '').split(',', maxOrders);
    const emails = await Promise.all([...new Set(orders)].map(emailsOf));
    return reply.send(emails.flat().map(({ html: _, ...email }) => email));
  });

  app.get<{ Params: { order: string; email: string } }>(
    '/demo/letters/:order/:email',
    async (request, reply) => {
      request.operation = 'demo';
      const { order, email } = request.params;
      const found = (await emailsOf(order)).find(({ id }) => id === email);
      if (found?.html === undefined) return reply.code(404).send({ message: 'Not found' });
      return reply
        .header('Content-Security-Policy', emailPolicy)
        .header('Referrer-Policy', 'no-referrer')
        .header('Cache-Control', 'no-store')
        .type('text/html; charset=utf-8')
        .send(found.html.replace('<meta charset="utf-8">', '$&\n<base target="_blank">'));
    },
  );
}
