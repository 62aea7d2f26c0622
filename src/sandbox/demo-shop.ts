// The server of a demo shop, as a merchant would write it: it asks the public API with the sandbox's key, and shows its page
// what it asked and what came back. The key itself never leaves here.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** One request of the shop's server and its answer, as they are shown. */
type Exchange = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly status: number;
  readonly answer: unknown;
};

type Offer = { readonly product: string; readonly amount: number };

const offers: Readonly<Record<string, Offer>> = {
  once: { product: 'Coffee beans, 1 kg', amount: 149_000 },
  subscribe: { product: 'Coffee every month', amount: 99_000 },
  hold: { product: 'Espresso machine, made to order', amount: 4_590_000 },
};
const payableForMs = 24 * 60 * 60_000;
/** Orders of which it remembers that they are its own. */
const ordersMost = 1_000;
const invoices = '/v2/processing/invoices';

export function addDemoShop(
  app: FastifyInstance,
  shop: { readonly apiKey: () => string | undefined; readonly shopId: string },
): void {
  const orders = new Set<string>();
  let requests = 0;

  async function ask(method: Exchange['method'], path: string, body?: object): Promise<Exchange> {
    const answer = await app.inject({
      method,
      url: path,
      headers: {
        authorization: `Bearer ${shop.apiKey() ?? ''}`,
        'x-request-id': `demo-${++requests}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    return {
      method,
      path,
      ...(body === undefined ? {} : { body }),
      status: answer.statusCode,
      answer: answer.body === '' ? undefined : answer.json<unknown>(),
    };
  }

  app.post<{ Params: { kind: string } }>('/demo/orders/:kind', async (request, reply) => {
    const offer = Object.hasOwn(offers, request.params.kind) ? offers[request.params.kind] : undefined;
    if (!offer) return notFound(request, reply);
    request.operation = 'demo';
    // The sandbox's time may have been moved.
    const { now } = (await ask('GET', '/sandbox/clock')).answer as { now: string };
    const exchange = await ask('POST', invoices, {
      shopID: shop.shopId,
      ...offer,
      currency: 'RUB',
      dueDate: new Date(Date.parse(now) + payableForMs).toISOString(),
      metadata: { order: request.params.kind },
    });
    if (exchange.status === 201) remember((exchange.answer as { invoice: { id: string } }).invoice.id);
    return reply.send(exchange);
  });

  app.get<{ Params: { id: string }; Querystring: { after?: string } }>(
    '/demo/orders/:id/events',
    async (request, reply) => {
      const { id } = request.params;
      if (!orders.has(id)) return notFound(request, reply);
      request.operation = 'demo';
      const after = /^\d{1,9}$/.test(String(request.query.after)) ? `&eventID=${request.query.after}` : '';
      return reply.send(await ask('GET', `${invoices}/${id}/events?limit=100${after}`));
    },
  );

  app.post<{ Params: { id: string; payment: string; verb: string } }>(
    '/demo/orders/:id/payments/:payment/:verb',
    async (request, reply) => {
      const { id, payment, verb } = request.params;
      const isKnown = orders.has(id) && /^\d{1,9}$/.test(payment) && ['capture', 'cancel'].includes(verb);
      if (!isKnown) return notFound(request, reply);
      request.operation = 'demo';
      return reply.send(
        await ask('POST', `${invoices}/${id}/payments/${payment}/${verb}`, { reason: 'demo' }),
      );
    },
  );

  function remember(id: string): void {
    orders.add(id);
    const [oldest] = orders;
    if (orders.size > ordersMost && oldest !== undefined) orders.delete(oldest);
  }
}

function notFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  request.operation = 'demo';
  return reply.code(404).send({ message: 'Not found' });
}
