// What the bank's answers mean for a withdrawal. A payout cannot be taken back: an answer that proves nothing leaves the money set
// aside and the withdrawal pending, however long it takes.
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { epochMsOf, laterBy, type Instant } from '../../clock.ts';
import { failureOfDecline } from './payout-failure.ts';
import type { Withdrawal, WithdrawalEnd } from './withdrawal.ts';

export type Interpretation =
  | { readonly fact: WithdrawalEnd }
  | { readonly again: Instant; readonly why: string }
  /** Nobody knows, and it has been asked for long enough: an operator has to find out. */
  | { readonly unknown: string };

export function interpret(withdrawal: Withdrawal, answer: BankResponse, now: Instant): Interpretation {
  switch (answer.outcome) {
    case 'approved':
      return { fact: { type: 'withdrawal_succeeded', reference: answer.reference } };
    case 'declined':
      return { fact: { type: 'withdrawal_failed', failure: failureOfDecline(answer) } };
    case 'notFound':
      return { unknown: 'the bank does not find what it was sent' };
    case 'pending':
    case 'payerNeeded':
      return notYet(withdrawal, now, `the bank says ${answer.outcome}`);
    case 'unknown':
    case 'notSent':
      return notYet(withdrawal, now, answer.why);
  }
}

/**
 * May not be sent any more since somebody was blocked. That ends nothing: what a bank has not seen by now may be on its way there,
 * and would be paid. An operator ends it, or has it sent when nobody is blocked any more.
 */
export function blockedOutcome(withdrawal: Withdrawal, now: Instant): Interpretation {
  return notYet(withdrawal, now, 'its wallet or its destination is blocked, and the bank has not seen it');
}

const firstPauseMs = 1_000;
const longestPauseMs = 60 * 60_000;
const timeoutMs = 24 * 60 * 60_000;

/** Asked again after as long as it has taken so far, at most an hour, for a day. */
function notYet({ createdAt }: Withdrawal, now: Instant, why: string): Interpretation {
  const elapsedMs = epochMsOf(now) - epochMsOf(createdAt);
  if (elapsedMs >= timeoutMs) return { unknown: why };
  return { again: laterBy(now, Math.min(Math.max(elapsedMs, firstPauseMs), longestPauseMs)), why };
}
