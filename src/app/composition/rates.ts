// How often callers may try, by the clock of this node, and how many may search at once.
import { rateLimit, type RateLimit } from '../../platform/http/request/rate-limit.ts';
import { openTurns } from '../../search/turns.ts';
import type { Config } from '../config.ts';

export const monotonicMs = () => performance.now();

/** Each use counts for itself. */
export function failuresPerMinute({ failedAuthenticationsPerMinute: most }: Config): RateLimit {
  return rateLimit({ calls: most, everyMs: 60_000 }, most, monotonicMs);
}

export function requestsOfPages({ requestsPerSecond: most }: Config): RateLimit {
  return rateLimit({ calls: most, everyMs: 1_000 }, most * 2, monotonicMs);
}

/** How many searches may read at once, as a part of the database's connections. Each use has turns of its own. */
export function searchTurnsOf({ databaseConnections }: Config, part: number) {
  return openTurns(Math.max(1, Math.floor(databaseConnections / part)));
}
