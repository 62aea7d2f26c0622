// Waits for what a job finds out, and holds nothing between two reads. A job of this node wakes those who wait for its row; what
// another node writes is found by reading again.
import { idOf } from './job-table.ts';

/** Resolves after that time. Tests replace it, and let the jobs run instead. */
export type Pause = (ms: number) => Promise<void>;

export const realPause: Pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The table of a job, and the key of its row. */
export type JobRow = readonly [table: string, key: readonly string[]];

const firstPauseMs = 50;
const longestPauseMs = 500;

export type Waits = ReturnType<typeof openWaits>;

export function openWaits({
  pause,
  nowMs,
}: {
  readonly pause: Pause;
  /** Never goes back. */
  readonly nowMs: () => number;
}) {
  const waiting: Waiting = new Map();
  const isStopped = new AbortController();

  return {
    /** The job of the row has run on this node. */
    wake(table: string, key: readonly string[]): void {
      for (const ring of waiting.get(nameOf([table, key])) ?? []) ring();
    },
    isStopped: () => isStopped.signal.aborted,
    /** Ends all waits, after a last read each. */
    stop: () => isStopped.abort(),
    /** What was read last: after `forMs`, or when the waiting has ended, it may not be over. */
    async readUntil<T>(
      row: JobRow,
      read: () => Promise<T>,
      isOver: (found: T) => boolean,
      { forMs, ended }: { readonly forMs: number; readonly ended?: AbortSignal },
    ): Promise<T> {
      const endings = ended ? [ended, isStopped.signal] : [isStopped.signal];
      const alarm = openAlarm(waiting, row, endings);
      try {
        const startedMs = nowMs();
        let found = await read();
        let [nextMs, pausedMs] = [firstPauseMs, 0];
        const leftMs = () => forMs - Math.max(pausedMs, nowMs() - startedMs);
        while (!isOver(found) && leftMs() > 0 && !endings.some(({ aborted }) => aborted)) {
          nextMs = Math.min(nextMs, leftMs());
          if (!(await alarm.rung(pause(nextMs)))) pausedMs += nextMs;
          found = await read();
          nextMs = Math.min(nextMs * 2, longestPauseMs);
        }
        return found;
      } finally {
        alarm.close();
      }
    },
  };
}

type Waiting = Map<string, Set<() => void>>;

/** Rings from the moment it is opened, so that no write is missed between a read and the pause after it. */
function openAlarm(waiting: Waiting, row: JobRow, endings: readonly AbortSignal[]) {
  const name = nameOf(row);
  const others = waiting.get(name) ?? new Set();
  waiting.set(name, others);
  let hasRung = false;
  let wake = () => {};
  const ring = () => {
    hasRung = true;
    wake();
  };
  others.add(ring);
  for (const signal of endings) signal.addEventListener('abort', ring);
  return {
    /** Whether it has rung before the pause was over. */
    async rung(pause: Promise<void>): Promise<boolean> {
      const woken = new Promise<void>((resolve) => (wake = resolve));
      if (!hasRung) await Promise.race([woken, pause]);
      const is = hasRung;
      hasRung = false;
      return is;
    },
    close(): void {
      others.delete(ring);
      if (others.size === 0) waiting.delete(name);
      for (const signal of endings) signal.removeEventListener('abort', ring);
    },
  };
}

function nameOf([table, key]: JobRow): string {
  return `${table} ${idOf(key)}`;
}
