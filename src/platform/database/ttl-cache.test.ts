// What may be a moment old is read once for all who ask, and never remembered too long, too much or wrongly.
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

/** Answers each key with how many loads there were until then. */
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

test('what was read is answered from memory until it is too old', async () => {
  const { get } = reads();
  expect(await get('a')).toBe('a 1');
  monotonicMs += maxAgeMs - 1;
  expect(await get('a')).toBe('a 1');
  monotonicMs += 1;
  expect(await get('a')).toBe('a 2');
});

test('asking again and again does not keep it young', async () => {
  const { get } = reads();
  for (let asked = 0; asked < 5; asked++) {
    await get('a');
    monotonicMs += maxAgeMs / 4;
  }
  expect(loaded).toEqual(['a', 'a']);
});

test('those who ask at the same moment share one load', async () => {
  let answer = (_: string) => {};
  const load = vi.fn<() => Promise<string>>(() => new Promise((resolve) => (answer = resolve)));
  const { get } = ttlCache({ maxAgeMs, maxEntries: 10, load });
  const asked = Array.from({ length: 50 }, () => get('a'));
  answer('the one');
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['the one']));
  expect(load).toHaveBeenCalledTimes(1);
});

test('a load that failed fails for those who shared it and is not remembered', async () => {
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

test('an old load that fails late does not take the younger one with it', async () => {
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

test('of more keys than it may hold the one read longest ago is dropped', async () => {
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

test('what was forgotten is read again, and nothing else is', async () => {
  const { get, forget } = reads();
  for (const key of ['a', 'b']) await get(key);
  forget('a');
  for (const key of ['a', 'b']) await get(key);
  expect(loaded).toEqual(['a', 'b', 'a']);
});
