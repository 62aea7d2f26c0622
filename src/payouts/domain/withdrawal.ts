// A withdrawal: money from a wallet to a card, once.
import type { Terminal } from '../../acquiring/domain/bank-port.ts';
import type { Instant } from '../../clock.ts';
import type { Money } from '../../money.ts';
import type { PayoutFailure } from '../../wallets/domain/failure-path.ts';

/** The bank of a payout, and the terminal by which that bank knows the merchant. */
export type Route = { readonly bankId: string; readonly terminal: Terminal };

/** Fixed when the withdrawal is created. */
export type WithdrawalTerms = {
  readonly id: string;
  /** The party that requested it. */
  readonly partyId: string;
  readonly walletId: string;
  /** The wallet's owner: the same party, unless a grant was used. */
  readonly walletPartyId: string;
  readonly identityId: string;
  readonly destinationId: string;
  /** The destination's identity, if it is not the wallet's. */
  readonly destinationIdentityId?: string;
  readonly createdAt: Instant;
  readonly amount: Money;
  /** In addition to the amount. */
  readonly feeMinor: bigint;
  /** Whether it counts towards the limits of its day and month. A failed one does not. */
  readonly isCounted: boolean;
  readonly cardToken: string;
  /** Absent when no bank pays out for this party. */
  readonly route?: Route;
  readonly metadata?: unknown;
  readonly externalId?: string;
};

export type WithdrawalState =
  /** Its money is reserved. The payout has been sent, or is about to be; its outcome is unknown. */
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
      /** Given by the operator who resolved it. Absent if the bank has proved the outcome. */
      readonly reason?: string;
    }
  | { readonly type: 'withdrawal_failed'; readonly failure: PayoutFailure; readonly reason?: string };

/** The final facts. */
export type WithdrawalEnd = Exclude<WithdrawalFact, { type: 'withdrawal_started' }>;

/** All transitions. Any other fact is a bug. */
const withdrawalLifecycle = {
  absent: { withdrawal_started: 'sending' },
  sending: { withdrawal_succeeded: 'succeeded', withdrawal_failed: 'failed' },
  succeeded: {},
  failed: {},
} as const satisfies Record<
  WithdrawalStatus | 'absent',
  Partial<Record<WithdrawalFact['type'], WithdrawalStatus>>
>;

/** Throws for a fact the lifecycle does not allow: that is a bug, and the job must not continue. */
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

/** Undefined if the operation is not a payout. */
export function withdrawalOfOperation(operationId: string): readonly [withdrawalId: string] | undefined {
  const [withdrawalId, kind, ...rest] = operationId.split('.');
  return withdrawalId && kind === 'p' && rest.length === 0 ? [withdrawalId] : undefined;
}

/** The bank operation of the payout. It follows from the withdrawal's ID, so there can be no second payout. */
export function operationIdOf(withdrawal: { readonly id: string }): string {
  return `${withdrawal.id}.p`;
}
