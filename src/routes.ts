// Every operation of the API, on one page. Who may call which is in http/access.ts.
import type { AnyEndpoint } from './http/endpoint.ts';
import { createInvoice } from './invoices/create-invoice.ts';
import { fulfillInvoice, rescindInvoice } from './invoices/end-invoice.ts';
import { issueInvoiceToken } from './invoices/issue-invoice-token.ts';
import { findInvoiceByExternalId, getInvoice, listInvoiceEvents } from './invoices/read-invoices.ts';
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
