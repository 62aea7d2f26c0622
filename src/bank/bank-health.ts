// Which banks are away, as this node has found: where an operation could not even begin to be sent, new payments go elsewhere for
// a while. Then one of them tries, and its answer says for all how it is. In memory alone: each node finds out by itself, at
// the price of one attempt that is turned away, and a restart forgets.
import type { Bank, BankAnswer } from './bank.ts';

export type BankHealth = {
  /** False while it is known to be away. Who is told true when it may be back is the one who tries. */
  mayTry(bankId: string): boolean;
  /** The same bank, heard by us. */
  watched<B extends Bank>(bankId: string, bank: B): B;
};

const awayMs = 10_000;

export function openBankHealth(nowMs: () => number): BankHealth {
  const awayUntilMs = new Map<string, number>();

  function hear(bankId: string, answer: BankAnswer): void {
    if (answer.outcome === 'notSent' && answer.nothingLeft) awayUntilMs.set(bankId, nowMs() + awayMs);
    // Only an answer shows that it is back; a silence shows nothing.
    else if (answer.outcome !== 'notSent' && answer.outcome !== 'unknown') awayUntilMs.delete(bankId);
  }

  return {
    mayTry(bankId) {
      const until = awayUntilMs.get(bankId);
      if (until === undefined) return true;
      if (nowMs() < until) return false;
      awayUntilMs.set(bankId, nowMs() + awayMs);
      return true;
    },
    watched(bankId, bank) {
      return {
        ...bank,
        async send(operation) {
          const answer = await bank.send(operation);
          hear(bankId, answer);
          return answer;
        },
        async inquire(operationId, terminal) {
          const answer = await bank.inquire(operationId, terminal);
          hear(bankId, answer);
          return answer;
        },
      };
    },
  };
}
