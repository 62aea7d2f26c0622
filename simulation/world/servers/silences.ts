// Payments whose bank said nothing when it was last asked, so that only the bank knows their outcome.
import type { Exchange } from '../../../src/acquiring/adapters/http/link.ts';
import type { Silence } from '../../checks/world.ts';

export type Silences = {
  /** A request about that operation leaves, and the function takes what the node hears of it. */
  asks(operationId: string): Promise<(heard: Exchange) => void>;
  open(): readonly Silence[];
};

const ofPayment = /^([^.]+\.\d+)\.[^.]+$/;

export function openSilences(options: {
  nowMs: () => number;
  /** The version of that payment, or undefined if there is none. */
  versionOf: (payment: string) => Promise<number | undefined>;
}): Silences {
  const { nowMs, versionOf } = options;
  const silent = new Map<string, { readonly version: number; readonly sinceMs: number }>();
  /** How many requests had left when the last answer about a payment came. A later silence about one of them says nothing. */
  const answeredAt = new Map<string, number>();
  let left = 0;
  return {
    async asks(operationId) {
      const [, payment = ''] = ofPayment.exec(operationId) ?? [];
      const version = payment === '' ? undefined : await versionOf(payment);
      if (version === undefined) return () => undefined;
      const asked = ++left;
      return (heard) => {
        if (isAnswer(heard)) {
          answeredAt.set(payment, left);
          silent.delete(payment);
        } else if (isSilence(heard) && asked > (answeredAt.get(payment) ?? 0)) {
          const known = silent.get(payment);
          if (known?.version !== version) silent.set(payment, { version, sinceMs: nowMs() });
        }
      };
    },
    open: () =>
      [...silent].map(([payment, { version, sinceMs }]) => ({
        payment,
        as_of: version,
        for_ms: nowMs() - sinceMs,
      })),
  };
}

/** The bank may have received it, and says nothing that can be read. */
function isSilence(heard: Exchange): boolean {
  return heard.kind === 'nothing' ? heard.written : heard.status === 502;
}

/** A bank that is busy answers 503, which says nothing about what it had received before. */
function isAnswer(heard: Exchange): boolean {
  return heard.kind === 'answer' && heard.status !== 502 && heard.status !== 503;
}
