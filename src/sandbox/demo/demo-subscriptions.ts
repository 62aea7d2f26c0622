// The subscription of the demo shop, which creates it, shows it to the payer and ends it. The service charges it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DemoApi, Exchange } from './demo-api.ts';
import type { Hearing } from './demo-receiver.ts';

type Shop = { readonly shopId: string; readonly api: DemoApi; readonly buyers: Hearing };
type Upcoming = { readonly dueAt: string };

const subscriptions = '/v2/processing/subscriptions';
const terms = { every: 'P1M', timeZone: 'UTC', items: [{ product: 'Tea of the month', price: 49_900 }] };
const secondMs = 1_000;
const hourMs = 3_600 * secondMs;
const chargesOfYear = 12;
/** The card has expired. No retry helps, so the payer has to act. */
const declinedOnce = { kind: 'decline', code: '54' };

export function addDemoSubscriptions(app: FastifyInstance, shop: Shop): void {
  const { create, show, payerPage, acts } = openSubscriptions(shop);

  function answer(request: FastifyRequest, reply: FastifyReply, body: unknown): FastifyReply {
    request.operation = 'demo';
    return body === undefined ? reply.code(404).send({ message: 'Not found' }) : reply.send(body);
  }
  const isOurs = (id: string) => shop.buyers.knows(id);

  app.post('/demo/subscriptions', async (request, reply) => answer(request, reply, await create()));

  app.get<{ Params: { id: string } }>('/demo/subscriptions/:id', async (request, reply) => {
    const { id } = request.params;
    return answer(request, reply, isOurs(id) ? await show(id) : undefined);
  });

  app.get<{ Params: { id: string } }>('/demo/subscriptions/:id/page', async (request, reply) => {
    const { id } = request.params;
    const url = isOurs(id) ? await payerPage(id) : undefined;
    if (url === undefined) return answer(request, reply, undefined);
    request.operation = 'demo';
    return reply.header('Referrer-Policy', 'no-referrer').redirect(url);
  });

  app.post<{ Params: { id: string; act: string } }>(
    '/demo/subscriptions/:id/:act',
    async (request, reply) => {
      const { id, act } = request.params;
      const does = isOurs(id) && Object.hasOwn(acts, act) ? acts[act] : undefined;
      return answer(request, reply, await does?.(id));
    },
  );
}

function openSubscriptions({ shopId, api, buyers }: Shop) {
  const { ask } = api;
  return {
    acts: actsOf({ shopId, api }),
    /** Without a customer, it starts with a payment of the payer. */
    async create(): Promise<Exchange[]> {
      const created = await ask('POST', subscriptions, { shopID: shopId, ...terms });
      if (created.status !== 201) return [created];
      const { id, firstInvoiceID } = created.answer as { id: string; firstInvoiceID: string };
      buyers.attend(id);
      const tokens = `/v2/processing/invoices/${firstInvoiceID}/access-tokens?for=checkout`;
      return [created, await ask('POST', tokens)];
    },
    async show(id: string) {
      const [subscription, periods, upcoming, nowMs] = await Promise.all([
        ask('GET', `${subscriptions}/${id}`),
        ask('GET', `${subscriptions}/${id}/periods`),
        upcomingOf(api, id, 1),
        api.nowMs(),
      ]);
      const now = new Date(nowMs).toISOString();
      return { subscription: subscription.answer, periods: periods.answer, upcoming, now };
    },
    /** A link is a secret, so the payer is redirected to a new one each time. */
    async payerPage(id: string): Promise<string | undefined> {
      const { status, answer } = await ask('POST', `${subscriptions}/${id}/links`);
      return status === 201 ? (answer as { url: string }).url : undefined;
    },
  };
}

/** What the buttons of the page do. */
function actsOf({ shopId, api }: Pick<Shop, 'shopId' | 'api'>) {
  const { ask, moveClock } = api;

  /** To an hour after the last of the next charges, when the bank has replied. */
  async function pass(id: string, charges: number): Promise<Exchange[]> {
    const last = (await upcomingOf(api, id, charges)).at(-1);
    return [await (last ? moveClock(Date.parse(last.dueAt) + hourMs) : api.aMonthPasses())];
  }

  const acts: Readonly<Record<string, (id: string) => Promise<Exchange[]>>> = {
    month: (id) => pass(id, 1),
    year: (id) => pass(id, chargesOfYear),
    /** Ordered a second before the charge, so that it meets no other charge of the sandbox. */
    async decline(id) {
      const [next] = await upcomingOf(api, id, 1);
      if (!next) return [await api.aMonthPasses()];
      const dueMs = Date.parse(next.dueAt);
      return [
        await moveClock(dueMs - secondMs),
        await ask('POST', '/sandbox/faults', { ...declinedOnce, shopID: shopId }),
        await moveClock(dueMs + hourMs),
      ];
    },
    end: async (id) => [
      await ask('POST', `${subscriptions}/${id}/cancel`, { when: 'periodEnd', by: 'payer' }),
    ],
  };
  return acts;
}

async function upcomingOf({ ask }: DemoApi, id: string, count: number): Promise<Upcoming[]> {
  return (await ask('GET', `${subscriptions}/${id}/upcoming?count=${count}`)).answer as Upcoming[];
}
