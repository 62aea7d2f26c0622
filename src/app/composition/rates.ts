// How often callers may try, by the clock of this node.
import { rateLimit, type RateLimit } from '../../platform/http/request/rate-limit.ts';
import type { Config } from '../config.ts';

export const monotonicMs = () => performance.now();

/** Each use counts for itself. */
export function failuresPerMinute({ failedAuthenticationsPerMinute: most }: Config): RateLimit {
  return rateLimit(most / 60, most, monotonicMs);
}
