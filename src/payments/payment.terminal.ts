// Fail-over: when a payment that was never sent goes to another terminal of its shop. Pure, and the strictest rule of the house:
// what may have reached one bank is never sent to another, whatever became of it.
import type { BankAnswer, Terminal } from '../bank/bank.ts';
import type { Instant } from '../clock.ts';
import type { Payment, PaymentFact } from './payment.ts';

export type Rerouted = PaymentFact & { readonly type: 'payment_rerouted' };

/**
 * Whether the payment may be sent elsewhere now. Only the node that made it knows, and only while it is at its very first
 * attempt: whoever comes later cannot tell what the one before him has sent. That nobody has come meanwhile is for the
 * store to see (payment.terminal.store.ts).
 */
export function mayMove(payment: Payment, answer: BankAnswer, attempt: number, now: Instant): boolean {
  const neverSent = answer.outcome === 'notSent' && answer.nothingLeft === true;
  return neverSent && attempt === 1 && payment.state.name === 'authorising' && now < payment.deadline;
}

export function movedTo(terminal: Terminal, answer: BankAnswer): Rerouted {
  return { type: 'payment_rerouted', terminal, why: 'why' in answer ? answer.why : answer.outcome };
}
