// Every operation of the API, on one page. Who may call which is in http/access.ts.
import { createPaymentResource } from './cards/create-payment-resource.ts';
import type { AnyEndpoint } from './http/endpoint.ts';
import { createInvoice } from './invoices/create-invoice.ts';
import { fulfillInvoice, rescindInvoice } from './invoices/end-invoice.ts';
import { issueInvoiceToken } from './invoices/issue-invoice-token.ts';
import { findInvoiceByExternalId, getInvoice } from './invoices/read-invoices.ts';
import { createPayment } from './payments/create-payment.ts';
import { createRefund } from './payments/create-refund.ts';
import { cancelPayment, capturePayment } from './payments/end-hold.ts';
import { listInvoiceEvents } from './payments/list-invoice-events.ts';
import { listInvoicePaymentMethods } from './payments/list-payment-methods.ts';
import { findPaymentByExternalId, getPayment, listPayments } from './payments/read-payments.ts';
import {
  findRefundByExternalId,
  getChargeback,
  getRefund,
  listChargebacks,
  listRefunds,
} from './payments/read-refunds.ts';
import { getReceipt } from './payments/get-receipt.ts';
import {
  getConsentBundle,
  getRecurring,
  listRecurringEvents,
  withdrawConsent,
} from './payments/recurring-of-payment.ts';
import { getCategory, getMe, getShop, listCategories, listShops } from './merchants/read-merchants.ts';
import { advanceTestClock, getTestClock } from './merchants/test-clock.ts';

export const routes: readonly AnyEndpoint[] = [
  createInvoice, //           POST /v2/processing/invoices
  findInvoiceByExternalId, // GET  /v2/processing/invoices?externalID=
  getInvoice, //              GET  /v2/processing/invoices/{invoiceID}
  fulfillInvoice, //          POST /v2/processing/invoices/{invoiceID}/fulfill
  rescindInvoice, //          POST /v2/processing/invoices/{invoiceID}/rescind
  issueInvoiceToken, //       POST /v2/processing/invoices/{invoiceID}/access-tokens
  listInvoiceEvents, //       GET  /v2/processing/invoices/{invoiceID}/events
  listInvoicePaymentMethods, // GET /v2/processing/invoices/{invoiceID}/payment-methods

  createPaymentResource, //   POST /v2/processing/payment-resources

  createPayment, //           POST /v2/processing/invoices/{invoiceID}/payments
  listPayments, //            GET  /v2/processing/invoices/{invoiceID}/payments
  getPayment, //              GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}
  findPaymentByExternalId, // GET  /v2/processing/payments?externalID=
  capturePayment, //          POST /v2/processing/invoices/{invoiceID}/payments/{paymentID}/capture
  cancelPayment, //           POST /v2/processing/invoices/{invoiceID}/payments/{paymentID}/cancel

  createRefund, //            POST /v2/processing/invoices/{invoiceID}/payments/{paymentID}/refunds
  listRefunds, //             GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/refunds
  getRefund, //               GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/refunds/{refundID}
  findRefundByExternalId, //  GET  /v2/processing/refunds?externalID=
  listChargebacks, //         GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/chargebacks
  getChargeback, //           GET  …/payments/{paymentID}/chargebacks/{chargebackID}

  getRecurring, //            GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/recurring
  listRecurringEvents, //     GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/recurring/events
  getConsentBundle, //        GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/recurring/consent
  withdrawConsent, //         POST /v2/processing/invoices/{invoiceID}/payments/{paymentID}/recurring/withdraw
  getReceipt, //              GET  /v2/processing/invoices/{invoiceID}/payments/{paymentID}/receipt

  getMe, //                   GET  /v2/processing/me
  listShops, //               GET  /v2/processing/shops
  getShop, //                 GET  /v2/processing/shops/{shopID}
  listCategories, //          GET  /v2/processing/categories
  getCategory, //             GET  /v2/processing/categories/{categoryID}
];

/** What only a sandbox answers. */
export const sandboxRoutes: readonly AnyEndpoint[] = [
  getTestClock, //            GET  /sandbox/clock
  advanceTestClock, //        POST /sandbox/clock
];
