// The state of the simulated bank: every operation it received, and its transaction report.
// It is built from facts alone, so that replaying them after a crash gives the same state.
import type { Instant } from '../../clock.ts';
import type { BookEntry, OperationKind } from '../../acquiring/adapters/http/messages.ts';
import type { Challenge } from './test-cards.ts';
import { defined } from '../../defined.ts';

export type ChargeDecision =
  | { readonly outcome: 'approved'; readonly eci?: string; readonly advice?: string }
  | {
      readonly outcome: 'declined';
      readonly network: string;
      readonly code: string;
      readonly advice?: string;
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
  readonly originalOperationId?: string;
  readonly amount?: number;
  readonly currency?: string;
  readonly capture?: boolean;
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
      readonly verdict: ChargeDecision;
      readonly waiting?: Waiting;
      readonly bookedTwice?: true;
    }
  | {
      readonly type: 'finished';
      readonly at: Instant;
      readonly operationId: string;
      readonly verdict: ChargeDecision;
    };

export type BookedOperation = {
  readonly operation: Operation;
  readonly sequence: number;
  readonly receivedAt: Instant;
  verdict: ChargeDecision;
  waiting?: Waiting | undefined;
  /** Kept after the challenge has ended, for a page that is opened again. */
  readonly challenge?: Waiting & { for: 'payer' };
  isBookedTwice: boolean;
  /** For an authorisation; undefined while it is a hold. */
  capturedMinor?: number;
  refundedMinor: number;
  isReversed: boolean;
};

export type BankState = {
  sequence: number;
  readonly operations: Map<string, BookedOperation>;
  /** Operations reversed before they arrived. They are declined when they arrive. */
  readonly reversedUnseen: Set<string>;
  readonly waiting: Set<BookedOperation>;
  readonly tickets: Map<string, BookedOperation>;
  /** Network transaction IDs of stored credentials, with the fingerprints of their cards. */
  readonly credentials: Map<string, string>;
  readonly entries: BookEntry[];
};

export function emptyBook(): BankState {
  return {
    sequence: 0,
    operations: new Map(),
    reversedUnseen: new Set(),
    waiting: new Set(),
    tickets: new Map(),
    credentials: new Map(),
    entries: [],
  };
}

export function applyFact(book: BankState, fact: Fact): BookedOperation {
  book.sequence += 1;
  if (fact.type === 'finished') {
    const booked = book.operations.get(fact.operationId);
    if (!booked?.waiting) throw new Error(`${fact.operationId} was finished without waiting`);
    booked.waiting = undefined;
    booked.verdict = fact.verdict;
    book.waiting.delete(booked);
    enter(book, booked, fact.at);
    return booked;
  }
  const { operation, verdict, waiting } = fact;
  const booked: BookedOperation = {
    operation,
    sequence: book.sequence,
    receivedAt: fact.at,
    verdict,
    waiting,
    ...(waiting?.for === 'payer' ? { challenge: waiting } : {}),
    isBookedTwice: fact.bookedTwice ?? false,
    refundedMinor: 0,
    isReversed: false,
  };
  book.operations.set(operation.operationId, booked);
  if (waiting) book.waiting.add(booked);
  if (waiting?.for === 'payer') book.tickets.set(waiting.ticket, booked);
  if (!waiting) enter(book, booked, fact.at);
  return booked;
}

/** Applies an approved operation to the amounts and adds its line to the report. */
function enter(book: BankState, booked: BookedOperation, at: Instant): void {
  if (booked.verdict.outcome !== 'approved') return;
  const { operation } = booked;
  const original = book.operations.get(operation.originalOperationId ?? '');
  switch (operation.kind) {
    case 'authorise':
      if (operation.capture) booked.capturedMinor = operation.amount ?? 0;
      if (operation.isStoredCredential && operation.card) {
        book.credentials.set(networkTransactionIdOf(booked), operation.card.fingerprint);
      }
      return write(book, booked, booked, at, operation.capture ? 1 : 0);
    case 'capture':
      if (!original) return;
      original.capturedMinor = operation.amount ?? 0;
      return write(book, booked, original, at, 1);
    case 'refund':
      if (!original) return;
      original.refundedMinor += operation.amount ?? 0;
      return write(book, booked, original, at, -1);
    case 'payout':
      return write(book, booked, booked, at, -1);
    case 'verify':
      return;
    case 'reverse':
      if (!original) return void book.reversedUnseen.add(operation.originalOperationId ?? '');
      // Reversing a declined or already reversed operation moves no money.
      if (original.isReversed || original.verdict.outcome !== 'approved') return;
      original.isReversed = true;
      return write(book, booked, original, at, original.operation.capture ? -1 : 0);
  }
}

function write(
  book: BankState,
  booked: BookedOperation,
  original: BookedOperation,
  at: Instant,
  sign: BookEntry['sign'],
): void {
  const { operationId, kind, originalOperationId, amount } = booked.operation;
  const { card, currency } = original.operation;
  if (kind === 'verify') throw new Error(`${operationId} moves no money`);
  if (!card || currency === undefined) throw new Error(`${operationId} has no card or currency`);
  for (let times = booked.isBookedTwice ? 2 : 1; times > 0; times--) {
    book.entries.push({
      sequence: book.entries.length + 1,
      operationId,
      kind,
      ...defined({ originalOperationId }),
      amount: amount ?? original.operation.amount ?? 0,
      currency,
      sign,
      at,
      cardMask: card.mask,
    });
  }
}

/** In the format of each network; unique, because the sequence is. */
export function networkTransactionIdOf({ operation, sequence, receivedAt }: BookedOperation): string {
  if (operation.card?.network === 'mastercard' || operation.card?.network === 'maestro') {
    const number = sequence.toString(36).toUpperCase().padStart(6, '0');
    return `MCC${number}${receivedAt.slice(5, 7)}${receivedAt.slice(8, 10)}`;
  }
  return `3${String(sequence).padStart(14, '0')}`;
}
