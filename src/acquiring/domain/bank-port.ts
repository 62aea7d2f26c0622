// The port to acquirers: the operations Mandate sends to a bank, and the outcomes a bank can report.
// The ID of an operation is stored before the first send, so sending it again never does it twice.
import type { Currency, Money } from '../../money.ts';

/** A shop's or party's account at a bank. */
export type Terminal = {
  readonly id: string;
  readonly bankId: string;
  /** The merchant's ID at that bank. */
  readonly merchantId: string;
  /** What payers read on their statements. */
  readonly descriptor: string;
};

/** A card in the vault. Only an adapter turns it into a number, for one message. */
export type CardReference = {
  readonly token: string;
  /** The session that keeps the security code for one authorisation. */
  readonly session?: string;
};

/** Who starts the payment, and what the card network requires for a stored card. */
export type Initiation =
  | { readonly by: 'payer'; readonly storesCard: boolean }
  | {
      readonly by: 'merchant';
      readonly reason: 'recurring' | 'unscheduled';
      /** From the first payment of the series, and from the latest. */
      readonly rootNetworkTransactionId?: string;
      readonly previousNetworkTransactionId?: string;
    };

export type BankOperation = { readonly operationId: string; readonly terminal: Terminal } & (
  | {
      readonly kind: 'authorise';
      readonly amount: Money;
      readonly card: CardReference;
      /** True: charge in one step. False: hold, to be captured or reversed later. */
      readonly capture: boolean;
      readonly initiation: Initiation;
      /** `required`: declined unless the payer is authenticated, with or without a challenge. */
      readonly authentication: 'required' | 'preferred' | 'none';
      /** Where the payer's browser returns after a challenge. The return proves no outcome. */
      readonly returnUrl: string;
      readonly payer: { readonly ip?: string; readonly email?: string; readonly fingerprint?: string };
    }
  | {
      /** A capture takes all or part of the hold; the rest is released. */
      readonly kind: 'capture' | 'refund';
      readonly originalOperationId: string;
      readonly amount: Money;
    }
  /** Undoes a hold that was not captured, or a one-step charge, even if the bank never received it. */
  | { readonly kind: 'reverse'; readonly originalOperationId: string }
  /** Pays to a card. A payout is never reversed. */
  | { readonly kind: 'payout'; readonly amount: Money; readonly card: CardReference }
  /** Checks whether a card can receive payouts in the currency. It moves no money. */
  | { readonly kind: 'verify'; readonly currency: Currency; readonly card: CardReference }
);

/** The page the payer's browser must visit. */
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
      /** The retrieval reference, 12 alphanumeric characters. */
      readonly reference: string;
      readonly approvalCode?: string;
      readonly networkTransactionId?: string;
      readonly eci?: string;
      /** A merchant advice code; an approval can carry one too. */
      readonly advice?: string;
    }
  | {
      readonly outcome: 'declined';
      readonly network: string;
      /** The network's response code, or 3ds-failed, 3ds-not-finished, 3ds-unavailable. */
      readonly code: string;
      readonly advice?: string;
    }
  /** The bank waits for the payer. */
  | { readonly outcome: 'payerNeeded'; readonly interaction: Interaction }
  /** The bank has received the operation and has not finished it. */
  | { readonly outcome: 'pending' }
  /** Only for an inquiry: the bank never received the operation. */
  | { readonly outcome: 'notFound' }
  /** Timeout, broken connection or invalid response: the bank may have done it or not. */
  | { readonly outcome: 'unknown'; readonly why: string }
  /**
   * Certainly not done: the bank says so, or the message could not be built. With `noBytesSent` no byte reached the bank, so the
   * operation may go to another bank.
   */
  | { readonly outcome: 'notSent'; readonly why: string; readonly noBytesSent?: true };

export type Bank = {
  /** Safe to repeat with the same operation ID. Never throws. */
  send(operation: BankOperation): Promise<BankResponse>;
  /** Queries the status of an operation. Never throws. */
  inquire(operationId: string, terminal: Terminal): Promise<BankResponse>;
  stop(): Promise<void>;
};
