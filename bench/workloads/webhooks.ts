// Webhook deliveries to a fast receiver in its own process: while the service charges, then replayed with no other work.
import { closedLoop, type Work } from '../harness/load.ts';
import type { Api } from './scenarios.ts';
import { openWebhookReceiver } from './webhook-receiver.ts';

export type WebhooksResult = {
  /** Deliveries per second while clients charged as fast as they could. */
  readonly duringCharges: number;
  readonly charges: number;
  /** Deliveries not sent when the charges ended, and the time they took. */
  readonly leftBehind: number;
  readonly caughtUpMs: number;
  /** Deliveries per second with no other work. */
  readonly alone: number;
};

/** The webhook events of a payment captured in one step. */
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
      duringCharges: meanwhile / (load.ms / 1_000),
      charges: rate,
      leftBehind: expected - meanwhile,
      caughtUpMs,
      alone,
    };
  } finally {
    receiver.stop();
  }
}
