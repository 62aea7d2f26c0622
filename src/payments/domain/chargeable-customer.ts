// The customer a payment is charged to, and which card: what payments need to know of customers. Pure.
import type { CardDetails } from '../../cards/domain/card.ts';

export type ChargeableCustomer = {
  readonly id: string;
  readonly shopId: string;
  readonly contactInfo: Readonly<Record<string, string>>;
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
