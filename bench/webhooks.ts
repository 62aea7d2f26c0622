// Deliveries of webhooks to a quick receiver in a process of its own: while the service charges, and beside nothing, when all of it
// is sent once more.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { closedLoop, type Work } from './load.ts';
import type { Api } from './scenarios.ts';

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

const pollMs = 20;
/** What is told of a payment made and captured at once. */
const eventTypes = ['InvoiceCreated', 'PaymentStarted', 'PaymentProcessed', 'PaymentCaptured', 'InvoicePaid'];
const path = '/v2/processing/webhooks';

export async function measureWebhooks(
  api: Api,
  work: Work,
  load: { clients: number; ms: number },
): Promise<WebhooksResult> {
  const receiver = fork(fileURLToPath(new URL('../test/support/receiver-child.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const received = async (): Promise<number> => {
    receiver.send('received');
    const [answer] = (await once(receiver, 'message')) as [{ received: number }];
    return answer.received;
  };
  const untilReceived = async (wanted: number) => {
    const sinceMs = performance.now();
    while ((await received()) < wanted) await sleep(pollMs);
    return performance.now() - sinceMs;
  };
  try {
    const [line] = (await once(receiver.stdout ?? receiver, 'data')) as [Buffer];
    const { port } = JSON.parse(line.toString()) as { port: number };
    const scope = { topic: 'InvoicesTopic', shopID: 'TEST', eventTypes };
    const { id } = await api.call('POST', path, { scope, url: `http://127.0.0.1:${port}/notices` });
    const since = new Date().toISOString();

    const { rate, latenciesMs } = await closedLoop(work, load);
    const meanwhile = await received();
    const expected = latenciesMs.length * eventTypes.length;
    const caughtUpMs = await untilReceived(expected);

    const began = performance.now();
    await api.call('POST', `${path}/${id}/replay`, { since });
    await untilReceived(2 * expected);
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
    receiver.kill();
  }
}
