// The pages of the demo ask their server as long as they are open, and seldom where nothing happens.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openPace } from '../../../pages/demo/pace.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** How many questions there are in a time. */
async function asked(pace: ReturnType<typeof openPace>, ms: number): Promise<number> {
  let count = 0;
  const untilMs = performance.now() + ms;
  const asking = (async () => {
    while (performance.now() < untilMs) {
      count++;
      await pace.pause();
    }
  })();
  await vi.advanceTimersByTimeAsync(ms + 10_000);
  await asking;
  return count;
}

test('a quiet page asks seldom, the whole day, and often again when something happens', async () => {
  const minuteMs = 60_000;
  const pace = openPace(500);
  expect(await asked(pace, minuteMs)).toBe(120);
  await asked(pace, 24 * 60 * minuteMs);
  expect(await asked(pace, minuteMs)).toBe(6);
  pace.quicken();
  expect(await asked(pace, minuteMs)).toBe(120);
});
