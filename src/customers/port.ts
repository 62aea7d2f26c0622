// What the room of payments may ask about customers: who he is and which card he is charged with. He is held until the
// transaction ends, so that the card is not withdrawn between the question and the payment.
import type { CardDetails } from '../cards/domain/card.ts';
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Series } from '../recurring/domain/series.ts';
import { revokeBindingsOf, type Recurring } from './card-consents.ts';
import type { ContactInfo } from './domain/customer.ts';
import { lockCustomer } from './store/chargeable-customers.ts';

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

export type Customers = {
  /** Undefined when the party has no such customer. */
  chargeable(tx: Database, partyId: string, customerId: string): Promise<ChargeableCustomer | undefined>;
  /** The consent behind a card was withdrawn: it is bound no more, and a customer without another one is unready. */
  onConsentRevoked(
    tx: Database,
    series: Pick<Series, 'id' | 'partyId' | 'kind' | 'root'>,
    recurring: Recurring,
    now: Instant,
  ): Promise<void>;
};

export const customers: Customers = {
  chargeable: lockCustomer,
  async onConsentRevoked(tx, { id: seriesId, partyId, kind, root }, recurring, now) {
    if (kind !== 'customer') return;
    await revokeBindingsOf(tx, recurring, { partyId, customerId: root.invoiceId, seriesId }, now);
  },
};
