// What the simulated bank reports about an operation after its response, and what that does to its money.
import type { Instant } from '../../../clock.ts';
import type { UpdateKind } from '../../../acquiring/domain/bank-updates.ts';
import { defined } from '../../../defined.ts';
import { networkIdsOf, type BankState, type BookedOperation } from './state.ts';

const codes: Partial<Record<UpdateKind, string>> = {
  captureFailed: 'not_settled',
  refundFailed: 'not_settled',
  payoutReturned: 'account_closed',
};

export function reportUpdate(
  book: BankState,
  booked: BookedOperation,
  { at, what }: { readonly at: Instant; readonly what: UpdateKind },
): void {
  const { operationId, amount, currency } = booked.operation;
  if (!changesMoney(book, booked, at, what)) return;
  const code = codes[what];
  const networkIds = what === 'networkIds' || what === 'approvedLate' ? networkIdsOf(booked) : undefined;
  const sequence = book.updates.length + 1;
  book.updates.push({
    sequence,
    operationId,
    what,
    at,
    ...defined({ amount, currency, code, networkIds }),
  });
}

/** False if something came in between, such as a reversal, or a payer who was not authenticated. */
function changesMoney(book: BankState, booked: BookedOperation, at: Instant, what: UpdateKind): boolean {
  const { operation, verdict } = booked;
  const isApproved = verdict.outcome === 'approved';
  const original = book.operations.get(operation.originalOperationId ?? '');
  const minor = operation.amount ?? 0;
  switch (what) {
    case 'captureFailed':
      if (original?.capturedMinor === undefined) return false;
      original.capturedMinor -= minor;
      write(book, booked, original, at, -1);
      return true;
    case 'refundFailed':
      if (!original) return false;
      original.refundedMinor -= minor;
      write(book, booked, original, at, 1);
      return true;
    case 'approvedLate':
      if (booked.isReversed || book.reversedUnseen.has(operation.operationId)) return false;
      booked.isApprovedLate = true;
      if (operation.capture) booked.capturedMinor = minor;
      write(book, booked, booked, at, operation.capture ? 1 : 0);
      return true;
    case 'holdEnded':
      if (!isApproved || operation.capture || booked.capturedMinor !== undefined || booked.isReversed)
        return false;
      booked.isReversed = true;
      return true;
    case 'networkIds':
      return isApproved;
    case 'payoutReturned':
      return true;
  }
}

/** The money of an operation that failed goes the other way, under the ID of the operation with `.failed` behind it. */
function write(
  book: BankState,
  { operation }: BookedOperation,
  { operation: original }: BookedOperation,
  at: Instant,
  sign: 1 | 0 | -1,
): void {
  const { operationId, amount } = operation;
  const { card, currency } = original;
  if (!card || amount === undefined || currency === undefined) return;
  const isLate = operation === original;
  book.entries.push({
    sequence: book.entries.length + 1,
    operationId: isLate ? operationId : `${operationId}.failed`,
    kind: isLate ? 'authorise' : 'return',
    ...(isLate ? {} : { originalOperationId: operationId }),
    amount,
    currency,
    sign,
    at,
    cardMask: card.mask,
  });
}
