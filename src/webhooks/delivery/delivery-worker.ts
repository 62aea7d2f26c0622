// Delivers webhook events: a node claims queues for a lease, sends the head of each and stores the result.
// Only then does it send the next event, so delivery is in order within a queue and parallel between queues.
import { laterBy, type Clock, type Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Ids } from '../../ids.ts';
import type { Logger } from '../../platform/log.ts';
import type { Topic } from '../../platform/events/domain/topic.ts';
import { openDeliverySlots } from './delivery-slots.ts';
import { openOutcomeWriter } from './outcome-writer.ts';
import { afterAcknowledged, afterFailure, deliverable, type Failure } from '../domain/queue-rules.ts';
import { messagesFor, type Message, type Selection } from '../feed/messages.store.ts';
import { claim, write, type Attempt, type ClaimedQueue, type QueueWrite } from './queues.store.ts';
import { postOf, type WebhookTarget } from './sign-message.ts';
import type { PostResponse, Sender } from './http-sender.ts';
import { defined } from '../../defined.ts';

export type DeliveryWorker = {
  /** Claims due queues now instead of at the next poll. */
  wake(): void;
  whenIdle(): Promise<void>;
  /** Unclaims the queues that are not being delivered. */
  stop(): Promise<void>;
};

type Item = {
  queue: ClaimedQueue;
  readonly messages: Message[];
  /** No other node claims the queue before this time of `performance.now()`. */
  leaseUntilMs: number;
};

/** The failure shown to the merchant; the service's log has the cause. */
const ownFault = 'internal error';

/** Long enough for a slow receiver, after waiting for a slot. */
function leaseMsFor(timeoutMs: number): number {
  return 3 * timeoutMs;
}

export function openDeliveryWorker(options: {
  db: Database;
  clock: Clock;
  ids: Ids;
  log: Logger;
  topics: readonly Topic[];
  sender: Sender;
  delaysSeconds: readonly number[];
  timeoutMs: number;
  targetOf: (webhookId: string) => Promise<WebhookTarget | undefined>;
  countDelivery: (outcome: 'delivered' | 'failed' | 'parked') => void;
}): DeliveryWorker {
  const { db, clock, log, topics, sender, targetOf, delaysSeconds } = options;
  const leaseMs = leaseMsFor(options.timeoutMs);
  /** The part of the lease for the work around the exchange and for clock differences. */
  const spareMs = leaseMs / 6;
  const isLeasedFor = (item: Item, ms: number): boolean => item.leaseUntilMs - performance.now() >= ms;
  const slots = openDeliverySlots<Item>();
  const record = openOutcomeWriter((writes) => write(db, writes, clock.now()));
  const running = new Set<Promise<unknown>>();
  let stopping = false;
  let turn = 0;
  let demand = false;
  let claiming: Promise<void> | undefined;

  function wake(): void {
    demand = true;
    if (stopping) return;
    claiming ??= claimWhileDemanded().finally(() => {
      claiming = undefined;
      // A wake after the last claim starts another one.
      if (demand) wake();
    });
  }

  async function claimWhileDemanded(): Promise<void> {
    while (demand && !stopping) {
      demand = false;
      try {
        await claimDue();
      } catch (error) {
        log.warn({ err: error }, 'webhook queues could not be claimed');
      }
    }
  }

  async function claimDue(): Promise<void> {
    const bounds = slots.demand();
    if (bounds.limit === 0) return;
    const claimedAtMs = performance.now();
    turn = (turn + 1) % 1_000_000;
    const queues = await claim(db, clock.now(), { ...bounds, leaseMs, turn });
    if (queues.length === 0) return;
    const items = await itemsOf(queues, claimedAtMs + leaseMs);
    for (const item of items) slots.enqueue(item.queue.webhookId, item);
    pump();
    demand ||= queues.length === bounds.limit;
  }

  /** Loads the messages of each queue. Queues with nothing to send are written immediately. */
  async function itemsOf(claimed: readonly ClaimedQueue[], leaseUntilMs: number): Promise<Item[]> {
    const webhookIds = [...new Set(claimed.map(({ webhookId }) => webhookId))];
    const targets = new Map(
      await Promise.all(webhookIds.map(async (id) => [id, await loadTarget(id)] as const)),
    );
    const queues = claimed.flatMap((queue) => {
      const target = targets.get(queue.webhookId);
      // A webhook that cannot be loaded must not block the others.
      if (target === 'unloadable') recordInBackground(failed(queue, { what: ownFault }));
      // The purge deletes the queues of a deleted webhook.
      if (target === 'unloadable' || target === undefined) return [];
      return [{ queue, ...selectionOf(queue, target.webhook) }];
    });
    const lists = await messagesFor(db, topics, queues, clock.now(), (objectId, error) =>
      log.error({ err: error, objectId }, 'webhook events could not be built'),
    );
    return queues.flatMap(({ queue }, index) => {
      const messages = lists[index];
      if (!messages) {
        recordInBackground({
          queue,
          cursor: queue.cursor,
          outcome: 'unclaim',
          at: laterBy(clock.now(), leaseMs),
        });
        return [];
      }
      if (messages.length > 0) return [{ queue, messages: [...messages], leaseUntilMs }];
      recordInBackground({
        queue,
        cursor: afterAcknowledged(queue.cursor, queue.cursor.next - 1, undefined),
        outcome: 'idle',
      });
      return [];
    });
  }

  async function loadTarget(webhookId: string): Promise<WebhookTarget | 'unloadable' | undefined> {
    try {
      return await targetOf(webhookId);
    } catch (error) {
      log.error({ err: error, webhookId }, 'webhook could not be loaded');
      return 'unloadable';
    }
  }

  /** Sends claimed items while slots are free. */
  function pump(): void {
    while (!stopping) {
      const next = slots.next();
      if (!next) return;
      const { webhookId, item } = next;
      // The lease could end before the receiver responds, so another node may deliver it.
      if (!isLeasedFor(item, options.timeoutMs + spareMs)) {
        slots.free(webhookId, 'notSent');
        recordInBackground({
          queue: item.queue,
          cursor: item.queue.cursor,
          outcome: 'unclaim',
          at: clock.now(),
        });
        continue;
      }
      const sending = sendHead(webhookId, item).finally(() => running.delete(sending));
      running.add(sending);
    }
  }

  let waking: NodeJS.Immediate | undefined;
  /** Wakes once for all slots freed in the same turn of the event loop. */
  function wakeSoon(): void {
    waking ??= setImmediate(() => {
      waking = undefined;
      wake();
    });
  }

  /** Writes without waiting. If the write fails, the lease expires and the queue is claimed again. */
  function recordInBackground(entry: QueueWrite): void {
    const noting = record(entry).then(undefined, (error: unknown) =>
      log.warn({ err: error, ...queueFields(entry.queue) }, 'webhook queue update failed'),
    );
    running.add(noting);
    void noting.finally(() => running.delete(noting));
  }

  async function sendHead(webhookId: string, item: Item): Promise<void> {
    const sent = await exchange(item);
    const outcome = !sent ? 'notSent' : sent.attempt.failure === undefined ? 'delivered' : 'failed';
    // Another delivery may use the slot while the outcome is written.
    slots.free(webhookId, outcome);
    pump();
    if (slots.isRunningLow(webhookId)) wakeSoon();
    if (!sent) return;
    try {
      if (await recordOutcome(item, sent.response, sent.attempt)) slots.enqueue(webhookId, item);
    } catch (error) {
      log.warn({ err: error, ...queueFields(item.queue) }, 'webhook delivery result could not be stored');
    }
    pump();
    if (slots.isRunningLow(webhookId)) wakeSoon();
  }

  /** Undefined when the webhook was deleted, or another node may have claimed the queue. */
  async function exchange(item: Item): Promise<{ response: PostResponse; attempt: Attempt } | undefined> {
    const { queue, messages } = item;
    const [message] = messages;
    if (!message) return undefined;
    const attemptedAt = clock.now();
    const startedMs = performance.now();
    const response = await deliver(item, message, attemptedAt);
    if (!response) return undefined;
    const durationMs = Math.round(performance.now() - startedMs);
    return { response, attempt: attemptOf(queue, message, { response, attemptedAt, durationMs }) };
  }

  /** An internal error counts as a failed attempt. Otherwise the queue would be retried endlessly, unseen. */
  async function deliver(item: Item, message: Message, now: Instant): Promise<PostResponse | undefined> {
    const { webhookId } = item.queue;
    try {
      const target = await targetOf(webhookId);
      if (!target) return undefined;
      const post = await postOf(target, message, { now, requestId: options.ids.next() });
      // A node that was suspended may have lost the lease. From here the sender limits the time.
      if (isLeasedFor(item, options.timeoutMs + spareMs / 2)) return await sender.post(post);
      recordInBackground({
        queue: item.queue,
        cursor: item.queue.cursor,
        outcome: 'unclaim',
        at: clock.now(),
      });
      return undefined;
    } catch (error) {
      log.error({ err: error, ...queueFields(item.queue) }, 'webhook event could not be sent');
      return { kind: 'nothing', why: ownFault };
    }
  }

  /** Stores the result. True when the queue has more to send and is still claimed by this node. */
  async function recordOutcome(item: Item, response: PostResponse, attempt: Attempt): Promise<boolean> {
    const { queue } = item;
    if (attempt.failure === undefined) {
      const [sent, following] = item.messages;
      item.messages.shift();
      const cursor = afterAcknowledged(queue.cursor, sent?.position ?? 0, following?.position);
      options.countDelivery('delivered');
      if (!following) {
        await record({ queue, cursor, attempt, outcome: 'idle' });
        return false;
      }
      const leaseEnd = laterBy(clock.now(), leaseMs);
      const writtenAtMs = performance.now();
      const isOurs = await record({ queue, cursor, attempt, outcome: 'continue', leaseEnd });
      item.queue = { ...queue, cursor, failures: 0, leaseEnd };
      item.leaseUntilMs = writtenAtMs + leaseMs;
      return isOurs;
    }
    const { retryAfterMs } = 'retryAfterMs' in response ? response : {};
    const failure = { what: attempt.failure, ...defined({ retryAfterMs }) };
    await record(failed(queue, failure, attempt));
    return false;
  }

  function failed(queue: ClaimedQueue, failure: Failure, attempt?: Attempt): QueueWrite {
    const at = { now: clock.now(), chance: Math.random(), delaysSeconds };
    const next = afterFailure(failure, queue.failures + 1, at);
    const entry = { queue, cursor: queue.cursor, failure: failure.what, ...(attempt ? { attempt } : {}) };
    if ('retry' in next) {
      options.countDelivery('failed');
      return { ...entry, outcome: 'retry', at: next.retry };
    }
    options.countDelivery('parked');
    log.warn(
      { ...queueFields(queue), attempts: queue.failures + 1, lastFailure: failure.what },
      'webhook queue parked',
    );
    return { ...entry, outcome: 'park', why: next.parked };
  }

  return {
    wake,
    async whenIdle() {
      while (claiming || waking || running.size > 0) {
        await Promise.all([claiming, ...running]);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    async stop() {
      stopping = true;
      await Promise.allSettled([claiming, ...running]);
      for (const { queue } of slots.drain())
        recordInBackground({ queue, cursor: queue.cursor, outcome: 'unclaim', at: clock.now() });
      await Promise.allSettled(running);
    },
  };
}

function queueFields({ webhookId, aggregateId }: ClaimedQueue) {
  return { webhookId, objectId: aggregateId };
}

/** Selects the webhook's event types between the cursor and the end of the queue. */
function selectionOf(
  { aggregateId, cursor }: ClaimedQueue,
  { topic, eventTypes }: WebhookTarget['webhook'],
): Selection {
  return {
    aggregateId,
    topic,
    select: (webhookEvents) =>
      deliverable(
        cursor,
        webhookEvents.filter(({ registeredType }) => eventTypes.includes(registeredType)),
      ),
  };
}

function attemptOf(
  queue: ClaimedQueue,
  message: Message,
  {
    response,
    attemptedAt,
    durationMs,
  }: { response: PostResponse; attemptedAt: Attempt['attemptedAt']; durationMs: number },
): Attempt {
  const failure = failureOf(response);
  return {
    position: message.position,
    attempt: queue.failures + 1,
    eventType: message.eventType,
    attemptedAt,
    durationMs,
    ...(response.kind === 'status' ? { status: response.status } : {}),
    ...defined({ failure }),
  };
}

/** Only a 2xx acknowledges; a redirect does not. */
export function failureOf(response: PostResponse): string | undefined {
  if (response.kind === 'nothing') return response.why;
  return response.status >= 200 && response.status < 300 ? undefined : `status ${response.status}`;
}
