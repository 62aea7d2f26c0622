// X-Request-Deadline: how long the caller is ready to wait. It limits the call, not the work: when it passes the answer
// is 504, and what was begun may still be done.
import { epochMsOf, parseInstant, type Instant } from '../../../clock.ts';

export const maxTimeoutMs = 60_000;

const maxCharacters = 40;
const unitsMs = { ms: 1, s: 1_000, m: 60_000 } as const;

/** How long this call may take; undefined for a deadline that cannot be read or has passed. */
export function timeoutMsOf(header: string | undefined, now: Instant): number | undefined {
  if (header === undefined) return maxTimeoutMs;
  if (header.length > maxCharacters) return undefined;
  const instant = parseInstant(header);
  const waitMs = durationMsOf(header) ?? (instant && epochMsOf(instant) - epochMsOf(now));
  return waitMs !== undefined && waitMs > 0 ? Math.min(waitMs, maxTimeoutMs) : undefined;
}

/** Of `500ms`, `2.5s` or `30m`; undefined when it is none of them. */
export function durationMsOf(text: string): number | undefined {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text) ?? [];
  return unit === undefined ? undefined : Number(number) * unitsMs[unit as keyof typeof unitsMs];
}

/**
 * How long a caller waits, from the head of his request on: one timer, whatever is waited for on the way. When it runs out he is
 * answered, and what is still under way goes on for nobody.
 */
export class RequestDeadline {
  isOver = false;
  readonly #timer: NodeJS.Timeout;

  constructor(waitMs: number, answerTooLate: () => void) {
    this.#timer = setTimeout(() => {
      this.isOver = true;
      answerTooLate();
    }, waitMs);
    // The program does not wait for it.
    this.#timer.unref();
  }

  /** He has his answer, or does not wait any more. */
  end(): void {
    clearTimeout(this.#timer);
  }
}
