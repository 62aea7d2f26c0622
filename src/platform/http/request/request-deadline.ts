// X-Request-Deadline: how long the caller is ready to wait. It limits the call, not the work: after it the response is 504, and
// work that has started may still complete.
import { epochMsOf, parseInstant, type Instant } from '../../../clock.ts';

export const maxTimeoutMs = 60_000;

const maxCharacters = 40;
const unitsMs = { ms: 1, s: 1_000, m: 60_000 } as const;

/** How long this call may take; undefined for a deadline that is unreadable or has passed. */
export function timeoutMsOf(header: string | undefined, now: Instant): number | undefined {
  if (header === undefined) return maxTimeoutMs;
  if (header.length > maxCharacters) return undefined;
  const instant = parseInstant(header);
  const waitMs = durationMsOf(header) ?? (instant && epochMsOf(instant) - epochMsOf(now));
  return waitMs !== undefined && waitMs > 0 ? Math.min(waitMs, maxTimeoutMs) : undefined;
}

/** The length of `500ms`, `2.5s` or `30m`; undefined for any other text. */
export function durationMsOf(text: string): number | undefined {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text) ?? [];
  return unit === undefined ? undefined : Number(number) * unitsMs[unit as keyof typeof unitsMs];
}

/**
 * Limits how long a caller waits, with one timer from the head of the request. When it expires the response is sent, and unfinished
 * work continues without a caller.
 */
export class RequestDeadline {
  isOver = false;
  readonly #timer: NodeJS.Timeout;
  readonly #endsAtMs: number;
  #isEnded = false;
  #ended: AbortController | undefined;

  constructor(waitMs: number, sendTooLate: () => void) {
    this.#timer = setTimeout(() => {
      this.isOver = true;
      sendTooLate();
    }, waitMs);
    this.#endsAtMs = performance.now() + waitMs;
    // The timer does not keep the process alive.
    this.#timer.unref();
  }

  leftMs(): number {
    return this.#endsAtMs - performance.now();
  }

  /** Aborted by `end`. Few requests ask for it, and making one costs as much as reading a small body. */
  get ended(): AbortSignal {
    this.#ended ??= new AbortController();
    if (this.#isEnded) this.#ended.abort();
    return this.#ended.signal;
  }

  /** The caller has the response, or no longer waits for it. */
  end(): void {
    clearTimeout(this.#timer);
    this.#isEnded = true;
    this.#ended?.abort();
  }
}
