// Concurrent reads share one load, and nothing is cached too long, in too large a number, or after a failure.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ttlCache } from './ttl-cache.ts';

const maxAgeMs = 1_000;

let monotonicMs: number;
let loaded: string[];

beforeEach(() => {
  monotonicMs = 1_000_000;
  loaded = [];
  vi.spyOn(performance, 'now').mockImplementation(() => monotonicMs);
});
afterEach(() => void vi.restoreAllMocks());

/** Loads for each key the number of loads so far. */
function reads(maxEntries = 10) {
  return ttlCache({
    maxAgeMs,
    maxEntries,
    load: (key: string) => {
      loaded.push(key);
      return Promise.resolve(`${key} ${loaded.length}`);
    },
  });
}

test('a value is returned from memory until it is too old', async () => {
  const { get } = reads();
  expect(await get('a')).toBe('a 1');
  monotonicMs += maxAgeMs - 1;
  expect(await get('a')).toBe('a 1');
  monotonicMs += 1;
  expect(await get('a')).toBe('a 2');
});

test('repeated reads do not prolong the age limit', async () => {
  const { get } = reads();
  for (let asked = 0; asked < 5; asked++) {
    await get('a');
    monotonicMs += maxAgeMs / 4;
  }
  expect(loaded).toEqual(['a', 'a']);
});

test('concurrent reads share one load', async () => {
  let answer = (_: string) => {};
  const load = vi.fn<() => Promise<string>>(() => new Promise((resolve) => (answer = resolve)));
  const { get } = ttlCache({ maxAgeMs, maxEntries: 10, load });
  const asked = Array.from({ length: 50 }, () => get('a'));
  answer('the one');
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['the one']));
  expect(load).toHaveBeenCalledTimes(1);
});

test('a failed load fails for all who shared it and is not cached', async () => {
  const load = vi
    .fn<() => Promise<string>>()
    .mockRejectedValueOnce(new Error('gone'))
    .mockResolvedValue('back');
  const { get } = ttlCache({ maxAgeMs, maxEntries: 10, load });
  const outcomes = await Promise.allSettled([get('a'), get('a')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(load).toHaveBeenCalledTimes(1);
  expect(await get('a')).toBe('back');
  expect(await get('a')).toBe('back');
  expect(load).toHaveBeenCalledTimes(2);
});

test('an old load that fails late does not remove a newer value', async () => {
  let fail = (_: Error) => {};
  const load = vi
    .fn<() => Promise<string>>()
    .mockReturnValueOnce(new Promise((_, reject) => (fail = reject)))
    .mockResolvedValue('young');
  const { get } = ttlCache({ maxAgeMs, maxEntries: 10, load });
  const old = get('a');
  monotonicMs += maxAgeMs;
  expect(await get('a')).toBe('young');
  fail(new Error('late'));
  await expect(old).rejects.toThrow('late');
  expect(await get('a')).toBe('young');
  expect(load).toHaveBeenCalledTimes(2);
});

test('beyond the limit of keys, the one read longest ago is dropped', async () => {
  const { get } = reads(2);
  for (const key of ['a', 'b']) await get(key);
  monotonicMs += maxAgeMs;
  // Read again, a is younger than b.
  for (const key of ['a', 'c']) await get(key);
  loaded = [];
  for (const key of ['a', 'c']) await get(key);
  expect(loaded).toEqual([]);
  monotonicMs -= maxAgeMs; // b would still be young enough if it were held
  await get('b');
  expect(loaded).toEqual(['b']);
});

test('a forgotten key is read again, and no other key', async () => {
  const { get, forget } = reads();
  for (const key of ['a', 'b']) await get(key);
  forget('a');
  for (const key of ['a', 'b']) await get(key);
  expect(loaded).toEqual(['a', 'b', 'a']);
});
