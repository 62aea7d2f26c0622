// Processes messages to the simulated bank: finds or decides the operation, records it, and only then responds.
// There is no await between the check and the record, so parallel repeats cannot interleave.
import type { Clock } from '../../clock.ts';
import {
  operationIdPattern,
  type BookEntry,
  type ErrorAnswer,
  type OperationAnswer,
  type OperationMessage,
} from '../../acquiring/adapters/http/messages.ts';
import {
  applyFact,
  emptyBook,
  networkTransactionIdOf,
  type BookedOperation,
  type Fact,
  type Operation,
  type ChargeDecision,
  type Waiting,
} from './state.ts';
import { decide } from './decide.ts';
import type { Journal } from './journal.ts';
import { operationOf, ticketOf, type Read } from './read-message.ts';

export type Reply = { readonly status: number; readonly body: OperationAnswer | ErrorAnswer | NotFound };
type NotFound = { readonly operationId: string; readonly outcome: 'notFound' };

export type Ending = 'confirm' | 'refuse' | 'cancel';

export type OperationProcessor = {
  perform(operationId: string, read: Read): Promise<Reply>;
  inquire(operationId: string): Promise<Reply>;
  /** The amount of the message; for a reversal, that of its original. */
  amountOf(message: OperationMessage): number;
  entries(after: number, limit: number): Promise<readonly BookEntry[]>;
  /** Undefined when the challenge does not exist. */
  challenge(ticket: string): Promise<BookedOperation | undefined>;
  endChallenge(ticket: string, ending: Ending): Promise<void>;
  /** Ends operations that have waited for too long. */
  endOverdue(): Promise<void>;
};

export type TellerOptions = {
  readonly clock: Clock;
  readonly journal: Journal;
  /** The facts read from the journal. */
  readonly facts: readonly Fact[];
  /** For card fingerprints and tickets. */
  readonly key: Buffer;
  /** How long a hold can be captured, in milliseconds. */
  readonly holdMs: number;
  readonly interactionOf: (waiting: Waiting & { for: 'payer' }) => Interaction;
  /** Called when an operation ends after its first response. */
  readonly onChanged: (operation: Operation) => void;
};

export type Interaction = (OperationAnswer & { outcome: 'payerNeeded' })['interaction'];

const operationId = new RegExp(operationIdPattern);

export function openTeller(options: TellerOptions): OperationProcessor {
  const { clock, journal, key, holdMs, interactionOf, onChanged } = options;
  const book = emptyBook();
  for (const fact of options.facts) applyFact(book, fact);

  /** Applies the fact immediately, so that the next message sees it. A response must await the journal. */
  function record(fact: Fact): BookedOperation {
    // After a failure, `journal.settled()` rejects for every later caller.
    journal.append(fact).catch(() => undefined);
    return applyFact(book, fact);
  }

  function finish({ operation }: BookedOperation, verdict: ChargeDecision): void {
    record({ type: 'finished', at: clock.now(), operationId: operation.operationId, verdict });
    journal.settled().then(
      () => onChanged(operation),
      () => undefined,
    );
  }

  function finishIfOverdue(booked: BookedOperation): void {
    const { waiting, verdict } = booked;
    if (waiting?.until === undefined || clock.now() < waiting.until) return;
    finish(booked, waiting.for === 'payer' ? authenticationFailed(booked, '3ds-not-finished') : verdict);
  }

  function answerOf(booked: BookedOperation): OperationAnswer {
    const { operation, verdict, waiting, sequence } = booked;
    const { operationId } = operation;
    if (waiting?.for === 'payer') {
      return { operationId, outcome: 'payerNeeded', interaction: interactionOf(waiting) };
    }
    if (waiting) return { operationId, outcome: 'pending' };
    if (verdict.outcome === 'declined') return { operationId, ...verdict };
    const byIssuer = {
      approvalCode: String((sequence * 7_919) % 1_000_000).padStart(6, '0'),
      networkTransactionId: networkTransactionIdOf(booked),
    };
    const reference = String(900_000_000_000 + sequence);
    return { operationId, reference, ...(operation.card ? byIssuer : {}), ...verdict };
  }

  async function told(booked: BookedOperation): Promise<Reply> {
    finishIfOverdue(booked);
    const reply = { status: 200, body: answerOf(booked) };
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
        return known.operation.digest === operation.digest
          ? told(known)
          : { status: 409, body: { error: 'conflict' } };
      }
      const now = clock.now();
      const original = book.operations.get(operation.originalOperationId ?? '');
      const decision = decide(book, { operation, message, ticket: () => ticketOf(id, key), now, holdMs });
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
        if (ending === 'confirm') finish(booked, booked.verdict);
        else if (ending === 'refuse') finish(booked, authenticationFailed(booked, '3ds-failed'));
        else finish(booked, authenticationFailed(booked, '3ds-not-finished'));
      }
      await journal.settled();
    },

    async endOverdue() {
      for (const booked of book.waiting) finishIfOverdue(booked);
      await journal.settled();
    },
  };
}

function authenticationFailed({ operation }: BookedOperation, code: string): ChargeDecision {
  return { outcome: 'declined', network: operation.card?.network ?? 'bank', code };
}
