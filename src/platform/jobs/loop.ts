// The loop under every worker: one poll at a time while there is demand. It knows the work that runs, so that a node can stop.
export type Loop = ReturnType<typeof openLoop>;

export function openLoop(poll: () => Promise<void>, onFailure: (error: unknown) => void) {
  const timers: NodeJS.Timeout[] = [];
  const work = openWork(onFailure);
  const polls = openPolls(poll, onFailure);
  let isWaking = false;

  async function wakeNextTurn(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    isWaking = false;
    polls.wake();
  }

  /** Resolves when nothing runs and no poll is wanted. */
  async function whenIdle(): Promise<void> {
    while (polls.isRunning() || work.isRunning()) await Promise.all([polls.whenIdle(), work.whenIdle()]);
  }

  return {
    attend: work.attend,
    including: work.including,
    whenIdle,
    isStopping: polls.isStopping,
    wake: polls.wake,
    wakeIfStill: polls.wakeIfStill,
    /** Wakes once for all demand of the same turn of the event loop. */
    wakeSoon(): void {
      if (!isWaking) work.attend(wakeNextTurn());
      isWaking = true;
    },
    /** Until the loop stops. */
    every: (ms: number, run: () => void) => void timers.push(setInterval(run, ms)),
    /** Starts no more polls, and waits for what runs. */
    stop(): Promise<void> {
      polls.stop();
      timers.forEach(clearInterval);
      return whenIdle();
    },
  };
}

/**
 * After a failed poll, the next demand polls again. Polls are apart from the work, because what waits for work alone would wait for
 * every poll that is wanted meanwhile.
 */
function openPolls(poll: () => Promise<void>, onFailure: (error: unknown) => void) {
  const running = openWork(onFailure);
  const is = { wanted: false, polling: false, stopping: false };

  /** Polls now, or once more if a poll is in progress. */
  function wake(): void {
    is.wanted = true;
    if (!is.polling && !is.stopping) running.attend(pollWhileWanted());
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

  return {
    isRunning: running.isRunning,
    whenIdle: running.whenIdle,
    isStopping: () => is.stopping,
    wake,
    /** For a tick: after a poll that took longer, the next tick polls. */
    wakeIfStill(): void {
      if (!is.polling) wake();
    },
    stop: () => void (is.stopping = true),
  };
}

function openWork(onFailure: (error: unknown) => void) {
  const running = new Set<Promise<unknown>>();
  return {
    isRunning: () => running.size > 0,
    /** Counts work as running until it ends. */
    attend(work: Promise<unknown>): void {
      const attended = work.catch(onFailure).finally(() => running.delete(attended));
      running.add(attended);
    },
    /** Also waits for the work that has started meanwhile. */
    async including(work: () => Promise<void>): Promise<void> {
      const earlier = new Set(running);
      await work();
      await Promise.all([...running].filter((one) => !earlier.has(one)));
    },
    async whenIdle(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
