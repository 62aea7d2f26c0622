// What payments need of customers, and what subscriptions need of payments.
import type { Database } from '../platform/database/database.ts';
import type { ChargeableCustomer } from './domain/payer/chargeable-customer.ts';

export type ChargeableCustomers = {
  /** Undefined if the party has no such customer. The row stays locked until the transaction ends. */
  chargeable(tx: Database, partyId: string, customerId: string): Promise<ChargeableCustomer | undefined>;
};

export { chargeInvoice, outcomeOfCharge, type ChargeOutcome } from './charge-invoice.ts';
export { findPayableInvoice } from './store/payments.ts';
export type { StartPaymentDeps } from './api/create-payment.ts';
