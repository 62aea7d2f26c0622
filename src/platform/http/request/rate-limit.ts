// Token buckets in the node's memory: a sustained rate and a burst above it. Each node has its own buckets, so all nodes together
// allow the sum, which saves a round trip.

export type RateLimit = {
  /** Undefined if the call may pass, else the seconds to wait. */
  take(name: string): number | undefined;
  /** Returns what was taken for a call that does not count. */
  giveBack(name: string): void;
  /** Undefined while something is left; takes nothing. */
  waitSeconds(name: string): number | undefined;
  /** Takes what a call turned out to cost, also more than is left. */
  spend(name: string, cost: number): void;
};

const maxBuckets = 100_000;

export function rateLimit(perSecond: number, burst: number, nowMs: () => number): RateLimit {
  const buckets = new Map<string, { tokens: number; atMs: number }>();

  function left(name: string): number {
    const bucket = buckets.get(name);
    return bucket ? Math.min(burst, bucket.tokens + ((nowMs() - bucket.atMs) / 1000) * perSecond) : burst;
  }

  function set(name: string, tokens: number): void {
    buckets.delete(name);
    buckets.set(name, { tokens, atMs: nowMs() });
    if (buckets.size > maxBuckets) forgetLongestUnused(buckets);
  }

  return {
    giveBack(name) {
      const bucket = buckets.get(name);
      if (bucket) bucket.tokens = Math.min(burst, bucket.tokens + 1);
    },
    take(name) {
      if (perSecond <= 0) return undefined; // switched off
      const tokens = left(name);
      const passes = tokens >= 1;
      set(name, passes ? tokens - 1 : tokens);
      return passes ? undefined : Math.ceil((1 - tokens) / perSecond);
    },
    waitSeconds(name) {
      const tokens = perSecond <= 0 ? 1 : left(name);
      return tokens > 0 ? undefined : Math.max(1, Math.ceil(-tokens / perSecond));
    },
    spend(name, cost) {
      if (perSecond > 0) set(name, left(name) - cost);
    },
  };
}

/** The first entry of a Map was set longest ago. After so long its bucket is full again anyway. */
function forgetLongestUnused(buckets: Map<string, unknown>): void {
  for (const name of buckets.keys()) {
    buckets.delete(name);
    return;
  }
}
