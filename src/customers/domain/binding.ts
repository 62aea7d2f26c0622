// A binding: a card tied to a customer. The payer is authenticated, a small sum is charged, and the bank gives it back; only
// when it has confirmed that is the card bound. Until then what was charged is a debt of ours with a date. Pure: states,
// facts, moves. What is asked of a bank is in bank-actions.ts, what people may ask in commands.ts.
import type { Interaction, Terminal } from '../../acquiring/domain/bank-port.ts';
import type { CardDetails } from '../../cards/domain/card.ts';
import type { ClientInfo } from '../../cards/domain/payment-resource.ts';
import { laterBy, type Instant } from '../../clock.ts';
import type { Money } from '../../money.ts';
import type { MandateGiven } from '../../recurring/domain/mandate.ts';
import type { PaymentFailure } from '../../payments/domain/payment-failure.ts';
import { pollIntervalMs, earliest, type Approval } from '../../payments/domain/payment.ts';

/** What is fixed when the binding is made. */
export type BindingTerms = {
  readonly customerId: string;
  readonly id: string;
  /** Counts the bindings of the customer, from 1. */
  readonly number: number;
  readonly partyId: string;
  readonly shopId: string;
  readonly createdAt: Instant;
  /** Of the test charge. */
  readonly amount: Money;
  readonly card: {
    readonly token: string;
    readonly session: string;
    readonly details: CardDetails;
    readonly clientInfo: ClientInfo;
  };
  readonly email?: string;
  /** What the payer agreed to, where it was sent. */
  readonly recurrentTerms?: MandateGiven;
  /** Where the payer's browser goes when it is back from his bank. */
  readonly redirectUrl?: string;
  readonly externalId?: string;
  /** Until when the charge must be decided. */
  readonly deadline: Instant;
  /** Becomes another one only before anything was sent. */
  readonly terminal: Terminal;
  readonly livemode: boolean;
};

export type BindingState =
  /** The bank has been asked for the charge, or is about to be; nobody knows the outcome yet. */
  | { readonly name: 'authorising' }
  /** The bank waits for the payer, who has until then. */
  | { readonly name: 'challenged'; readonly interaction: Interaction; readonly until: Instant }
  /** Nothing is proved and time is up: whatever was charged is taken back. */
  | ({ readonly name: 'reversing'; readonly failure: PaymentFailure } & Owed)
  /** Charged. The return is asked for as a reversal of the charge … */
  | ({ readonly name: 'returning'; readonly approval: Approval } & Owed)
  /** … and, where the bank has said no to that, as a refund. */
  | ({ readonly name: 'refunding'; readonly approval: Approval } & Owed)
  | { readonly name: 'succeeded'; readonly approval: Approval }
  | { readonly name: 'withdrawn'; readonly approval: Approval; readonly at: Instant }
  | { readonly name: 'failed'; readonly failure: PaymentFailure };

/** By when the bank should have confirmed that the payer has his money; after that somebody is told. */
type Owed = { readonly returnBy: Instant };

export type BindingStateName = BindingState['name'];
export type Binding = BindingTerms & { readonly state: BindingState };
export type BindingStatus = 'pending' | 'succeeded' | 'failed';

export type BindingFact =
  | { readonly type: 'binding_started'; readonly terms: BindingTerms }
  /** Its bank was away, and nothing was sent there. */
  | { readonly type: 'binding_rerouted'; readonly terminal: Terminal; readonly why: string }
  | {
      readonly type: 'binding_interaction_requested';
      readonly interaction: Interaction;
      readonly until: Instant;
    }
  | {
      readonly type: 'binding_reversal_started';
      readonly failure: PaymentFailure;
      readonly returnBy: Instant;
    }
  | { readonly type: 'binding_charged'; readonly approval: Approval; readonly returnBy: Instant }
  | { readonly type: 'binding_refund_started'; readonly why: string }
  | { readonly type: 'binding_succeeded' }
  | { readonly type: 'binding_failed'; readonly failure: PaymentFailure; readonly reason?: string }
  | { readonly type: 'binding_withdrawn'; readonly at: Instant };

/** Every move there is; what is not in this table cannot happen. */
const bindingLifecycle = {
  absent: { binding_started: 'authorising' },
  authorising: {
    binding_rerouted: 'authorising',
    binding_interaction_requested: 'challenged',
    binding_charged: 'returning',
    binding_failed: 'failed',
    binding_reversal_started: 'reversing',
  },
  challenged: {
    binding_charged: 'returning',
    binding_failed: 'failed',
    binding_reversal_started: 'reversing',
  },
  reversing: { binding_failed: 'failed' },
  // It has failed after all where the customer was deleted meanwhile, or an operator closed it.
  returning: {
    binding_refund_started: 'refunding',
    binding_succeeded: 'succeeded',
    binding_failed: 'failed',
  },
  refunding: { binding_succeeded: 'succeeded', binding_failed: 'failed' },
  succeeded: { binding_withdrawn: 'withdrawn' },
  withdrawn: {},
  failed: {},
} as const satisfies Record<
  BindingStateName | 'absent',
  Partial<Record<BindingFact['type'], BindingStateName>>
>;

export const bindingStatus: Readonly<Record<BindingStateName, BindingStatus>> = {
  authorising: 'pending',
  challenged: 'pending',
  reversing: 'pending',
  returning: 'pending',
  refunding: 'pending',
  succeeded: 'succeeded',
  withdrawn: 'succeeded',
  failed: 'failed',
};

const operations = ['charge', 'reverse', 'refund'] as const;

/** What the bank knows our operations by: one of each kind at most, so the ids are fixed before anything is sent. */
export function bindingOperationId(
  binding: { readonly customerId: string; readonly id: string },
  operation: (typeof operations)[number],
): string {
  return `${binding.customerId}.${binding.id}.${operation}`;
}

/** The binding behind one of those ids; undefined for the id of something else. */
export function bindingOfOperation(
  operationId: string,
): readonly [customerId: string, bindingId: string] | undefined {
  const [customerId, bindingId, operation] = operationId.split('.');
  const isOurs = operations.some((known) => known === operation);
  return customerId && bindingId && isOurs ? [customerId, bindingId] : undefined;
}

/** When somebody must look at the binding next; null when never. */
export function wakeOf({ state }: Binding, now: Instant): Instant | null {
  switch (state.name) {
    case 'authorising':
    case 'reversing':
    case 'returning':
    case 'refunding':
      return now;
    case 'challenged':
      return earliest(laterBy(now, pollIntervalMs), state.until);
    case 'succeeded':
    case 'withdrawn':
    case 'failed':
      return null;
  }
}

/** The bank is to take back, or to give back, what was charged. */
export function isReturning({ state }: Binding): boolean {
  return 'returnBy' in state;
}

/** The binding after a fact. A fact the lifecycle does not allow is a bug, and stops the step. */
export function evolveBinding(binding: Binding | undefined, fact: BindingFact): Binding {
  const from = binding?.state.name ?? 'absent';
  const moves: Partial<Record<BindingFact['type'], BindingStateName>> = bindingLifecycle[from];
  if (moves[fact.type] === undefined) throw new Error(`a binding that is ${from} cannot have ${fact.type}`);
  if (fact.type === 'binding_started') return { ...fact.terms, state: { name: 'authorising' } };
  if (!binding) throw new Error(`${fact.type} without a binding`);
  if (fact.type === 'binding_rerouted') return { ...binding, terminal: fact.terminal };
  return { ...binding, state: stateAfter(binding, fact) };
}

function stateAfter(
  binding: Binding,
  fact: Exclude<BindingFact, { type: 'binding_started' | 'binding_rerouted' }>,
): BindingState {
  switch (fact.type) {
    case 'binding_interaction_requested':
      return { name: 'challenged', interaction: fact.interaction, until: fact.until };
    case 'binding_reversal_started':
      return { name: 'reversing', failure: fact.failure, returnBy: fact.returnBy };
    case 'binding_charged':
      return { name: 'returning', approval: fact.approval, returnBy: fact.returnBy };
    case 'binding_refund_started':
      return { name: 'refunding', ...owedIn(binding) };
    case 'binding_succeeded':
      return { name: 'succeeded', approval: approvalIn(binding) };
    case 'binding_failed':
      return { name: 'failed', failure: fact.failure };
    case 'binding_withdrawn':
      return { name: 'withdrawn', approval: approvalIn(binding), at: fact.at };
  }
}

function approvalIn({ state }: Binding): Approval {
  if ('approval' in state) return state.approval;
  throw new Error(`a binding that is ${state.name} has no approval`);
}

function owedIn(binding: Binding): Owed & { readonly approval: Approval } {
  const { state } = binding;
  if (!('returnBy' in state)) throw new Error(`nothing is owed for a binding that is ${state.name}`);
  return { approval: approvalIn(binding), returnBy: state.returnBy };
}
