// Processes messages to the simulated bank: finds or decides the operation, records it, and only then responds.
// There is no await between the check and the record, so parallel repeats cannot interleave.
import { createHash } from 'node:crypto';
import { defined } from '../../defined.ts';
import { operationIdPattern } from '../../acquiring/adapters/http/fields.ts';
import type { BookEntry, OperationMessage, ReturnMessage } from '../../acquiring/adapters/http/messages.ts';
import type { ErrorAnswer, OperationAnswer } from '../../acquiring/adapters/http/responses.ts';
import type { BookedOperation, Operation, Waiting } from './state/state.ts';
import { answerTo, type Speaks } from './state/answer.ts';
import { notAuthenticated, openKeptBook, type KeptBook, type KeptBookOptions } from './state/kept-book.ts';
import { decide } from './decide.ts';
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

export type OperationProcessorOptions = Omit<KeptBookOptions, 'speaks'> & {
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
};

export type Interaction = (OperationAnswer & { outcome: 'payerNeeded' })['interaction'];

const operationId = new RegExp(operationIdPattern);

export function openOperationProcessor(options: OperationProcessorOptions): OperationProcessor {
  const { speaks = 'today' } = options;
  const bank = openKeptBook({ ...options, speaks });
  const told = toldBy(bank, { ...options, speaks });
  return {
    perform: performedBy(bank, told, options),
    ...returnsTo(bank, told),
    ...readingsOf(bank),

    async inquire(id) {
      const booked = bank.book.operations.get(id);
      return booked ? told(booked) : notFound(id);
    },

    async endOverdue() {
      for (const booked of bank.book.waiting) bank.finishIfOverdue(booked);
      bank.catchUpReports();
      await bank.settled();
    },
  };
}

type Told = (booked: BookedOperation) => Promise<Reply>;
type Telling = Pick<OperationProcessorOptions, 'clock' | 'interactionOf'> & { readonly speaks: Speaks };

/** What the bank says of an operation, once that is in the journal. */
function toldBy(bank: KeptBook, { clock, interactionOf, speaks }: Telling): Told {
  function answerOf(booked: BookedOperation): OperationAnswer {
    const { operation, waiting } = booked;
    if (waiting?.for !== 'payer') return answerTo(booked, speaks);
    const { operationId } = operation;
    return { operationId, outcome: 'payerNeeded', interaction: interactionOf(waiting) };
  }

  return async (booked) => {
    bank.catchUp(booked);
    const { silentUntil } = booked;
    const isKept = silentUntil !== undefined && clock.now() < silentUntil;
    const reply = { status: 200, body: answerOf(booked), ...(isKept ? { isKept } : {}) } as const;
    await bank.settled();
    return reply;
  };
}

function performedBy(
  bank: KeptBook,
  told: Told,
  options: OperationProcessorOptions,
): OperationProcessor['perform'] {
  const { clock, key, holdMs, returnsAfterMs, declineOf } = options;
  const { book } = bank;

  function recordNew(operation: Operation, message: OperationMessage): BookedOperation {
    const now = clock.now();
    const original = book.operations.get(operation.originalOperationId ?? '');
    const decision = decide(book, {
      operation,
      message,
      ticket: () => ticketOf(operation.operationId, key),
      now,
      holdMs,
      ...defined({ returnsAfterMs, orderedDecline: declineOf && (() => declineOf(message)) }),
    });
    if (message.kind === 'reverse' && decision.verdict.outcome === 'approved' && original?.waiting) {
      bank.finish(original, notAuthenticated(original, '3ds-not-finished'));
    }
    return bank.record({ type: 'received', at: now, operation, ...decision });
  }

  return async (id, read) => {
    const known = book.operations.get(id);
    if ('field' in read || !operationId.test(id)) {
      // The ID is checked first: "invalid" proves that nothing was ever done under it.
      if (known) return conflict;
      const field = 'field' in read ? read.field : 'operationId';
      return { status: 400, body: { error: 'invalid', field } };
    }
    const operation = operationOf(id, read.message, key);
    if (!known) return told(recordNew(operation, read.message));
    return isSameContent(known.operation, operation) ? told(known) : conflict;
  };
}

/** What the payer does, and what their browser brings back. */
function returnsTo(
  bank: KeptBook,
  told: Told,
): Pick<OperationProcessor, 'resume' | 'challenge' | 'endChallenge'> {
  const { book } = bank;
  return {
    async resume(id, { query, form = '' }) {
      const booked = book.operations.get(id);
      if (!booked) return notFound(id);
      const brought = new URLSearchParams(`${query}&${form}`).get(returnField);
      const isTheirs = booked.challenge !== undefined && brought === returnValueOf(booked.challenge.ticket);
      if (isTheirs && booked.isConfirmed && booked.waiting) bank.finish(booked, booked.verdict);
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
      bank.finishIfOverdue(booked);
      if (booked.waiting) {
        if (ending === 'confirm' && booked.challenge?.needsReturn) bank.confirm(booked);
        else if (ending === 'confirm') bank.finish(booked, booked.verdict);
        else if (ending === 'refuse') bank.finish(booked, notAuthenticated(booked, '3ds-failed'));
        else bank.finish(booked, notAuthenticated(booked, '3ds-not-finished'));
      }
      await bank.settled();
    },
  };
}

function readingsOf(bank: KeptBook): Pick<OperationProcessor, 'amountOf' | 'entries' | 'updates'> {
  const { book } = bank;
  return {
    amountOf(message) {
      if ('amount' in message) return message.amount;
      if (message.kind === 'verify') return 0;
      return book.operations.get(message.originalOperationId)?.operation.amount ?? 0;
    },

    async entries(after, limit) {
      const page = book.entries.slice(after, after + limit);
      await bank.settled();
      return page;
    },

    async updates(after, limit) {
      bank.catchUpReports();
      await bank.settled();
      return book.updates.slice(after, after + limit);
    },
  };
}

const conflict: Reply = { status: 409, body: { error: 'conflict' } };

function notFound(id: string): Reply {
  return { status: 404, body: { operationId: id, outcome: 'notFound' } };
}

/** The browser brings it back from the issuer's page. */
export const returnField = 'redirectResult';

export function returnValueOf(ticket: string): string {
  return createHash('sha256').update(`return|${ticket}`).digest('base64url');
}
