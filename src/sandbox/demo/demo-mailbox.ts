// The mailbox of the demo shop's payers: the emails about its orders and subscriptions, from the sandbox's outbox.
// A browser must name them, so that it reads only its own emails.
import type { FastifyInstance } from 'fastify';
import type { Hearing, Heard } from './demo-receiver.ts';

type PayerEmail = {
  readonly id: string;
  readonly html?: string;
};

/** The number of orders and subscriptions a browser remembers. */
const maxOrders = 20;
/** Isolates an email like a mail program: own origin, no scripts, nothing loaded, links in a new tab. */
const emailPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'self'; " +
  'sandbox allow-popups allow-popups-to-escape-sandbox';

export function addDemoMailbox(
  app: FastifyInstance,
  shop: {
    readonly orders: Hearing;
    readonly buyers: Hearing;
    /** Sends a request of the shop's server to the API. */
    readonly ask: (path: string) => Promise<{ readonly status: number; readonly answer: unknown }>;
  },
): void {
  async function outbox(query: string): Promise<readonly PayerEmail[]> {
    const { status, answer } = await shop.ask(`/sandbox/outbox?${query}`);
    return status === 200 ? (answer as PayerEmail[]) : [];
  }

  async function emailsOf(id: string): Promise<readonly PayerEmail[]> {
    if (shop.orders.knows(id)) return outbox(`invoiceID=${id}`);
    if (!shop.buyers.knows(id)) return [];
    // The outbox is that of all buyers, and those of a day are more than one answer has.
    const objects = new Set([id, ...shop.buyers.after(id, 0).flatMap(invoicesOf)]);
    const emails = await Promise.all([...objects].map((object) => outbox(`invoiceID=${object}`)));
    return [...new Map(emails.flat().map((email) => [email.id, email])).values()];
  }

  app.get<{ Querystring: { orders?: string | string[] } }>('/demo/letters', async (request, reply) => {
    request.operation = 'demo';
    const orders = String(request.query.orders ?? '').split(',', maxOrders);
    const emails = await Promise.all(
      [...new Set(orders)].map(async (order) =>
        (await emailsOf(order)).map(({ html: _, ...email }) => ({ ...email, order })),
      ),
    );
    return reply.send(emails.flat());
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

/** A subscription has one for its first payment, and one for each later period. */
function invoicesOf({ body }: Heard): string[] {
  const { subscription, period } = body as Heard['body'] & {
    readonly subscription?: { readonly firstInvoiceID?: string };
    readonly period?: { readonly invoiceID?: string };
  };
  return [subscription?.firstInvoiceID, period?.invoiceID].flatMap((id) => id ?? []);
}
