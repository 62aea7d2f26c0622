// What the bank's responses mean for a withdrawal. A payout cannot be undone, so a response that proves nothing leaves the
// money reserved and the withdrawal pending, however long it takes.
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { bankWordsOf } from '../../acquiring/domain/bank-words.ts';
import { epochMsOf, laterBy, type Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { failureOfDecline } from './payout-failure.ts';
import type { Withdrawal, WithdrawalEnd } from './withdrawal.ts';

export type Interpretation =
  | { readonly fact: WithdrawalEnd }
  | { readonly again: Instant; readonly why: string }
  /** The outcome is unknown after a day of queries: the job fails, and an operator has to find out. Or the bank takes no more now. */
  | { readonly unknown: string };

export function interpret(withdrawal: Withdrawal, answer: BankResponse, now: Instant): Interpretation {
  switch (answer.outcome) {
    case 'approved': {
      const { reference, availableBy } = answer;
      return { fact: { type: 'withdrawal_succeeded', reference, ...defined({ availableBy }) } };
    }
    case 'declined':
      return {
        fact: { type: 'withdrawal_failed', failure: failureOfDecline(answer), ...bankWordsOf(answer) },
      };
    case 'notFound':
      return { unknown: whyNotFound };
    case 'pending':
    case 'payerNeeded':
      return notYet(withdrawal, now, `the bank answered ${answer.outcome}`);
    case 'unknown':
    case 'notSent':
      // It was not sent, and waits for its turn.
      if ('turnedAway' in answer) return { unknown: answer.why };
      return notYet(withdrawal, now, answer.why);
  }
}

/** No proof: the request may still be on its way, or the bank may have forgotten it. */
export const whyNotFound = 'the bank does not find the payout, which may have been sent';

export const whyBlocked =
  'the wallet or the destination is blocked, and the bank has not received the payout';

/**
 * The payout may no longer be sent because its wallet or destination is blocked. It stays pending, because an earlier request
 * may still reach the bank: an operator resolves it, or retries it once the block is lifted.
 */
export function blockedOutcome(withdrawal: Withdrawal, now: Instant): Interpretation {
  return notYet(withdrawal, now, whyBlocked);
}

const firstPauseMs = 1_000;
const longestPauseMs = 60 * 60_000;
const timeoutMs = 24 * 60 * 60_000;

/** Queries again after as long as it has taken so far, at most an hour. Gives up after a day. */
function notYet({ createdAt }: Withdrawal, now: Instant, why: string): Interpretation {
  const elapsedMs = epochMsOf(now) - epochMsOf(createdAt);
  if (elapsedMs >= timeoutMs) return { unknown: why };
  return { again: laterBy(now, Math.min(Math.max(elapsedMs, firstPauseMs), longestPauseMs)), why };
}
