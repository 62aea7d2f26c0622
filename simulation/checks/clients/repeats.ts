// Under one Idempotency-Key the same request gets the same response, however often it is repeated.
// Keys are kept for a week.
import type { Problem } from '../check.ts';
import type { Acknowledged } from '../world.ts';

const keptMs = 7 * 24 * 3_600_000;
/** The largest difference between the clocks of two nodes. */
const clocksDifferMs = 4_000;
/** These take no key, as the API's document says: a repeat is executed again. */
const takeNoKey = /^\/sandbox\/clock$|\/webhooks\/[^/]+\/(?:test|replay|resume)$/;

export type Repeats = {
  /** What is wrong with these responses, which follow those of earlier calls. */
  hear(answers: readonly Acknowledged[]): Problem[];
};

export function openRepeats(): Repeats {
  const first = new Map<string, string>();
  return {
    hear: (answers) =>
      answers.flatMap(({ method, path, status, body, at, repeatable }): Problem[] => {
        if (!repeatable || takeNoKey.test(path)) return [];
        // These come before the key is read, or are retryable and leave the key free.
        if (status === 401 || status === 429 || status >= 500 || isForNow(body)) return [];
        const { request, firstAskedAt } = repeatable;
        if (Date.parse(at) - Date.parse(firstAskedAt) >= keptMs - clocksDifferMs) return [];
        const answer = `${status} ${JSON.stringify(body) ?? ''}`.trim();
        const before = first.get(request) ?? answer;
        first.set(request, before);
        if (before === answer) return [];
        return [[`${method} ${path}`, `under one key its response was ${before}, and then ${answer}`]];
      }),
  };
}

function isForNow(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'retryAfter' in body;
}
