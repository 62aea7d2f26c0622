// Signals to stop. A command listens before it starts anything that must not outlive it.

/** The first SIGTERM or SIGINT from now on. It ends nothing until the caller acts on it. */
export function firstSignal(
  signals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'],
): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of signals) process.once(signal, () => resolve(signal));
  });
}
