// Who pays: a payer who is present with a card, or one who has consented to be charged later.
import type { DeclineClass } from '../../../acquiring/domain/decline-class.ts';
import type { ChargeReason, InstalmentSequence } from '../../../acquiring/domain/initiation.ts';
import type { NetworkId } from '../../../acquiring/domain/references.ts';
import type { CardDetails, PaymentSystem } from '../../../cards/domain/card.ts';
import type { ContactInfo } from '../../../recurring/domain/mandate.ts';

/** What the payer agreed to, and what came before, when the charge was created. */
export type ChargedAs = {
  readonly agreedAmount?: 'fixed' | 'variable';
  /** Absent: recurring. */
  readonly chargeReason?: ChargeReason;
  /** Only of instalments, where it is known which one the charge is. */
  readonly sequence?: InstalmentSequence;
  /** The latest attempt to collect the invoice was declined for lack of funds. */
  readonly followsLackOfFunds?: true;
  readonly retry?: Retry;
};

/** Of a period of a subscription, so that merchants can measure which retries recover how much. */
export type Retry = {
  /** 1: the first one after the first failure. */
  readonly number: number;
  /** Of the failure before it. */
  readonly declineClass: DeclineClass;
  /** Local days since the first failure. */
  readonly days: number;
  readonly localHour: number;
  readonly policy: string;
  readonly policyVersion: number;
};

export type Payer = {
  /** The card's token in the vault. */
  readonly token: string;
  readonly contactInfo: ContactInfo;
  readonly redirectUrl?: string;
  /** Whose period the invoice is of. It becomes due when the payment has ended. */
  readonly subscriptionId?: string;
} & (
  | {
      /** The payer is present with a card. */
      readonly type: 'resource';
      readonly session: string;
      readonly card: CardDetails;
      readonly clientInfo: { readonly fingerprint: string; readonly ip: string; readonly url?: string };
      /** The card is a copy of the one that this customer has saved. No series is charged, and no consent used. */
      readonly savedBy?: { readonly customerId: string; readonly bindingId: string };
    }
  | ({
      /** The payer is absent and consented in an earlier payment. */
      readonly type: 'recurrent';
      /**
       * An invoice token started the charge and may be in a stranger's browser. The receipt goes only to the address of the
       * consent.
       */
      readonly receiptGoesToConsent?: true;
      readonly seriesId: string;
      /** Absent in charges of before 0.3.0. */
      readonly paymentSystem?: PaymentSystem;
      readonly parent: { readonly invoiceId: string; readonly paymentId: string };
      readonly rootNetworkTransactionId?: string;
      readonly previousNetworkTransactionId?: string;
      /** All names of the first payment, and of the previous one if that is another. Networks may give several. */
      readonly rootNetworkIds?: readonly NetworkId[];
      readonly previousNetworkIds?: readonly NetworkId[];
      readonly warnings: readonly string[];
    } & ChargedAs)
  | ({
      /** The payer is absent and saved a card. The card is chosen when the payment is created. */
      readonly type: 'customer';
      readonly customerId: string;
      readonly bindingId: string;
      readonly card: CardDetails;
      readonly seriesId: string;
      readonly rootNetworkTransactionId?: string;
      readonly previousNetworkTransactionId?: string;
      /** All names of the verification charge. Networks may give several. */
      readonly rootNetworkIds?: readonly NetworkId[];
      readonly previousNetworkIds?: readonly NetworkId[];
      readonly warnings: readonly string[];
    } & ChargedAs)
);
