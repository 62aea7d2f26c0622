// The port to acquirers: the operations Mandate sends to a bank, and the outcomes a bank can report.
// The ID of an operation is stored before the first send, so sending it again never does it twice.
import type { Instant } from '../../clock.ts';
import type { DeclineClass } from './decline-class.ts';
import type { Currency, Money } from '../../money.ts';
import type { Abilities } from './abilities.ts';
import type { AuthenticationGiven, AuthenticationResult } from './authentication.ts';
import type { BankUpdates } from './bank-updates.ts';
import type { Initiation } from './initiation.ts';
import type { PayerFacts } from './payer-facts.ts';
import type { NetworkId, References } from './references.ts';

/** Facts of the merchant that an acquirer may not have. */
export type MerchantFacts = {
  /** The category code, 4 digits. */
  readonly mcc?: string;
  readonly name?: string;
  readonly city?: string;
  readonly country?: string;
  readonly url?: string;
  /** The merchant's ID behind a payment facilitator. */
  readonly subMerchant?: string;
};

/** A shop's or party's account at a bank. */
export type Terminal = {
  readonly id: string;
  readonly bankId: string;
  /** The merchant's ID at that bank. */
  readonly merchantId: string;
  /** What payers read on their statements. */
  readonly descriptor: string;
  readonly merchant?: MerchantFacts;
};

/** A card in the vault. Only an adapter turns it into a number, for one message. */
export type CardReference = {
  readonly token: string;
  /** The session that keeps the security code for one authorisation. */
  readonly session?: string;
  /** Names the value of an authentication elsewhere, which the vault keeps for one authorisation. */
  readonly authentication?: string;
};

/** Who sends a payout, in Latin characters, as networks ask for it. Personal data. */
export type PayoutSender = {
  readonly name?: string;
  readonly firstName?: string;
  readonly lastName?: string;
  readonly address?: string;
  readonly city?: string;
  readonly country?: string;
  readonly birthDate?: string;
  readonly nationality?: string;
  readonly occupation?: string;
  readonly account?: string;
  /** Ours, at most 16 characters. */
  readonly reference: string;
  readonly sourceOfFunds: string;
};

/** The operation that a follow-up changes, as Mandate stored it. */
export type OriginalOperation = {
  readonly amount: Money;
  readonly references?: References;
  readonly at: Instant;
};

/** What every operation has. It is enough to query the status. */
export type OperationName = { readonly operationId: string; readonly terminal: Terminal };

/** Do not begin later than `notAfter`. */
export type BankOperation = OperationName & {
  readonly notAfter?: Instant;
} & (
    | {
        readonly kind: 'authorise';
        readonly amount: Money;
        readonly card: CardReference;
        /** True: charge in one step. False: hold, to be captured or reversed later. */
        readonly capture: boolean;
        readonly initiation: Initiation;
        /**
         * `required`: declined unless the payer is authenticated, with or without a challenge. `given`: authenticated elsewhere, with
         * the result in `authenticated`.
         */
        readonly authentication: 'required' | 'preferred' | 'none' | 'given';
        readonly authenticated?: AuthenticationGiven;
        /** The issuer declined the payment before, because it had not challenged the payer. */
        readonly demandsChallenge?: true;
        /** What the payer confirms at the issuer, where it is not the amount that is charged. */
        readonly authenticationAmount?: Money;
        /** Where the payer's browser returns after a challenge. The return proves no outcome. */
        readonly returnUrl: string;
        readonly payer: PayerFacts;
        /** What is due, such as an invoice, and the number of the attempt to collect it, from 1. */
        readonly obligation?: string;
        readonly attempt?: number;
      }
    | {
        /** A capture takes all or part of the hold. The rest is released, unless `final` is false. */
        readonly kind: 'capture';
        readonly originalOperationId: string;
        readonly original?: OriginalOperation;
        readonly amount: Money;
        readonly final?: boolean;
      }
    | {
        readonly kind: 'refund';
        readonly originalOperationId: string;
        readonly original?: OriginalOperation;
        readonly amount: Money;
      }
    | {
        /**
         * Undoes a hold that was not captured, or a one-step charge, even if the bank never received it. With an amount, it releases that
         * part of a hold.
         */
        readonly kind: 'reverse';
        readonly originalOperationId: string;
        readonly original?: OriginalOperation;
        readonly amount?: Money;
      }
    /** Pays to a card. A payout is never reversed. */
    | {
        readonly kind: 'payout';
        readonly amount: Money;
        readonly card: CardReference;
        /** Absent for payouts from before. */
        readonly sender?: PayoutSender;
        /** A business application identifier, such as FD. */
        readonly purpose?: string;
        readonly recipient?: PayoutRecipient;
      }
    /** Checks whether a card can receive payouts in the currency. It moves no money. */
    | { readonly kind: 'verify'; readonly currency: Currency; readonly card: CardReference }
  );

/** Who receives a payout, in Latin characters. Personal data. */
export type PayoutRecipient = {
  readonly firstName?: string;
  readonly lastName?: string;
  readonly country?: string;
};

/** The page the payer's browser must visit. */
export type Interaction =
  | { readonly method: 'GET'; readonly url: string }
  | {
      readonly method: 'POST';
      readonly url: string;
      readonly form: readonly { readonly name: string; readonly value: string }[];
    };

export const returnCodes = [
  'account_closed',
  'account_frozen',
  'account_restricted',
  'incorrect_number',
  'wrong_currency',
  'unknown',
] as const;
export type ReturnCode = (typeof returnCodes)[number];

/** In the currency of the payout, and at most its amount. */
export type BankReturn = { readonly at: Instant; readonly code: ReturnCode; readonly minor: bigint };

export type BankResponse =
  | {
      readonly outcome: 'approved';
      /** The retrieval reference, or the acquirer's reference if there is none. */
      readonly reference: string;
      /** Absent if the bank returned a retrieval reference alone. */
      readonly references?: References;
      readonly approvalCode?: string;
      readonly networkTransactionId?: string;
      readonly networkIds?: readonly NetworkId[];
      readonly eci?: string;
      readonly authenticated?: AuthenticationResult;
      /** The issuer, and not the merchant, is liable for fraud. */
      readonly liabilityShift?: boolean;
      /** A merchant advice code; an approval can carry one too. */
      readonly advice?: string;
      /** Only of a payout: when the money is on the card at the latest. */
      readonly availableBy?: Instant;
      /** Only of a payout: the card's bank has sent the money back since. */
      readonly returned?: BankReturn;
    }
  | Declined
  /** The bank waits for the payer. */
  | { readonly outcome: 'payerNeeded'; readonly interaction: Interaction }
  /** The bank has received the operation and has not finished it. */
  | { readonly outcome: 'pending' }
  /** Only for an inquiry: the bank never received the operation. */
  | { readonly outcome: 'notFound' }
  /** Timeout, broken connection or invalid response: the bank may have done it or not. */
  | {
      readonly outcome: 'unknown';
      readonly why: string;
      /** The request was written, and nothing came back. */
      readonly isSilence?: true;
      readonly isUnauthorised?: true;
    }
  /**
   * This message did nothing. No byte reached the bank, it says so itself, it takes no more now, it refused the signature, or
   * there was no message.
   */
  | {
      readonly outcome: 'notSent';
      readonly why: string;
      readonly noBytesSent?: true;
      readonly notDone?: true;
      readonly turnedAway?: true;
      /** When the bank may take what was turned away. */
      readonly againInMs?: number;
      readonly isUnauthorised?: true;
      readonly notBuilt?: true;
    };

export const decliners = ['network', 'acquirer', 'connector'] as const;

export type Declined = {
  readonly outcome: 'declined';
  readonly network: string;
  /** The network's response code, a word of the acquirer, or 3ds-failed, 3ds-not-finished, 3ds-unavailable. */
  readonly code: string;
  readonly advice?: string;
  /** Whose code it is. Absent: the network's, or the bank's own if `network` is `bank`. */
  readonly by?: (typeof decliners)[number];
  /** Who can help, in the bank's opinion. */
  readonly class?: DeclineClass;
  /** Another attempt before then is pointless. */
  readonly notBefore?: Instant;
  readonly authenticated?: AuthenticationResult;
  /** What the bank says about it, for people. */
  readonly text?: string;
  /** Names by which the bank finds what it declined. */
  readonly references?: References;
  /** It was not sent: the bank declares that it cannot do it. */
  readonly noBytesSent?: true;
};

/** What the payer's browser brought back, unchanged. It may be a secret of the bank, so never log it. */
export type PayerReturn = {
  readonly method: 'GET' | 'POST';
  /** Without the question mark. */
  readonly query: string;
  /** The body of a POST, as sent. */
  readonly form?: string;
};

/** Whether what was allowed before a wait still is. If it throws, nothing is sent. */
export type MayStill = () => boolean | Promise<boolean>;
export type IsTooLate = () => boolean;

/** No method but `updates` throws. */
export type Bank = {
  /**
   * Safe to repeat with the same operation ID, while the bank remembers it. `mayStill` is asked after a wait for the bank, `isTooLate`
   * right before the first byte: what may not be sent is turned away.
   */
  send(operation: BankOperation, mayStill?: MayStill, isTooLate?: IsTooLate): Promise<BankResponse>;
  /** Queries the status of an operation. Pass the whole operation where you have it: a connector may need more than its name. */
  inquire(operation: OperationName | BankOperation): Promise<BankResponse>;
  /** Passes on what the payer's browser brought, and queries the status. Safe to repeat. */
  resume(operation: OperationName, returned: PayerReturn): Promise<BankResponse>;
  /**
   * What the bank can do, or what version 1 always promised if it does not answer. Waits for a bank that was never heard, so no request
   * may call it: a transaction may be open.
   */
  abilities(): Promise<Abilities>;
  /** The same without waiting: undefined until the bank was heard once, and then nothing speaks against an operation. */
  knownAbilities(): Abilities | undefined;
  /** What has happened to operations after their response, in order. Throws when the bank cannot be read. */
  updates(after: number): Promise<BankUpdates>;
  /** How many operations wait because the bank says it takes no more at this time. Nothing of them was sent. */
  waiting(): number;
  /** Turns them away, and whatever would have to wait from now on. */
  stopWaiting(): void;
  stop(): Promise<void>;
};
