// Reports each request to a bank, its response and its duration to a listener, for metrics and bank health.
import type { Bank, BankResponse, BankOperation } from '../domain/bank-port.ts';

export type Asked = BankOperation['kind'] | 'inquire' | 'resume';
export type Listener = (asked: Asked, answer: BankResponse, seconds: number) => void;

/** Keeps the other methods of the adapter. */
export function observed<B extends Bank>(bank: B, hear: Listener): B {
  async function timed(asked: Asked, answering: Promise<BankResponse>): Promise<BankResponse> {
    const startedAtMs = performance.now();
    const answer = await answering;
    hear(asked, answer, (performance.now() - startedAtMs) / 1000);
    return answer;
  }
  return {
    ...bank,
    send: (operation, ...limits) => timed(operation.kind, bank.send(operation, ...limits)),
    inquire: (operation) => timed('inquire', bank.inquire(operation)),
    resume: (operation, returned) => timed('resume', bank.resume(operation, returned)),
  };
}
