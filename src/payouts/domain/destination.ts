// A destination: a card that can receive payouts once the bank has confirmed it.
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import type { CardDetails } from '../../cards/domain/card.ts';
import type { Instant } from '../../clock.ts';
import type { Sender } from '../../identities/domain/sender.ts';
import type { Currency } from '../../money.ts';
import type { PayoutFailure } from '../../wallets/domain/failure-path.ts';
import { failureOfDecline, isTransient } from './payout-failure.ts';

export type DestinationTerms = {
  readonly id: string;
  readonly partyId: string;
  readonly identityId: string;
  readonly name: string;
  readonly currency: Currency;
  readonly createdAt: Instant;
  /** The vault's token. It never leaves the service. */
  readonly cardToken: string;
  /** The same for every destination with this card. Absent for destinations from before. */
  readonly cardHash?: Buffer;
  readonly card: CardDetails;
  readonly metadata?: unknown;
  readonly externalId?: string;
};

export type DestinationState =
  /** The bank has not replied yet. */
  | { readonly status: 'checking' }
  | { readonly status: 'authorized' }
  /** The card takes no payouts. */
  | { readonly status: 'refused'; readonly failure: PayoutFailure };

export type DestinationStatus = DestinationState['status'];

export type Destination = DestinationTerms & {
  readonly state: DestinationState;
  /** The current state of its identity and party. */
  readonly isBlocked: boolean;
  readonly provider: string;
  /** Who its identity is, if that is known. Personal data. */
  readonly owner?: Sender;
};

export type DestinationFact =
  | { readonly type: 'destination_created'; readonly terms: DestinationTerms }
  | { readonly type: 'destination_authorized' }
  | { readonly type: 'destination_refused'; readonly failure: PayoutFailure }
  /** The check ended without a result. The next check has another ID. */
  | { readonly type: 'destination_check_failed'; readonly code: string };

/** All transitions. Any other fact is a bug. */
const destinationLifecycle = {
  absent: { destination_created: 'checking' },
  checking: {
    destination_authorized: 'authorized',
    destination_refused: 'refused',
    destination_check_failed: 'checking',
  },
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
    case 'destination_check_failed':
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

/**
 * The bank always answers the same ID in the same way, so a new check needs a new ID. A check that ends without a result
 * raises the destination's version; until then the same check is queried.
 */
export function checkIdOf({ id }: { readonly id: string }, version: number): string {
  return `${id}.check${version}`;
}

/** Undefined if the operation is not a check of a destination. */
export function destinationOfOperation(operationId: string): readonly [destinationId: string] | undefined {
  const [destinationId, check = '', ...rest] = operationId.split('.');
  return destinationId && /^check\d+$/.test(check) && rest.length === 0 ? [destinationId] : undefined;
}

export type Interpretation = { readonly fact: DestinationFact } | { readonly unknown: string };

export function interpret(answer: BankResponse): Interpretation {
  switch (answer.outcome) {
    case 'approved':
      return { fact: { type: 'destination_authorized' } };
    case 'declined': {
      const failure = failureOfDecline(answer);
      if (isTransient(failure)) return { fact: { type: 'destination_check_failed', code: answer.code } };
      return { fact: { type: 'destination_refused', failure } };
    }
    case 'unknown':
    case 'notSent':
      return { unknown: answer.why };
    default:
      return { unknown: `the bank answered ${answer.outcome}` };
  }
}
