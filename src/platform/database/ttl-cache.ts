// Reads that may be a moment old: what changes seldom and is needed by every request (keys, parties, shops) is read
// once and then answered from memory for at most a second, so that a revoked key is dead a second later everywhere.

export type RecentReads<Key, Value> = {
  get(key: Key): Promise<Value>;
  forget(key: Key): void;
};

export function ttlCache<Key, Value>(options: {
  maxAgeMs: number;
  maxEntries: number;
  load: (key: Key) => Promise<Value>;
}): RecentReads<Key, Value> {
  const entries = new Map<Key, { value: Promise<Value>; readAtMs: number }>();

  return {
    get(key) {
      const nowMs = performance.now();
      const entry = entries.get(key);
      if (entry && nowMs - entry.readAtMs < options.maxAgeMs) return entry.value;
      // Concurrent requests share one read; a read that failed is not remembered.
      const value = options.load(key);
      const fresh = { value, readAtMs: nowMs };
      entries.delete(key);
      entries.set(key, fresh);
      value.catch(() => {
        if (entries.get(key) === fresh) entries.delete(key);
      });
      // A Map keeps the order of insertion: the first entry is the one read longest ago.
      if (entries.size > options.maxEntries) {
        for (const oldest of entries.keys()) {
          entries.delete(oldest);
          break;
        }
      }
      return value;
    },
    forget: (key) => void entries.delete(key),
  };
}
