// How the demo shop registers its webhooks: it keeps those of an earlier start that point to it, and replaces others.
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { addDemoShop } from './demo-shop.ts';

test('the demo shop keeps its webhooks and replaces those with an earlier address', async () => {
  const app = Fastify();
  const asked: string[] = [];
  const webhookOf = (id: string, topic: string, origin: string) => ({
    id,
    url: `${origin}/demo/notices/${topic}`,
    scope: { topic },
  });
  app.addHook(
    'onRequest',
    async ({ method, url }) => void (url.startsWith('/v2') && asked.push(`${method} ${url}`)),
  );
  app.get('/v2/processing/webhooks', () => [
    webhookOf('W1', 'InvoicesTopic', 'http://here.test'),
    webhookOf('W2', 'CustomersTopic', 'http://before.test'),
    webhookOf('W5', 'RecurringTopic', 'http://here.test'),
    webhookOf('W6', 'SubscriptionsTopic', 'http://here.test'),
    { id: 'W3', url: 'https://elsewhere.test/webhooks', scope: { topic: 'CustomersTopic' } },
  ]);
  app.delete('/v2/processing/webhooks/:id', (_, reply) => reply.code(204).send());
  app.post('/v2/processing/webhooks', (_, reply) =>
    reply.code(201).send({ id: 'W4', signingSecret: 'whsec_secret' }),
  );
  addDemoShop(app, { apiKey: () => 'key', shopId: 'TEST', url: () => 'http://here.test', nowMs: () => 0 });

  const [made, ...more] = (await app.inject({ method: 'POST', url: '/demo/webhooks' })).json();
  expect(more).toEqual([]);
  expect(made.body).toMatchObject({
    scope: { topic: 'CustomersTopic' },
    url: 'http://here.test/demo/notices/CustomersTopic',
  });
  expect(made.answer).toEqual({ id: 'W4', signingSecret: 'whsec_…' });
  expect(asked).toEqual([
    'GET /v2/processing/webhooks',
    'DELETE /v2/processing/webhooks/W2',
    'POST /v2/processing/webhooks',
  ]);
  expect((await app.inject({ method: 'POST', url: '/demo/webhooks' })).json()).toEqual([]);
  expect(asked).toHaveLength(3);
  await app.close();
});
