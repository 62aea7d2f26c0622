// Who starts a payment, and what card networks must know about a stored card.
import type { Instant } from '../../clock.ts';
import type { NetworkId } from './references.ts';

/** The number of an instalment, from 1, and how many there are. */
export type InstalmentSequence = { readonly number: number; readonly of?: number };

export const chargeReasons = ['recurring', 'unscheduled', 'instalment'] as const;
export type ChargeReason = (typeof chargeReasons)[number];

/** What the payer agrees to when the bank stores the card. */
export type StoredFor = {
  readonly for: ChargeReason;
  readonly amount?: 'fixed' | 'variable';
  readonly everyDays?: number;
  readonly until?: Instant;
};

/** Who starts the payment, and what the card network requires for a stored card. */
export type Initiation =
  | {
      readonly by: 'payer';
      readonly storesCard: boolean;
      readonly stores?: StoredFor;
      /** The payer is present and pays with a card that is already stored. */
      readonly usesStored?: true;
    }
  | {
      readonly by: 'merchant';
      readonly reason: ChargeReason;
      readonly amount?: 'fixed' | 'variable';
      readonly sequence?: InstalmentSequence;
      /** It repeats a declined charge. */
      readonly resubmission?: true;
      /** From the first payment of the series, and from the latest. */
      readonly rootNetworkTransactionId?: string;
      readonly previousNetworkTransactionId?: string;
      readonly rootNetworkIds?: readonly NetworkId[];
      readonly previousNetworkIds?: readonly NetworkId[];
    };
