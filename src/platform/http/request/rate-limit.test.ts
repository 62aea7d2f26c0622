import { expect, test } from 'vitest';
import { rateLimit } from './rate-limit.ts';

test('a burst passes, then the rate, separately for each name', () => {
  let nowMs = 0;
  const limit = rateLimit(10, 20, () => nowMs);
  const passed = (name: string, tries: number) =>
    Array.from({ length: tries }, () => limit.take(name)).filter((wait) => wait === undefined).length;
  expect(passed('a', 100)).toBe(20);
  expect(passed('b', 100)).toBe(20);
  nowMs += 1_000;
  expect(passed('a', 100)).toBe(10);
  nowMs += 3_600_000;
  expect(passed('a', 100)).toBe(20);
});

test('a refused call passes after the whole seconds it was given to wait', () => {
  let nowMs = 0;
  const limit = rateLimit(0.1, 1, () => nowMs);
  expect(limit.take('a')).toBeUndefined();
  const waitSeconds = limit.take('a')!;
  expect(waitSeconds).toBe(10);
  nowMs += waitSeconds * 1_000;
  expect(limit.take('a')).toBeUndefined();
});

test('a returned token can be taken again, and never exceeds the burst', () => {
  const limit = rateLimit(1, 2, () => 0);
  limit.giveBack('a');
  for (const _ of [1, 2]) expect(limit.take('a')).toBeUndefined();
  expect(limit.take('a')).toBe(1);
  limit.giveBack('a');
  expect(limit.take('a')).toBeUndefined();
  expect(limit.take('a')).toBe(1);
  for (const _ of [1, 2, 3]) limit.giveBack('a');
  const passes = [1, 2, 3].map(() => limit.take('a') === undefined);
  expect(passes).toEqual([true, true, false]);
});

test('a rate of 0 is no limit', () => {
  const limit = rateLimit(0, 0, () => 0);
  expect(Array.from({ length: 1_000 }, () => limit.take('a'))).toEqual(Array(1_000).fill(undefined));
});
