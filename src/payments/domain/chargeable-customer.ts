// The customer a payment is charged to, and which card: what payments need to know of customers. Pure.
import type { ContactInfo } from '../../recurring/domain/mandate.ts';
import type { CardDetails } from '../../cards/domain/card.ts';

export type ChargeableCustomer = {
  readonly id: string;
  readonly shopId: string;
  readonly contactInfo: ContactInfo;
  /** None: he is not ready. */
  readonly card?: {
    readonly bindingId: string;
    readonly token: string;
    readonly details: CardDetails;
    readonly livemode: boolean;
    /** By which it is charged. */
    readonly seriesId?: string;
    /** Of the test charge, with which the payer was authenticated. */
    readonly networkTransactionId?: string;
  };
};
