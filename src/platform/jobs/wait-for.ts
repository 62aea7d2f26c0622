// Waits for a change that any node may write, by reading again. Nothing is held between two reads.

/** Resolves after that time. Tests replace it, and let the jobs run instead. */
export type Pause = (ms: number) => Promise<void>;

export const realPause: Pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const firstPauseMs = 50;
const longestPauseMs = 500;

/** What was read last: after `forMs` it may not be over. */
export async function readUntil<T>(
  read: () => Promise<T>,
  isOver: (found: T) => boolean,
  { forMs, pause }: { readonly forMs: number; readonly pause: Pause },
): Promise<T> {
  let found = await read();
  let nextMs = firstPauseMs;
  for (
    let leftMs = forMs;
    !isOver(found) && leftMs > 0;
    leftMs -= nextMs, nextMs = Math.min(nextMs * 2, longestPauseMs)
  ) {
    nextMs = Math.min(nextMs, leftMs);
    await pause(nextMs);
    found = await read();
  }
  return found;
}
