// What payments need to know of a customer to charge its card.
import type { NetworkId } from '../../../acquiring/domain/references.ts';
import type { ContactInfo } from '../../../recurring/domain/mandate.ts';
import type { CardDetails } from '../../../cards/domain/card.ts';
import { refuse } from '../../../refusal.ts';

export type ChargeableCustomer = {
  readonly id: string;
  readonly shopId: string;
  readonly contactInfo: ContactInfo;
  /** Absent if the customer is not ready. */
  readonly card?: {
    readonly bindingId: string;
    readonly token: string;
    readonly details: CardDetails;
    readonly livemode: boolean;
    readonly seriesId?: string;
    /** The ID of the verification charge, for which the payer was authenticated. */
    readonly networkTransactionId?: string;
    readonly networkIds?: readonly NetworkId[];
  };
};

export function noSavedCard() {
  return refuse('customerNotReady', {
    hint: 'The customer has no saved card. Save one with a binding, and charge it once that has succeeded.',
  });
}
