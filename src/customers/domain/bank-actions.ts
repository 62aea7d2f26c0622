// What the bank is asked about a binding, and what its answers mean. Both follow from the state and the time alone, so that a
// crash between two steps loses nothing. An answer that proves nothing changes nothing; nothing is sent under a second name.
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { laterBy, type Instant } from '../../clock.ts';
import type { Money } from '../../money.ts';
import { approvalOf, notFinal } from '../../payments/domain/bank-actions.ts';
import {
  failureOfDecline,
  threeDsNotFinished,
  type PaymentFailure,
} from '../../payments/domain/payment-failure.ts';
import { pollIntervalMs, earliest } from '../../payments/domain/payment.ts';
import type { Binding, BindingFact } from './binding.ts';
import { afterBound, type Customer, type CustomerFact } from './customer.ts';

/** How long a payer has for a challenge. */
const challengeMs = 10 * 60_000;
/** How long the bank may take to confirm a return before somebody is told. */
const returnMs = 60 * 60_000;

const timeIsUp: PaymentFailure = ['timeout'];
const customerDeleted: PaymentFailure = ['customer_deleted'];

type Fact = BindingFact | CustomerFact;

/** What to do about a binding now. */
export type NextAction =
  | { readonly do: 'nothing' }
  | { readonly do: 'charge' }
  | { readonly do: 'inquire' }
  | { readonly do: 'reverse' }
  | { readonly do: 'refund'; readonly amount: Money }
  | { readonly do: 'write'; readonly fact: BindingFact };

export function nextAction(binding: Binding, customer: Pick<Customer, 'state'>, now: Instant): NextAction {
  const { state } = binding;
  switch (state.name) {
    case 'authorising':
    case 'challenged':
      // Nobody wants the card any more; what the bank may have done with it is taken back.
      if (customer.state.name === 'deleted') return { do: 'write', fact: takenBack(customerDeleted, now) };
      return { do: state.name === 'authorising' ? 'charge' : 'inquire' };
    case 'reversing':
    case 'returning':
      return { do: 'reverse' };
    case 'refunding':
      return { do: 'refund', amount: binding.amount };
    case 'succeeded':
    case 'withdrawn':
    case 'failed':
      return { do: 'nothing' };
  }
}

export type Interpretation =
  /** Of one event; none when there is nothing to learn any more. */
  | { readonly facts: readonly Fact[] }
  | { readonly again: Instant }
  /** Nobody knows: an operating fault, tried again with growing delays and shown to an operator in the end. */
  | { readonly unknown: string };

export function interpret(
  binding: Binding,
  customer: Pick<Customer, 'state'>,
  answer: BankResponse,
  now: Instant,
): Interpretation {
  const { state } = binding;
  switch (state.name) {
    case 'authorising':
    case 'challenged':
      return meaningForCharge(binding, answer, now);
    case 'reversing':
      return answer.outcome === 'approved'
        ? one({ type: 'binding_failed', failure: state.failure })
        : notFinal(answer, now);
    case 'returning':
      if (answer.outcome === 'approved') return { facts: afterReturn(binding, customer) };
      // The bank has settled the charge already, or for whatever reason does not undo it: then it pays it back.
      if (answer.outcome === 'declined') return one({ type: 'binding_refund_started', why: answer.code });
      return notFinal(answer, now);
    case 'refunding':
      return answer.outcome === 'approved'
        ? { facts: afterReturn(binding, customer) }
        : notFinal(answer, now);
    default:
      return { facts: [] };
  }
}

/** The payer has his money. Only now is the card bound, if there is still somebody to bind it to. */
function afterReturn(binding: Binding, customer: Pick<Customer, 'state'>): Fact[] {
  if (customer.state.name === 'deleted') return [{ type: 'binding_failed', failure: customerDeleted }];
  return [{ type: 'binding_succeeded' }, afterBound(customer, binding.id)];
}

function meaningForCharge({ state, deadline }: Binding, answer: BankResponse, now: Instant): Interpretation {
  if (answer.outcome === 'approved') {
    return one({
      type: 'binding_charged',
      approval: approvalOf(answer),
      returnBy: laterBy(now, returnMs),
    });
  }
  if (answer.outcome === 'declined')
    return one({ type: 'binding_failed', failure: failureOfDecline(answer) });

  const until = state.name === 'challenged' ? state.until : deadline;
  if (now >= until) return one(takenBack(state.name === 'challenged' ? threeDsNotFinished : timeIsUp, now));
  if (answer.outcome !== 'payerNeeded') return notFinal(answer, now);
  if (state.name === 'challenged') return { again: laterBy(now, pollIntervalMs) };
  return one({
    type: 'binding_interaction_requested',
    interaction: answer.interaction,
    until: earliest(laterBy(now, challengeMs), deadline),
  });
}

function takenBack(failure: PaymentFailure, now: Instant): BindingFact {
  return { type: 'binding_reversal_started', failure, returnBy: laterBy(now, returnMs) };
}

function one(fact: Fact): Interpretation {
  return { facts: [fact] };
}
