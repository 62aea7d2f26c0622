// The order of events: everything that waits for the outside waits here, and only one thing happens at a time.
// The next is picked when no callback is left in the process.
import { toItsEnd } from './stillness.ts';
import { obey, quiet } from './take-over.ts';
import type { Chance } from './chance.ts';
import type { Trace } from './trace.ts';

export type Waiting = {
  /** Who waits. What a node waits for is dropped when it dies. */
  readonly owner: string;
  /** Text for the trace. */
  readonly what: string;
  /** A periodic task, which seldom matters and runs seldom. */
  readonly isPeriodic?: boolean;
  /** Makes it happen. */
  readonly run: () => void | Promise<void>;
};

type Timer = {
  readonly number: number;
  readonly owner: string;
  readonly again: boolean;
  readonly delayMs: number;
  readonly work: () => void;
  dueMs: number;
};

export type Scheduler = {
  nowMs(): number;
  /** Time passes. Timers that become due wait for their turn. */
  pass(ms: number): void;
  wait(waiting: Waiting): void;
  /** Runs the work as that owner, who owns the timers it starts. */
  as<T>(owner: string, work: () => T): T;
  /** What could happen next. */
  choices(): readonly Waiting[];
  letGo(choice: Waiting): Promise<void>;
  /** Drops all that the owner waits for, now and later. */
  forget(owner: string): void;
  /** When the next timer becomes due. */
  nextTimerMs(): number | undefined;
  end(): void;
};

const periodicFromMs = 60_000;

export function openScheduler(options: { startMs: number; chance: Chance; trace: Trace }): Scheduler {
  const { trace } = options;
  let nowMs = options.startMs;
  let owner = 'world';
  let timers: Timer[] = [];
  let timersMade = 0;
  const waiting: Waiting[] = [];
  const gone = new Set<string>();

  obey({
    nowMs: () => nowMs,
    chance: () => options.chance.next(),
    begin(work, delayMs, again) {
      const timer = { number: timersMade++, owner, again, delayMs, work, dueMs: nowMs + delayMs };
      if (!gone.has(owner)) timers.push(timer);
      return () => (timers = timers.filter((other) => other !== timer));
    },
  });

  function fire(timer: Timer): void {
    if (timer.again) timer.dueMs = nowMs + timer.delayMs;
    else timers = timers.filter((other) => other !== timer);
    timer.work();
  }

  const isPeriodic = ({ again, delayMs }: Timer) => again && delayMs >= periodicFromMs;

  /** The first due timer of each owner, as in a process. Each periodic task counts on its own. */
  function dueTimers(): Waiting[] {
    const first = new Map<string, Timer>();
    for (const timer of timers) {
      if (timer.dueMs > nowMs) continue;
      const name = `${timer.owner} ${isPeriodic(timer) ? timer.number : ''}`;
      const other = first.get(name);
      if (!other || timer.dueMs < other.dueMs || (timer.dueMs === other.dueMs && timer.number < other.number))
        first.set(name, timer);
    }
    return [...first.values()].map((timer) => ({
      owner: timer.owner,
      what: `timer of ${timer.delayMs} ms`,
      isPeriodic: isPeriodic(timer),
      run: () => fire(timer),
    }));
  }

  function as<T>(name: string, work: () => T): T {
    const before = owner;
    owner = name;
    try {
      return work();
    } finally {
      owner = before;
    }
  }

  return {
    nowMs: () => nowMs,
    pass: (ms) => void (nowMs += ms),
    wait(thing) {
      if (!gone.has(thing.owner)) waiting.push(thing);
    },
    as,
    choices: () => [...waiting, ...dueTimers()],
    async letGo(choice) {
      const at = waiting.indexOf(choice);
      if (at >= 0) waiting.splice(at, 1);
      trace.add(`${choice.owner}: ${choice.what}`);
      // Callbacks that follow run for the same owner, until none is left.
      owner = choice.owner;
      const running = choice.run();
      if (running) await toItsEnd(`${choice.owner}, which ${choice.what},`, running, quiet);
      await quiet();
      owner = 'world';
    },
    forget(name) {
      gone.add(name);
      timers = timers.filter((timer) => timer.owner !== name);
      for (let at = waiting.length - 1; at >= 0; at--) if (waiting[at]?.owner === name) waiting.splice(at, 1);
    },
    nextTimerMs: () =>
      timers.reduce<number | undefined>(
        (least, { dueMs }) => (dueMs > nowMs && (least === undefined || dueMs < least) ? dueMs : least),
        undefined,
      ),
    end: () => obey(undefined),
  };
}
