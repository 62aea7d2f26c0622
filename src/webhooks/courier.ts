// Sends what waits in the queues. A node takes queues for the length of a lease, sends the head of each, writes down what
// became of it, and only then sends what comes after it: in order within a queue, side by side between queues. Each webhook
// has a few places of its own, so that a slow receiver holds up nobody but itself.
import { laterBy, type Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Ids } from '../ids.ts';
import type { Logger } from '../log.ts';
import type { Topic } from '../events/topic.ts';
import { afterAcknowledged, afterFailure, toSend, type Failure, type Place } from './delivery.ts';
import { messagesFor, type Message, type Selection } from './message.store.ts';
import { claim, write, type Attempt, type ClaimedQueue, type QueueWrite } from './queue.store.ts';
import { postTo, type Destination } from './post.ts';
import type { Answer, Sender } from './sending.ts';

export type Courier = {
  /** Looks for what is due, now instead of at the next turn. */
  wake(): void;
  /** When nothing is under way and nothing more is due. */
  settled(): Promise<void>;
  /** Gives back what it has in hand. */
  stop(): Promise<void>;
};

type Item = {
  queue: ClaimedQueue;
  /** What is still to be sent, in order. */
  readonly messages: Message[];
  /** Until when nobody else takes the queue, on the clock of `performance.now()`. */
  leaseUntilMs: number;
};

/** What this node has in hand of one webhook. */
type Hand = {
  readonly waiting: Item[];
  underWay: number;
  failuresInARow: number;
  /** How much it may take at once: as much as it has lately sent in a second. */
  recent: { second: number; sent: number };
};

const placesPerWebhook = 10;
/** For a receiver that has failed this often in a row, until it answers. */
const placesWhenFailing = 2;
const failuresInARowMost = 10;
const handLeast = 20;
const handMost = 400;
const claimedAtOnce = 400;
const underWayMost = 1_000;

/** Long enough for a receiver that takes its time, and for what waits in hand before it. */
export function leaseMsFor(timeoutMs: number): number {
  return 3 * timeoutMs;
}

export function openCourier(options: {
  db: Database;
  clock: Clock;
  ids: Ids;
  log: Logger;
  topics: readonly Topic[];
  sender: Sender;
  delaysSeconds: readonly number[];
  timeoutMs: number;
  destinationOf: (webhookId: string) => Promise<Destination | undefined>;
  countDelivery: (outcome: 'delivered' | 'failed' | 'parked') => void;
}): Courier {
  const { db, clock, log, topics, sender, destinationOf, delaysSeconds } = options;
  const leaseMs = leaseMsFor(options.timeoutMs);
  const hands = new Map<string, Hand>();
  const record = recorder((writes) => write(db, writes, clock.now()));
  const running = new Set<Promise<unknown>>();
  let underWay = 0;
  let stopping = false;
  let wanted = false;
  let claiming: Promise<void> | undefined;

  function wake(): void {
    wanted = true;
    if (stopping) return;
    claiming ??= claimWhileWanted().finally(() => (claiming = undefined));
  }

  async function claimWhileWanted(): Promise<void> {
    while (wanted && !stopping) {
      wanted = false;
      try {
        await takeWhatIsDue();
      } catch (error) {
        log.warn({ err: error }, 'webhooks could not be looked for; the next turn tries again');
      }
    }
  }

  async function takeWhatIsDue(): Promise<void> {
    const held = [...hands].map(([webhook_id, hand]) => ({ webhook_id, free: freeIn(hand) }));
    const most = Math.min(claimedAtOnce, underWayMost - underWay);
    if (most <= 0) return;
    const takenAtMs = performance.now();
    const bounds = { leaseMs, mostEach: handLeast, most, held };
    const queues = await claim(db, clock.now(), bounds);
    if (queues.length === 0) return;
    const items = await itemsOf(queues, takenAtMs + leaseMs);
    for (const item of items) handOf(item.queue.webhookId).waiting.push(item);
    for (const webhookId of new Set(items.map(({ queue }) => queue.webhookId))) pump(webhookId);
    wanted ||= queues.length === most;
  }

  /** The queues with what is to be sent of each. Those with nothing to send are written on at once. */
  async function itemsOf(queues: readonly ClaimedQueue[], leaseUntilMs: number): Promise<Item[]> {
    const destinations = new Map<string, Destination | undefined>();
    for (const webhookId of new Set(queues.map(({ webhookId }) => webhookId))) {
      destinations.set(webhookId, await destinationOf(webhookId));
    }
    const wanted = queues.flatMap((queue) => {
      const destination = destinations.get(queue.webhookId);
      // The queues of a webhook that is gone are swept away.
      return destination ? [{ queue, ...selectionOf(queue, destination.webhook) }] : [];
    });
    const lists = await messagesFor(db, topics, wanted, clock.now(), (aggregateId, error) =>
      log.error({ err: error, aggregateId }, 'the log of an aggregate cannot be told; it is tried again'),
    );
    return wanted.flatMap(({ queue }, index) => {
      const messages = lists[index];
      if (!messages) {
        note({ queue, place: queue.place, outcome: 'release', at: laterBy(clock.now(), leaseMs) });
        return [];
      }
      if (messages.length > 0) return [{ queue, messages: [...messages], leaseUntilMs }];
      note({
        queue,
        place: afterAcknowledged(queue.place, queue.place.next - 1, undefined),
        outcome: 'rest',
      });
      return [];
    });
  }

  function handOf(webhookId: string): Hand {
    const hand = hands.get(webhookId) ?? {
      waiting: [],
      underWay: 0,
      failuresInARow: 0,
      recent: { second: 0, sent: 0 },
    };
    hands.set(webhookId, hand);
    return hand;
  }

  function freeIn(hand: Hand): number {
    const most = Math.min(handMost, Math.max(handLeast, Math.floor(hand.recent.sent)));
    return Math.max(0, most - hand.waiting.length - hand.underWay);
  }

  /** Sends from what is in hand as long as the webhook has a place. */
  function pump(webhookId: string): void {
    const hand = handOf(webhookId);
    const places = hand.failuresInARow >= failuresInARowMost ? placesWhenFailing : placesPerWebhook;
    while (!stopping && hand.underWay < places) {
      const item = hand.waiting.shift();
      if (!item) break;
      // What has waited too long in hand may be another node's by the time the receiver answers.
      if (item.leaseUntilMs - performance.now() < options.timeoutMs + leaseMs / 6) {
        note({ queue: item.queue, place: item.queue.place, outcome: 'release', at: clock.now() });
        continue;
      }
      const sending = sendHead(webhookId, hand, item).finally(() => running.delete(sending));
      running.add(sending);
    }
    if (hand.waiting.length < places) {
      if (hand.waiting.length === 0 && hand.underWay === 0 && hand.failuresInARow === 0)
        hands.delete(webhookId);
      if (hand.underWay > 0 || hand.waiting.length === 0) wakeSoon();
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
  function note(entry: QueueWrite): void {
    const noting = record(entry).then(undefined, (error: unknown) =>
      log.warn({ err: error, webhookId: entry.queue.webhookId }, 'a queue was not written on'),
    );
    running.add(noting);
    void noting.finally(() => running.delete(noting));
  }

  async function sendHead(webhookId: string, hand: Hand, item: Item): Promise<void> {
    let sent: { answer: Answer; attempt: Attempt } | undefined;
    hand.underWay += 1;
    underWay += 1;
    try {
      sent = await exchange(webhookId, item);
      if (sent) count(hand, sent.attempt.failure === undefined);
    } catch (error) {
      log.warn({ err: error, webhookId }, 'a notice could not be sent; it is tried again');
    } finally {
      hand.underWay -= 1;
      underWay -= 1;
    }
    // The place is another's while the outcome is written down.
    pump(webhookId);
    if (!sent) return;
    try {
      if (await settle(item, sent.answer, sent.attempt)) handOf(webhookId).waiting.push(item);
    } catch (error) {
      log.warn({ err: error, webhookId }, 'a delivery was not written down; it is made again');
    }
    pump(webhookId);
  }

  /** Undefined when the webhook was deleted meanwhile. */
  async function exchange(
    webhookId: string,
    { queue, messages }: Item,
  ): Promise<{ answer: Answer; attempt: Attempt } | undefined> {
    const [message] = messages;
    const destination = await destinationOf(webhookId);
    if (!message || !destination) return undefined;
    const attemptedAt = clock.now();
    const startedMs = performance.now();
    const answer = await postTo(sender, destination, message, {
      now: attemptedAt,
      requestId: options.ids.next(),
    });
    const durationMs = Math.round(performance.now() - startedMs);
    return { answer, attempt: attemptOf(queue, message, { answer, attemptedAt, durationMs }) };
  }

  function count(hand: Hand, isDelivered: boolean): void {
    hand.failuresInARow = isDelivered ? 0 : hand.failuresInARow + 1;
    const second = Math.floor(performance.now() / 1_000);
    if (hand.recent.second !== second)
      hand.recent = { second, sent: hand.recent.second === second - 1 ? hand.recent.sent / 2 : 0 };
    hand.recent.sent += 1;
  }

  /** Writes down what came of the head. Whether there is more to send of this queue, and it is still ours. */
  async function settle(item: Item, answer: Answer, attempt: Attempt): Promise<boolean> {
    const { queue } = item;
    if (attempt.failure === undefined) {
      const [sent, following] = item.messages;
      item.messages.shift();
      const place: Place = afterAcknowledged(queue.place, sent?.position ?? 0, following?.position);
      options.countDelivery('delivered');
      if (!following) {
        await record({ queue, place, attempt, outcome: 'rest' });
        return false;
      }
      const leaseEnd = laterBy(clock.now(), leaseMs);
      const writtenAtMs = performance.now();
      const isOurs = await record({ queue, place, attempt, outcome: 'goOn', leaseEnd });
      item.queue = { ...queue, place, failures: 0, leaseEnd };
      item.leaseUntilMs = writtenAtMs + leaseMs;
      return isOurs;
    }
    const failure: Failure = {
      what: attempt.failure,
      ...('retryAfterMs' in answer && answer.retryAfterMs !== undefined
        ? { retryAfterMs: answer.retryAfterMs }
        : {}),
    };
    const at = { now: clock.now(), chance: Math.random(), delaysSeconds };
    const next = afterFailure(failure, attempt.attempt, at);
    const { place } = queue;
    if ('again' in next) {
      options.countDelivery('failed');
      await record({ queue, place, attempt, outcome: 'again', at: next.again, failure: failure.what });
    } else {
      options.countDelivery('parked');
      log.warn({ webhookId: queue.webhookId, aggregateId: queue.aggregateId }, 'a webhook’s queue is parked');
      await record({ queue, place, attempt, outcome: 'park', why: next.parked, failure: failure.what });
    }
    return false;
  }

  return {
    wake,
    async settled() {
      while (claiming || waking || running.size > 0) {
        await Promise.all([claiming, ...running]);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    async stop() {
      stopping = true;
      await Promise.allSettled([claiming, ...running]);
      const left = [...hands.values()].flatMap(({ waiting }) => waiting.splice(0));
      for (const { queue } of left) note({ queue, place: queue.place, outcome: 'release', at: clock.now() });
      await Promise.allSettled(running);
    },
  };
}

/** Of an aggregate's notices those the webhook wants, as far as the queue has come and reaches. */
function selectionOf(
  { aggregateId, place }: ClaimedQueue,
  { topic, eventTypes }: Destination['webhook'],
): Selection {
  return {
    aggregateId,
    topic,
    select: (notices) =>
      toSend(
        place,
        notices.filter(({ subscribedAs }) => eventTypes.includes(subscribedAs)),
      ),
  };
}

function attemptOf(
  queue: ClaimedQueue,
  message: Message,
  {
    answer,
    attemptedAt,
    durationMs,
  }: { answer: Answer; attemptedAt: Attempt['attemptedAt']; durationMs: number },
): Attempt {
  const failure = failureOf(answer);
  return {
    position: message.position,
    attempt: queue.failures + 1,
    eventType: message.eventType,
    attemptedAt,
    durationMs,
    ...(answer.came === 'status' ? { status: answer.status } : {}),
    ...(failure === undefined ? {} : { failure }),
  };
}

/** Any 2xx acknowledges; a redirect does not, nor anything else. */
export function failureOf(answer: Answer): string | undefined {
  if (answer.came === 'nothing') return answer.why;
  return answer.status >= 200 && answer.status < 300 ? undefined : `status ${answer.status}`;
}

/** Writes side by side what comes up while a write is under way: one statement for all of it. */
function recorder(
  writeAll: (writes: readonly QueueWrite[]) => Promise<boolean[]>,
): (entry: QueueWrite) => Promise<boolean> {
  type Waiting = { entry: QueueWrite; resolve: (isOurs: boolean) => void; reject: (error: unknown) => void };
  let waiting: Waiting[] = [];
  let isWriting = false;

  async function flush(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const outcomes = await writeAll(batch.map(({ entry }) => entry));
        batch.forEach(({ resolve }, index) => resolve(outcomes[index] ?? false));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isWriting = false;
  }

  return (entry) =>
    new Promise((resolve, reject) => {
      waiting.push({ entry, resolve, reject });
      if (!isWriting) void flush();
    });
}
