// What a bank reports about operations whose response it has already returned.
import type { Instant } from '../../clock.ts';
import type { Money } from '../../money.ts';
import type { NetworkId, References } from './references.ts';

export const updateKinds = [
  'captureFailed',
  'refundFailed',
  'payoutReturned',
  'approvedLate',
  'holdEnded',
  'networkIds',
] as const;
export type UpdateKind = (typeof updateKinds)[number];

export type BankUpdate = {
  readonly sequence: number;
  readonly operationId: string;
  readonly what: UpdateKind;
  /** Absent: the whole amount of the operation. */
  readonly amount?: Money;
  /** Of a network, or the bank's own. */
  readonly code?: string;
  readonly at: Instant;
  readonly networkIds?: readonly NetworkId[];
  readonly references?: References;
};

/** What does not match the protocol. Its content may be anything, so it is not kept. */
export type UnreadableUpdate = {
  /** Its sequence, or what it is recognised by without one. */
  readonly key: string;
  readonly operationId?: string;
  readonly why: string;
};

/** Updates of unknown kinds are left out, so continue after `last` and not after the last update. */
export type BankUpdates = {
  readonly updates: readonly BankUpdate[];
  readonly unreadable: readonly UnreadableUpdate[];
  readonly last: number;
  /** There may be more now. */
  readonly hasMore: boolean;
};

/** What happened to one operation, wherever it was reported. */
export type OperationUpdate = Omit<BankUpdate, 'sequence'>;

/** The status of an update. A contradiction changes nothing and needs a person. */
export type UpdateOutcome =
  | { readonly outcome: 'applied' }
  /** Known already, or without a meaning here. `isUndone`: the charge that was approved late goes back, or has gone. */
  | { readonly outcome: 'nothing'; readonly isUndone?: true }
  /** The operation has no outcome yet. The next inquiry finds what the update says. */
  | { readonly outcome: 'tooEarly' }
  | { readonly outcome: 'contradiction'; readonly why: string };
