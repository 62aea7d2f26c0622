// Merchants' servers that accept webhook events, fail, or accept without a response. They keep what they accepted.
import type { OpenSender } from '../../../src/webhooks/delivery/http-sender.ts';
import type { Chance } from '../chance.ts';
import type { Delivery } from '../../checks/world.ts';
import type { Faults } from '../faults.ts';
import type { Scheduler } from '../scheduler.ts';

export type Receivers = {
  /** The sender of that node. */
  senderOf(node: string): OpenSender;
  readonly received: readonly Delivery[];
};

export function openReceivers(options: {
  scheduler: Scheduler;
  faults: Faults;
  chance: Chance;
  /** The ID of the webhook with that URL. */
  webhookAt: (url: string) => Promise<string>;
}): Receivers {
  const { scheduler, faults, chance, webhookAt } = options;
  const received: Delivery[] = [];
  return {
    received,
    senderOf:
      (node) =>
      ({ timeoutMs }) => ({
        post: ({ url, body, headers }) =>
          new Promise((resolve) => {
            const hangsUpAtMs = scheduler.nowMs() + timeoutMs;
            const timer = setTimeout(() => resolve({ kind: 'nothing', why: 'timeout' }), timeoutMs);
            const answer = (status: number): void => {
              clearTimeout(timer);
              resolve({ kind: 'status', status });
            };
            scheduler.wait({
              owner: node,
              what: `tells ${url.pathname} ${headers['webhook-id']}`,
              async run() {
                // The node has given up on this request.
                if (scheduler.nowMs() >= hangsUpAtMs) return;
                if (faults.happens('receiver fails')) return answer(chance.oneOf([500, 503, 302, 410]));
                const content = JSON.parse(body.toString()) as { eventID: number | string };
                const webhookID = await webhookAt(url.href);
                received.push({ webhookID, eventID: content.eventID, body: content });
                if (!faults.happens('receiver takes it and does not answer')) answer(200);
              },
            });
          }),
        stop: () => Promise.resolve(),
      }),
  };
}
