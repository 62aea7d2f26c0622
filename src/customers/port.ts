// What the room of payments may ask about customers: who he is and which card he is charged with. He is held until the
// transaction ends, so that the card is not withdrawn between the question and the payment.
import type { ChargeableCustomers } from '../payments/port.ts';
import type { ConsentFollowers } from '../recurring/port.ts';
import { revokeBindingsOf } from './card-consents.ts';
import { lockCustomer } from './store/chargeable-customers.ts';

export type Customers = ChargeableCustomers & ConsentFollowers;

export const customers: Customers = {
  chargeable: lockCustomer,
  async onConsentRevoked(tx, { id: seriesId, partyId, kind, root }, recurring, now) {
    if (kind !== 'customer') return;
    await revokeBindingsOf(tx, recurring, { partyId, customerId: root.invoiceId, seriesId }, now);
  },
};
