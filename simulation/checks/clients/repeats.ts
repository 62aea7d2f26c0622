// Under one Idempotency-Key the same request has one answer: whoever did not hear it, or asks again for whatever reason, is told the
// same, and nothing is done a second time. Keys are kept for a week.
import type { Problem } from '../check.ts';
import type { Acknowledged } from '../world.ts';

const keptMs = 7 * 24 * 3_600_000;
/** No two clocks are further apart. */
const clocksDifferMs = 4_000;
/** These take no key, as the API's document says: asked for again they are done again. */
const takeNoKey = /^\/sandbox\/clock$|\/webhooks\/[^/]+\/(?:test|replay|resume)$/;

export type Repeats = {
  /** What is wrong with these answers, which come after all that were heard before. */
  hear(answers: readonly Acknowledged[]): Problem[];
};

export function openRepeats(): Repeats {
  const first = new Map<string, string>();
  return {
    hear: (answers) =>
      answers.flatMap(({ method, path, status, body, at, repeatable }): Problem[] => {
        if (!repeatable || takeNoKey.test(path)) return [];
        // These are given before anybody looks at the key, or for now: then the key is free again.
        if (status === 401 || status === 429 || status >= 500 || isForNow(body)) return [];
        const { request, firstAskedAt } = repeatable;
        if (Date.parse(at) - Date.parse(firstAskedAt) >= keptMs - clocksDifferMs) return [];
        const answer = `${status} ${JSON.stringify(body) ?? ''}`.trim();
        const before = first.get(request) ?? answer;
        first.set(request, before);
        if (before === answer) return [];
        return [[`${method} ${path}`, `under one key it was answered ${before}, and then ${answer}`]];
      }),
  };
}

function isForNow(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'retryAfter' in body;
}
