// A withdrawal: money from a wallet to a card, once.
import type { ReturnCode, Terminal } from '../../acquiring/domain/bank-port.ts';
import type { BankWords } from '../../acquiring/domain/bank-words.ts';
import type { Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import type { Money } from '../../money.ts';
import type { FrozenSender } from './payout-sender.ts';
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
  /** Whether it adds to a turnover of its day and month. A failed one does not. */
  readonly isCounted: boolean;
  /** The identity and the card of that turnover. Absent for withdrawals of older nodes, which count by wallet. */
  readonly countedFor?: readonly string[];
  readonly cardToken: string;
  /** Absent for withdrawals from before. Personal data, so it is in no event. */
  readonly sender?: FrozenSender;
  /** Absent only for withdrawals from before, when there was no bank: they have failed. */
  readonly route?: Route;
  /** The banks it was to go to before, in order. None of them has done anything. */
  readonly movedFrom?: readonly string[];
  readonly metadata?: unknown;
  readonly externalId?: string;
};

/** The card's bank has sent money back. The status stays, because the payout was made. */
export type Returned = { readonly at: Instant; readonly code: ReturnCode; readonly amount: Money };

export type WithdrawalState =
  /** Its money is reserved. The payout has been sent, or is about to be; its outcome is unknown. */
  | { readonly status: 'sending' }
  | {
      readonly status: 'succeeded';
      readonly reference: string;
      /** When the money is on the card at the latest, if the bank said so. */
      readonly availableBy?: Instant;
      readonly returned?: Returned;
    }
  | { readonly status: 'failed'; readonly failure: PayoutFailure; readonly bank?: BankWords };

export type WithdrawalStatus = WithdrawalState['status'];
export type Withdrawal = WithdrawalTerms & { readonly state: WithdrawalState };

export type WithdrawalFact =
  | { readonly type: 'withdrawal_started'; readonly terms: WithdrawalTerms }
  | {
      readonly type: 'withdrawal_succeeded';
      readonly reference: string;
      readonly availableBy?: Instant;
      /** Given by the operator who resolved it. Absent if the bank has proved the outcome. */
      readonly reason?: string;
    }
  | {
      readonly type: 'withdrawal_failed';
      readonly failure: PayoutFailure;
      readonly bank?: BankWords;
      readonly reason?: string;
    }
  | {
      readonly type: 'withdrawal_returned';
      readonly returned: Returned;
      /** Given by the operator who recorded it. Absent if the bank has said it. */
      readonly reason?: string;
    };

/** The final facts. */
export type WithdrawalEnd = Extract<WithdrawalFact, { type: 'withdrawal_succeeded' | 'withdrawal_failed' }>;
export type WithdrawalReturned = Extract<WithdrawalFact, { type: 'withdrawal_returned' }>;

/** To another terminal, before anything was done. */
export function movedTo(withdrawal: Withdrawal, route: Route, sender: FrozenSender): Withdrawal {
  const { movedFrom = [], route: before } = withdrawal;
  return { ...withdrawal, route, sender, movedFrom: [...movedFrom, ...(before ? [before.bankId] : [])] };
}

/** All transitions. Any other fact is a bug. */
const withdrawalLifecycle = {
  absent: { withdrawal_started: 'sending' },
  sending: { withdrawal_succeeded: 'succeeded', withdrawal_failed: 'failed' },
  succeeded: { withdrawal_returned: 'succeeded' },
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
  switch (fact.type) {
    case 'withdrawal_failed': {
      const { failure, bank } = fact;
      return { ...withdrawal, state: { status: 'failed', failure, ...defined({ bank }) } };
    }
    case 'withdrawal_succeeded': {
      const { reference, availableBy } = fact;
      return { ...withdrawal, state: { status: 'succeeded', reference, ...defined({ availableBy }) } };
    }
    case 'withdrawal_returned':
      return { ...withdrawal, state: withReturn(withdrawal, fact.returned) };
  }
}

/** Once, and at most what was paid. */
function withReturn({ id, state, amount }: Withdrawal, returned: Returned): WithdrawalState {
  if (state.status !== 'succeeded' || state.returned)
    throw new Error(`withdrawal ${id} was not paid, or has come back already`);
  const { minor, currency } = returned.amount;
  if (minor < 1n || minor > amount.minor || currency !== amount.currency)
    throw new Error(`${minor} ${currency} came back of withdrawal ${id}, which paid ${amount.minor}`);
  return { ...state, returned };
}

/** Payouts that came back after which a destination takes no more. */
export const maxReturns = 2;

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
