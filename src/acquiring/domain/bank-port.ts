// The port to acquirers: what the house asks a bank to do with money, and the few things a bank can answer. Each operation
// has an id of ours, fixed and stored before it is first sent, so that it can be asked for again and is never done twice.
// Adapters implement it; docs/bank-protocol.md is the one we speak ourselves.
import type { Currency, Money } from '../../money.ts';

/** Under which contract with which bank a shop's operations run. */
export type Terminal = {
  readonly id: string;
  readonly bankId: string;
  /** The merchant's name with that bank. */
  readonly merchantId: string;
  /** What the payer reads on his statement. */
  readonly descriptor: string;
};

/** A card in the vault; only an adapter turns it into a number, for the length of one message. */
export type CardReference = {
  readonly token: string;
  /** Where the security code waits, for the one authorisation that may use it. */
  readonly session?: string;
};

/** Who starts it, and what the network must know about a stored card. */
export type Initiation =
  | { readonly by: 'payer'; readonly storesCard: boolean }
  | {
      readonly by: 'merchant';
      readonly reason: 'recurring' | 'unscheduled';
      /** Of the first payment of the series, and of the latest. */
      readonly rootNetworkTransactionId?: string;
      readonly previousNetworkTransactionId?: string;
    };

export type BankOperation = { readonly operationId: string; readonly terminal: Terminal } & (
  | {
      readonly kind: 'authorise';
      readonly amount: Money;
      readonly card: CardReference;
      /** In one step, or a hold that is captured or reversed later. */
      readonly capture: boolean;
      readonly initiation: Initiation;
      /** `required`: declined unless the payer was authenticated, without or with a challenge. */
      readonly authentication: 'required' | 'preferred' | 'none';
      /** Where the payer's browser goes when a challenge has ended. It proves nothing. */
      readonly returnUrl: string;
      readonly payer: { readonly ip?: string; readonly email?: string; readonly fingerprint?: string };
    }
  | {
      /** A capture is of the whole hold or a part; the rest is given back to the payer. */
      readonly kind: 'capture' | 'refund';
      readonly originalOperationId: string;
      readonly amount: Money;
    }
  /** Takes back an authorisation, known or unknown, that was not captured, or a one-step charge of unknown outcome. */
  | { readonly kind: 'reverse'; readonly originalOperationId: string }
  /** To a card, at once and for good: it is never reversed. */
  | { readonly kind: 'payout'; readonly amount: Money; readonly card: CardReference }
  /** Whether a card takes payouts of that currency. It moves no money. */
  | { readonly kind: 'verify'; readonly currency: Currency; readonly card: CardReference }
);

/** A page the payer's browser must visit. */
export type Interaction =
  | { readonly method: 'GET'; readonly url: string }
  | {
      readonly method: 'POST';
      readonly url: string;
      readonly form: readonly { readonly name: string; readonly value: string }[];
    };

export type BankResponse =
  | {
      readonly outcome: 'approved';
      /** The retrieval reference, 12 letters or digits. */
      readonly reference: string;
      readonly approvalCode?: string;
      readonly networkTransactionId?: string;
      readonly eci?: string;
      /** A merchant advice code, which may come with an approval too. */
      readonly advice?: string;
    }
  | {
      readonly outcome: 'declined';
      readonly network: string;
      /** Of the network, as in acquiring; or of 3-D Secure: 3ds-failed, 3ds-not-finished, 3ds-unavailable. */
      readonly code: string;
      readonly advice?: string;
    }
  /** The bank waits for the payer. */
  | { readonly outcome: 'payerNeeded'; readonly interaction: Interaction }
  /** The bank has it and has not finished. */
  | { readonly outcome: 'pending' }
  /** To an inquiry alone: the bank has never seen it. */
  | { readonly outcome: 'notFound' }
  /** Time ran out, the connection broke, or the answer makes no sense: nobody knows whether it was done. */
  | { readonly outcome: 'unknown'; readonly why: string }
  /**
   * Certainly not done. With `noBytesSent` not a byte of it has left for the bank, because nobody listens there or the
   * circuit is open: then it may be sent elsewhere too. Without, the bank was told of it and says that it did nothing.
   */
  | { readonly outcome: 'notSent'; readonly why: string; readonly noBytesSent?: true };

export type Bank = {
  /** Safe to repeat with the same operation id: the bank answers what it answered before. Never throws. */
  send(operation: BankOperation): Promise<BankResponse>;
  /** What became of an operation. Never throws. */
  inquire(operationId: string, terminal: Terminal): Promise<BankResponse>;
  stop(): Promise<void>;
};
