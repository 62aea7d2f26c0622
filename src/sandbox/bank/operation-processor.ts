// Processes messages to the simulated bank: finds or decides the operation, records it, and only then responds.
// There is no await between the check and the record, so parallel repeats cannot interleave.
import { createHash } from 'node:crypto';
import { defined } from '../../defined.ts';
import type { Clock } from '../../clock.ts';
import { operationIdPattern } from '../../acquiring/adapters/http/fields.ts';
import type { BookEntry, OperationMessage, ReturnMessage } from '../../acquiring/adapters/http/messages.ts';
import type { ErrorAnswer, OperationAnswer } from '../../acquiring/adapters/http/responses.ts';
import {
  emptyBook,
  type BookedOperation,
  type Fact,
  type Operation,
  type OperationOutcome,
  type Waiting,
} from './state/state.ts';
import { applyFact } from './state/apply-fact.ts';
import { answerTo, type Speaks } from './state/answer.ts';
import { decide } from './decide.ts';
import type { Journal } from './journal.ts';
import { isSameContent, operationOf, ticketOf, type Read } from './read-message.ts';
import type { Update } from '../../acquiring/adapters/http/capabilities.ts';

export type Reply = {
  readonly status: number;
  readonly body: OperationAnswer | ErrorAnswer | NotFound;
  /** The bank never sends it. */
  readonly isKept?: true;
};
type NotFound = { readonly operationId: string; readonly outcome: 'notFound' };

export type Ending = 'confirm' | 'refuse' | 'cancel';

export type OperationProcessor = {
  perform(operationId: string, read: Read): Promise<Reply>;
  inquire(operationId: string): Promise<Reply>;
  /** The amount of the message; for a reversal, that of its original. */
  amountOf(message: OperationMessage): number;
  entries(after: number, limit: number): Promise<readonly BookEntry[]>;
  updates(after: number, limit: number): Promise<readonly Update[]>;
  /** What the payer's browser brought back. It counts only for the operation whose challenge it comes from. */
  resume(operationId: string, returned: ReturnMessage): Promise<Reply>;
  /** Undefined when the challenge does not exist. */
  challenge(ticket: string): Promise<BookedOperation | undefined>;
  endChallenge(ticket: string, ending: Ending): Promise<void>;
  /** Ends operations that have waited for too long. */
  endOverdue(): Promise<void>;
};

export type OperationProcessorOptions = {
  readonly clock: Clock;
  readonly journal: Journal;
  /** The facts read from the journal. */
  readonly facts: readonly Fact[];
  /** For card fingerprints and tickets. */
  readonly key: Buffer;
  /** How long a hold can be captured, in milliseconds. */
  readonly holdMs: number;
  /** When the money of a payout comes back that does, and an update is reported; after two minutes by default. */
  readonly returnsAfterMs?: number;
  readonly interactionOf: (waiting: Waiting & { for: 'payer' }) => Interaction;
  readonly speaks?: Speaks;
  /** The code with which to decline a new operation, where that was ordered. */
  readonly declineOf?: (message: OperationMessage) => string | undefined;
  /** Called when an operation ends after its first response. */
  readonly onChanged: (operation: Operation) => void;
};

export type Interaction = (OperationAnswer & { outcome: 'payerNeeded' })['interaction'];

const operationId = new RegExp(operationIdPattern);

export function openOperationProcessor(options: OperationProcessorOptions): OperationProcessor {
  const { clock, journal, key, holdMs, returnsAfterMs, interactionOf, onChanged, speaks = 'today' } = options;
  const { declineOf } = options;
  const book = emptyBook();
  for (const fact of options.facts) applyFact(book, fact);

  /** Applies the fact immediately, so that the next message sees it. A response must await the journal. */
  function record(fact: Fact): BookedOperation {
    // After a failure, `journal.settled()` rejects for every later caller.
    journal.append(fact).catch(() => undefined);
    return applyFact(book, fact);
  }

  function finish({ operation }: BookedOperation, verdict: OperationOutcome): void {
    record({ type: 'finished', at: clock.now(), operationId: operation.operationId, verdict });
    journal.settled().then(
      () => onChanged(operation),
      () => undefined,
    );
  }

  /** The issuer has its answer; the acquirer does not know it before the browser has been there. */
  function confirm({ operation, isConfirmed }: BookedOperation): void {
    if (isConfirmed) return;
    record({ type: 'confirmed', at: clock.now(), operationId: operation.operationId });
  }

  function finishIfOverdue(booked: BookedOperation): void {
    const { waiting, verdict } = booked;
    if (waiting?.until === undefined || clock.now() < waiting.until) return;
    finish(booked, waiting.for === 'payer' ? authenticationFailed(booked, '3ds-not-finished') : verdict);
  }

  function returnIfDue(booked: BookedOperation): void {
    const { operation, returnsAt, returnedAt } = booked;
    if (returnsAt === undefined || returnedAt !== undefined || clock.now() < returnsAt) return;
    record({ type: 'returned', at: clock.now(), operationId: operation.operationId });
    journal.settled().then(
      () => onChanged(operation),
      () => undefined,
    );
  }

  function updateIfDue(booked: BookedOperation): void {
    const { operation, later, waiting } = booked;
    // A bank of the first version could not report it.
    if (speaks === 'first version') return;
    if (!later || waiting || !book.changing.has(booked) || clock.now() < later.at) return;
    const { operationId } = operation;
    record({ type: 'updated', at: clock.now(), operationId, what: later.what });
    journal.settled().then(
      () => onChanged(operation),
      () => undefined,
    );
  }

  function answerOf(booked: BookedOperation): OperationAnswer {
    const { operation, waiting } = booked;
    if (waiting?.for !== 'payer') return answerTo(booked, speaks);
    const { operationId } = operation;
    return { operationId, outcome: 'payerNeeded', interaction: interactionOf(waiting) };
  }

  async function told(booked: BookedOperation): Promise<Reply> {
    finishIfOverdue(booked);
    returnIfDue(booked);
    updateIfDue(booked);
    const { silentUntil } = booked;
    const isKept = silentUntil !== undefined && clock.now() < silentUntil;
    const reply = { status: 200, body: answerOf(booked), ...(isKept ? { isKept } : {}) } as const;
    await journal.settled();
    return reply;
  }

  return {
    async perform(id, read) {
      const known = book.operations.get(id);
      if ('field' in read || !operationId.test(id)) {
        // The ID is checked first: "invalid" proves that nothing was ever done under it.
        if (known) return { status: 409, body: { error: 'conflict' } };
        const field = 'field' in read ? read.field : 'operationId';
        return { status: 400, body: { error: 'invalid', field } };
      }
      const { message } = read;
      const operation = operationOf(id, message, key);
      if (known) {
        return isSameContent(known.operation, operation)
          ? told(known)
          : { status: 409, body: { error: 'conflict' } };
      }
      const now = clock.now();
      const original = book.operations.get(operation.originalOperationId ?? '');
      const decision = decide(book, {
        operation,
        message,
        ticket: () => ticketOf(id, key),
        now,
        holdMs,
        ...defined({ returnsAfterMs, orderedDecline: declineOf && (() => declineOf(message)) }),
      });
      if (message.kind === 'reverse' && decision.verdict.outcome === 'approved' && original?.waiting) {
        finish(original, authenticationFailed(original, '3ds-not-finished'));
      }
      return told(record({ type: 'received', at: now, operation, ...decision }));
    },

    async inquire(id) {
      const booked = book.operations.get(id);
      return booked ? told(booked) : { status: 404, body: { operationId: id, outcome: 'notFound' } };
    },

    amountOf(message) {
      if ('amount' in message) return message.amount;
      if (message.kind === 'verify') return 0;
      return book.operations.get(message.originalOperationId)?.operation.amount ?? 0;
    },

    async entries(after, limit) {
      const page = book.entries.slice(after, after + limit);
      await journal.settled();
      return page;
    },

    async updates(after, limit) {
      for (const booked of book.returning) returnIfDue(booked);
      for (const booked of book.changing) updateIfDue(booked);
      await journal.settled();
      return book.updates.slice(after, after + limit);
    },

    async resume(id, { query, form = '' }) {
      const booked = book.operations.get(id);
      if (!booked) return { status: 404, body: { operationId: id, outcome: 'notFound' } };
      const brought = new URLSearchParams(`${query}&${form}`).get(returnField);
      const isHis = booked.challenge !== undefined && brought === returnValueOf(booked.challenge.ticket);
      if (isHis && booked.isConfirmed && booked.waiting) finish(booked, booked.verdict);
      return told(booked);
    },

    async challenge(ticket) {
      const booked = book.tickets.get(ticket);
      if (booked) await told(booked);
      return booked;
    },

    async endChallenge(ticket, ending) {
      const booked = book.tickets.get(ticket);
      if (!booked) return;
      finishIfOverdue(booked);
      if (booked.waiting) {
        if (ending === 'confirm' && booked.challenge?.needsReturn) confirm(booked);
        else if (ending === 'confirm') finish(booked, booked.verdict);
        else if (ending === 'refuse') finish(booked, authenticationFailed(booked, '3ds-failed'));
        else finish(booked, authenticationFailed(booked, '3ds-not-finished'));
      }
      await journal.settled();
    },

    async endOverdue() {
      for (const booked of book.waiting) finishIfOverdue(booked);
      for (const booked of book.returning) returnIfDue(booked);
      for (const booked of book.changing) updateIfDue(booked);
      await journal.settled();
    },
  };
}

/** The browser brings it back from the issuer's page. */
export const returnField = 'redirectResult';

export function returnValueOf(ticket: string): string {
  return createHash('sha256').update(`return|${ticket}`).digest('base64url');
}

function authenticationFailed({ operation }: BookedOperation, code: string): OperationOutcome {
  return { outcome: 'declined', network: operation.card?.network ?? 'bank', code };
}
