// What payments use of invoices beyond their rules and rows: a charge creates its invoice as the operation of invoices does.
export { createInvoice, rescindInvoice } from './service-invoice.ts';
export {
  decisiveOf,
  errorsOfNewInvoice,
  invoiceIdentity,
  invoiceProblem,
  makeInvoice,
  type NewInvoiceDeps,
} from './api/new-invoice.ts';
export { loadInvoice } from './store/invoices.ts';
