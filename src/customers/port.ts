// What other modules may use of customers. A chargeable customer is locked until the transaction ends, so that its card is
// not revoked before the payment is stored.
import type { ChargeableCustomers } from '../payments/port.ts';
import type { ConsentFollowers } from '../recurring/port.ts';
import { revokeBindingsOf } from './card-consents.ts';
import { lockCustomer } from './store/chargeable-customers.ts';

export type Customers = ChargeableCustomers & ConsentFollowers;

export const customers: Customers = {
  chargeable: lockCustomer,
  async onConsentRevoked(tx, { id: seriesId, partyId, root }, consents, now) {
    if (!('customerId' in root)) return;
    await revokeBindingsOf(tx, consents, { partyId, customerId: root.customerId, seriesId }, now);
  },
};

export { confirmTerms, tokenOfSeries, type ConfirmTermsDeps } from './confirm-terms.ts';
export { whoRevokedLast } from './card-consents.ts';
export { findChargeable } from './store/chargeable-customers.ts';
export { findActiveCard } from './store/customers.ts';
export { loadBinding as loadConfirmation } from './store/bindings.ts';
export {
  approvalOf,
  importingBindings,
  type BindingImport,
  type CardOwner,
  type NewImport,
} from './import-bindings.ts';
