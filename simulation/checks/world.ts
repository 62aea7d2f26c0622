// What the checks read: the database, the bank's report, the responses to clients, and accepted webhook events.
// All of it is read from outside, so that no check relies on the service's own view.

import type { ClockMove } from '../clients/knowledge.ts';
import type { ShownLists } from './clients/lists.ts';
import type { Unwritten } from './clients/unavailable.ts';

/** Something that must never be. */
export type Finding = {
  /** The check that found it. */
  readonly check: string;
  /** The object it is wrong with. */
  readonly about: string;
  readonly problem: string;
};

/** Pass the same object to each call of one run: what was checked before is remembered by it. */
export type CheckWorld = {
  /** One statement in the service's database; 64-bit integers come as bigint or as text. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a row is what the statement selects
  readonly query: (text: string, values?: unknown[]) => Promise<Record<string, any>[]>;
  /** All entries of the bank's report, in order. */
  readonly bankBook: () => Promise<readonly BankEntry[]>;
  /** Requests to the bank, where the world records them; grows. */
  readonly asked?: readonly Asked[];
  /** Messages of which bytes left for a bank, where the world records them; grows. */
  readonly left?: readonly Left[];
  /** In the order in which the responses came; grows. */
  readonly acknowledged: readonly Acknowledged[];
  /** Payments whose bank said nothing when it was last asked, where the world records them. */
  readonly silences?: () => readonly Silence[];
  /** The payments that operators are shown as waiting for a bank. */
  readonly shownAsWaiting?: () => Promise<readonly string[]>;
  /** What merchants have read in the end. */
  readonly lists?: () => readonly ShownLists[];
  /** What requests carried that were all answered 503, where the world records it. */
  readonly unwritten?: () => readonly Unwritten[];
  /** Moves of test clocks that clients have asked for; grows. */
  readonly clockMoves?: () => readonly ClockMove[];
  /** In the order in which they were accepted, for each webhook; grows. */
  readonly received: readonly Delivery[];
  /** What the mail server has accepted, where there is one; grows. */
  readonly mails?: readonly Mail[];
};

/** An entry of the bank's report, as the bank protocol gives it. */
export type BankEntry = {
  readonly sequence: number;
  readonly operationId: string;
  readonly kind: 'authorise' | 'capture' | 'reverse' | 'refund' | 'payout' | 'return';
  readonly originalOperationId?: string;
  readonly amount: number;
  readonly currency: string;
  /** 1 is from the payer to the merchant, -1 to the payer, and 0 a hold or its release. */
  readonly sign: 1 | 0 | -1;
  readonly at: string;
  readonly cardMask: string;
};

/** A request for a bank operation. */
export type Asked = {
  readonly operationId: string;
  /** The database's snapshot before the first byte left: which transactions had ended. */
  readonly snapshot: string;
  /** Whether the exchange log had it then. */
  readonly isLogged: boolean;
};

/** A message with an operation that left for a bank. It may have arrived. */
export type Left = {
  readonly operationId: string;
  readonly bankId: string;
  readonly kind: string;
  /** A charge in one step, or a capture. */
  readonly takesMoney: boolean;
  /** Its sender had heard by then that an operation of the same payment which takes money is approved. */
  readonly isProved: boolean;
  /** Of a charge whose payer is present. */
  readonly isByPayer: boolean;
  readonly notAfter?: string;
  /** The banks for which it had left before, without that bank having said until now that nothing was done. */
  readonly mayBeAt: readonly string[];
};

/** A bank has said nothing about a payment for so long. */
export type Silence = {
  /** With its invoice. */
  readonly payment: string;
  /** The version of the payment when the bank was asked. */
  readonly as_of: number;
  readonly for_ms: number;
};

/** A response that a client of the API received completely. */
export type Acknowledged = {
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
  readonly at: string;
  /** Set under an Idempotency-Key: the same text for each repeat, and the time of the first request. */
  readonly repeatable?: { readonly request: string; readonly firstAskedAt: string };
};

/** A delivery that a receiver accepted with 2xx. */
export type Delivery = {
  readonly webhookID: string;
  /** The event's number: `eventID` in the body. */
  readonly eventID: number | string;
  readonly body: unknown;
};

/** An email that the mail server accepted. */
export type Mail = {
  /** Contains the payment's IDs. */
  readonly id: string;
  readonly to: string;
  readonly text: string;
};
