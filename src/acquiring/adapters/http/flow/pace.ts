// Sends a bank no more than it says it takes. What waits has sent nothing, and holds neither a card nor a connection.
import { defined } from '../../../../defined.ts';
import type { Abilities } from '../../../domain/abilities.ts';
import type { MayStill } from '../../../domain/bank-port.ts';

export type Limits = Pick<Abilities, 'perSecond' | 'atOnce'>;

/** Of each worker of a node. */
export function partOf({ perSecond, atOnce }: Limits, workers = 1): Limits {
  const part = (whole: number | undefined) =>
    whole === undefined ? undefined : Math.max(1, Math.floor(whole / workers));
  return defined({ perSecond: part(perSecond), atOnce: part(atOnce) });
}

export type Pace = {
  /**
   * Resolves when the bank takes the operation: call the function when it is over. Turned away is what waited too long, or found too many
   * waiting, or may no longer be sent.
   */
  enter(wanted: Wanted): Promise<Leave | TurnedAway>;
  waiting(): number;
  /** Turns away what waits, and whatever would have to wait from now on. */
  stop(): void;
};
type Leave = () => void;
/** Each is given a time of its own, at the pace of the bank: none asks in vain, and what is new finds place meanwhile. */
export type TurnedAway = { readonly againInMs: number };
/** What finishes an operation goes first, then what a payer waits for. Charges without the payer go last, repeated ones after new ones. */
const ranks = ['finishes', 'payerWaits', 'begins', 'charges', 'repeats'] as const;
export type Rank = (typeof ranks)[number];
/** A quarter of what the bank takes is left to the others, so that a payer finds place among many charges. */
const leavesPlace: Readonly<Partial<Record<Rank, true>>> = { charges: true, repeats: true };
type Wanted = { readonly rank: Rank; readonly untilMs?: number; readonly mayStill?: MayStill };

type Waiting = {
  readonly answer: (entered: Leave | undefined) => void;
  readonly cancelTimer: () => void;
};

/** With the wait for the response, shorter than the lease of a job. */
const usualLongestWaitMs = 10_000;
const mostWaiting = 1_000;
const soonestAgainMs = 1_000;
/** A payer whose bank has recovered sees it within seconds. */
const latestAgainMs: Readonly<Record<Rank, number>> = {
  finishes: 600_000,
  payerWaits: 15_000,
  begins: 600_000,
  charges: 600_000,
  repeats: 600_000,
};
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
  const letIn = ({ rank }: Queue): Leave => gate.letIn(rank, letInWaiting);
  const waitIn = (queue: Queue, patienceMs: number) =>
    new Promise<Leave | undefined>((answer) => {
      queue.add(answer, (turnAway) => (patienceMs === Infinity ? () => {} : later(patienceMs, turnAway)));
      letInWaiting();
    });

  function letInWaiting(): void {
    cancelNext?.();
    cancelNext = undefined;
    for (let queue = queues.next(); queue; queue = queues.next()) {
      const ms = gate.msToNext(queue.rank);
      if (ms > 0) {
        if (ms !== Infinity) cancelNext = later(ms, letInWaiting);
        return;
      }
      const next = queue.waiting.shift();
      next?.cancelTimer();
      next?.answer(letIn(queue));
    }
  }

  async function enterIfAllowed(queue: Queue, untilMs: number, mayStill: MayStill) {
    if (queues.isNext(queue) && gate.msToNext(queue.rank) <= 0) {
      queue.forgetTurns();
      return letIn(queue);
    }
    const patienceMs = queues.takes(queue) ? Math.min(longestWaitMs, untilMs - nowMs()) : 0;
    return patienceMs > 0 ? ifMayStill(waitIn(queue, patienceMs), mayStill) : undefined;
  }

  return {
    async enter({ rank, untilMs = Infinity, mayStill = () => true }) {
      const queue = queues.of(rank);
      const entered = await enterIfAllowed(queue, untilMs, mayStill);
      return entered ?? queue.turnAway(nowMs(), gate.msEach(rank), untilMs);
    },
    waiting: queues.waiting,
    stop() {
      cancelNext?.();
      queues.turnAway();
    },
  };
}

async function ifMayStill(
  waiting: Promise<Leave | undefined>,
  mayStill: MayStill,
): Promise<Leave | undefined> {
  const entered = await waiting;
  if (!entered) return undefined;
  try {
    if (await mayStill()) return entered;
  } catch {
    // The job that tries it again finds the reason.
  }
  entered();
  return undefined;
}

type Queue = ReturnType<typeof openQueue>;

function openQueue(rank: Rank, isStopped: () => boolean) {
  const waiting: Waiting[] = [];
  let lastTurnMs = 0;
  return {
    rank,
    waiting,
    add(answer: Waiting['answer'], afterPatience: (turnAway: () => void) => () => void): void {
      const cancelTimer = afterPatience(() => {
        waiting.splice(waiting.indexOf(added), 1);
        answer(undefined);
      });
      const added = { answer, cancelTimer };
      waiting.push(added);
    },
    /** The bank takes what comes, so none is behind those turned away before. */
    forgetTurns: () => void (lastTurnMs = 0),
    /** It comes back after the one that was turned away before, but while it may still be sent. */
    turnAway(now: number, msEach: number, untilMs: number): TurnedAway {
      // Another node may have place.
      if (isStopped()) return { againInMs: soonestAgainMs };
      const turnMs = Math.max(lastTurnMs + msEach, now + soonestAgainMs);
      lastTurnMs = Math.min(turnMs, now + latestAgainMs[rank]);
      const inTimeMs = Math.floor((untilMs - now) / 2);
      return { againInMs: Math.max(Math.min(lastTurnMs - now, inTimeMs), soonestAgainMs) };
    },
  };
}

function openQueues() {
  let isStopped = false;
  const inOrder = ranks.map((rank) => openQueue(rank, () => isStopped));
  return {
    of: (rank: Rank) => inOrder[ranks.indexOf(rank)] as Queue,
    next: () => inOrder.find(({ waiting }) => waiting.length > 0),
    waiting: () => inOrder.reduce((sum, { waiting }) => sum + waiting.length, 0),
    /** None waits that goes before it. */
    isNext: (queue: Queue) =>
      inOrder.slice(0, inOrder.indexOf(queue) + 1).every(({ waiting }) => waiting.length === 0),
    takes: ({ waiting }: Queue) => !isStopped && waiting.length < mostWaiting,
    /** Permanently. */
    turnAway() {
      isStopped = true;
      for (const { cancelTimer, answer } of inOrder.flatMap(({ waiting }) => waiting.splice(0))) {
        cancelTimer();
        answer(undefined);
      }
    },
  };
}

/** Counts what is in progress, and what was let in within a second: of all, and of those that leave place for others. */
function openGate(nowMs: () => number, limits: () => Limits) {
  const all = openCount(nowMs, limits);
  const charges = openCount(nowMs, () => mostOfCharges(limits()));
  const countsOf = (rank: Rank) => (leavesPlace[rank] ? [charges, all] : [all]);
  const largestOf = (rank: Rank, ms: (count: Count) => number) => Math.max(...countsOf(rank).map(ms));
  return {
    /** How long the bank needs for each, as far as known. */
    msEach: (rank: Rank) => largestOf(rank, (count) => count.msEach()),
    /** Infinity until one that is in progress has ended. */
    msToNext: (rank: Rank) => largestOf(rank, (count) => count.msToNext()),
    letIn(rank: Rank, onLeave: () => void): Leave {
      const leaves = countsOf(rank).map((count) => count.letIn());
      let hasLeft = false;
      return () => {
        if (hasLeft) return;
        hasLeft = true;
        for (const leave of leaves) leave();
        onLeave();
      };
    },
  };
}

function mostOfCharges({ perSecond, atOnce }: Limits): Limits {
  const most = (all: number | undefined) =>
    all === undefined ? undefined : Math.max(1, Math.floor((all * 3) / 4));
  return defined({ perSecond: most(perSecond), atOnce: most(atOnce) });
}

type Count = ReturnType<typeof openCount>;

function openCount(nowMs: () => number, limits: () => Limits) {
  let inProgress = 0;
  /** When the latest were let in, oldest first. */
  let enteredMs: number[] = [];
  /** How long the last that ended was in progress. */
  let lastTookMs = 0;
  return {
    msEach(): number {
      const { perSecond = Infinity, atOnce = Infinity } = limits();
      return Math.max(secondMs / perSecond, lastTookMs / atOnce);
    },
    msToNext(): number {
      const { perSecond, atOnce } = limits();
      if (atOnce !== undefined && inProgress >= atOnce) return Infinity;
      if (perSecond === undefined) return 0;
      const now = nowMs();
      // A time in the future is from before the clock was set back.
      enteredMs = enteredMs.filter((entered) => entered <= now && now - entered < secondMs);
      return enteredMs.length < perSecond ? 0 : (enteredMs.at(-perSecond) ?? now) + secondMs - now;
    },
    letIn(): Leave {
      inProgress += 1;
      const startedMs = nowMs();
      if (limits().perSecond !== undefined) enteredMs.push(startedMs);
      return () => {
        inProgress -= 1;
        lastTookMs = Math.max(0, nowMs() - startedMs);
      };
    },
  };
}

function afterTime(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
