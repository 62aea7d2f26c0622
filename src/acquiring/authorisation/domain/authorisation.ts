// What a bank response means for an authorisation. A payment and a binding translate it into facts of their own; a response that
// proves nothing changes nothing.
import { earliest, laterBy, type Instant } from '../../../clock.ts';
import type { BankResponse, Declined, Interaction } from '../../domain/bank-port.ts';
import { approvalOf, type Approval } from './approval.ts';
import { pollIntervalMs, type Challenged } from './challenge.ts';
import { threeDsNotFinished, type PaymentFailure } from './payment-failure.ts';

/** How long a payer has to complete a challenge. */
const challengeMs = 10 * 60_000;

/** A payer who has waited longer has left, and may be paying in another way. */
const afterPayerActedMs = 3 * 60_000;

export type Authorisation = {
  readonly state: { readonly name: 'authorising' } | Pick<Challenged, 'name' | 'until'>;
  /** Until when it may be sent. */
  readonly sendUntil: Instant;
  /** By when it must have an outcome. */
  readonly deadline: Instant;
  /** The failure if it has none by then. */
  readonly whenLate: PaymentFailure;
};

export type AuthorisationOutcome =
  | { readonly outcome: 'approved'; readonly approval: Approval }
  | Declined
  /** The payer has to visit a page, until that time. */
  | { readonly outcome: 'challenged'; readonly interaction: Interaction; readonly until: Instant }
  /** Time is up without proof. The charge is reversed before it fails, whatever the bank did or still does. */
  | { readonly outcome: 'tooLate'; readonly failure: PaymentFailure };

export type NotFinal =
  | { readonly again: Instant }
  /** An unknown outcome: the job is retried with growing delays, then stuck. */
  | { readonly unknown: string };

/** Until when an authorisation is sent: without a payer, until the deadline. Then the bank is only asked, and the charge taken back. */
export function sendUntil({
  payerActedAt,
  deadline,
}: {
  readonly payerActedAt?: Instant;
  readonly deadline: Instant;
}): Instant {
  if (payerActedAt === undefined) return deadline;
  const patience = laterBy(payerActedAt, afterPayerActedMs);
  return patience < deadline ? patience : deadline;
}

export function interpretAuthorisation(
  authorisation: Authorisation,
  answer: BankResponse,
  now: Instant,
): AuthorisationOutcome | NotFinal {
  const { state, sendUntil, deadline, whenLate } = authorisation;
  if (answer.outcome === 'approved') return { outcome: 'approved', approval: approvalOf(answer) };
  if (answer.outcome === 'declined') return answer;

  const isChallenged = state.name === 'challenged';
  const isNeverSent = !isChallenged && answer.outcome === 'notFound';
  if (now >= (isChallenged ? state.until : deadline) || (isNeverSent && now >= sendUntil))
    return { outcome: 'tooLate', failure: isChallenged ? threeDsNotFinished : whenLate };
  if (answer.outcome !== 'payerNeeded') return notFinal(answer, now);
  if (isChallenged) return { again: laterBy(now, pollIntervalMs) };
  return {
    outcome: 'challenged',
    interaction: answer.interaction,
    until: earliest(laterBy(now, challengeMs), deadline),
  };
}

export function isNotFinal(meaning: object): meaning is NotFinal {
  return 'again' in meaning || 'unknown' in meaning;
}

/** Where a decline is not expected, it proves nothing, and an operator finds out what the bank holds. */
export function notFinal(answer: BankResponse, now: Instant): NotFinal {
  switch (answer.outcome) {
    case 'pending':
      return { again: laterBy(now, pollIntervalMs) };
    case 'unknown':
    case 'notSent':
      return { unknown: answer.why };
    case 'declined':
      return { unknown: `the bank declined with code ${answer.code}` };
    default:
      return { unknown: `the bank returned ${answer.outcome}` };
  }
}
