// The mailbox of the demo shop's payers: the emails about its orders and subscriptions, from the sandbox's outbox.
// A browser must name them, so that it reads only its own emails.
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Hearing, Heard } from './demo-receiver.ts';

type PayerEmail = {
  readonly id: string;
  readonly html?: string;
};

/** The number of orders and subscriptions a browser remembers. */
const maxOrders = 20;
/** Of a subscription, the emails about so many of its newest invoices are read: each is a request. */
const maxInvoices = 24;
/** Isolates an email like a mail program: own origin, no scripts, nothing loaded, links in a new tab. */
const emailPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'self'; " +
  'sandbox allow-popups allow-popups-to-escape-sandbox';

type Shop = {
  readonly orders: Hearing;
  readonly buyers: Hearing;
  /** Sends a request of the shop's server to the API. */
  readonly ask: (path: string) => Promise<{ readonly status: number; readonly answer: unknown }>;
};

export function addDemoMailbox(app: FastifyInstance, shop: Shop): void {
  app.get<{ Querystring: { orders?: string | string[] } }>('/demo/letters', async (request, reply) => {
    request.operation = 'demo';
    const orders = String(request.query.orders ?? '').split(',', maxOrders);
    const all: (Omit<PayerEmail, 'html'> & { readonly order: string })[] = [];
    for (const order of new Set(orders)) {
      const emails = await emailsOf(shop, order);
      if (!emails) return unread(reply);
      all.push(...emails.map(({ html: _, ...email }) => ({ ...email, order })));
    }
    return reply.send(all);
  });

  app.get<{ Params: { order: string; email: string } }>(
    '/demo/letters/:order/:email',
    async (request, reply) => {
      request.operation = 'demo';
      const { order, email } = request.params;
      const emails = await emailsOf(shop, order);
      if (!emails) return unread(reply);
      const found = emails.find(({ id }) => id === email);
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

/** Undefined if the outbox cannot be read now. */
async function outbox({ ask }: Shop, about: readonly string[]): Promise<readonly PayerEmail[] | undefined> {
  const emails = new Map<string, PayerEmail>();
  for (const id of about) {
    const { status, answer } = await ask(`/sandbox/outbox?invoiceID=${id}`);
    if (status !== 200) return undefined;
    for (const email of answer as PayerEmail[]) emails.set(email.id, email);
  }
  return [...emails.values()];
}

async function emailsOf(shop: Shop, id: string): Promise<readonly PayerEmail[] | undefined> {
  if (shop.orders.knows(id)) return outbox(shop, [id]);
  if (!shop.buyers.knows(id)) return [];
  // The outbox is that of all buyers, and those of a day are more than one answer has.
  const invoices = new Set(shop.buyers.after(id, 0).flatMap(invoicesOf));
  return outbox(shop, [id, ...[...invoices].slice(-maxInvoices)]);
}

const unread = (reply: FastifyReply) => reply.code(503).send({ message: 'The outbox cannot be read now' });

/** A subscription has one for its first payment, and one for each later period. */
function invoicesOf({ body }: Heard): string[] {
  const { subscription, period } = body as Heard['body'] & {
    readonly subscription?: { readonly firstInvoiceID?: string };
    readonly period?: { readonly invoiceID?: string };
  };
  return [subscription?.firstInvoiceID, period?.invoiceID].flatMap((id) => id ?? []);
}
