// The order of everything. Whatever waits for the outside waits here; one thing at a time is let go, and the next is chosen
// when the process is quiet again. Nothing else moves.
import { obey, quiet } from './take-over.ts';
import type { Chance } from './chance.ts';
import type { Trace } from './trace.ts';

export type Waiting = {
  /** Who waits: a node that dies takes what it waits for along. */
  readonly owner: string;
  /** In words, for the trace. */
  readonly what: string;
  /** A chore that comes round again and again, and is seldom what matters. */
  readonly isChore?: boolean;
  /** Lets it happen. */
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
  /** Time passes; what falls due meanwhile waits to be let go. */
  pass(ms: number): void;
  wait(waiting: Waiting): void;
  /** In whose name things begin from here on. */
  as<T>(owner: string, work: () => T): T;
  /** What could happen next. */
  choices(): readonly Waiting[];
  letGo(choice: Waiting): Promise<void>;
  /** He is gone: what he waits for never comes, and he never waits for anything again. */
  forget(owner: string): void;
  /** When the next timer is due that is not due yet. */
  nextTimerMs(): number | undefined;
  end(): void;
};

const choreEveryMs = 60_000;

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

  const isChore = ({ again, delayMs }: Timer) => again && delayMs >= choreEveryMs;

  /** Of each owner the timer that is due first, as it would be in a process; chores apart. */
  function dueTimers(): Waiting[] {
    const first = new Map<string, Timer>();
    for (const timer of timers) {
      if (timer.dueMs > nowMs) continue;
      const name = `${timer.owner} ${isChore(timer) ? timer.number : ''}`;
      const other = first.get(name);
      if (!other || timer.dueMs < other.dueMs || (timer.dueMs === other.dueMs && timer.number < other.number))
        first.set(name, timer);
    }
    return [...first.values()].map((timer) => ({
      owner: timer.owner,
      what: `timer of ${timer.delayMs} ms`,
      isChore: isChore(timer),
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
      // What goes on in the turns that follow goes on in the same name, until all is quiet.
      owner = choice.owner;
      await choice.run();
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
