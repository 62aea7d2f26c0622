// A world stands still if it waits for what nothing can end. It fails then, and says what it waited for.

/** Awaited answers of other processes. They come, however long they take. */
let awaited = 0;
const onNoneAwaited: (() => void)[] = [];

/** Awaits what another process or the machine's clock ends. */
export async function fromOutside<T>(coming: Promise<T>): Promise<T> {
  awaited += 1;
  try {
    return await coming;
  } finally {
    awaited -= 1;
    if (awaited === 0) for (const resume of onNoneAwaited.splice(0)) resume();
  }
}

/** Resolves when nothing is left in the process, or outside of it, that could continue anything. */
export async function stillness(quiet: () => Promise<void>): Promise<void> {
  for (;;) {
    await quiet();
    if (awaited === 0) return;
    await new Promise<void>((resolve) => void onNoneAwaited.push(resolve));
  }
}

/** Rejects if `running` waits for what nothing can end. */
export async function toItsEnd(
  what: string,
  running: Promise<void>,
  quiet: () => Promise<void>,
): Promise<void> {
  const still = stillness(quiet).then(() => Promise.reject(standingStill(what)));
  still.catch(() => undefined);
  await Promise.race([running, still]);
}

export function standingStill(what: string): Error {
  return new Error(`the world stands still: ${what} waits for what nothing can end`);
}
