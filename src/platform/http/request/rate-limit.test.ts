import { expect, test } from 'vitest';
import { rateLimit } from './rate-limit.ts';

test('a burst passes, then the rate, separately for each name', () => {
  let nowMs = 0;
  const limit = rateLimit({ calls: 10, everyMs: 1_000 }, 20, () => nowMs);
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
  const limit = rateLimit({ calls: 1, everyMs: 10_000 }, 1, () => nowMs);
  expect(limit.take('a')).toBeUndefined();
  const waitSeconds = limit.take('a')!;
  expect(waitSeconds).toBe(10);
  nowMs += waitSeconds * 1_000;
  expect(limit.take('a')).toBeUndefined();
});

// Of one reading of a real clock in 200, the reading and a second, less the reading, is less than a second.
test.each([
  [{ calls: 1, everyMs: 1_000 }, 2],
  [{ calls: 3, everyMs: 1_000 }, 6],
  [{ calls: 7, everyMs: 60_000 }, 7],
  [{ calls: 131_072, everyMs: 1_000 }, 40],
])('of %j, also where the clock reads parts of a millisecond', (rate, burst) => {
  for (let reading = 0; reading < 5_000; reading++) {
    let nowMs = reading * 73.123_457;
    const limit = rateLimit(rate, burst, () => nowMs);
    for (let call = 0; call < burst; call++) limit.take('taken');
    limit.spend('spent', burst + 5);
    nowMs += limit.take('taken')! * 1_000;
    expect(limit.take('taken'), `read at ${nowMs}`).toBeUndefined();
    nowMs += (limit.waitSeconds('spent') ?? 0) * 1_000;
    expect(limit.waitSeconds('spent'), `read at ${nowMs}`).toBeUndefined();
  }
});

test('a returned token can be taken again, and never exceeds the burst', () => {
  const limit = rateLimit({ calls: 1, everyMs: 1_000 }, 2, () => 0);
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
  const limit = rateLimit({ calls: 0, everyMs: 1_000 }, 0, () => 0);
  expect(Array.from({ length: 1_000 }, () => limit.take('a'))).toEqual(Array(1_000).fill(undefined));
  expect(limit.waitSeconds('a')).toBeUndefined();
});
