// Webhooks end to end: registered through the API, delivered to a receiver over HTTP.
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { epochMsOf } from '../../src/clock.ts';
import { invoicesTopic } from '../../src/payments/webhook-events.ts';
import { purgeWebhooks } from '../../src/webhooks/inspection/inspection.store.ts';
import { maxWaiting } from '../../src/webhooks/registration/key-pair-pool.ts';
import { invoicesUrl, makeInvoice } from '../support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../support/worlds/payment-world.ts';
import {
  contentIsSigned,
  standardIsSigned,
  startReceiver,
  type Receiver,
} from '../support/receivers/receiver.ts';
import { startNode } from '../support/service/nodes.ts';
import { quickKeyPairs } from '../support/service/quick-key-pairs.ts';
import { copyWebhook } from '../support/receivers/webhooks.ts';
import {
  startTestService,
  type Answer,
  type Merchant,
  type TestService,
} from '../support/service/test-service.ts';

const url = '/v2/processing/webhooks';
const everyType = invoicesTopic.eventTypes;

let world: PaymentWorld;
let service: TestService;
let merchant: Merchant;
let receiver: Receiver;

beforeAll(async () => {
  world = await startPaymentWorld();
  ({ service, merchant } = world);
  receiver = await startReceiver();
});
afterAll(async () => {
  await world.close();
  await receiver.stop();
});
beforeEach(() => {
  receiver.deliveries.length = 0;
  receiver.behave(() => 200);
});

/** Creates a webhook that is deleted after the test. */
async function subscribe(
  eventTypes: readonly string[] = everyType,
  more: Record<string, unknown> = {},
): Promise<any> {
  const body = { scope: { topic: 'InvoicesTopic', shopID: 'TEST', eventTypes }, url: receiver.url, ...more };
  const made = await service.call('POST', url, { token: merchant.apiKey, body });
  expect({ status: made.status, body: made.body }).toMatchObject({ status: 201 });
  onTestFinished(async () => {
    await service.call('DELETE', `${url}/${made.body.id}`, { token: merchant.apiKey });
  });
  return made.body;
}

const nowSeconds = () => Math.floor(epochMsOf(service.clock.now()) / 1_000);

describe('a webhook', () => {
  test('receives that an invoice was paid, with both signatures', async () => {
    const webhook = await subscribe(['InvoicePaid']);
    const { id } = await world.paid('4242424242424242');
    await service.webhooks.whenIdle();
    expect(receiver.deliveries).toHaveLength(1);
    const [delivery] = receiver.deliveries;
    expect(delivery!.body).toMatchObject({
      topic: 'InvoicesTopic',
      eventType: 'InvoicePaid',
      invoice: { id, status: 'paid', shopID: 'TEST' },
    });
    expect(contentIsSigned(delivery!, webhook.publicKey)).toBe(true);
    expect(standardIsSigned(delivery!, webhook.signingSecret, nowSeconds())).toBe(true);
    expect(standardIsSigned(delivery!, webhook.signingPublicKey, nowSeconds())).toBe(true);
  });

  test('receives all events of an invoice in order, each with the state at that time', async () => {
    await subscribe();
    const { id } = await world.paid('4242424242424242');
    await service.webhooks.whenIdle();
    expect(receiver.deliveries.map(({ body }) => storyOf(body))).toEqual([
      'InvoiceCreated unpaid',
      'PaymentStarted unpaid pending',
      'PaymentProcessed unpaid processed',
      'PaymentCaptured unpaid captured',
      'InvoicePaid paid',
    ]);
    const numbers = receiver.deliveries.map(({ body }) => body.eventID);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(new Set(numbers).size).toBe(5);
    expect(numbers.every(Number.isSafeInteger)).toBe(true);
    const ids = receiver.deliveries.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(5);
    for (const each of ids) expect(each).toMatch(/^evt_[A-Za-z0-9]{24}$/);
    expect(receiver.deliveries.every(({ body }) => body.invoice.id === id)).toBe(true);
  });

  test('receives payments with the documented members and never a token', async () => {
    await subscribe(['PaymentFailed', 'PaymentCaptured']);
    const failed = await world.paid('4000000000000002');
    const paid = await world.paid('4242424242424242', { metadata: { order: 'A-17' } });
    await service.webhooks.whenIdle();
    const told = (id: string) => receiver.deliveries.find(({ body }) => body.invoice.id === id)!.body;
    const contact = { email: 'payer@example.com' };
    const payer = (bin: string, lastDigits: string) => ({
      payerType: 'PaymentResourcePayer',
      paymentToolDetails: {
        detailsType: 'PaymentToolDetailsBankCard',
        bin,
        lastDigits,
        cardNumberMask: `${bin}******${lastDigits}`,
        paymentSystem: 'visa',
      },
      clientInfo: { ip: '127.0.0.1', fingerprint: expect.any(String) },
      contactInfo: contact,
    });
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    const invoice = (id: string) => ({
      id,
      shopID: 'TEST',
      createdAt: time,
      status: 'unpaid',
      dueDate: time,
      amount: 6000,
      currency: 'RUB',
      metadata: {},
      product: 'Order 1',
    });
    const payment = { id: '1', createdAt: time, amount: 6000, currency: 'RUB', metadata: {}, fee: 0 };
    const flat = { contactInfo: contact, ip: '127.0.0.1', fingerprint: expect.any(String) };
    const code = 'authorization_failed';
    expect(told(failed.id)).toEqual({
      eventID: expect.any(Number),
      occuredAt: time,
      topic: 'InvoicesTopic',
      eventType: 'PaymentFailed',
      invoice: invoice(failed.id),
      payment: {
        ...payment,
        ...flat,
        status: 'failed',
        error: {
          code,
          message: code,
          subError: { code: expect.any(String) },
          declineClass: 'funds',
          bank: { code: '51', text: 'Insufficient funds' },
        },
        payer: payer('400000', '0002'),
      },
    });
    expect(told(paid.id)).toEqual({
      eventID: expect.any(Number),
      occuredAt: time,
      topic: 'InvoicesTopic',
      eventType: 'PaymentCaptured',
      invoice: invoice(paid.id),
      payment: {
        ...payment,
        ...flat,
        status: 'captured',
        rrn: expect.any(String),
        metadata: { order: 'A-17' },
        payer: payer('424242', '4242'),
      },
    });
  });

  test('receives only events of its shop and its event types, from its creation on', async () => {
    const { id: before } = await makeInvoice(service, merchant);
    await subscribe(['InvoiceCreated', 'InvoiceCancelled']);
    await makeInvoice(service, merchant, { shopID: 'TEST_USD', currency: 'USD' });
    await makeInvoice(service, await world.createMerchant());
    const { id } = await makeInvoice(service, merchant);
    await rescind(before);
    await service.webhooks.whenIdle();
    expect(receiver.deliveries.map(({ body }) => [body.eventType, body.invoice.id]).sort()).toEqual([
      ['InvoiceCancelled', before],
      ['InvoiceCreated', id],
    ]);
  });

  test('gets the same bytes as any other webhook, with its own signature', async () => {
    const [one, two] = [await subscribe(['InvoiceCreated']), await subscribe(['InvoiceCreated'])];
    await makeInvoice(service, merchant);
    await service.webhooks.whenIdle();
    expect(receiver.deliveries).toHaveLength(2);
    const [first, second] = receiver.deliveries;
    expect(first!.raw.equals(second!.raw)).toBe(true);
    expect(first!.headers['webhook-id']).toBe(second!.headers['webhook-id']);
    const verified = receiver.deliveries.map((delivery) =>
      [one, two].map(({ publicKey }) => contentIsSigned(delivery, publicKey)),
    );
    expect(verified.map(String).sort()).toEqual(['false,true', 'true,false']);
  });

  test('receives nothing after it is deleted, and its waiting events are dropped', async () => {
    const webhook = await subscribe(['InvoiceCreated']);
    receiver.behave(() => 500);
    const { id } = await makeInvoice(service, merchant);
    await service.webhooks.whenIdle();
    const answer = await service.call('DELETE', `${url}/${webhook.id}`, { token: merchant.apiKey });
    expect(answer.status).toBe(204);
    service.clock.advance(3_600_000);
    await rescind(id);
    await service.webhooks.whenIdle();
    expect(receiver.deliveries).toHaveLength(1);
    await purgeWebhooks(service.database, service.clock.now());
    const { rows } = await service.database.withClient((client) =>
      client.query('select from webhook_queue where webhook_id = $1', [webhook.id]),
    );
    expect(rows).toHaveLength(0);
  });
});

describe('a delivery that fails', () => {
  test('is retried with the same ID and bytes after at least 30 s, and delays the events after it', async () => {
    await subscribe(['InvoiceCreated', 'InvoiceCancelled']);
    receiver.behave(({ body }) => (body.eventType === 'InvoiceCreated' ? 503 : 200));
    const { id } = await makeInvoice(service, merchant);
    await rescind(id);
    await service.webhooks.whenIdle();
    service.clock.advance(29_999);
    await service.webhooks.whenIdle();
    expect(receiver.deliveries).toHaveLength(1);
    receiver.behave(() => 204);
    service.clock.advance(6_001); // the jitter is a fifth at most
    await service.webhooks.whenIdle();
    expect(receiver.deliveries.map(({ body }) => body.eventType)).toEqual([
      'InvoiceCreated',
      'InvoiceCreated',
      'InvoiceCancelled',
    ]);
    const [first, again] = receiver.deliveries;
    expect(again!.raw.equals(first!.raw)).toBe(true);
    expect(again!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
    expect(again!.headers['content-signature']).toBe(first!.headers['content-signature']);
    expect(Number(again!.headers['webhook-timestamp'])).toBeGreaterThan(
      Number(first!.headers['webhook-timestamp']),
    );
  });

  test('does not delay other invoices', async () => {
    await subscribe(['InvoiceCreated']);
    const { id } = await makeInvoice(service, merchant);
    receiver.behave(({ body }) => (body.invoice.id === id ? 500 : 200));
    const { id: other } = await makeInvoice(service, merchant);
    await service.webhooks.whenIdle();
    expect(receiver.deliveries.map(({ body }) => body.invoice.id).sort()).toEqual([id, other].sort());
  });

  test('29 times parks the queue, which keeps its events and is resumed by the merchant', async () => {
    const webhook = await subscribe(['InvoiceCreated', 'InvoiceCancelled']);
    receiver.behave(() => 500);
    const { id } = await makeInvoice(service, merchant);
    for (let attempt = 1; attempt <= 40; attempt++) {
      await service.webhooks.whenIdle();
      service.clock.advance(1.2 * 3_600_000);
    }
    expect(receiver.deliveries).toHaveLength(29);
    await rescind(id);
    await service.webhooks.whenIdle();
    expect(receiver.deliveries).toHaveLength(29);
    const queues = await get(`${webhook.id}/queues?limit=10&state=parked`);
    expect(queues).toMatchObject([
      { objectID: id, state: 'parked', failures: 29, lastFailure: 'status 500' },
    ]);
    const attempts = await get(`${webhook.id}/attempts?limit=2&objectID=${id}`);
    expect(attempts).toMatchObject([
      { attempt: 29, delivered: false, status: 500, failure: 'status 500', eventType: 'InvoiceCreated' },
      { attempt: 28 },
    ]);
    const [delivery] = receiver.deliveries;
    expect(attempts[0]).toMatchObject({
      webhookMessageID: delivery?.headers['webhook-id'],
      eventID: delivery?.body.eventID,
    });
    const next = await get(`${webhook.id}/attempts?limit=1&after=${attempts[0].id}`);
    expect(next).toEqual([attempts[1]]);
    const { status } = await service.call('GET', `${url}/${webhook.id}/attempts?limit=1&after=mine`, {
      token: merchant.apiKey,
    });
    expect(status).toBe(400);

    receiver.behave(() => 200);
    const resumed = await post(`${webhook.id}/resume`, {});
    expect(resumed.body).toEqual({ queues: 1 });
    await service.webhooks.whenIdle();
    expect(receiver.deliveries.slice(29).map(({ body }) => body.eventType)).toEqual([
      'InvoiceCreated',
      'InvoiceCancelled',
    ]);
    expect(await get(`${webhook.id}/queues?limit=10`)).toMatchObject([
      { objectID: id, state: 'done', failures: 0 },
    ]);
  });

  test.each([
    [
      'a redirect',
      (_: unknown, response: any) => void response.writeHead(302, { location: receiver.url }).end(),
      'status 302',
    ],
    ['410', () => 410, 'status 410'],
    ['a closed connection', (_: unknown, response: any) => void response.destroy(), 'UND_ERR_SOCKET'],
  ])('may fail because of %s', async (_, behaviour, failure) => {
    const webhook = await subscribe(['InvoiceCreated']);
    receiver.behave(behaviour);
    await makeInvoice(service, merchant);
    await service.webhooks.whenIdle();
    expect(receiver.deliveries).toHaveLength(1);
    expect(await get(`${webhook.id}/attempts?limit=5`)).toMatchObject([{ delivered: false, failure }]);
  });

  test('is delayed by Retry-After by up to 1 h, and never made earlier', async () => {
    await subscribe(['InvoiceCreated']);
    receiver.behave((_, response) => void response.writeHead(503, { 'retry-after': '600' }).end());
    await makeInvoice(service, merchant);
    await service.webhooks.whenIdle();
    service.clock.advance(599_000);
    await service.webhooks.whenIdle();
    expect(receiver.deliveries).toHaveLength(1);
    service.clock.advance(2_000);
    await service.webhooks.whenIdle();
    expect(receiver.deliveries).toHaveLength(2);
  });
});

describe('a replay', () => {
  test('sends the events of a period again, in order, with the same IDs and bytes, and then the queue continues', async () => {
    const webhook = await subscribe(['InvoiceCreated', 'InvoiceCancelled']);
    const { id: early } = await makeInvoice(service, merchant);
    service.clock.advance(60_000);
    const since = service.clock.now();
    const { id } = await makeInvoice(service, merchant);
    await rescind(early);
    service.clock.advance(60_000);
    const until = service.clock.now();
    await rescind(id);
    await service.webhooks.whenIdle();
    const first = receiver.deliveries.splice(0);
    expect(first).toHaveLength(4);

    const replayed = await post(`${webhook.id}/replay`, { since, until });
    expect(replayed.body).toEqual({ queues: 2 });
    await service.webhooks.whenIdle();
    const again = receiver.deliveries.splice(0);
    expect(again.map(({ body }) => [body.eventType, body.invoice.id]).sort()).toEqual([
      ['InvoiceCancelled', early],
      ['InvoiceCreated', id],
    ]);
    for (const delivery of again) {
      const original = first.find(({ headers }) => headers['webhook-id'] === delivery.headers['webhook-id']);
      expect(delivery.raw.equals(original!.raw)).toBe(true);
    }
    const { id: next } = await makeInvoice(service, merchant);
    await service.webhooks.whenIdle();
    expect(receiver.deliveries.map(({ body }) => body.invoice.id)).toEqual([next]);
  });

  test('starts from a webhook event', async () => {
    const webhook = await subscribe(['InvoiceCreated']);
    await makeInvoice(service, merchant);
    service.clock.advance(1_000);
    const { id } = await makeInvoice(service, merchant);
    await service.webhooks.whenIdle();
    const [last] = receiver.deliveries.splice(0).filter(({ body }) => body.invoice.id === id);
    service.clock.advance(1_000);
    const replayed = await post(`${webhook.id}/replay`, { fromEventID: last!.body.eventID });
    expect(replayed.body).toEqual({ queues: 1 });
    await service.webhooks.whenIdle();
    expect(receiver.deliveries.map(({ body }) => body.invoice.id)).toEqual([id]);
    const unknown = await post(`${webhook.id}/replay`, { fromEventID: 5 });
    expect(unknown).toMatchObject({ status: 400, body: { code: 'webhookEventNotFound' } });
  });

  test('includes matching events from before the webhook, and no others', async () => {
    const since = service.clock.now();
    const { id } = await makeInvoice(service, merchant);
    service.clock.advance(1_000);
    const until = service.clock.now();
    await rescind(id);
    const webhook = await subscribe(['InvoiceCreated', 'InvoiceCancelled']);
    await post(`${webhook.id}/replay`, { since, until });
    await service.webhooks.whenIdle();
    expect(receiver.deliveries.map(({ body }) => body.eventType)).toEqual(['InvoiceCreated']);
  });
});

describe('a key rotation', () => {
  test('never breaks a receiver that follows the documentation', async () => {
    const webhook = await subscribe(['InvoiceCreated']);
    const secrets = [webhook.signingSecret as string];
    const verify = async () => {
      await makeInvoice(service, merchant);
      await service.webhooks.whenIdle();
      const [delivery] = receiver.deliveries.splice(0);
      // The documented way: use the old and new keys from the API.
      const shown = await get(webhook.id);
      const publicKeys = [shown.publicKey, shown.nextPublicKey].filter(Boolean);
      expect(publicKeys.some((key) => contentIsSigned(delivery!, key))).toBe(true);
      expect(secrets.every((secret) => standardIsSigned(delivery!, secret, nowSeconds()))).toBe(true);
      return { delivery: delivery!, shown };
    };
    const before = await verify();
    const rotated = await post(`${webhook.id}/rotate-keys`, { afterHours: 24 });
    expect(rotated).toMatchObject({ status: 200, body: { publicKey: before.shown.publicKey } });
    secrets.push(rotated.body.signingSecret);

    service.clock.advance(23 * 3_600_000);
    const during = await verify();
    expect(during.shown.publicKey).toBe(before.shown.publicKey);
    expect(during.shown.nextPublicKey).toBe(rotated.body.nextPublicKey);
    expect(contentIsSigned(during.delivery, before.shown.publicKey)).toBe(true);

    service.clock.advance(1 * 3_600_000);
    const after = await verify();
    expect(after.shown.publicKey).toBe(rotated.body.nextPublicKey);
    expect(contentIsSigned(after.delivery, before.shown.publicKey)).toBe(false);
    expect(after.shown.previousPublicKey).toBe(before.shown.publicKey);
    expect(after.shown.previousSigningPublicKey).toBe(before.shown.signingPublicKey);
    const tooSoon = await post(`${webhook.id}/rotate-keys`, { afterHours: 0 });
    expect(tooSoon.body.code).toBe('webhookRotationInProgress');

    service.clock.advance(24 * 3_600_000);
    secrets.shift();
    const { delivery } = await verify();
    expect(standardIsSigned(delivery, webhook.signingSecret, nowSeconds())).toBe(false);
    expect((await post(`${webhook.id}/rotate-keys`, { afterHours: 0 })).status).toBe(200);
  });

  test('without a delay lets no node sign with an unpublished key', async () => {
    const webhook = await subscribe(['InvoiceCreated']);
    const other = await startNode(service);
    // The other node caches the previous keys for a second.
    await other.webhooks.targetOf(webhook.id);
    expect((await post(`${webhook.id}/rotate-keys`, { afterHours: 0 })).status).toBe(200);
    await makeInvoice(service, merchant);
    await other.webhooks.whenIdle();
    await other.stop();
    const shown = await get(webhook.id);
    const publicKeys = [shown.publicKey, shown.nextPublicKey, shown.previousPublicKey].filter(Boolean);
    expect(receiver.deliveries).toHaveLength(1);
    expect(publicKeys.some((key) => contentIsSigned(receiver.deliveries[0]!, key))).toBe(true);
    service.clock.advance(5 * 60_000);
    expect((await get(webhook.id)).previousPublicKey).toBe(webhook.publicKey);
  });

  test('leaves no private key in clear text in the database', async () => {
    const webhook = await subscribe(['InvoiceCreated']);
    const { rows } = await service.database.withClient((client) =>
      client.query('select ciphertext, public_key from webhook_key where webhook_id = $1', [webhook.id]),
    );
    const secret = Buffer.from(webhook.signingSecret.slice(6), 'base64');
    for (const { ciphertext } of rows) {
      expect(ciphertext.includes(secret)).toBe(false);
      expect(ciphertext.includes(Buffer.from('"rsa"'))).toBe(false);
    }
  });
});

describe('webhooks of shops', () => {
  test('show the shared secret once, and everything else again', async () => {
    const { signingSecret, ...shown } = await subscribe(['InvoicePaid', 'InvoicePaid']);
    expect(signingSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(shown).toEqual({
      id: expect.stringMatching(/^\d{22}$/),
      partyID: merchant.partyId,
      active: true,
      scope: { topic: 'InvoicesTopic', shopID: 'TEST', eventTypes: ['InvoicePaid'] },
      url: receiver.url,
      publicKey: expect.stringMatching(/^-----BEGIN PUBLIC KEY-----\n(.{64}\n)+/),
      signingPublicKey: expect.stringMatching(/^whpk_[A-Za-z0-9+/]{43}=$/),
    });
    expect(await get(shown.id)).toEqual(shown);
    const listed = await service.call('GET', url, { token: merchant.apiKey });
    expect(listed.body).toEqual([shown]);
  });

  test.each([
    [{ scope: { topic: 'InvoicesTopic', shopID: 'NOWHERE', eventTypes: ['InvoicePaid'] } }, 'invalidShopID'],
    [{ scope: { topic: 'InvoicesTopic', shopID: 'TEST', eventTypes: ['CustomerReady'] } }, 'invalidRequest'],
    [{ scope: { topic: 'InvoicesTopic', shopID: 'TEST', eventTypes: [] } }, 'invalidRequest'],
    [{ scope: { topic: 'InvoicesTopic', shopID: 'TEST', eventTypes: ['RefundCreated'] } }, 'invalidRequest'],
    [{ partyID: 'another' }, 'invalidPartyID'],
    [{ url: 'ftp://shop.example/' }, 'invalidRequest'],
    [{ url: 'https://user:secret@shop.example/' }, 'invalidRequest'],
    [{ url: '/relative' }, 'invalidRequest'],
  ])('are refused with %j', async (more, code) => {
    const body = {
      scope: { topic: 'InvoicesTopic', shopID: 'TEST', eventTypes: ['InvoicePaid'] },
      url: receiver.url,
      ...more,
    };
    const made = await service.call('POST', url, { token: merchant.apiKey, body });
    expect(made).toMatchObject({ status: 400, body: { code } });
  });

  test('are limited to 10 per shop, even with parallel requests', { timeout: 120_000 }, async () => {
    const { partyId, apiKey: token } = await world.createMerchant();
    const scope = { topic: 'InvoicesTopic', shopID: 'TEST', eventTypes: ['InvoicePaid'] };
    const body = { scope, url: receiver.url };
    const { id } = await subscribe(['InvoicePaid']);
    await copyWebhook(service, id, { partyId, shopId: 'TEST' }, 9);
    const made = await Promise.all(
      Array.from({ length: 3 }, () => service.call('POST', url, { token, body })),
    );
    expect(made.map(({ status }) => status).sort()).toEqual([201, 429, 429]);
    expect(made.find(({ status }) => status === 429)!.body).toEqual({ message: 'Webhook limit exceeded' });
    const other = { ...body, scope: { ...body.scope, shopID: 'TEST_USD' } };
    expect((await service.call('POST', url, { token, body: other })).status).toBe(201);
  });

  test('use no database connection while keys are created, even with an Idempotency-Key', async () => {
    const { apiKey: token } = await world.createMerchant();
    let mayBegin = () => {};
    const beginning = new Promise<void>((resolve) => (mayBegin = resolve));
    const node = await startNode(service, { makeKeyPairs: () => beginning.then(quickKeyPairs) });
    onTestFinished(() => node.stop());
    const statuses: number[] = [];
    const create = async (number: number) => {
      const [shopID = ''] = ['TEST', 'TEST_USD', 'TEST_EUR'].slice(number % 3);
      const answer = await node.call('POST', url, {
        token,
        body: { scope: { topic: 'InvoicesTopic', shopID, eventTypes: ['InvoicePaid'] }, url: receiver.url },
        headers: { 'idempotency-key': `webhook-${number}` },
      });
      statuses.push(answer.status);
      return answer;
    };
    const asked = Array.from({ length: maxWaiting + 4 }, (_, number) => create(number));
    // All requests have arrived, and the last ones are refused as busy.
    await expect.poll(() => statuses, { timeout: 30_000 }).toEqual([429, 429, 429, 429]);
    expect((await node.call('GET', url, { token })).status).toBe(200);
    expect(statuses).toHaveLength(4);
    mayBegin();
    const answers = await Promise.all(asked);
    const busy = answers.flatMap(({ status }, number) => (status === 201 ? [] : [number]));
    expect(busy).toHaveLength(4);
    for (const number of busy) {
      expect(answers[number]).toMatchObject({ status: 429, headers: { 'retry-after': '5' } });
      expect((await create(number)).status).toBe(201);
    }
    expect((await node.call('GET', url, { token })).body).toHaveLength(asked.length);
  });

  test('can be tested, and the response has the result', async () => {
    const webhook = await subscribe(['InvoicePaid']);
    const good = await post(`${webhook.id}/test`);
    expect(good.body).toMatchObject({ delivered: true, status: 200 });
    expect(receiver.deliveries[0]!.body).toMatchObject({ topic: 'InvoicesTopic', eventType: 'WebhookTest' });
    expect(contentIsSigned(receiver.deliveries[0]!, webhook.publicKey)).toBe(true);
    receiver.behave(() => 404);
    expect((await post(`${webhook.id}/test`)).body).toMatchObject({ delivered: false, status: 404 });
  });

  test('have different IDs for two tests at the same time', async () => {
    const webhook = await subscribe(['InvoicePaid']);
    await Promise.all(Array.from({ length: 8 }, () => post(`${webhook.id}/test`)));
    const numbers = receiver.deliveries.map(({ body }) => (body as { eventID: number }).eventID);
    expect(new Set(numbers).size).toBe(8);
    expect(numbers.every(Number.isSafeInteger)).toBe(true);
  });
});

describe('webhooks of identities', () => {
  const walletUrl = '/wallet/v0/webhooks';
  let one: string;
  let other: string;
  let wallet: string;
  const wanted = () => ({
    identityID: one,
    scope: {
      topic: 'WithdrawalsTopic',
      walletID: wallet,
      eventTypes: ['WithdrawalFailed', 'WithdrawalStarted'],
    },
  });
  beforeAll(async () => {
    const make = async (path: string, body: object) => {
      const made = await service.call('POST', `/wallet/v0/${path}`, { token: merchant.apiKey, body });
      if (made.status !== 201) throw new Error(`${path}: ${made.status} ${made.text}`);
      return made.body.id as string;
    };
    const person = { name: 'Keyn Fawkes', provider: 'test', class: 'person' };
    [one, other] = [await make('identities', person), await make('identities', person)];
    wallet = await make('wallets', { name: 'Payouts', identity: one, currency: 'RUB' });
  });
  const ask = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown) =>
    service.call(method, `${walletUrl}${path}`, {
      token: merchant.apiKey,
      ...(body === undefined ? {} : { body }),
    });

  test('are created, listed, read and deleted under their identity, apart from those of shops', async () => {
    const made = await ask('POST', '', { ...wanted(), url: receiver.url });
    expect(made.status).toBe(201);
    const { signingSecret, ...shown } = made.body;
    expect(signingSecret).toMatch(/^whsec_/);
    expect(shown).toMatchObject({ ...wanted(), active: true, url: receiver.url });
    expect((await ask('GET', `?identityID=${one}`)).body).toEqual([shown]);
    expect((await ask('GET', `?identityID=${other}`)).body).toEqual([]);
    expect((await ask('GET', `/${shown.id}?identityID=${one}`)).body).toEqual(shown);
    expect((await ask('GET', `/${shown.id}?identityID=${other}`)).status).toBe(404);
    expect((await ask('GET', `/${shown.id}`)).status).toBe(400);
    const asOfShop = await service.call('GET', `${url}/${shown.id}`, { token: merchant.apiKey });
    expect(asOfShop.status).toBe(404);
    expect((await ask('DELETE', `/${shown.id}?identityID=${other}`)).status).toBe(404);
    expect((await ask('DELETE', `/${shown.id}?identityID=${one}`)).status).toBe(204);
    expect((await ask('DELETE', `/${shown.id}?identityID=${one}`)).status).toBe(404);
  });

  test('are refused for an unknown identity or the wallet of another identity', async () => {
    const unknown = await ask('POST', '', { ...wanted(), identityID: 'unknown', url: receiver.url });
    expect(unknown).toMatchObject({ status: 422, body: { code: 'noSuchIdentity' } });
    const foreign = await ask('POST', '', { ...wanted(), identityID: other, url: receiver.url });
    expect(foreign).toMatchObject({ status: 422, body: { code: 'noSuchWallet' } });
  });

  test.each([
    [{ scope: { topic: 'InvoicesTopic', eventTypes: ['InvoicePaid'] } }],
    [{ scope: { topic: 'DestinationsTopic', eventTypes: ['WithdrawalFailed'] } }],
    [{ scope: { topic: 'DestinationsTopic', walletID: 'any', eventTypes: ['DestinationCreated'] } }],
    [{ url: 'ftp://shop.example/' }],
  ])('are refused with %j', async (more) => {
    const made = await ask('POST', '', { ...wanted(), url: receiver.url, ...more });
    expect(made).toMatchObject({ status: 400, body: { errorType: 'SchemaViolated' } });
  });

  test('can be tested with an event of their topic, and replayed only by time', async () => {
    const { body: webhook } = await ask('POST', '', { ...wanted(), url: receiver.url });
    expect((await post(`${webhook.id}/test`)).body).toMatchObject({ delivered: true });
    expect(receiver.deliveries[0]!.body).toMatchObject({
      eventID: expect.stringMatching(/^\d+$/),
      topic: 'WithdrawalTopic',
      eventType: 'WebhookTest',
    });
    const byNumber = await post(`${webhook.id}/replay`, { fromEventID: 1 });
    expect(byNumber).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('Give since') },
    });
    const bySince = await post(`${webhook.id}/replay`, { since: '2020-01-01T00:00:00Z' });
    expect(bySince.body).toEqual({ queues: 0 });
    await ask('DELETE', `/${webhook.id}?identityID=${one}`);
  });

  test('receive the payouts of their wallet', async () => {
    const { body: webhook } = await ask('POST', '', { ...wanted(), url: receiver.url });
    const terms = {
      partyId: merchant.partyId,
      walletPartyId: merchant.partyId,
      identityId: one,
      destinationId: 'd',
      createdAt: service.clock.now(),
      amountMinor: 5,
      currency: 'RUB',
      feeMinor: 1,
    };
    await service.database.withClient(async (client) => {
      for (const walletId of [wallet, 'another']) {
        const id = `payout-${walletId}`;
        const facts = [
          { type: 'withdrawal_started', terms: { ...terms, id, walletId } },
          { type: 'withdrawal_failed', failure: ['authorization_failed'] },
        ];
        for (const [index, fact] of facts.entries()) {
          await client.query(
            `insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
             values ($1, $2, 'withdrawal', $3, $4, $5)`,
            [id, index + 1, merchant.partyId, service.clock.now(), JSON.stringify([fact])],
          );
        }
      }
    });
    await service.webhooks.whenIdle();
    const occuredAt = expect.any(String);
    const body = { amount: 5, currency: 'RUB' };
    expect(receiver.deliveries.map((delivery) => delivery.body)).toEqual([
      {
        eventID: '1',
        occuredAt,
        topic: 'WithdrawalTopic',
        eventType: 'WithdrawalStarted',
        withdrawal: { id: `payout-${wallet}`, createdAt: terms.createdAt, wallet, destination: 'd', body },
      },
      {
        eventID: '2',
        occuredAt,
        topic: 'WithdrawalTopic',
        eventType: 'WithdrawalFailed',
        withdrawalID: `payout-${wallet}`,
        wallet,
        destination: 'd',
        body,
        fee: { amount: 1, currency: 'RUB' },
        failure: { code: 'authorization_failed' },
      },
    ]);
    await ask('DELETE', `/${webhook.id}?identityID=${one}`);
  });
});

test('metrics show the delivery lag and the number of parked queues', async () => {
  const metric = async (name: string) => {
    const { text } = await service.call('GET', '/metrics');
    return new RegExp(`^${name}(?:\\{.*\\})? (.*)$`, 'm').exec(text)?.[1];
  };
  const webhook = await subscribe(['InvoiceCreated']);
  expect(await metric('mandate_webhook_oldest_undelivered_seconds')).toBe('0');
  receiver.behave(() => 500);
  await makeInvoice(service, merchant);
  await service.webhooks.whenIdle();
  service.clock.advance(10_000);
  expect(await metric('mandate_webhook_oldest_undelivered_seconds')).toBe('10');
  expect(await metric('mandate_webhook_lag_seconds')).toBe('10');
  const { text } = await service.call('GET', '/metrics');
  expect(text).toContain(`mandate_webhook_lag_seconds{webhook="${webhook.id}"} 10`);
  expect(text).toMatch(/mandate_webhook_deliveries_total\{outcome="failed"\} \d+/);
  for (let attempt = 1; attempt <= 30; attempt++) {
    service.clock.advance(1.2 * 3_600_000);
    await service.webhooks.whenIdle();
  }
  expect(await metric('mandate_webhook_parked_queues')).toBe('1');
  expect(await metric('mandate_webhook_oldest_undelivered_seconds')).toBe('0');
});

test('a log from another PostgreSQL cluster makes nodes not ready, and the age of unread events grows', async () => {
  const metric = async (name: string) =>
    new RegExp(`^${name} (.*)$`, 'm').exec((await service.call('GET', '/metrics')).text)?.[1];
  const feed = (set: string) =>
    service.database.withClient((client) => client.query(`update webhook_feed set ${set}`));
  await subscribe(['InvoiceCreated']);
  await service.webhooks.whenIdle();
  expect(await metric('mandate_webhook_feed_age_seconds')).toBe('0');
  expect((await service.call('GET', '/health/ready')).status).toBe(200);
  await feed('mismatch_since = now()');
  onTestFinished(async () => void (await feed('mismatch_since = null')));
  await makeInvoice(service, merchant);
  service.clock.advance(10_000);
  await service.webhooks.whenIdle();
  expect(receiver.deliveries).toEqual([]);
  expect(await metric('mandate_webhook_feed_age_seconds')).toBe('10');
  expect(await metric('mandate_webhook_cluster_mismatch')).toBe('1');
  const ready = await service.call('GET', '/health/ready');
  expect(ready).toMatchObject({ status: 503, body: { notReady: [expect.stringContaining('webhooks')] } });
  await feed('mismatch_since = null');
  await service.webhooks.whenIdle();
  expect(receiver.deliveries).toHaveLength(1);
  expect(await metric('mandate_webhook_feed_age_seconds')).toBe('0');
});

test('live mode refuses internal addresses at registration and at connect time', async () => {
  const live = await startTestService({ WEBHOOK_ADDRESSES: 'outside' });
  onTestFinished(() => live.close());
  const { apiKey: token } = await live.createMerchant();
  const scope = { topic: 'InvoicesTopic', shopID: 'TEST', eventTypes: ['InvoicePaid'] };
  const refused = await live.call('POST', url, { token, body: { scope, url: 'https://127.0.0.1/' } });
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalidRequest' } });
  const made = await live.call('POST', url, { token, body: { scope, url: 'https://shop.example:8443/' } });
  expect(made.status).toBe(201);
  // As if the name had been different when the webhook was created.
  await live.database.withClient((client) =>
    client.query(`update webhook set url = 'https://localhost:8443/'`),
  );
  live.webhooks.forget(made.body.id);
  const tried = await live.call('POST', `${url}/${made.body.id}/test`, { token });
  expect(tried.body).toMatchObject({ delivered: false, failure: 'ADDRESS_REFUSED' });
});

function storyOf(body: any): string {
  return [body.eventType, body.invoice.status, body.payment?.status].filter(Boolean).join(' ');
}

async function rescind(id: string): Promise<void> {
  const body = { reason: 'x' };
  const { status } = await service.call('POST', `${invoicesUrl}/${id}/rescind`, {
    token: merchant.apiKey,
    body,
  });
  expect(status).toBe(204);
}

async function get(path: string): Promise<any> {
  const answer = await service.call('GET', `${url}/${path}`, { token: merchant.apiKey });
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 200 });
  return answer.body;
}

function post(path: string, body?: unknown): Promise<Answer> {
  return service.call('POST', `${url}/${path}`, {
    token: merchant.apiKey,
    ...(body === undefined ? {} : { body }),
  });
}
