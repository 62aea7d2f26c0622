// A binding: a card saved for a customer. The payer authenticates and a small amount is charged; the card is bound once the
// bank has confirmed the refund.
import type { Approval } from '../../acquiring/authorisation/domain/approval.ts';
import {
  endsChallenge,
  nextPoll,
  openChallengeIn,
  type Challenged,
} from '../../acquiring/authorisation/domain/challenge.ts';
import type { PaymentFailure } from '../../acquiring/authorisation/domain/payment-failure.ts';
import type { Interaction, Terminal } from '../../acquiring/domain/bank-port.ts';
import type { BankWords } from '../../acquiring/domain/bank-words.ts';
import { sendUntil } from '../../acquiring/authorisation/domain/authorisation.ts';
import type { CardDetails } from '../../cards/domain/card.ts';
import type { ClientInfo } from '../../cards/domain/payment-resource.ts';
import type { Instant } from '../../clock.ts';
import type { Money } from '../../money.ts';
import type { MandateGiven } from '../../recurring/domain/mandate.ts';
import { defined } from '../../defined.ts';

/** Fixed when the binding is created. */
export type BindingTerms = {
  readonly customerId: string;
  readonly id: string;
  /** Counts the bindings of the customer, from 1. */
  readonly number: number;
  readonly partyId: string;
  readonly shopId: string;
  readonly createdAt: Instant;
  /** Of the verification charge. */
  readonly amount: Money;
  readonly card: {
    readonly token: string;
    readonly session: string;
    readonly details: CardDetails;
    readonly clientInfo: ClientInfo;
  };
  readonly email?: string;
  /** What the payer consented to, if the request said so. */
  readonly recurrentTerms?: MandateGiven;
  /** Set when the binding only confirms new terms of a series: then it saves no card. */
  readonly renews?: Renewal;
  /** The card was bound elsewhere and came with a file: no bank was asked, and nothing was charged here. */
  readonly imported?: true;
  /** Where to send the payer's browser after the challenge. */
  readonly redirectUrl?: string;
  readonly externalId?: string;
  /** By when the charge must have an outcome. */
  readonly deadline: Instant;
  /** Changes only while nothing was sent. */
  readonly terminal: Terminal;
  readonly livemode: boolean;
};

/** Until when its charge may be sent. */
export function sendUntilOf({ createdAt, deadline }: Pick<BindingTerms, 'createdAt' | 'deadline'>): Instant {
  return sendUntil({ payerActedAt: createdAt, deadline });
}

/** The series whose consent the payer renews, and the consent link by which they do. */
export type Renewal = { readonly seriesId: string; readonly linkId: string };

export type BindingState =
  /** The charge has been sent, or is about to be. Its outcome is unknown. */
  | { readonly name: 'authorising' }
  | Challenged
  /** Given up without an outcome: whatever was charged is reversed. */
  | ({ readonly name: 'reversing'; readonly failure: PaymentFailure } & PendingRefund)
  /** Charged. The money goes back by a reversal of the charge. */
  | ({ readonly name: 'returning'; readonly approval: Approval } & PendingRefund)
  /** The bank declined the reversal, so the money goes back by a refund. */
  | ({ readonly name: 'refunding'; readonly approval: Approval } & PendingRefund)
  | { readonly name: 'succeeded'; readonly approval: Approval }
  | { readonly name: 'withdrawn'; readonly approval: Approval; readonly at: Instant }
  | { readonly name: 'failed'; readonly failure: PaymentFailure; readonly bank?: BankWords };

/** By when the bank should confirm that the payer has the money back. Overdue after that. */
type PendingRefund = { readonly returnBy: Instant };

export type BindingStateName = BindingState['name'];
export type Binding = BindingTerms & { readonly state: BindingState };
export type BindingStatus = 'pending' | 'succeeded' | 'failed';

export type BindingFact =
  | { readonly type: 'binding_started'; readonly terms: BindingTerms }
  /** The bank was unreachable and nothing was sent to it. */
  | { readonly type: 'binding_rerouted'; readonly terminal: Terminal; readonly why: string }
  | {
      readonly type: 'binding_interaction_requested';
      readonly interaction: Interaction;
      readonly until: Instant;
    }
  /** The payer came back, or the bank decided without that. */
  | { readonly type: 'binding_interaction_completed' }
  | {
      readonly type: 'binding_reversal_started';
      readonly failure: PaymentFailure;
      readonly returnBy: Instant;
    }
  | { readonly type: 'binding_charged'; readonly approval: Approval; readonly returnBy: Instant }
  | { readonly type: 'binding_refund_started'; readonly why: string }
  | { readonly type: 'binding_succeeded' }
  | {
      readonly type: 'binding_failed';
      readonly failure: PaymentFailure;
      readonly bank?: BankWords;
      readonly reason?: string;
    }
  | { readonly type: 'binding_withdrawn'; readonly at: Instant };

/** All transitions. Any other fact is a bug. */
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
    binding_interaction_completed: 'challenged',
    binding_charged: 'returning',
    binding_failed: 'failed',
    binding_reversal_started: 'reversing',
  },
  reversing: { binding_failed: 'failed' },
  // It fails if the customer was deleted meanwhile, or if an operator resolves it.
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

/** The ID of a bank operation. A binding has at most one of each kind, so the IDs are fixed before anything is sent. */
export function bindingOperationId(
  binding: { readonly customerId: string; readonly id: string },
  operation: (typeof operations)[number],
): string {
  return `${binding.customerId}.${binding.id}.${operation}`;
}

/** Undefined if the operation is not one of a binding. */
export function bindingOfOperation(
  operationId: string,
): readonly [customerId: string, bindingId: string] | undefined {
  const [customerId, bindingId, operation] = operationId.split('.');
  const isOurs = operations.some((known) => known === operation);
  return customerId && bindingId && isOurs ? [customerId, bindingId] : undefined;
}

/** When the binding's job is due next; null if never. */
export function wakeOf({ state }: Binding, now: Instant): Instant | null {
  switch (state.name) {
    case 'authorising':
    case 'reversing':
    case 'returning':
    case 'refunding':
      return now;
    case 'challenged':
      return nextPoll(state, now);
    case 'succeeded':
    case 'withdrawn':
    case 'failed':
      return null;
  }
}

/** Whether the bank still has to confirm a reversal or a refund. */
export function isReturning({ state }: Binding): boolean {
  return 'returnBy' in state;
}

/** Throws for a fact the lifecycle does not allow: that is a bug, and the job must not continue. */
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
    case 'binding_interaction_completed':
      return { ...openChallengeIn(binding.state), isCompleted: true };
    case 'binding_reversal_started':
      return { name: 'reversing', failure: fact.failure, returnBy: fact.returnBy };
    case 'binding_charged':
      return { name: 'returning', approval: fact.approval, returnBy: fact.returnBy };
    case 'binding_refund_started':
      return { name: 'refunding', ...pendingRefundIn(binding) };
    case 'binding_succeeded':
      return { name: 'succeeded', approval: approvalIn(binding) };
    case 'binding_failed':
      return { name: 'failed', failure: fact.failure, ...defined({ bank: fact.bank }) };
    case 'binding_withdrawn':
      return { name: 'withdrawn', approval: approvalIn(binding), at: fact.at };
  }
}

/** Facts of the customer end no interaction. */
export function endsInteraction({ state }: Binding, facts: readonly { readonly type: string }[]): boolean {
  return endsChallenge(
    state,
    facts.filter(({ type }) => type.startsWith('binding_')),
  );
}

function approvalIn({ state }: Binding): Approval {
  if ('approval' in state) return state.approval;
  throw new Error(`a binding that is ${state.name} has no approval`);
}

function pendingRefundIn(binding: Binding): PendingRefund & { readonly approval: Approval } {
  const { state } = binding;
  if (!('returnBy' in state)) throw new Error(`a binding that is ${state.name} has no refund to wait for`);
  return { approval: approvalIn(binding), returnBy: state.returnBy };
}
