// mandate serve with WORKERS: this process starts that many nodes behind one port, replaces one that ends, and passes signals on.
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { leastConnections } from '../../app/settings/settings.ts';
import type { Config } from '../../app/config.ts';
import type { Logger } from '../../platform/log.ts';
import { openClusterMetrics } from '../../platform/http/metrics.ts';
import { isOf, type FromSupervisor, type FromWorker } from './messages.ts';

/** A worker that lived so long did not fail at its start. */
const soundMs = 60_000;
const pauseMs = { first: 500, longest: 30_000 };

type Shared = Pick<Config, 'workers' | 'databaseConnections' | 'requestsPerSecond'>;

/** How many, when each needs connections of its own. */
export function workersOf({ workers, databaseConnections }: Shared, cores = availableParallelism()): number {
  const most = Math.floor(databaseConnections / leastConnections);
  if (workers === 'auto') return Math.max(1, Math.min(cores, most));
  if (workers > most && workers > 1)
    throw new Error(
      `WORKERS=${workers} needs DATABASE_CONNECTIONS of ${workers * leastConnections} or more: each worker opens at least ${leastConnections}.`,
    );
  return workers;
}

/** What all workers together may use is shared out. 0 is no limit. */
export function settingsOfWorker(
  { databaseConnections, requestsPerSecond }: Omit<Shared, 'workers'>,
  workers: number,
): Record<string, string> {
  const share = (whole: number) => String(whole === 0 ? 0 : Math.max(1, Math.floor(whole / workers)));
  return {
    WORKERS: String(workers),
    DATABASE_CONNECTIONS: share(databaseConnections),
    REQUESTS_PER_SECOND: share(requestsPerSecond),
  };
}

/** Undefined when the limit can be shared out. */
export function warningOf(
  { requestsPerSecond }: Pick<Shared, 'requestsPerSecond'>,
  workers: number,
): string | undefined {
  if (requestsPerSecond === 0 || requestsPerSecond >= workers) return undefined;
  return `REQUESTS_PER_SECOND=${requestsPerSecond} is less than ${workers} workers: each takes one, so together they take ${workers}`;
}

/** Resolves with the exit code, once all workers have ended. */
export async function superviseWorkers(
  config: Pick<Config, 'mode' | 'databaseConnections' | 'requestsPerSecond'>,
  workers: number,
  log: Logger,
  pause: (ms: number) => Promise<unknown> = sleep,
): Promise<number> {
  const environment = settingsOfWorker(config, workers);
  const warning = warningOf(config, workers);
  if (warning !== undefined) log.warn(warning);
  const metrics = openClusterMetrics();
  const living = new Set<Worker>();
  const serving = new Set<Worker>();
  /** Workers that are to end. */
  const leaving = new Set<Worker>();
  /** It has a successor, so it does not count as one of those wanted. */
  let replaced: Worker | undefined;
  let isStopping = false;
  let isComplete = false;
  let failures = 0;
  let exitCode = 0;
  let onAllEnded = () => {};
  const allEnded = new Promise<void>((resolve) => (onAllEnded = resolve));

  cluster.on('message', (worker: Worker, message: unknown) => {
    if (isOf<FromWorker, 'renderMetrics'>(message, 'renderMetrics')) void renderFor(worker, message.request);
  });

  async function renderFor(worker: Worker, request: number): Promise<void> {
    const text = await metrics.render().catch(() => undefined);
    const rendered: FromSupervisor = { mandate: 'metrics', request, ...(text === undefined ? {} : { text }) };
    if (worker.isConnected()) worker.send(rendered);
  }

  /** Resolves when it serves, or has ended before. */
  function start(): Promise<'serves' | 'ended'> {
    const startedMs = performance.now();
    const worker = cluster.fork(environment);
    living.add(worker);
    worker.once('exit', (code, signal) => onExit(worker, startedMs, code, signal));
    worker.on('error', (error) => {
      log.error({ worker: worker.id, error }, 'worker failed');
      // It never ran. Node emits no exit for it.
      if (worker.process.pid === undefined) worker.process.emit('exit', 1, null);
    });
    return new Promise((resolve) => {
      worker.once('exit', () => resolve('ended'));
      worker.on('message', (message: unknown) => {
        if (!isOf<FromWorker, 'serving'>(message, 'serving')) return;
        onServing(worker, message.address);
        resolve('serves');
      });
    });
  }

  function onServing(worker: Worker, address: string): void {
    serving.add(worker);
    log.info({ worker: worker.id, pid: worker.process.pid }, 'worker serves');
    if (isComplete) return sendComplete(worker);
    if (serving.size < workers || isStopping) return;
    isComplete = true;
    serving.forEach(sendComplete);
    log.info({ address, mode: config.mode, pid: process.pid, workers }, 'ready');
  }

  function onExit(worker: Worker, startedMs: number, code: number | null, signal: string | null): void {
    living.delete(worker);
    serving.delete(worker);
    const isExpected = leaving.delete(worker) || isStopping;
    // It may end by the signal before it listens to it.
    const isClean = isExpected && (code === 0 || signal === 'SIGTERM');
    if (!isClean) exitCode ||= code || 1;
    if (!isExpected) log.error({ worker: worker.id, pid: worker.process.pid, code, signal }, 'worker ended');
    if (living.size === 0) return onAllEnded();
    if (isExpected) return;
    failures = performance.now() - startedMs > soundMs ? 0 : failures + 1;
    void replaceLater(Math.min(pauseMs.longest, pauseMs.first * 2 ** failures));
  }

  async function replaceLater(ms: number): Promise<void> {
    await pause(ms);
    if (isStopping || living.size === 0) return;
    exitCode = 0;
    const staying = replaced && living.has(replaced) ? living.size - 1 : living.size;
    if (staying < workers) await start();
  }

  function sendComplete(worker: Worker): void {
    const complete: FromSupervisor = { mandate: 'complete' };
    worker.send(complete);
  }

  /** One after the other, each once its successor serves. */
  async function restartAll(): Promise<void> {
    for (const old of Array.from(living)) {
      if (isStopping) return;
      // Its replacement is as new.
      if (!living.has(old)) continue;
      replaced = old;
      const outcome = await start();
      if (isStopping) return;
      if (outcome === 'ended') return log.error('a new worker did not start; the others stay');
      if (!living.has(old)) continue;
      leaving.add(old);
      old.process.kill('SIGTERM');
      await once(old, 'exit');
    }
    log.info('workers restarted');
  }

  function stop(signal: string): void {
    log.info({ signal }, isStopping ? 'ending now' : 'shutting down');
    isStopping = true;
    for (const worker of living) worker.process.kill('SIGTERM');
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);
  let restarting: Promise<void> | undefined;
  process.on(
    'SIGUSR2',
    () => void (restarting ??= restartAll().finally(() => (restarting = replaced = undefined))),
  );

  // The first one brings the database up to date, and in a sandbox starts PostgreSQL and the bank.
  await start();
  if (living.size > 0 && !isStopping) for (let more = 1; more < workers; more++) void start();
  await allEnded;
  return exitCode;
}
