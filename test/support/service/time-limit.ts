// Ends a time limit when a test says so: on a busy machine a short one could end before what must come first.
import { vi } from 'vitest';

/** Ends the limit of that length, which the work has set by then, as soon as `isReached` says so. */
export async function whenTimeIsUp<T>(
  limitMs: number,
  isReached: () => boolean | Promise<boolean>,
  work: () => Promise<T>,
): Promise<T> {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  try {
    let isOver = false;
    const working = work().finally(() => (isOver = true));
    // Awaited below, and until then it may fail.
    working.catch(() => undefined);
    while (!isOver && !(await isReached())) await new Promise((resolve) => setImmediate(resolve));
    const limit = timers.mock.calls.find(([, delayMs]) => delayMs === limitMs);
    if (!limit) throw new Error(`nothing has set a time limit of ${limitMs} ms`);
    const [timeIsUp] = limit;
    timeIsUp();
    return await working;
  } finally {
    timers.mockRestore();
  }
}
