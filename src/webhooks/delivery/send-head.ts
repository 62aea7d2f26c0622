// Sends the first message of a claimed queue, and says how that went. No other node sends from the queue meanwhile.
import type { Clock } from '../../clock.ts';
import { defined } from '../../defined.ts';
import type { Ids } from '../../ids.ts';
import type { Logger } from '../../platform/log.ts';
import type { PostResponse, Sender } from './http-sender.ts';
import { ownFault, type Item, type Sent } from './queue-writes.ts';
import { queueFields } from './queues.store.ts';
import { postOf, type WebhookTarget } from './sign-message.ts';

export type SendDeps = {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly sender: Sender;
  readonly targetOf: (webhookId: string) => Promise<WebhookTarget | undefined>;
};

/** `leaseOver`: this node may have stood still, and another one may have the queue. */
export async function sendHead(
  { queue, messages: [message] }: Item,
  isLeased: () => boolean,
  { clock, ids, log, sender, targetOf }: SendDeps,
): Promise<Sent | 'webhookDeleted' | 'leaseOver'> {
  const attemptedAt = clock.now();
  const startedMs = performance.now();
  const send = async () => {
    const target = await targetOf(queue.webhookId);
    if (!target) return 'webhookDeleted';
    const post = await postOf(target, message, { now: attemptedAt, requestId: ids.next() });
    // From here the sender limits the time.
    return isLeased() ? sender.post(post) : 'leaseOver';
  };
  // An internal error counts as a failed attempt. Otherwise the queue would be retried endlessly, unseen.
  const response = await send().catch((error: unknown): PostResponse => {
    log.error({ err: error, ...queueFields(queue) }, 'webhook event could not be sent');
    return { kind: 'nothing', why: ownFault };
  });
  if (typeof response === 'string') return response;
  const attempt = {
    position: message.position,
    attempt: queue.failures + 1,
    eventType: message.eventType,
    attemptedAt,
    durationMs: Math.round(performance.now() - startedMs),
    ...(response.kind === 'status' ? { status: response.status } : {}),
    ...defined({ failure: failureOf(response) }),
  };
  return { attempt, ...('retryAfterMs' in response ? defined({ retryAfterMs: response.retryAfterMs }) : {}) };
}

/** Only a 2xx acknowledges; a redirect does not. */
export function failureOf(response: PostResponse): string | undefined {
  if (response.kind === 'nothing') return response.why;
  return response.status >= 200 && response.status < 300 ? undefined : `status ${response.status}`;
}
