// The loop under every worker: one poll at a time while there is demand. It knows the work that runs, so that a node can stop.
export type Loop = ReturnType<typeof openLoop>;

/** After a failed poll, the next demand polls again. */
export function openLoop(poll: () => Promise<void>, onFailure: (error: unknown) => void) {
  const timers: NodeJS.Timeout[] = [];
  const work = openWork();
  const is = { wanted: false, polling: false, waking: false, stopping: false };

  /** Polls now, or once more if a poll is in progress. */
  function wake(): void {
    is.wanted = true;
    if (!is.polling && !is.stopping) work.attend(pollWhileWanted());
  }

  async function pollWhileWanted(): Promise<void> {
    is.polling = true;
    while (is.wanted && !is.stopping) {
      is.wanted = false;
      await poll().catch(onFailure);
    }
    // Cleared in the same turn in which no more was wanted, so that no demand falls in between.
    is.polling = false;
  }

  async function wakeNextTurn(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    is.waking = false;
    wake();
  }

  return {
    ...work,
    isStopping: () => is.stopping,
    wake,
    /** Wakes once for all demand of the same turn of the event loop. */
    wakeSoon(): void {
      if (!is.waking) work.attend(wakeNextTurn());
      is.waking = true;
    },
    /** Until the loop stops. */
    every: (ms: number, run: () => void) => void timers.push(setInterval(run, ms)),
    /** Starts no more polls, and waits for what runs. */
    stop(): Promise<void> {
      is.stopping = true;
      timers.forEach(clearInterval);
      return work.whenIdle();
    },
  };
}

function openWork() {
  const running = new Set<Promise<unknown>>();
  return {
    /** Counts work as running until it ends. It must not fail. */
    attend(work: Promise<unknown>): void {
      const attended = work.finally(() => running.delete(attended));
      running.add(attended);
    },
    /** Also waits for the work that has started meanwhile. */
    async including(work: () => Promise<void>): Promise<void> {
      const earlier = new Set(running);
      await work();
      await Promise.all([...running].filter((one) => !earlier.has(one)));
    },
    /** Resolves when nothing runs and no poll is wanted. */
    async whenIdle(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
