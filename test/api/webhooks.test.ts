// Webhooks from the outside: subscribed over the API, delivered to a receiver over real HTTP.
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { epochMsOf } from '../../src/clock.ts';
import { invoicesUrl, makeInvoice } from '../support/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../support/payment-world.ts';
import { contentIsSigned, standardIsSigned, startReceiver, type Receiver } from '../support/receiver.ts';
import type { Merchant, TestService } from '../support/test-service.ts';

const url = '/v2/processing/webhooks';
const everyType = [
  ...['InvoiceCreated', 'InvoicePaid', 'InvoiceCancelled', 'InvoiceFulfilled', 'PaymentStarted'],
  ...['PaymentProcessed', 'PaymentCaptured', 'PaymentCancelled', 'PaymentRefunded', 'PaymentFailed'],
  ...['PaymentRefundCreated', 'PaymentRefundSucceeded', 'PaymentRefundFailed'],
];

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

/** A webhook that is gone when the test is over. */
async function subscribe(eventTypes = everyType, more: Record<string, unknown> = {}): Promise<any> {
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
  test('is told that an invoice was paid, signed in both ways', async () => {
    const webhook = await subscribe(['InvoicePaid']);
    const { id } = await world.paid('4242424242424242');
    await service.webhooks.settled();
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
});
void makeInvoice;
void invoicesUrl;
