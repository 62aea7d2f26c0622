// The banks this node has found unreachable: new payments avoid such a bank for 10 s, then one of them probes it.
// Kept in memory only, so each node pays one failed attempt, and a restart forgets it.
import type { BankResponse } from './domain/bank-port.ts';

export type BankHealth = {
  /** False while the bank is unreachable. After the pause, the first caller gets true and becomes the probe. */
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
      // Only a response proves that the bank is back.
      else if (answer.outcome !== 'notSent' && answer.outcome !== 'unknown') awayUntilMs.delete(bankId);
    },
  };
}
