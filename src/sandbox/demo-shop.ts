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
/** What it charges for later, without the payer. */
const nextOrder: Offer = { product: 'Coffee beans, ordered again', amount: 149_000 };
const nextMonth: Offer = { product: 'Coffee for the next month', amount: 99_000 };
const payableForMs = 24 * 60 * 60_000;
/** Orders, and customers, of which it remembers that they are its own. */
const rememberedMost = 1_000;
const invoices = '/v2/processing/invoices';
const customers = '/v2/processing/customers';

export function addDemoShop(
  app: FastifyInstance,
  shop: { readonly apiKey: () => string | undefined; readonly shopId: string },
): void {
  const orders = new Set<string>();
  const savers = new Set<string>();
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

  async function makeInvoice(offer: Offer, order: string): Promise<Exchange> {
    // The sandbox's time may have been moved.
    const { now } = (await ask('GET', '/sandbox/clock')).answer as { now: string };
    const exchange = await ask('POST', invoices, {
      shopID: shop.shopId,
      ...offer,
      currency: 'RUB',
      dueDate: new Date(Date.parse(now) + payableForMs).toISOString(),
      metadata: { order },
    });
    if (exchange.status === 201) remember(orders, invoiceOf(exchange));
    return exchange;
  }

  /** A payment for which nobody has to be there: all that it takes. */
  async function charge(offer: Offer, payer: object): Promise<Exchange[]> {
    const made = await makeInvoice(offer, 'charge');
    if (made.status !== 201) return [made];
    const flow = { type: 'PaymentFlowInstant' };
    return [made, await ask('POST', `${invoices}/${invoiceOf(made)}/payments`, { flow, payer })];
  }

  app.post<{ Params: { kind: string } }>('/demo/orders/:kind', async (request, reply) => {
    const { kind } = request.params;
    const offer = Object.hasOwn(offers, kind) ? offers[kind] : undefined;
    if (!offer) return notFound(request, reply);
    request.operation = 'demo';
    return reply.send(await makeInvoice(offer, kind));
  });

  app.post('/demo/customers', async (request, reply) => {
    request.operation = 'demo';
    const exchange = await ask('POST', customers, {
      shopID: shop.shopId,
      contactInfo: { email: 'payer@example.com' },
    });
    if (exchange.status === 201)
      remember(savers, (exchange.answer as { customer: { id: string } }).customer.id);
    return reply.send(exchange);
  });

  for (const [name, known, path] of [
    ['orders', orders, invoices],
    ['customers', savers, customers],
  ] as const) {
    app.get<{ Params: { id: string }; Querystring: { after?: string } }>(
      `/demo/${name}/:id/events`,
      async (request, reply) => {
        const { id } = request.params;
        if (!known.has(id)) return notFound(request, reply);
        request.operation = 'demo';
        const after = /^\d{1,9}$/.test(String(request.query.after)) ? `&eventID=${request.query.after}` : '';
        return reply.send(await ask('GET', `${path}/${id}/events?limit=100${after}`));
      },
    );
  }

  app.post<{ Params: { id: string } }>('/demo/customers/:id/charges', async (request, reply) => {
    const { id } = request.params;
    if (!savers.has(id)) return notFound(request, reply);
    request.operation = 'demo';
    return reply.send(await charge(nextOrder, { payerType: 'CustomerPayer', customerID: id }));
  });

  app.post<{ Params: { id: string; payment: string } }>(
    '/demo/orders/:id/payments/:payment/charges',
    async (request, reply) => {
      const { id, payment } = request.params;
      if (!orders.has(id) || !isPaymentId(payment)) return notFound(request, reply);
      request.operation = 'demo';
      const payer = {
        payerType: 'RecurrentPayer',
        recurrentParentPayment: { invoiceID: id, paymentID: payment },
        contactInfo: {},
      };
      return reply.send(await charge(nextMonth, payer));
    },
  );

  app.post<{ Params: { id: string; payment: string; verb: string } }>(
    '/demo/orders/:id/payments/:payment/:verb',
    async (request, reply) => {
      const { id, payment, verb } = request.params;
      const isKnown = orders.has(id) && isPaymentId(payment) && ['capture', 'cancel'].includes(verb);
      if (!isKnown) return notFound(request, reply);
      request.operation = 'demo';
      return reply.send(
        await ask('POST', `${invoices}/${id}/payments/${payment}/${verb}`, { reason: 'demo' }),
      );
    },
  );
}

function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > rememberedMost && oldest !== undefined) ids.delete(oldest);
}

function invoiceOf({ answer }: Exchange): string {
  return (answer as { invoice: { id: string } }).invoice.id;
}

function isPaymentId(text: string): boolean {
  return /^\d{1,9}$/.test(text);
}

function notFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  request.operation = 'demo';
  return reply.code(404).send({ message: 'Not found' });
}
