// A merchant's server that repeats a request without a response on any node, under the same key, until it gets one.
// It records the responses, because what they assure must stay true.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Acknowledged } from '../checks/index.ts';

const answerWithinMs = 8_000;
const pauseMs = 150;

/** The client was stopped while a request had no response. */
export class Stopped extends Error {}

export type Client = {
  readonly acknowledged: readonly Acknowledged[];
  readonly troubles: { readonly serverErrors: number; readonly unanswered: number };
  /** The body of the response; undefined for a refusal. */
  call(method: string, path: string, body?: unknown): Promise<any>;
  /** Polls until the status is another one, and answers that. */
  leaves(path: string, status: string): Promise<string | undefined>;
  /** Requests without a response end with `Stopped`. */
  stop(): void;
  readonly isRunning: boolean;
};

export function openClient(nodes: readonly string[], apiKey: string): Client {
  const acknowledged: Acknowledged[] = [];
  const troubles = { serverErrors: 0, unanswered: 0 };
  let isRunning = true;
  let requests = 0;

  async function ask(method: string, path: string, key: string, body: unknown) {
    const node = Math.floor(Math.random() * nodes.length);
    const headers: Record<string, string> = {
      authorization: `Bearer ${apiKey}`,
      'x-request-id': key,
      ...(method === 'GET' ? {} : { 'idempotency-key': key }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    try {
      const answer = await fetch(`${nodes[node]}${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(answerWithinMs),
      });
      const text = await answer.text();
      return { status: answer.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
    } catch {
      return undefined; // unreachable, or the response was lost
    }
  }

  const client: Client = {
    acknowledged,
    troubles,
    get isRunning() {
      return isRunning;
    },
    async call(method, path, body) {
      // An idempotency key belongs to an API key, so every node gets the same one.
      const key = `torture-${process.pid}-${requests++}`;
      for (let attempt = 0; isRunning; attempt++) {
        if (attempt > 0) await sleep(pauseMs);
        const answer = await ask(method, path, key, body);
        if (!answer) troubles.unanswered += 1;
        else if (answer.status >= 500) troubles.serverErrors += 1;
        // Another request under the same key is in progress, or it is too early.
        else if (answer.status !== 409 && answer.status !== 429) {
          if (answer.status >= 300) return undefined;
          acknowledged.push({ method, path, ...answer, at: new Date().toISOString() });
          return answer.body ?? {};
        }
      }
      throw new Stopped();
    },
    async leaves(path, status) {
      for (let looks = 0; looks < 100; looks++) {
        const now = (await client.call('GET', path))?.status;
        if (now !== status) return now;
        await sleep(pauseMs);
      }
      return undefined;
    },
    stop: () => void (isRunning = false),
  };
  return client;
}
