// What other modules may use of payments, and what payments need of customers.
export type { ChargeableCustomers } from './chargeable-customers.ts';
export {
  cardOfPayment,
  chargeInvoice,
  endObligation,
  outcomeOfCharge,
  paymentOfInvoice,
  type ChargeOutcome,
} from './charge-invoice.ts';
export type { StartPaymentDeps } from './start-payment.ts';
export { refundableOf, standingOfRefund, startRefundOf } from './start-refund.ts';
export { findPayableInvoice } from './store/payments.ts';
