// The next bank operation of a binding, and what a response to it means. Both follow from the state and the time alone, so a
// crash between two steps loses nothing.
import {
  interpretAuthorisation,
  notFinal,
  type NotFinal,
} from '../../acquiring/authorisation/domain/authorisation.ts';
import {
  failureOfDecline,
  type PaymentFailure,
} from '../../acquiring/authorisation/domain/payment-failure.ts';
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { bankWordsOf } from '../../acquiring/domain/bank-words.ts';
import { laterBy, type Instant } from '../../clock.ts';
import type { Money } from '../../money.ts';
import { sendUntilOf, type Binding, type BindingFact, type BindingState } from './binding.ts';
import { afterBound, type Customer, type CustomerFact } from './customer.ts';

/** How long the bank may take to confirm a refund before it counts as overdue. */
const returnMs = 60 * 60_000;

const timeIsUp: PaymentFailure = ['timeout'];
const customerDeleted: PaymentFailure = ['customer_deleted'];
/** The consent was revoked, stopped or renewed otherwise while the payer was renewing it. */
export const consentRevoked: PaymentFailure = ['consent_revoked'];

type Fact = BindingFact | CustomerFact;

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
      // The card is no longer wanted: reverse whatever the bank may have charged.
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

/** The facts of one event. None if the response no longer matters. */
export type BindingChange = { readonly facts: readonly Fact[] };
export type Interpretation = BindingChange | NotFinal;

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
      return meaningForCharge(binding, state, answer, now);
    case 'reversing':
      return answer.outcome === 'approved'
        ? one({ type: 'binding_failed', failure: state.failure })
        : notFinal(answer, now);
    case 'returning':
      if (answer.outcome === 'approved') return { facts: afterReturn(binding, customer, now) };
      // The bank does not reverse the charge, perhaps because it has settled it already: refund it.
      if (answer.outcome === 'declined') return one({ type: 'binding_refund_started', why: answer.code });
      return notFinal(answer, now);
    case 'refunding':
      return answer.outcome === 'approved'
        ? { facts: afterReturn(binding, customer, now) }
        : notFinal(answer, now);
    default:
      return { facts: [] };
  }
}

/** The payer has the money back. Only now is the card bound, unless the customer was deleted meanwhile. */
function afterReturn(binding: Binding, customer: Pick<Customer, 'state'>, now: Instant): Fact[] {
  if (customer.state.name === 'deleted') return [{ type: 'binding_failed', failure: customerDeleted }];
  // It has done what it was for: the series has its card, and the customer gets none.
  if (binding.renews) return [{ type: 'binding_succeeded' }, { type: 'binding_withdrawn', at: now }];
  return [{ type: 'binding_succeeded' }, afterBound(customer, binding.id)];
}

function meaningForCharge(
  binding: Binding,
  state: BindingState & { name: 'authorising' | 'challenged' },
  answer: BankResponse,
  now: Instant,
): Interpretation {
  const { deadline } = binding;
  const sendUntil = sendUntilOf(binding);
  const meaning = interpretAuthorisation({ state, sendUntil, deadline, whenLate: timeIsUp }, answer, now);
  if (!('outcome' in meaning)) return meaning;
  switch (meaning.outcome) {
    case 'approved': {
      const { approval } = meaning;
      return one({ type: 'binding_charged', approval, returnBy: laterBy(now, returnMs) });
    }
    case 'declined':
      return one({ type: 'binding_failed', failure: failureOfDecline(meaning), ...bankWordsOf(meaning) });
    case 'challenged': {
      const { interaction, until } = meaning;
      return one({ type: 'binding_interaction_requested', interaction, until });
    }
    case 'tooLate':
      return one(takenBack(meaning.failure, now));
  }
}

function takenBack(failure: PaymentFailure, now: Instant): BindingFact {
  return { type: 'binding_reversal_started', failure, returnBy: laterBy(now, returnMs) };
}

function one(fact: Fact): Interpretation {
  return { facts: [fact] };
}
