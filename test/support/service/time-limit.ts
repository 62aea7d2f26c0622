// Ends a time limit when a test says so: on a busy machine a short one could end before what must come first.
import { vi } from 'vitest';

/** Ends the limits of that length which the work has set by then, as soon as `isReached` says so. */
export async function whenTimeIsUp<T>(
  limitMs: number,
  isReached: () => boolean | Promise<boolean>,
  work: () => Promise<T>,
): Promise<T> {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const cleared = vi.spyOn(globalThis, 'clearTimeout');
  try {
    let isOver = false;
    const working = work().finally(() => (isOver = true));
    // Awaited below, and until then it may fail.
    working.catch(() => undefined);
    while (!isOver && !(await isReached())) await new Promise((resolve) => setImmediate(resolve));
    const over = new Set(cleared.mock.calls.map(([timer]) => timer));
    const limits = timers.mock.calls.filter(
      ([, delayMs], call) => delayMs === limitMs && !over.has(timers.mock.results[call]?.value),
    );
    if (limits.length === 0) throw new Error(`nothing has set a time limit of ${limitMs} ms`);
    for (const [timeIsUp] of limits) timeIsUp();
    return await working;
  } finally {
    timers.mockRestore();
    cleared.mockRestore();
  }
}
