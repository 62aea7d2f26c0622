// The state of the simulated bank: every operation it received, and its transaction report.
// It is built from facts alone (apply-fact.ts), so that replaying them after a crash gives the same state.
import type { Instant } from '../../../clock.ts';
import type { BookEntry, OperationKind } from '../../../acquiring/adapters/http/messages.ts';
import type { UpdateKind } from '../../../acquiring/domain/bank-updates.ts';
import type { DeclineClass } from '../../../acquiring/domain/decline-class.ts';
import type { NetworkId } from '../../../acquiring/domain/references.ts';
import type { Update } from '../../../acquiring/adapters/http/capabilities.ts';
import type { Challenge } from '../test-cards.ts';

export type OperationOutcome =
  | { readonly outcome: 'approved'; readonly eci?: string; readonly advice?: string }
  | {
      readonly outcome: 'declined';
      readonly network: string;
      readonly code: string;
      readonly advice?: string;
      readonly by?: 'acquirer' | 'connector';
      readonly class?: DeclineClass;
    };

/** The verdict is decided but does not count until the waiting ends. */
export type Waiting =
  | {
      readonly for: 'payer';
      readonly until: Instant;
      readonly challenge: Challenge;
      /** An unguessable name for the challenge on the issuer's page. */
      readonly ticket: string;
      readonly returnUrl?: string;
      readonly largeForm?: true;
      readonly needsReturn?: true;
    }
  | { readonly for: 'time'; readonly until?: Instant };

/** The stored part of a message, without usable card data. */
export type Operation = {
  readonly operationId: string;
  readonly kind: OperationKind;
  readonly merchantId: string;
  /** The merchant's name on the payer's statement. */
  readonly descriptor: string;
  /** A digest of the content that must be equal in a repeat. */
  readonly digest: string;
  /** Digests of fields that the first version did not have. They count where both messages have them. */
  readonly laterDigests?: Readonly<Record<string, string>>;
  readonly originalOperationId?: string;
  readonly amount?: number;
  readonly currency?: string;
  /** What the payer confirms, where it is not the amount. */
  readonly authenticationAmount?: { readonly amount: number; readonly currency: string };
  readonly capture?: boolean;
  /** Of a capture: false if the rest of the hold stays. */
  readonly final?: boolean;
  readonly card?: { readonly mask: string; readonly fingerprint: string; readonly network: string };
  /** The operation starts or continues a chain of charges without the payer. */
  readonly isStoredCredential?: true;
  readonly callbackUrl?: string;
};

export type Fact =
  | {
      readonly type: 'received';
      readonly at: Instant;
      readonly operation: Operation;
      readonly verdict: OperationOutcome;
      readonly waiting?: Waiting;
      readonly bookedTwice?: true;
      readonly returnsAt?: Instant;
      readonly later?: Later;
      readonly series?: string;
      readonly silentUntil?: Instant;
    }
  /** The payer has confirmed, and the browser is on its way back. */
  | { readonly type: 'confirmed'; readonly at: Instant; readonly operationId: string }
  /** What the bank reports about an operation after its response. */
  | {
      readonly type: 'updated';
      readonly at: Instant;
      readonly operationId: string;
      readonly what: UpdateKind;
    }
  /** The card's bank has sent the money of a payout back. */
  | { readonly type: 'returned'; readonly at: Instant; readonly operationId: string }
  | {
      readonly type: 'finished';
      readonly at: Instant;
      readonly operationId: string;
      readonly verdict: OperationOutcome;
    };

export type Later = { readonly what: UpdateKind; readonly at: Instant };

export type BookedOperation = {
  readonly operation: Operation;
  readonly sequence: number;
  readonly receivedAt: Instant;
  verdict: OperationOutcome;
  waiting?: Waiting | undefined;
  /** Kept after the challenge has ended, for a page that is opened again. */
  readonly challenge?: Waiting & { for: 'payer' };
  isBookedTwice: boolean;
  /** For an authorisation; undefined while it is a hold. */
  capturedMinor?: number;
  /** No further capture is possible. */
  isClosed: boolean;
  releasedMinor: number;
  refundedMinor: number;
  isReversed: boolean;
  isConfirmed: boolean;
  /** The bank declined it and has approved it since. */
  isApprovedLate?: true;
  readonly later?: Later;
  /** For a payout that will come back, and once it has. */
  readonly returnsAt?: Instant;
  returnedAt?: Instant;
  /** Of a charge without the payer: the network transaction ID of the payment that began its series. */
  readonly series?: string;
  /** Until then the bank answers nothing about it. */
  readonly silentUntil?: Instant;
};

/** What a network transaction ID stands for. */
export type Credential = { readonly fingerprint: string; readonly series: string };

export type BankState = {
  sequence: number;
  readonly operations: Map<string, BookedOperation>;
  /** Operations reversed before they arrived. They are declined when they arrive. */
  readonly reversedUnseen: Set<string>;
  readonly waiting: Set<BookedOperation>;
  readonly returning: Set<BookedOperation>;
  readonly changing: Set<BookedOperation>;
  readonly updates: Update[];
  readonly tickets: Map<string, BookedOperation>;
  /** By network transaction ID. */
  readonly credentials: Map<string, Credential>;
  /** How many charges without the payer each series has had. */
  readonly charges: Map<string, number>;
  readonly entries: BookEntry[];
};

export function emptyBook(): BankState {
  return {
    sequence: 0,
    operations: new Map(),
    reversedUnseen: new Set(),
    waiting: new Set(),
    returning: new Set(),
    changing: new Set(),
    updates: [],
    tickets: new Map(),
    credentials: new Map(),
    charges: new Map(),
    entries: [],
  };
}

/** What can still be captured or released of a hold. */
export function openMinor({ operation, capturedMinor = 0, releasedMinor }: BookedOperation): number {
  return (operation.amount ?? 0) - capturedMinor - releasedMinor;
}

/** Mastercard names a payment twice. */
export function networkIdsOf(booked: BookedOperation): NetworkId[] {
  const value = networkTransactionIdOf(booked);
  const network = booked.operation.card?.network;
  if (network === 'visa') return [{ kind: 'visaTid', value }];
  if (network !== 'mastercard' && network !== 'maestro') return [{ kind: 'other', value }];
  const link = `LINK${value}`.padEnd(22, '0');
  return [
    { kind: 'mcTrace', value },
    { kind: 'mcLink', value: link },
  ];
}

/** In the format of each network; unique, because the sequence is. */
export function networkTransactionIdOf({ operation, sequence, receivedAt }: BookedOperation): string {
  if (operation.card?.network === 'mastercard' || operation.card?.network === 'maestro') {
    const number = sequence.toString(36).toUpperCase().padStart(6, '0');
    return `MCC${number}${receivedAt.slice(5, 7)}${receivedAt.slice(8, 10)}`;
  }
  return `3${String(sequence).padStart(14, '0')}`;
}
