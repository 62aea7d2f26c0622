// The rows of exports. What is summed is read from the same rows as the sums, so that in one snapshot both are equal.
import { columnList, statement } from '../../platform/database/statement.ts';
import { publicStatusOf } from '../../payments/store/searched.ts';
import {
  invoiceSearch,
  pageOfInvoices,
  pageOfPayments,
  pageOfRefunds,
  paymentSearch,
  refundSearch,
} from '../searches.store.ts';

const payment = {
  shop_id: 'text',
  invoice_id: 'text',
  payment_id: 'text',
  created_at: 'timestamptz',
  flow: 'text',
  amount_minor: 'int8',
  external_id: 'text?',
  customer_id: 'text?',
  email: 'text?',
  ip: 'text?',
  fingerprint: 'text?',
  first6: 'text?',
  last4: 'text?',
  payment_system: 'text?',
  rrn: 'text?',
  approval_code: 'text?',
  currency: 'text?',
  attempt: 'int4?',
  decline_class: 'text?',
  failure: 'text?',
  bank_code: 'text?',
} as const;

export const readPaymentsToExport = statement({
  name: 'read_payments_to_export',
  parameters: paymentSearch,
  row: { ...payment, public_status: 'text' },
  text: `
    select ${columnList(payment)}, ${publicStatusOf('status')} as public_status ${pageOfPayments('time')}`,
});

const refund = {
  shop_id: 'text',
  invoice_id: 'text',
  payment_id: 'text',
  refund_id: 'text',
  created_at: 'timestamptz',
  status: 'text',
  external_id: 'text?',
  rrn: 'text?',
  amount_minor: 'int8?',
  currency: 'text?',
} as const;

export const readRefundsToExport = statement({
  name: 'read_refunds_to_export',
  parameters: refundSearch,
  row: refund,
  text: `
    select ${columnList(refund)} ${pageOfRefunds('time')}`,
});

const invoice = {
  shop_id: 'text',
  invoice_id: 'text',
  created_at: 'timestamptz',
  status: 'text',
  amount_minor: 'int8',
  external_id: 'text?',
} as const;

export const readInvoicesToExport = statement({
  name: 'read_invoices_to_export',
  parameters: invoiceSearch,
  row: { ...invoice, currency: 'text', due_date: 'timestamptz', product: 'text', description: 'text?' },
  text: `
    with found as materialized (
      select ${columnList(invoice)} ${pageOfInvoices('time')}
    )
    select ${columnList(invoice, 'found')}, invoice.currency, invoice.due_date, invoice.product, invoice.description
    from found join invoice using (invoice_id)
    order by found.created_at desc, found.invoice_id desc`,
});
