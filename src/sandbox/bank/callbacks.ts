// Sends the simulated bank's callbacks: a signed message with only the operation ID, repeated until a 2xx.
// Callbacks pending at a crash are lost, as the protocol allows: the receiver also queries the status.
import { epochMsOf, type Clock } from '../../clock.ts';
import { openLink, type Link } from '../../acquiring/adapters/http/link.ts';
import {
  protocolVersion,
  sign,
  signatureHeader,
  versionHeader,
} from '../../acquiring/adapters/http/signature.ts';
import type { FaultOfCallback } from './faults.ts';

export type Callbacks = {
  send(operationId: string, url: string, fault: FaultOfCallback | undefined): void;
  stop(): Promise<void>;
};

/** The delay after the first failed attempt, the second, and so on. */
const retryDelaysMs = [1_000, 5_000, 30_000, 120_000, 600_000];
const lateMs = 15_000;
const connectMs = 2_000;
const answerMs = 5_000;

export function openCallbacks(secret: string, clock: Clock): Callbacks {
  const links = new Map<string, Link>();
  const timers = new Set<NodeJS.Timeout>();
  let stopped = false;

  function later(delayMs: number, work: () => void): void {
    if (stopped) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      work();
    }, delayMs);
    timers.add(timer);
  }

  async function attempt(operationId: string, url: URL, attempts: number): Promise<void> {
    if (stopped) return;
    const link = links.get(url.origin) ?? openLink(url.origin, connectMs);
    links.set(url.origin, link);
    const target = url.pathname + url.search;
    const body = Buffer.from(JSON.stringify({ operationId }));
    const nowSeconds = Math.floor(epochMsOf(clock.now()) / 1000);
    const exchange = await link.ask({
      method: 'POST',
      target,
      headers: {
        'content-type': 'application/json',
        [versionHeader]: protocolVersion,
        [signatureHeader]: sign(secret, { method: 'POST', target, body }, nowSeconds),
      },
      body,
      answerMs,
    });
    const isTaken = exchange.kind === 'answer' && exchange.status >= 200 && exchange.status < 300;
    const delayMs = retryDelaysMs[attempts];
    if (!isTaken && delayMs !== undefined) {
      later(delayMs, () => void attempt(operationId, url, attempts + 1));
    }
  }

  return {
    send(operationId, text, fault) {
      if (fault === 'lost-callback' || !URL.canParse(text)) return;
      const url = new URL(text);
      const begin = () => void attempt(operationId, url, 0);
      if (fault === 'late-callback') return later(lateMs, begin);
      begin();
      if (fault === 'duplicate-callback') begin();
    },
    async stop() {
      stopped = true;
      timers.forEach(clearTimeout);
      await Promise.all([...links.values()].map((link) => link.stop()));
    },
  };
}
