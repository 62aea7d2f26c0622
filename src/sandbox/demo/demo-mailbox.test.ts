// Which emails of the sandbox's outbox a browser reads in the mailbox of the demo shop.
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { addDemoMailbox } from './demo-mailbox.ts';
import { Hearing } from './demo-receiver.ts';

test('the mailbox has the emails about a subscription and the receipts of its months, and no other', async () => {
  const app = Fastify();
  const buyers = new Hearing(10);
  buyers.attend('S1');
  for (const [eventType, invoiceID] of [
    ['SubscriptionStarted', undefined],
    ['SubscriptionPeriodPaid', 'I2'],
  ] as const) {
    const subscription = { id: 'S1', firstInvoiceID: 'I1' };
    const raw = Buffer.from(JSON.stringify({ eventType, subscription, period: { invoiceID } }));
    buyers.keep('/webhooks', { headers: { 'webhook-id': eventType }, raw });
  }
  const emails = [
    { id: 'e0', subscriptionID: 'S2' },
    { id: 'e1', subscriptionID: 'S1', html: '<p>started</p>' },
    { id: 'e2', invoiceID: 'I1' },
    { id: 'e3', invoiceID: 'I2' },
    { id: 'e4', subscriptionID: 'S2' },
    { id: 'e5', subscriptionID: 'S2', invoiceID: 'I3' },
    { id: 'e6' },
  ];
  addDemoMailbox(app, {
    orders: new Hearing(10),
    buyers,
    ask: async (path) => {
      const of = new URLSearchParams(path.split('?')[1]).get('invoiceID');
      const answer = emails.filter((email) => email.subscriptionID === of || email.invoiceID === of);
      return { status: 200, answer: of === null ? emails.slice(0, 1) : answer };
    },
  });

  const { body } = await app.inject('/demo/letters?orders=S1,S2');
  expect(JSON.parse(body)).toEqual([
    { id: 'e1', subscriptionID: 'S1', order: 'S1' },
    { id: 'e2', invoiceID: 'I1', order: 'S1' },
    { id: 'e3', invoiceID: 'I2', order: 'S1' },
  ]);
  expect((await app.inject('/demo/letters/S1/e1')).body).toContain('started');
  expect((await app.inject('/demo/letters/S1/e4')).statusCode).toBe(404);
  expect((await app.inject('/demo/letters/S2/e4')).statusCode).toBe(404);
});

test('the mailbox asks for one object after the other, and of a subscription for its newest 24 invoices', async () => {
  const app = Fastify();
  const buyers = new Hearing(10);
  buyers.attend('S1');
  for (let month = 1; month <= 37; month++) {
    const subscription = { id: 'S1', firstInvoiceID: 'I0' };
    const body = { eventType: 'SubscriptionPeriodPaid', subscription, period: { invoiceID: `I${month}` } };
    const raw = Buffer.from(JSON.stringify(body));
    buyers.keep('/webhooks', { headers: { 'webhook-id': String(month) }, raw });
  }
  const asked: string[] = [];
  let atOnce = 0;
  addDemoMailbox(app, {
    orders: new Hearing(10),
    buyers,
    ask: async (path) => {
      asked.push(path);
      expect(++atOnce).toBe(1);
      await Promise.resolve();
      atOnce--;
      return { status: 200, answer: [] };
    },
  });
  expect((await app.inject('/demo/letters?orders=S1,S2')).json()).toEqual([]);
  const newest = Array.from({ length: 24 }, (_, n) => `I${14 + n}`);
  expect(asked).toEqual(['S1', ...newest].map((id) => `/sandbox/outbox?invoiceID=${id}`));
});

test('an outbox that cannot be read is not an empty one', async () => {
  const app = Fastify();
  const orders = new Hearing(10);
  orders.attend('I1');
  const ask = async () => ({ status: 429, answer: { code: 'tooManyRequests' } });
  addDemoMailbox(app, { orders, buyers: new Hearing(10), ask });
  expect((await app.inject('/demo/letters?orders=I1')).statusCode).toBe(503);
  expect((await app.inject('/demo/letters/I1/e1')).statusCode).toBe(503);
});
