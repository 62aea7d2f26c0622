// What payments need of customers.
import type { Database } from '../platform/database/database.ts';
import type { ChargeableCustomer } from './domain/payer/chargeable-customer.ts';

export type ChargeableCustomers = {
  /** Undefined if the party has no such customer. The row stays locked until the transaction ends. */
  chargeable(tx: Database, partyId: string, customerId: string): Promise<ChargeableCustomer | undefined>;
};
