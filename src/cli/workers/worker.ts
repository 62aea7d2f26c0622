// A node that is one of several workers, as its supervisor sees it.
import cluster from 'node:cluster';
import { answerClusterMetrics } from '../../platform/http/metrics.ts';
import { isOf, type FromSupervisor, type FromWorker } from './messages.ts';

export type WorkerLink = {
  /** The others start after it. */
  readonly isFirst: boolean;
  reportServing(address: string): void;
  /** Whether all workers have served once. */
  isComplete(): boolean;
  /** The metrics of all workers together. */
  renderMetrics(): Promise<string>;
  /** Lets the process end: the link to the supervisor would keep it. */
  leave(): void;
};

/** Undefined in a node without workers. */
export function openWorkerLink(): WorkerLink | undefined {
  const { worker } = cluster;
  if (!worker) return undefined;
  // A terminal sends it to all processes. The supervisor passes it on, and a second signal would end the worker at once.
  process.on('SIGINT', () => {});
  answerClusterMetrics();
  let isComplete = false;
  let requests = 0;
  const waiting = new Map<number, (text: string | undefined) => void>();
  process.on('message', (message: unknown) => {
    if (isOf<FromSupervisor, 'complete'>(message, 'complete')) isComplete = true;
    if (!isOf<FromSupervisor, 'metrics'>(message, 'metrics')) return;
    waiting.get(message.request)?.(message.text);
    waiting.delete(message.request);
  });
  const send = (message: FromWorker) => void worker.send(message);
  return {
    isFirst: worker.id === 1,
    reportServing: (address) => send({ mandate: 'serving', address }),
    isComplete: () => isComplete,
    leave: () => worker.disconnect(),
    async renderMetrics() {
      const request = ++requests;
      const text = await new Promise<string | undefined>((resolve) => {
        waiting.set(request, resolve);
        send({ mandate: 'renderMetrics', request });
      });
      if (text === undefined) throw new Error('A worker did not answer with its metrics.');
      return text;
    },
  };
}
