// What the room of payments may ask about customers: who he is and which card he is charged with. He is held until the
// transaction ends, so that the card is not withdrawn between the question and the payment.
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Series } from '../recurring/domain/series.ts';
import { withdrawBindingsOf, type Recurring } from './card-consents.ts';
import type { ChargeableCustomer } from './domain/customer.ts';
import { holdCustomer } from './store/chargeable-customers.ts';

export type Customers = {
  /** Undefined when the party has no such customer. */
  chargeable(tx: Database, partyId: string, customerId: string): Promise<ChargeableCustomer | undefined>;
  /** The consent behind a card was withdrawn: it is bound no more, and a customer without another one is unready. */
  consentWithdrawn(
    tx: Database,
    series: Pick<Series, 'id' | 'partyId' | 'kind' | 'root'>,
    recurring: Recurring,
    now: Instant,
  ): Promise<void>;
};

export const customers: Customers = {
  chargeable: holdCustomer,
  async consentWithdrawn(tx, { id: seriesId, partyId, kind, root }, recurring, now) {
    if (kind !== 'customer') return;
    await withdrawBindingsOf(tx, recurring, { partyId, customerId: root.invoiceId, seriesId }, now);
  },
};
