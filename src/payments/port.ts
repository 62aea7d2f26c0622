// What payments need of customers: who is charged, and with which card.
import type { Database } from '../platform/database/database.ts';
import type { ChargeableCustomer } from './domain/chargeable-customer.ts';

export type ChargeableCustomers = {
  /** Undefined when the party has no such customer. Locked until the transaction ends. */
  chargeable(tx: Database, partyId: string, customerId: string): Promise<ChargeableCustomer | undefined>;
};
