// A withdrawal: money from a wallet to a card, once. Its states, its facts, its moves. What may be asked for is in
// commands.ts, what the bank is asked and what its answers mean in bank-actions.ts; all three are pure.
import type { Terminal } from '../../acquiring/domain/bank-port.ts';
import type { Instant } from '../../clock.ts';
import type { Money } from '../../money.ts';
import type { PayoutFailure } from '../../wallets/domain/failure-path.ts';

/** The way to the card: which bank, and by which name it knows the merchant. */
export type Route = { readonly bankId: string; readonly terminal: Terminal };

/** What is fixed when it is made. */
export type WithdrawalTerms = {
  readonly id: string;
  /** Who asked for it. */
  readonly partyId: string;
  readonly walletId: string;
  /** Whose wallet it is: the same, unless a grant was used. */
  readonly walletPartyId: string;
  readonly identityId: string;
  readonly destinationId: string;
  /** Whose destination it is, where that is not the wallet's identity. */
  readonly destinationIdentityId?: string;
  readonly createdAt: Instant;
  readonly amount: Money;
  /** On top of the amount. */
  readonly feeMinor: bigint;
  /** Whether it counts towards the limits of its day and month, until it has failed. */
  readonly isCounted: boolean;
  readonly cardToken: string;
  /** Absent when no bank pays out for this party. */
  readonly route?: Route;
  readonly metadata?: unknown;
  readonly externalId?: string;
};

export type WithdrawalState =
  /** Its money is set aside; the bank has been asked, or is about to be; nobody knows the outcome yet. */
  | { readonly status: 'sending' }
  | { readonly status: 'succeeded'; readonly reference: string }
  | { readonly status: 'failed'; readonly failure: PayoutFailure };

export type WithdrawalStatus = WithdrawalState['status'];
export type Withdrawal = WithdrawalTerms & { readonly state: WithdrawalState };

export type WithdrawalFact =
  | { readonly type: 'withdrawal_started'; readonly terms: WithdrawalTerms }
  | {
      readonly type: 'withdrawal_succeeded';
      readonly reference: string;
      /** Of the operator who decided it; absent when the bank has proved it. */
      readonly reason?: string;
    }
  | { readonly type: 'withdrawal_failed'; readonly failure: PayoutFailure; readonly reason?: string };

/** What ends one, for good. */
export type WithdrawalEnd = Exclude<WithdrawalFact, { type: 'withdrawal_started' }>;

/** Every move there is; what is not in this table cannot happen. */
const withdrawalLifecycle = {
  absent: { withdrawal_started: 'sending' },
  sending: { withdrawal_succeeded: 'succeeded', withdrawal_failed: 'failed' },
  succeeded: {},
  failed: {},
} as const satisfies Record<
  WithdrawalStatus | 'absent',
  Partial<Record<WithdrawalFact['type'], WithdrawalStatus>>
>;

/** The withdrawal after a fact. A fact the lifecycle does not allow is a bug, and stops the step. */
export function evolve(withdrawal: Withdrawal | undefined, fact: WithdrawalFact): Withdrawal {
  const from = withdrawal?.state.status ?? 'absent';
  const moves: Partial<Record<WithdrawalFact['type'], WithdrawalStatus>> = withdrawalLifecycle[from];
  if (moves[fact.type] === undefined)
    throw new Error(`a withdrawal that is ${from} cannot have ${fact.type}`);
  if (fact.type === 'withdrawal_started') return { ...fact.terms, state: { status: 'sending' } };
  if (!withdrawal) throw new Error(`${fact.type} without a withdrawal`);
  const { type } = fact;
  if (type === 'withdrawal_failed')
    return { ...withdrawal, state: { status: 'failed', failure: fact.failure } };
  return { ...withdrawal, state: { status: 'succeeded', reference: fact.reference } };
}

export const publicStatus: Readonly<Record<WithdrawalStatus, 'Pending' | 'Succeeded' | 'Failed'>> = {
  sending: 'Pending',
  succeeded: 'Succeeded',
  failed: 'Failed',
};

/** The withdrawal behind one of those ids. */
export function withdrawalOfOperation(operationId: string): readonly [withdrawalId: string] | undefined {
  const [withdrawalId, kind, ...rest] = operationId.split('.');
  return withdrawalId && kind === 'p' && rest.length === 0 ? [withdrawalId] : undefined;
}

/** What the bank knows the payout by. It follows from the withdrawal's id, so there can be no second one. */
export function operationIdOf(withdrawal: { readonly id: string }): string {
  return `${withdrawal.id}.p`;
}
