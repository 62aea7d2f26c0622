// Due dates that a test computes. Literal ones are years away.

const minuteMs = 60_000;

/** The time that long after another. Less than a minute could pass on a busy machine before the request arrives. */
export function dueAfter(time: string, durationMs: number): string {
  if (!(durationMs >= minuteMs))
    throw new Error(
      `A due date ${durationMs} ms away may pass too early. Use a minute or more, and move the clock.`,
    );
  return new Date(Date.parse(time) + durationMs).toISOString();
}
