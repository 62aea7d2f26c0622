// Deliveries of webhooks to a quick receiver in a process of its own: while the service charges, and beside nothing, when all of it
// is sent once more.
import { closedLoop, type Work } from '../harness/load.ts';
import type { Api } from './scenarios.ts';
import { openWebhookReceiver } from './webhook-receiver.ts';

export type WebhooksResult = {
  /** A second, while clients charged as fast as they could. */
  readonly beside: number;
  readonly charges: number;
  /** What was not sent by the end of that, and how long it took. */
  readonly leftBehind: number;
  readonly caughtUpMs: number;
  /** A second, with nothing beside. */
  readonly alone: number;
};

/** The events of a payment made and captured at once. */
const eventTypes = ['InvoiceCreated', 'PaymentStarted', 'PaymentProcessed', 'PaymentCaptured', 'InvoicePaid'];
const path = '/v2/processing/webhooks';

export async function measureWebhooks(
  api: Api,
  work: Work,
  load: { clients: number; ms: number },
): Promise<WebhooksResult> {
  const receiver = await openWebhookReceiver();
  try {
    const scope = { topic: 'InvoicesTopic', shopID: 'TEST', eventTypes };
    const { id } = await api.call('POST', path, { scope, url: receiver.url });
    const since = new Date().toISOString();

    const { rate, latenciesMs } = await closedLoop(work, load);
    const meanwhile = await receiver.received();
    const expected = latenciesMs.length * eventTypes.length;
    const charged = performance.now();
    await receiver.untilReceived(expected);
    const caughtUpMs = performance.now() - charged;

    const began = performance.now();
    await api.call('POST', `${path}/${id}/replay`, { since });
    await receiver.untilReceived(2 * expected);
    const alone = expected / ((performance.now() - began) / 1_000);
    await api.call('DELETE', `${path}/${id}`);
    return {
      beside: meanwhile / (load.ms / 1_000),
      charges: rate,
      leftBehind: expected - meanwhile,
      caughtUpMs,
      alone,
    };
  } finally {
    receiver.stop();
  }
}
