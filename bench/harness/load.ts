// Load on a server: in a closed loop, a client sends its next request when the last one has finished.
// In an open loop, requests arrive at a fixed rate, so their latency shows how long people wait.
import { setTimeout as sleep } from 'node:timers/promises';

export type Measured = {
  /** Completed per second. */
  readonly rate: number;
  readonly latenciesMs: readonly number[];
};

export type Work = () => Promise<unknown>;

export async function closedLoop(work: Work, options: { clients: number; ms: number }): Promise<Measured> {
  const latenciesMs: number[] = [];
  const began = performance.now();
  const until = began + options.ms;
  const client = async () => {
    while (performance.now() < until) {
      const since = performance.now();
      await work();
      latenciesMs.push(performance.now() - since);
    }
  };
  await Promise.all(Array.from({ length: options.clients }, client));
  return { rate: latenciesMs.length / ((performance.now() - began) / 1_000), latenciesMs };
}

/** Completed per second, without the start, when nothing can be complete, and the end, when nothing starts. */
export async function steadyRate(work: Work, options: { clients: number; ms: number }): Promise<number> {
  const settleMs = 2_000;
  const from = performance.now() + settleMs;
  let finished = 0;
  const counted = async () => {
    await work();
    const now = performance.now();
    if (now >= from && now < from + options.ms) finished++;
  };
  await closedLoop(counted, { clients: options.clients, ms: settleMs + options.ms });
  return finished / (options.ms / 1_000);
}

/**
 * Latency counts from the time the work was due, so a server that stalls does not slow the load down. No more is begun after the
 * signal or an error.
 */
export async function openLoop(
  work: Work,
  { rate, ms = Infinity, until }: { rate: number; ms?: number; until?: AbortSignal },
): Promise<Measured> {
  const latenciesMs: number[] = [];
  const began = performance.now();
  const running: Promise<void>[] = [];
  const failed = new AbortController();
  const over = until ? AbortSignal.any([failed.signal, until]) : failed.signal;
  const total = Math.floor((rate * ms) / 1_000);
  for (let number = 0; number < total; number++) {
    const due = began + (number * 1_000) / rate;
    const waitMs = due - performance.now();
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: over }).catch(() => undefined);
    if (over.aborted) break;
    const measure = () => void latenciesMs.push(performance.now() - due);
    running.push(
      work()
        .then(measure)
        .catch((error: unknown) => failed.abort(error)),
    );
  }
  await Promise.all(running);
  failed.signal.throwIfAborted();
  return { rate: latenciesMs.length / ((performance.now() - began) / 1_000), latenciesMs };
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** For an even count, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [below = Number.NaN, above = Number.NaN] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return (below + above) / 2;
}
