// Which banks are away, as this node has found: where an operation could not even begin to be sent, new payments go elsewhere for
// a while. Then one of them tries, and its answer says for all how it is. In memory alone: each node finds out by itself, at
// the price of one attempt that is turned away, and a restart forgets.
import type { BankResponse } from './domain/bank-port.ts';

export type BankHealth = {
  /** False while it is known to be away. Who is told true when it may be back is the one who tries. */
  mayTry(bankId: string): boolean;
  hear(bankId: string, answer: BankResponse): void;
};

const awayMs = 10_000;

export function openBankHealth(nowMs: () => number): BankHealth {
  const awayUntilMs = new Map<string, number>();

  return {
    mayTry(bankId) {
      const until = awayUntilMs.get(bankId);
      if (until === undefined) return true;
      if (nowMs() < until) return false;
      awayUntilMs.set(bankId, nowMs() + awayMs);
      return true;
    },
    hear(bankId, answer) {
      if (answer.outcome === 'notSent' && answer.noBytesSent) awayUntilMs.set(bankId, nowMs() + awayMs);
      // Only an answer shows that it is back; a silence shows nothing.
      else if (answer.outcome !== 'notSent' && answer.outcome !== 'unknown') awayUntilMs.delete(bankId);
    },
  };
}
