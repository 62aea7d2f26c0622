// A destination: a card that may be paid out to, once the bank has been asked whether it can be. Pure.
import type { BankAnswer } from '../bank/bank.ts';
import type { CardDetails } from '../cards/card.ts';
import type { Instant } from '../clock.ts';
import type { Currency } from '../money.ts';
import { failureOfDecline, isTransient, type PayoutFailure } from './payout-failure.ts';

export type DestinationTerms = {
  readonly id: string;
  readonly partyId: string;
  readonly identityId: string;
  readonly name: string;
  readonly currency: Currency;
  readonly createdAt: Instant;
  /** The vault's; it never leaves the service. */
  readonly cardToken: string;
  readonly card: CardDetails;
  readonly metadata?: unknown;
  readonly externalId?: string;
};

export type DestinationState =
  /** The bank has not been heard yet. */
  | { readonly status: 'checking' }
  | { readonly status: 'authorized' }
  /** The card takes no payouts. */
  | { readonly status: 'refused'; readonly failure: PayoutFailure };

export type DestinationStatus = DestinationState['status'];

export type Destination = DestinationTerms & {
  readonly state: DestinationState;
  /** Of its identity, as they are now. */
  readonly isBlocked: boolean;
  readonly provider: string;
};

export type DestinationFact =
  | { readonly type: 'destination_created'; readonly terms: DestinationTerms }
  | { readonly type: 'destination_authorized' }
  | { readonly type: 'destination_refused'; readonly failure: PayoutFailure };

/** Every move there is; what is not in this table cannot happen. */
const destinationLifecycle = {
  absent: { destination_created: 'checking' },
  checking: { destination_authorized: 'authorized', destination_refused: 'refused' },
  authorized: {},
  refused: {},
} as const satisfies Record<
  DestinationStatus | 'absent',
  Partial<Record<DestinationFact['type'], DestinationStatus>>
>;

export function stateAfter(from: DestinationStatus | 'absent', fact: DestinationFact): DestinationState {
  const moves: Partial<Record<DestinationFact['type'], DestinationStatus>> = destinationLifecycle[from];
  if (moves[fact.type] === undefined)
    throw new Error(`a destination that is ${from} cannot have ${fact.type}`);
  switch (fact.type) {
    case 'destination_created':
      return { status: 'checking' };
    case 'destination_authorized':
      return { status: 'authorized' };
    case 'destination_refused':
      return { status: 'refused', failure: fact.failure };
  }
}

export const publicStatus: Readonly<Record<DestinationStatus, 'Unauthorized' | 'Authorized'>> = {
  checking: 'Unauthorized',
  authorized: 'Authorized',
  refused: 'Unauthorized',
};

/** A check moves no money, so that one that was not answered is simply made again, under a name of its own. */
export function checkIdOf(destination: { readonly id: string }, attempt: number): string {
  return `${destination.id}.v${attempt}`;
}

export type Meaning = { readonly fact: DestinationFact } | { readonly unknown: string };

export function meaningOf(answer: BankAnswer): Meaning {
  switch (answer.outcome) {
    case 'approved':
      return { fact: { type: 'destination_authorized' } };
    case 'declined': {
      const failure = failureOfDecline(answer);
      if (isTransient(failure)) return { unknown: `the bank cannot tell now, ${answer.code}` };
      return { fact: { type: 'destination_refused', failure } };
    }
    case 'unknown':
    case 'notSent':
      return { unknown: answer.why };
    default:
      return { unknown: `the bank answered ${answer.outcome}` };
  }
}
