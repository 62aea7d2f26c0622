// The server of the demo shop, as a merchant would write it: it calls the public API and receives webhook events.
// The API key never leaves it.
import { dayMs } from '../../clock.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { openDemoApi, type Exchange } from './demo-api.ts';
import { addDemoMailbox } from './demo-mailbox.ts';
import { Hearing, isGenuine, type WebhookKeys } from './demo-receiver.ts';
import { addDemoSubscriptions } from './demo-subscriptions.ts';

type Offer = {
  readonly product: string;
  readonly amount: number;
  readonly makeRecurrent?: true;
  readonly recurrentTerms?: object;
};

const offers: Readonly<Record<string, Offer>> = {
  once: { product: 'Coffee beans, 1 kg', amount: 149_000 },
  subscribe: {
    product: 'Coffee every month',
    amount: 99_000,
    makeRecurrent: true,
    recurrentTerms: { schedule: 'P1M', amountRule: { kind: 'fixed', amount: 99_000 } },
  },
  hold: { product: 'Espresso machine, made to order', amount: 4_590_000 },
};
/** The orders it charges for later, without the payer. */
const nextOrder: Offer = { product: 'Coffee beans, ordered again', amount: 149_000 };
const nextMonth: Offer = { product: 'Coffee for the next month', amount: 99_000 };
const payableForMs = dayMs;
/** How many of its orders, and of its customers, the shop remembers. */
const maxRemembered = 1_000;
const invoices = '/v2/processing/invoices';
const customers = '/v2/processing/customers';
const webhooks = '/v2/processing/webhooks';
/** The event types the shop registers for, by topic. */
const topics: Readonly<Record<string, readonly string[]>> = {
  InvoicesTopic: [
    'InvoiceCreated',
    'InvoicePaid',
    'InvoiceCancelled',
    'PaymentStarted',
    'PaymentProcessed',
    'PaymentCaptured',
    'PaymentCancelled',
    'PaymentFailed',
  ],
  CustomersTopic: [
    'CustomerCreated',
    'CustomerReady',
    'CustomerBindingStarted',
    'CustomerBindingSucceeded',
    'CustomerBindingFailed',
  ],
  RecurringTopic: ['ConsentWithdrawn', 'SeriesStopped'],
  SubscriptionsTopic: [
    'SubscriptionStarted',
    'SubscriptionChargeFailed',
    'SubscriptionPeriodPaid',
    'SubscriptionUnpaid',
    'SubscriptionPaused',
    'SubscriptionResumed',
    'SubscriptionEndScheduled',
    'SubscriptionEndTakenBack',
    'SubscriptionEnded',
  ],
};
const receiver = '/demo/notices';

type Webhook = WebhookKeys & { readonly id: string; readonly url: string; readonly scope: { topic: string } };

type Shop = {
  readonly apiKey: () => string | undefined;
  readonly shopId: string;
  /** The address at which the service reaches the shop. */
  readonly url: () => string;
  readonly nowMs: () => number;
};
type Api = ReturnType<typeof openDemoApi>;
/** What the shop hears of its own orders and customers. */
type Hearings = { readonly orders: Hearing; readonly savers: Hearing; readonly buyers: Hearing };

export function addDemoShop(app: FastifyInstance, shop: Shop): void {
  const orders = new Hearing(maxRemembered);
  const savers = new Hearing(maxRemembered);
  const buyers = new Hearing(maxRemembered);
  const hearings = { orders, savers, buyers };
  const api = openDemoApi(app, shop.apiKey);
  addReceiver(app, shop, openSubscribing(shop, api), hearings);
  const sales = openSales(shop, api, orders);
  addOrders(app, shop, { ...api, ...sales }, hearings);
  addLaterCharges(app, api, sales, hearings);
  addDemoSubscriptions(app, { shopId: shop.shopId, api, buyers });
  addDemoMailbox(app, { orders, buyers, ask: (path) => api.ask('GET', path) });
  addNotices(app, hearings);
}

type Subscribing = ReturnType<typeof openSubscribing>;

function openSubscribing(shop: Shop, { ask }: Api) {
  /** The keys that verify a topic's webhook events, once the webhook exists. */
  const keys = new Map<string, WebhookKeys>();
  let subscribing: Promise<Exchange[]> | undefined;

  /** Creates the missing webhooks and returns the requests. Webhooks of an earlier address are deleted. */
  const subscribe = () => (subscribing ??= askToBeTold().finally(() => (subscribing = undefined)));
  async function askToBeTold(): Promise<Exchange[]> {
    const wanted = Object.keys(topics).filter((topic) => !keys.has(topic));
    if (wanted.length === 0) return [];
    const asked: Exchange[] = [];
    const listed = await ask('GET', webhooks);
    if (listed.status !== 200) return [listed];
    const existing = listed.answer as Webhook[];
    for (const topic of wanted) {
      const url = `${shop.url()}${receiver}/${topic}`;
      const ours = existing.filter((one) => new URL(one.url).pathname === `${receiver}/${topic}`);
      for (const { id } of ours.filter((one) => one.url !== url)) await ask('DELETE', `${webhooks}/${id}`);
      const found = ours.find((one) => one.url === url);
      if (found) {
        keys.set(topic, found);
        continue;
      }
      const scope = { topic, shopID: shop.shopId, eventTypes: topics[topic] };
      const exchange = await ask('POST', webhooks, { scope, url });
      if (exchange.status === 201) keys.set(topic, exchange.answer as Webhook);
      // The shop verifies with the public keys and never shows the secret.
      asked.push({ ...exchange, answer: { ...(exchange.answer as object), signingSecret: 'whsec_…' } });
    }
    return asked;
  }
  return { keys, subscribe };
}

type Sales = ReturnType<typeof openSales>;

function openSales(shop: Shop, { ask, nowMs }: Api, orders: Hearing) {
  async function makeInvoice(offer: Offer, order: string): Promise<Exchange> {
    const exchange = await ask('POST', invoices, {
      shopID: shop.shopId,
      ...offer,
      currency: 'RUB',
      dueDate: new Date((await nowMs()) + payableForMs).toISOString(),
      metadata: { order },
    });
    if (exchange.status === 201) orders.attend(invoiceOf(exchange));
    return exchange;
  }

  /** Creates an invoice and charges it without the payer present. */
  async function charge(offer: Offer, payer: object): Promise<Exchange[]> {
    const made = await makeInvoice(offer, 'charge');
    if (made.status !== 201) return [made];
    const flow = { type: 'PaymentFlowInstant' };
    return [made, await ask('POST', `${invoices}/${invoiceOf(made)}/payments`, { flow, payer })];
  }
  return { makeInvoice, charge };
}

/** Orders that a payer pays, and customers who save a card. */
function addOrders(
  app: FastifyInstance,
  { shopId }: Shop,
  { ask, makeInvoice }: Api & Sales,
  { savers, orders }: Hearings,
): void {
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
      shopID: shopId,
      contactInfo: { email: 'payer@example.com' },
    });
    if (exchange.status === 201) savers.attend((exchange.answer as { customer: { id: string } }).customer.id);
    return reply.send(exchange);
  });

  app.post<{ Params: { id: string; payment: string; verb: string } }>(
    '/demo/orders/:id/payments/:payment/:verb',
    async (request, reply) => {
      const { id, payment, verb } = request.params;
      const isKnown = orders.knows(id) && isPaymentId(payment) && ['capture', 'cancel'].includes(verb);
      if (!isKnown) return notFound(request, reply);
      request.operation = 'demo';
      return reply.send(
        await ask('POST', `${invoices}/${id}/payments/${payment}/${verb}`, { reason: 'demo' }),
      );
    },
  );
}

function addReceiver(
  app: FastifyInstance,
  shop: Shop,
  { keys, subscribe }: Subscribing,
  { orders, savers, buyers }: Hearings,
): void {
  app.post('/demo/webhooks', async (request, reply) => {
    request.operation = 'demo';
    return reply.send(await subscribe());
  });

  app.post<{ Params: { topic: string } }>(`${receiver}/:topic`, async (request, reply) => {
    request.operation = 'demoReceiver';
    const { topic } = request.params;
    const delivered = { headers: request.headers, raw: request.body as Buffer };
    const isRight = () => {
      const known = keys.get(topic);
      return known !== undefined && isGenuine(delivered, known, Math.floor(shop.nowMs() / 1_000));
    };
    if (!isRight()) {
      // The keys may be from an earlier start, or rotated since, so read them again.
      keys.delete(topic);
      await subscribe();
      if (!isRight()) return reply.code(401).send({ message: 'Not signed by the service' });
    }
    for (const hearing of [orders, savers, buyers]) hearing.keep(`${receiver}/${topic}`, delivered);
    return reply.code(204).send();
  });
}

function addNotices(app: FastifyInstance, { orders, savers, buyers }: Hearings): void {
  for (const [name, hearing] of [
    ['orders', orders],
    ['customers', savers],
    ['subscriptions', buyers],
  ] as const) {
    app.get<{ Params: { id: string }; Querystring: { after?: string } }>(
      `/demo/${name}/:id/notices`,
      async (request, reply) => {
        const { id } = request.params;
        if (!hearing.knows(id)) return notFound(request, reply);
        request.operation = 'demo';
        const { after = '' } = request.query;
        return reply.send(hearing.after(id, /^\d{1,4}$/.test(after) ? Number(after) : 0));
      },
    );
  }
}

/** Charges without the payer present. */
function addLaterCharges(
  app: FastifyInstance,
  { aMonthPasses }: Api,
  { charge }: Sales,
  { orders, savers }: Hearings,
): void {
  app.post<{ Params: { id: string } }>('/demo/customers/:id/charges', async (request, reply) => {
    const { id } = request.params;
    if (!savers.knows(id)) return notFound(request, reply);
    request.operation = 'demo';
    return reply.send(await charge(nextOrder, { payerType: 'CustomerPayer', customerID: id }));
  });

  app.post<{ Params: { id: string; payment: string } }>(
    '/demo/orders/:id/payments/:payment/charges',
    async (request, reply) => {
      const { id, payment } = request.params;
      if (!orders.knows(id) || !isPaymentId(payment)) return notFound(request, reply);
      request.operation = 'demo';
      const payer = {
        payerType: 'RecurrentPayer',
        recurrentParentPayment: { invoiceID: id, paymentID: payment },
        contactInfo: {},
      };
      const passed = await aMonthPasses();
      if (passed.status !== 200) return reply.send([passed]);
      return reply.send([passed, ...(await charge(nextMonth, payer))]);
    },
  );
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
