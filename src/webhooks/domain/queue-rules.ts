// The rules of a webhook queue: what is sent next, when a failure is retried, when the queue is parked, and replay.
import { laterBy, type Instant } from '../../clock.ts';

/** The state of a queue. Positions order the webhook events of its aggregate. */
export type QueueCursor = {
  /** The position of the first webhook event that is not acknowledged. */
  readonly next: number;
  /** The position of the last webhook event. */
  readonly last: number;
  /** During a replay: where it ends, and where the queue then continues. */
  readonly replay?: { readonly until: number; readonly resumeAt: number };
};

/** The delay after the first failure, the second, and so on: 30 s, 5 min, 15 min, then hourly for 25 h. */
export const usualDelaysSeconds: readonly number[] = [
  30,
  300,
  900,
  ...Array.from({ length: 25 }, () => 3_600),
];

const jitterShare = 0.2;
const maxRetryAfterMs = 3_600_000;

export type Failure = {
  readonly what: string;
  readonly retryAfterMs?: number;
};

/** The time of the next attempt, or the reason for parking the queue. Attempts count from 1. */
export function afterFailure(
  failure: Failure,
  attempt: number,
  at: { readonly now: Instant; readonly chance: number; readonly delaysSeconds: readonly number[] },
): { readonly retry: Instant } | { readonly parked: string } {
  const delaySeconds = at.delaysSeconds[attempt - 1];
  if (delaySeconds === undefined) {
    return { parked: `${attempt} attempts failed, the last one with ${failure.what}` };
  }
  // Never early, and at most a fifth later.
  const delayMs = delaySeconds * 1_000 * (1 + jitterShare * at.chance);
  const askedMs = Math.min(failure.retryAfterMs ?? 0, maxRetryAfterMs);
  return { retry: laterBy(at.now, Math.ceil(Math.max(delayMs, askedMs))) };
}

/** The webhook events to send, in order: the replay first, then the rest of the queue. */
export function deliverable<Sendable extends { readonly position: number }>(
  { next, last, replay }: QueueCursor,
  sendable: readonly Sendable[],
): Sendable[] {
  const between = (from: number, to: number) =>
    sendable.filter(({ position }) => position >= from && position <= to);
  if (!replay) return between(next, last);
  return [...between(next, replay.until), ...between(replay.resumeAt, last)];
}

/** The cursor after `sent` is acknowledged, or after skipping a queue with nothing to send. */
export function afterAcknowledged(
  cursor: QueueCursor,
  sent: number,
  following: number | undefined,
): QueueCursor {
  const { last, replay } = cursor;
  const isReplay = replay !== undefined && sent < replay.resumeAt;
  if (following === undefined) {
    const end = Math.max(sent, replay ? Math.max(replay.resumeAt - 1, last) : last);
    return { next: end + 1, last };
  }
  if (isReplay && following <= replay.until) return { next: following, last, replay };
  return { next: following, last };
}
