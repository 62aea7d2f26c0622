// The facts of the simulated bank as they are kept: each reaches the book at once and then the journal.
// Time passes here too: what waits for too long ends, money of payouts comes back, and updates are reported.
import type { Clock } from '../../../clock.ts';
import type { Journal } from '../journal.ts';
import type { Speaks } from './answer.ts';
import { applyFact } from './apply-fact.ts';
import {
  emptyBook,
  type BankState,
  type BookedOperation,
  type Fact,
  type Operation,
  type OperationOutcome,
} from './state.ts';

export type KeptBook = {
  readonly book: BankState;
  /** Applies the fact immediately, so that the next message sees it. A response must await `settled`. */
  record(fact: Fact): BookedOperation;
  finish(booked: BookedOperation, verdict: OperationOutcome): void;
  /** The issuer has its answer; the acquirer does not know it before the browser has been there. */
  confirm(booked: BookedOperation): void;
  finishIfOverdue(booked: BookedOperation): void;
  /** Records what has happened to the operation by now. */
  catchUp(booked: BookedOperation): void;
  /** The same for all that money returns to, or that an update is due for. */
  catchUpReports(): void;
  settled(): Promise<void>;
};

export type KeptBookOptions = {
  readonly clock: Clock;
  readonly journal: Journal;
  /** The facts read from the journal. */
  readonly facts: readonly Fact[];
  readonly speaks: Speaks;
  /** Called when an operation ends after its first response. */
  readonly onChanged: (operation: Operation) => void;
};

export function openKeptBook(options: KeptBookOptions): KeptBook {
  const { clock, speaks } = options;
  const { book, record, recordLater, settled } = openFacts(options);

  function finish({ operation }: BookedOperation, verdict: OperationOutcome): void {
    const { operationId } = operation;
    recordLater({ type: 'finished', at: clock.now(), operationId, verdict }, operation);
  }

  function confirm({ operation, isConfirmed }: BookedOperation): void {
    if (isConfirmed) return;
    record({ type: 'confirmed', at: clock.now(), operationId: operation.operationId });
  }

  function finishIfOverdue(booked: BookedOperation): void {
    const { waiting, verdict } = booked;
    if (waiting?.until === undefined || clock.now() < waiting.until) return;
    finish(booked, waiting.for === 'payer' ? notAuthenticated(booked, '3ds-not-finished') : verdict);
  }

  function returnIfDue({ operation, returnsAt, returnedAt }: BookedOperation): void {
    if (returnsAt === undefined || returnedAt !== undefined || clock.now() < returnsAt) return;
    recordLater({ type: 'returned', at: clock.now(), operationId: operation.operationId }, operation);
  }

  function updateIfDue(booked: BookedOperation): void {
    const { operation, later, waiting } = booked;
    // A bank of the first version could not report it.
    if (speaks === 'first version') return;
    if (!later || waiting || !book.changing.has(booked) || clock.now() < later.at) return;
    const { operationId } = operation;
    recordLater({ type: 'updated', at: clock.now(), operationId, what: later.what }, operation);
  }

  function catchUp(booked: BookedOperation): void {
    finishIfOverdue(booked);
    returnIfDue(booked);
    updateIfDue(booked);
  }

  function catchUpReports(): void {
    for (const booked of book.returning) returnIfDue(booked);
    for (const booked of book.changing) updateIfDue(booked);
  }

  return { book, record, finish, confirm, finishIfOverdue, catchUp, catchUpReports, settled };
}

function openFacts({ journal, facts, onChanged }: KeptBookOptions) {
  const book = emptyBook();
  for (const fact of facts) applyFact(book, fact);

  function record(fact: Fact): BookedOperation {
    // After a failure, `journal.settled()` rejects for every later caller.
    journal.append(fact).catch(() => undefined);
    return applyFact(book, fact);
  }

  /** Records what happened after the first response, and calls `onChanged` when it is in the journal. */
  function recordLater(fact: Fact, operation: Operation): void {
    record(fact);
    journal.settled().then(
      () => onChanged(operation),
      () => undefined,
    );
  }

  return { book, record, recordLater, settled: () => journal.settled() };
}

export function notAuthenticated({ operation }: BookedOperation, code: string): OperationOutcome {
  return { outcome: 'declined', network: operation.card?.network ?? 'bank', code };
}
