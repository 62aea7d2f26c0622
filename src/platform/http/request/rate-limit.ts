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

/** Whole numbers. No calls: switched off. */
export type Rate = { readonly calls: number; readonly everyMs: number };

const maxBuckets = 100_000;

/**
 * A bucket counts parts of a call, of which each millisecond brings `calls` and each call takes `everyMs`. All are whole, so nothing is
 * rounded, and a caller that waits exactly as long as the answer said passes.
 */
export function rateLimit({ calls, everyMs }: Rate, burst: number, nowMs: () => number): RateLimit {
  const buckets = new Map<string, { parts: number; atMs: number }>();
  const full = burst * everyMs;
  const wholeMs = () => Math.floor(nowMs());
  const secondsToGet = (parts: number) => Math.ceil(parts / (calls * 1_000));

  function left(name: string): number {
    const bucket = buckets.get(name);
    return bucket ? Math.min(full, bucket.parts + (wholeMs() - bucket.atMs) * calls) : full;
  }

  function set(name: string, parts: number): void {
    buckets.delete(name);
    buckets.set(name, { parts, atMs: wholeMs() });
    if (buckets.size > maxBuckets) forgetLongestUnused(buckets);
  }

  return {
    giveBack(name) {
      const bucket = buckets.get(name);
      if (bucket) bucket.parts = Math.min(full, bucket.parts + everyMs);
    },
    take(name) {
      if (calls <= 0) return undefined;
      const parts = left(name);
      const passes = parts >= everyMs;
      set(name, passes ? parts - everyMs : parts);
      return passes ? undefined : secondsToGet(everyMs - parts);
    },
    waitSeconds(name) {
      if (calls <= 0) return undefined;
      const parts = left(name);
      return parts > 0 ? undefined : secondsToGet(1 - parts);
    },
    spend(name, cost) {
      if (calls > 0) set(name, left(name) - cost * everyMs);
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
