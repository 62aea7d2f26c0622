// Sends a bank no more than it says it takes. What waits has sent nothing, and holds neither a card nor a connection.
import type { Abilities } from '../../../domain/abilities.ts';
import type { MayStill } from '../../../domain/bank-port.ts';

export type Limits = Pick<Abilities, 'perSecond' | 'atOnce'>;

export type Pace = {
  /**
   * Resolves when the bank takes the operation: call the function when it is over. What finishes an operation goes before what begins
   * one; `turned away` waited too long, or too many wait, or it may no longer be sent.
   */
  enter(wanted: Wanted): Promise<Leave | 'turned away'>;
  waiting(): number;
  /** Turns away what waits, and whatever would have to wait from now on. */
  stop(): void;
};
type Leave = () => void;
type Wanted = { readonly goesFirst: boolean; readonly untilMs?: number; readonly mayStill?: MayStill };

type Waiting = {
  readonly answer: (entered: Leave | 'turned away') => void;
  readonly cancelTimer: () => void;
};

/** With the wait for the response, shorter than the lease of a job. */
const usualLongestWaitMs = 10_000;
const mostWaiting = 1_000;
/** A tenth longer: messages may be closer to each other when they arrive. */
const secondMs = 1_100;

type Options = {
  readonly nowMs: () => number;
  readonly limits: () => Limits;
  readonly longestWaitMs?: number;
  /** Replaced in tests. The function it returns cancels. */
  readonly later?: (ms: number, run: () => void) => () => void;
};

export function openPace(options: Options): Pace {
  const { nowMs, limits, longestWaitMs = usualLongestWaitMs, later = afterTime } = options;
  const queues = openQueues();
  const gate = openGate(nowMs, limits);
  let cancelNext: (() => void) | undefined;
  const letIn = (): Leave => gate.letIn(letInWaiting);

  function letInWaiting(): void {
    cancelNext?.();
    cancelNext = undefined;
    while (queues.waiting() > 0) {
      const ms = gate.msToNext();
      if (ms > 0) {
        if (ms !== Infinity) cancelNext = later(ms, letInWaiting);
        return;
      }
      const next = queues.next();
      next?.cancelTimer();
      next?.answer(letIn());
    }
  }

  function wait(queue: Waiting[], patienceMs: number): Promise<Leave | 'turned away'> {
    return new Promise((answer) => {
      const turnAway = () => {
        queue.splice(queue.indexOf(waiting), 1);
        answer('turned away');
      };
      const cancelTimer = patienceMs === Infinity ? () => {} : later(patienceMs, turnAway);
      const waiting = { answer, cancelTimer };
      queue.push(waiting);
      letInWaiting();
    });
  }

  return {
    async enter({ goesFirst, untilMs = Infinity, mayStill = () => true }) {
      const queue = goesFirst ? queues.first : queues.others;
      const isNext = queue.length === 0 && (goesFirst || queues.waiting() === 0);
      if (isNext && gate.msToNext() <= 0) return letIn();
      const patienceMs = queues.takes(queue) ? Math.min(longestWaitMs, untilMs - nowMs()) : 0;
      return patienceMs > 0 ? ifMayStill(wait(queue, patienceMs), mayStill) : 'turned away';
    },
    waiting: queues.waiting,
    stop() {
      cancelNext?.();
      queues.turnAway();
    },
  };
}

async function ifMayStill(
  waiting: ReturnType<Pace['enter']>,
  mayStill: MayStill,
): Promise<Leave | 'turned away'> {
  const entered = await waiting;
  if (entered === 'turned away') return entered;
  try {
    if (await mayStill()) return entered;
  } catch {
    // The job that tries it again finds the reason.
  }
  entered();
  return 'turned away';
}

function openQueues() {
  const first: Waiting[] = [];
  const others: Waiting[] = [];
  let isStopped = false;
  return {
    first,
    others,
    next: () => first.shift() ?? others.shift(),
    waiting: () => first.length + others.length,
    takes: (queue: readonly Waiting[]) => !isStopped && queue.length < mostWaiting,
    /** Permanently. */
    turnAway() {
      isStopped = true;
      for (const { cancelTimer, answer } of [...first.splice(0), ...others.splice(0)]) {
        cancelTimer();
        answer('turned away');
      }
    },
  };
}

/** Counts what is in progress, and what was let in within a second. */
function openGate(nowMs: () => number, limits: () => Limits) {
  let inProgress = 0;
  /** When the latest were let in, oldest first. */
  let enteredMs: number[] = [];
  return {
    /** Infinity until one that is in progress has ended. */
    msToNext(): number {
      const { perSecond, atOnce } = limits();
      if (atOnce !== undefined && inProgress >= atOnce) return Infinity;
      if (perSecond === undefined) return 0;
      const now = nowMs();
      // A time in the future is from before the clock was set back.
      enteredMs = enteredMs.filter((entered) => entered <= now && now - entered < secondMs);
      return enteredMs.length < perSecond ? 0 : (enteredMs.at(-perSecond) ?? now) + secondMs - now;
    },
    letIn(onLeave: () => void): Leave {
      inProgress += 1;
      if (limits().perSecond !== undefined) enteredMs.push(nowMs());
      let hasLeft = false;
      return () => {
        if (hasLeft) return;
        hasLeft = true;
        inProgress -= 1;
        onLeave();
      };
    },
  };
}

function afterTime(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
