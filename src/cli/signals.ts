// Being told to stop. Whoever starts things that must not outlive him listens before he starts the first of them.

/** The first SIGTERM or SIGINT from now on; until somebody acts on it, it ends nothing. */
export function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal));
  });
}
