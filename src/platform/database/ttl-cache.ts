// A cache for reads that may be slightly old: keys, parties and shops seldom change, and every request needs them.
// Its callers keep a value for at most a second, so a revoked key stops working everywhere within that time.

export type TtlCache<Key, Value> = {
  get(key: Key): Promise<Value>;
  forget(key: Key): void;
};

export function ttlCache<Key, Value>(options: {
  maxAgeMs: number;
  maxEntries: number;
  load: (key: Key) => Promise<Value>;
}): TtlCache<Key, Value> {
  const entries = new Map<Key, { value: Promise<Value>; readAtMs: number }>();

  return {
    get(key) {
      const nowMs = performance.now();
      const entry = entries.get(key);
      if (entry && nowMs - entry.readAtMs < options.maxAgeMs) return entry.value;
      // Concurrent requests share one read. A failed read is not kept.
      const value = options.load(key);
      const fresh = { value, readAtMs: nowMs };
      entries.delete(key);
      entries.set(key, fresh);
      value.catch(() => {
        if (entries.get(key) === fresh) entries.delete(key);
      });
      // A Map keeps insertion order: the first entry is the one read longest ago.
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
