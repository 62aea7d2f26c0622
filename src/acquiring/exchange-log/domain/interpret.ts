// What something heard about an operation means, by whatever way and in whatever order. What is proved never changes.
import type { Money } from '../../../money.ts';
import type { BankResponse } from '../../domain/bank-port.ts';
import type { UpdateKind } from '../../domain/bank-updates.ts';
import type { ExchangeState } from './exchange.ts';

export type Heard =
  | { readonly by: 'answer'; readonly answer: BankResponse }
  | { readonly by: 'update'; readonly what: UpdateKind }
  /** A line of the bank's transaction report: the operation was approved. */
  | { readonly by: 'report'; readonly amount: Money };

export type Meaning =
  | { readonly says: 'nothing' }
  | { readonly says: 'proved'; readonly state: 'approved' | 'declined' }
  /** It may change what was proved or given up: the module of the operation decides. */
  | { readonly says: 'apply' }
  /** It is about an outcome that is not known here yet. */
  | { readonly says: 'waits' }
  /** It cannot be true together with what is proved, and changes nothing. */
  | { readonly says: 'contradiction'; readonly why: string };

type Known = { readonly state: ExchangeState; readonly amount?: Money };

const nothing: Meaning = { says: 'nothing' };

export function interpret(exchange: Known, heard: Heard): Meaning {
  switch (heard.by) {
    case 'answer':
      return meaningOfAnswer(exchange.state, heard.answer);
    case 'update':
      return meaningOfUpdate(exchange.state, heard.what);
    case 'report':
      return meaningOfLine(exchange, heard.amount);
  }
}

/** The state after what was heard. */
export function stateAfter(state: ExchangeState, meaning: Meaning): ExchangeState {
  return meaning.says === 'proved' ? meaning.state : state;
}

function meaningOfAnswer(state: ExchangeState, answer: BankResponse): Meaning {
  if (answer.outcome === 'approved') return meaningOfApproval(state);
  if (answer.outcome !== 'declined') return nothing;
  switch (state) {
    case 'begun':
    case 'challenged':
      return { says: 'proved', state: 'declined' };
    case 'approved':
      return contradiction('it is declined after it was approved');
    case 'settled':
      return contradiction('it is declined after an operator recorded the outcome');
    case 'declined':
    case 'givenUp':
    case 'takenBack':
      return nothing;
  }
}

function meaningOfApproval(state: ExchangeState): Meaning {
  switch (state) {
    case 'begun':
    case 'challenged':
      return { says: 'proved', state: 'approved' };
    // Its reversal is on the way or done, and an answer does not change after a reversal.
    case 'givenUp':
    case 'takenBack':
    case 'approved':
      return nothing;
    case 'declined':
      return contradiction('it is approved after it was declined');
    case 'settled':
      return contradiction('it is approved after an operator recorded the outcome');
  }
}

function meaningOfUpdate(state: ExchangeState, what: UpdateKind): Meaning {
  switch (state) {
    case 'begun':
    case 'challenged':
      return { says: 'waits' };
    case 'declined':
      if (what !== 'approvedLate') return contradiction(`${what} of an operation that was declined`);
      return { says: 'apply' };
    case 'approved':
    case 'settled':
    case 'givenUp':
    case 'takenBack':
      return { says: 'apply' };
  }
}

function meaningOfLine({ state, amount }: Known, booked: Money): Meaning {
  const isOther = amount && (amount.minor !== booked.minor || amount.currency !== booked.currency);
  if (isOther) return contradiction('the report has another amount');
  switch (state) {
    case 'begun':
    case 'challenged':
      return { says: 'proved', state: 'approved' };
    case 'declined':
      return contradiction('the report has it, and it was declined');
    // What was taken back is in the report together with its reversal.
    default:
      return nothing;
  }
}

function contradiction(why: string): Meaning {
  return { says: 'contradiction', why };
}
