// Writes the results of many deliveries together: one statement for all that arrive during the previous one.
import type { QueueWrite } from './queues.store.ts';

/** The returned function resolves to whether the claim was still valid. */
export function openOutcomeWriter(
  writeAll: (writes: readonly QueueWrite[]) => Promise<boolean[]>,
): (entry: QueueWrite) => Promise<boolean> {
  type Waiting = { entry: QueueWrite; resolve: (isOurs: boolean) => void; reject: (error: unknown) => void };
  let waiting: Waiting[] = [];
  let isWriting = false;

  async function flush(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const outcomes = await writeAll(batch.map(({ entry }) => entry));
        batch.forEach(({ resolve }, index) => resolve(outcomes[index] ?? false));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isWriting = false;
  }

  return (entry) =>
    new Promise((resolve, reject) => {
      waiting.push({ entry, resolve, reject });
      if (!isWriting) void flush();
    });
}
