// The time in which a payer is at their bank. Payments and bindings have the same states before the bank has decided.
import { earliest, laterBy, type Instant } from '../../../clock.ts';
import type { Interaction } from '../../domain/bank-port.ts';

/** The bank waits for the payer, until that time. */
export type Challenged = {
  readonly name: 'challenged';
  readonly interaction: Interaction;
  readonly until: Instant;
  /** The payer has come back, and the bank has not decided yet. */
  readonly isCompleted?: true;
};

type State = { readonly name: string };
type Undecided = { readonly name: 'authorising' | 'challenged' };

/** The authorisation is at the bank, or about to be. */
export function isUndecided<Of extends State>(state: Of): state is Extract<Of, Undecided> {
  return state.name === 'authorising' || state.name === 'challenged';
}

/** The interval of bank queries, unless a callback or the returning payer comes first. */
export const pollIntervalMs = 15_000;

export function nextPoll({ until }: Pick<Challenged, 'until'>, now: Instant): Instant {
  return earliest(laterBy(now, pollIntervalMs), until);
}

function isOpen<Of extends State>(state: Of): state is Extract<Of, { readonly name: 'challenged' }> {
  return state.name === 'challenged' && !('isCompleted' in state && state.isCompleted);
}

/** The state of which the interaction can be completed. */
export function openChallengeIn<Of extends State>(state: Of): Extract<Of, { readonly name: 'challenged' }> {
  if (isOpen(state)) return state;
  throw new Error(`What is ${state.name} has no interaction to complete.`);
}

/**
 * Whether a change ends an interaction whose end is not written yet. That is an event of its own: polling clients return the payer to the
 * bank while an interaction is the last they see.
 */
export function endsChallenge(state: State, facts: readonly { readonly type: string }[]): boolean {
  const [first] = facts;
  return isOpen(state) && first !== undefined && !first.type.endsWith('_interaction_completed');
}
