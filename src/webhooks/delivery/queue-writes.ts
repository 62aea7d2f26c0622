// What is written about a claimed queue: after an attempt, or without one.
import { laterBy, type Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { afterAcknowledged, afterFailure, type Failure } from '../domain/queue-rules.ts';
import type { Message } from '../feed/messages.store.ts';
import type { Attempt, ClaimedQueue, QueueWrite } from './queues.store.ts';

/** A claimed queue with what is to be sent from it. */
export type Item = {
  readonly queue: ClaimedQueue;
  readonly messages: readonly [Message, ...Message[]];
  /** No other node claims the queue before this time of `performance.now()`. */
  readonly leaseUntilMs: number;
};

/** An attempt, and how long the receiver has asked to wait before the next one. */
export type Sent = { readonly attempt: Attempt; readonly retryAfterMs?: number };

/** The failure shown to the merchant; the service's log has the cause. */
export const ownFault = 'internal error';

export function unclaimed(queue: ClaimedQueue, at: Instant): QueueWrite {
  return { queue, cursor: queue.cursor, outcome: 'unclaim', at };
}

export function nothingToSend(queue: ClaimedQueue): QueueWrite {
  const { cursor } = queue;
  return { queue, cursor: afterAcknowledged(cursor, cursor.next - 1, undefined), outcome: 'idle' };
}

export function afterAttempt(
  { queue, messages }: Item,
  { attempt, retryAfterMs }: Sent,
  at: { readonly now: Instant; readonly leaseMs: number; readonly delaysSeconds: readonly number[] },
): QueueWrite {
  const { failure: what } = attempt;
  if (what !== undefined) return { ...failed(queue, { what, ...defined({ retryAfterMs }) }, at), attempt };
  const [sent, following] = messages;
  const cursor = afterAcknowledged(queue.cursor, sent.position, following?.position);
  const entry = { queue, cursor, attempt };
  if (!following) return { ...entry, outcome: 'idle' };
  return { ...entry, outcome: 'continue', leaseEnd: laterBy(at.now, at.leaseMs) };
}

/** What is left to send after `written`. */
export function restOf({ messages }: Item, written: QueueWrite, leaseUntilMs: number): Item | undefined {
  const [, next, ...others] = messages;
  if (written.outcome !== 'continue' || !next) return undefined;
  const { cursor, leaseEnd } = written;
  return {
    queue: { ...written.queue, cursor, failures: 0, leaseEnd },
    messages: [next, ...others],
    leaseUntilMs,
  };
}

export function failed(
  queue: ClaimedQueue,
  failure: Failure,
  at: { readonly now: Instant; readonly delaysSeconds: readonly number[] },
): QueueWrite {
  const next = afterFailure(failure, queue.failures + 1, { ...at, chance: Math.random() });
  const entry = { queue, cursor: queue.cursor, failure: failure.what };
  return 'retry' in next
    ? { ...entry, outcome: 'retry', at: next.retry }
    : { ...entry, outcome: 'park', why: next.parked };
}
