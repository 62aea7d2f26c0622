// Sends what waits in the queues. A node takes queues for the length of a lease, sends the head of each, writes down what
// became of it, and only then sends what comes after it: in order within a queue, side by side between queues. Each webhook
// has a few slots of its own, so that a slow receiver holds up only itself.
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
  /** Looks for what is due, now instead of at the next turn. */
  wake(): void;
  whenIdle(): Promise<void>;
  /** Gives back what it has in hand. */
  stop(): Promise<void>;
};

type Item = {
  queue: ClaimedQueue;
  readonly messages: Message[];
  /** Until when nobody else takes the queue, on the clock of `performance.now()`. */
  leaseUntilMs: number;
};

/** What an owner reads when the fault is ours; why is in the service's log. */
const ownFault = 'an error on our side';

/** Long enough for a receiver that takes its time, and for what waits in hand before it. */
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
  /** Of a lease, for what is done before and after the exchange, and for clocks that differ. */
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
      // Whoever asked in the moment between the last look and now is heard too.
      if (demand) wake();
    });
  }

  async function claimWhileDemanded(): Promise<void> {
    while (demand && !stopping) {
      demand = false;
      try {
        await claimDue();
      } catch (error) {
        log.warn({ err: error }, 'webhooks could not be looked for; the next turn tries again');
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

  /** The queues with what is to be sent of each. Those with nothing to send are written on at once. */
  async function itemsOf(claimed: readonly ClaimedQueue[], leaseUntilMs: number): Promise<Item[]> {
    const webhookIds = [...new Set(claimed.map(({ webhookId }) => webhookId))];
    const targets = new Map(
      await Promise.all(webhookIds.map(async (id) => [id, await loadTarget(id)] as const)),
    );
    const queues = claimed.flatMap((queue) => {
      const target = targets.get(queue.webhookId);
      // A webhook that cannot be loaded holds up nobody who was claimed with it.
      if (target === 'unloadable') recordInBackground(failed(queue, { what: ownFault }));
      // The queues of a webhook that is gone are swept away.
      if (target === 'unloadable' || target === undefined) return [];
      return [{ queue, ...selectionOf(queue, target.webhook) }];
    });
    const lists = await messagesFor(db, topics, queues, clock.now(), (aggregateId, error) =>
      log.error({ err: error, aggregateId }, 'the log of an aggregate cannot be told; it is tried again'),
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
      log.error({ err: error, webhookId }, 'a webhook could not be loaded; its queues are tried again');
      return 'unloadable';
    }
  }

  /** Sends from what was claimed as long as there are slots. */
  function pump(): void {
    while (!stopping) {
      const next = slots.next();
      if (!next) return;
      const { webhookId, item } = next;
      // What has waited too long in hand may be another node's by the time the receiver answers.
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
  /** Once for all that becomes free in the same moment. */
  function wakeSoon(): void {
    waking ??= setImmediate(() => {
      waking = undefined;
      wake();
    });
  }

  /** Writes what nobody waits for; if that fails, the lease runs out and the queue is taken again. */
  function recordInBackground(entry: QueueWrite): void {
    const noting = record(entry).then(undefined, (error: unknown) =>
      log.warn({ err: error, webhookId: entry.queue.webhookId }, 'a queue was not written on'),
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
      log.warn({ err: error, webhookId }, 'a delivery was not written down; it is made again');
    }
    pump();
    if (slots.isRunningLow(webhookId)) wakeSoon();
  }

  /** Undefined when the webhook was deleted meanwhile, or the queue may be another node's by now. */
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

  /** An error of ours counts as a failed attempt: else the same queue would be taken again and again, and nobody would see it. */
  async function deliver(item: Item, message: Message, now: Instant): Promise<PostResponse | undefined> {
    const { webhookId } = item.queue;
    try {
      const target = await targetOf(webhookId);
      if (!target) return undefined;
      const post = await postOf(target, message, { now, requestId: options.ids.next() });
      // Whoever stood still until now may have lost what he was about to send. How long it may take from here on, the sender sees to.
      if (isLeasedFor(item, options.timeoutMs + spareMs / 2)) return await sender.post(post);
      recordInBackground({
        queue: item.queue,
        cursor: item.queue.cursor,
        outcome: 'unclaim',
        at: clock.now(),
      });
      return undefined;
    } catch (error) {
      log.error({ err: error, webhookId }, 'a notice could not be sent; it is tried again');
      return { kind: 'nothing', why: ownFault };
    }
  }

  /** Writes down what came of the head. Whether there is more to send of this queue, and it is still ours. */
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
    log.warn({ webhookId: queue.webhookId, aggregateId: queue.aggregateId }, 'a webhook’s queue is parked');
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

/** Of an aggregate's notices those the webhook wants, as far as the queue has come and reaches. */
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

/** Any 2xx acknowledges; a redirect does not, nor anything else. */
export function failureOf(response: PostResponse): string | undefined {
  if (response.kind === 'nothing') return response.why;
  return response.status >= 200 && response.status < 300 ? undefined : `status ${response.status}`;
}
