// Polls the events of the task while it is in progress: immediately, then every second, then every five.
// A poll that a lost connection swallows is repeated.
import type { Progress } from './progress.ts';
import { after, nothingYet } from './progress.ts';
import type { Task } from './task.ts';

export type Follower = {
  /** Polls now: an event is likely. */
  hurry(): void;
  /** Stops polling while nothing is in progress. */
  rest(): void;
};

/** Most banks answer within the first second. */
const soonMs = 150;
const everyMs = 1_000;
/** After a minute in which nothing happened. */
const slowEveryMs = 5_000;
const roundMs = 60_000;

export function follow(
  task: Task,
  told: {
    progressed(progress: Progress): void;
    /** Whether the service can be reached. */
    connected(isConnected: boolean): void;
    /** It takes longer than it should. */
    slow(): void;
    stranger(): void;
  },
): Follower {
  let progress = nothingYet;
  let timer: number | undefined;
  let isAsking = false;
  let isWanted = false;
  let isResting = false;
  let quietSinceMs = performance.now();
  let pauseMs = soonMs;

  async function look(): Promise<void> {
    clearTimeout(timer);
    isWanted = isAsking;
    if (isAsking) return;
    isAsking = true;
    const answer = await task.events(progress.lastEventId);
    isAsking = false;
    if (answer.came === 'stranger') return told.stranger();
    told.connected(answer.came !== 'nothing');
    if (answer.came === 'body' && (answer.body.length > 0 || progress.lastEventId === 0)) {
      progress = after(progress, answer.body);
      quietSinceMs = performance.now();
      told.progressed(progress);
    }
    const quietMs = performance.now() - quietSinceMs;
    if (quietMs > roundMs) told.slow();
    if (isWanted) return void look();
    if (isResting && answer.came === 'body') return;
    pauseMs = quietMs > roundMs ? slowEveryMs : Math.min(everyMs, pauseMs * 1.5);
    timer = setTimeout(look, answer.came === 'body' ? pauseMs : Math.max(everyMs, pauseMs));
  }

  const hurry = () => {
    isResting = false;
    quietSinceMs = performance.now();
    pauseMs = soonMs;
    void look();
  };
  addEventListener('online', hurry);
  // Meanwhile another window may have paid.
  addEventListener('focus', () => void look());
  document.addEventListener('visibilitychange', () => void (document.hidden || look()));
  // A page restored from the browser's history shows an old state.
  addEventListener('pageshow', (event) => event.persisted && hurry());
  void look();
  return { hurry, rest: () => void (isResting = true) };
}
