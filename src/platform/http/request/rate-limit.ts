// Token buckets in the node's memory: a rate that may be kept up for ever and a burst above it. With several nodes each
// has its own buckets, so the whole allows the sum; that is generous on purpose, and costs no round trip.

export type RateLimit = {
  /** Undefined when it may pass, else the seconds to wait. */
  take(name: string): number | undefined;
  /** What was taken for something that turned out not to count. */
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

/** The first entry of a Map is the one set longest ago: whoever was quiet that long has a full bucket anyway. */
function forgetLongestUnused(buckets: Map<string, unknown>): void {
  for (const name of buckets.keys()) {
    buckets.delete(name);
    return;
  }
}
