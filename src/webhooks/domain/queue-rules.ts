// The rules of a queue: what is sent next, when again after a failure, when it is given up, and how a stretch of it is sent
// once more. Time, chance and what came back are values.
import { laterBy, type Instant } from '../../clock.ts';

/** Where a queue stands. Positions order the webhook events of its aggregate. */
export type QueueCursor = {
  /** Of the first webhook event that is not acknowledged. */
  readonly next: number;
  /** Of the last one there is. */
  readonly last: number;
  /** While something is sent again: where that ends, and where the queue goes on. */
  readonly replay?: { readonly until: number; readonly resumeAt: number };
};

/** Seconds until the attempt after the first, the second … failure: 30 s, 5 min, 15 min, then every hour for a day. */
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

/** After the failure of an attempt, counted from 1: when the next one is, or that there is none. */
export function afterFailure(
  failure: Failure,
  attempt: number,
  at: { readonly now: Instant; readonly chance: number; readonly delaysSeconds: readonly number[] },
): { readonly retry: Instant } | { readonly parked: string } {
  const delaySeconds = at.delaysSeconds[attempt - 1];
  if (delaySeconds === undefined) {
    return { parked: `${attempt} attempts failed, the last one with ${failure.what}` };
  }
  // Never before its time, at most a fifth later.
  const delayMs = delaySeconds * 1_000 * (1 + jitterShare * at.chance);
  const askedMs = Math.min(failure.retryAfterMs ?? 0, maxRetryAfterMs);
  return { retry: laterBy(at.now, Math.ceil(Math.max(delayMs, askedMs))) };
}

/** What is to be sent from here on, in order: what is sent again first, then what has not been sent. */
export function deliverable<Sendable extends { readonly position: number }>(
  { next, last, replay }: QueueCursor,
  sendable: readonly Sendable[],
): Sendable[] {
  const between = (from: number, to: number) =>
    sendable.filter(({ position }) => position >= from && position <= to);
  if (!replay) return between(next, last);
  return [...between(next, replay.until), ...between(replay.resumeAt, last)];
}

/** The queue when what was at `sent` is acknowledged, or, with nothing sendable left, when all of it is passed over. */
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
