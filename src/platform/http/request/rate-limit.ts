// Token buckets in the node's memory: a sustained rate and a burst above it. Each node has its own buckets, so all nodes together
// allow the sum, which saves a round trip.

export type RateLimit = {
  /** Undefined if the call may pass, else the seconds to wait. */
  take(name: string): number | undefined;
  /** Returns what was taken for a call that does not count. */
  giveBack(name: string): void;
};

const maxBuckets = 100_000;

export function rateLimit(perSecond: number, burst: number, nowMs: () => number): RateLimit {
  const buckets = new Map<string, { tokens: number; atMs: number }>();

  return {
    giveBack(name) {
      const bucket = buckets.get(name);
      if (bucket) bucket.tokens = Math.min(burst, bucket.tokens + 1);
    },
    take(name) {
      if (perSecond <= 0) return undefined; // switched off
      const at = nowMs();
      const bucket = buckets.get(name) ?? { tokens: burst, atMs: at };
      const tokens = Math.min(burst, bucket.tokens + ((at - bucket.atMs) / 1000) * perSecond);
      const passes = tokens >= 1;
      buckets.delete(name);
      buckets.set(name, { tokens: passes ? tokens - 1 : tokens, atMs: at });
      if (buckets.size > maxBuckets) forgetLongestUnused(buckets);
      return passes ? undefined : Math.ceil((1 - tokens) / perSecond);
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
