// Applies facts to the state of the simulated bank: amounts, and the lines of its transaction report.
import type { Instant } from '../../../clock.ts';
import type { BookEntry } from '../../../acquiring/adapters/http/messages.ts';
import { defined } from '../../../defined.ts';
import {
  networkIdsOf,
  networkTransactionIdOf,
  openMinor,
  type BankState,
  type BookedOperation,
  type Fact,
} from './state.ts';
import { reportUpdate } from './updates.ts';

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
  if (fact.type === 'returned') {
    const booked = book.operations.get(fact.operationId);
    if (!booked) throw new Error(`${fact.operationId} was returned and never received`);
    booked.returnedAt = fact.at;
    book.returning.delete(booked);
    writeReturn(book, booked, fact.at);
    reportUpdate(book, booked, { at: fact.at, what: 'payoutReturned' });
    return booked;
  }
  if (fact.type === 'confirmed') {
    const booked = bookedOf(book, fact.operationId);
    booked.isConfirmed = true;
    return booked;
  }
  if (fact.type === 'updated') {
    const booked = bookedOf(book, fact.operationId);
    book.changing.delete(booked);
    reportUpdate(book, booked, fact);
    return booked;
  }
  return receive(book, fact);
}

function receive(book: BankState, fact: Fact & { type: 'received' }): BookedOperation {
  const { operation, verdict, waiting, returnsAt, later, series, silentUntil } = fact;
  const booked: BookedOperation = {
    operation,
    sequence: book.sequence,
    receivedAt: fact.at,
    verdict,
    waiting,
    ...(waiting?.for === 'payer' ? { challenge: waiting } : {}),
    isBookedTwice: fact.bookedTwice ?? false,
    isClosed: false,
    releasedMinor: 0,
    refundedMinor: 0,
    isReversed: false,
    isConfirmed: false,
    ...defined({ returnsAt, later, series, silentUntil }),
  };
  if (series !== undefined) book.charges.set(series, (book.charges.get(series) ?? 0) + 1);
  if (later) book.changing.add(booked);
  if (returnsAt !== undefined) book.returning.add(booked);
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
      if (operation.capture) {
        booked.capturedMinor = operation.amount ?? 0;
        booked.isClosed = true;
      }
      if (operation.isStoredCredential && operation.card) {
        const { fingerprint } = operation.card;
        const { series = networkTransactionIdOf(booked) } = booked;
        for (const { value } of networkIdsOf(booked)) book.credentials.set(value, { fingerprint, series });
      }
      return write(book, booked, booked, at, operation.capture ? 1 : 0);
    case 'capture':
      if (!original) return;
      original.capturedMinor = (original.capturedMinor ?? 0) + (operation.amount ?? 0);
      original.isClosed = operation.final !== false;
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
      if (original.isReversed || !movedMoney(original)) return;
      if (operation.amount !== undefined && operation.amount < openMinor(original)) {
        original.releasedMinor += operation.amount;
        return write(book, booked, original, at, 0);
      }
      original.isReversed = true;
      return write(book, booked, original, at, original.operation.capture ? -1 : 0);
  }
}

/** Also what it approved after it had declined it. */
function movedMoney({ verdict, isApprovedLate }: BookedOperation): boolean {
  return verdict.outcome === 'approved' || isApprovedLate === true;
}

function bookedOf(book: BankState, operationId: string): BookedOperation {
  const booked = book.operations.get(operationId);
  if (!booked) throw new Error(`${operationId} was never received`);
  return booked;
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

function writeReturn(book: BankState, { operation }: BookedOperation, at: Instant): void {
  const { operationId, amount, currency, card } = operation;
  if (!card || amount === undefined || currency === undefined)
    throw new Error(`${operationId} moved no money that could come back`);
  book.entries.push({
    sequence: book.entries.length + 1,
    operationId: `${operationId}.returned`,
    kind: 'return',
    originalOperationId: operationId,
    amount,
    currency,
    sign: 1,
    at,
    cardMask: card.mask,
  });
}
