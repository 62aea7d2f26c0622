// Exports of what a shop has sold: payments, refunds and invoices, as their searches find them.
import { Type, type Static } from 'typebox';
import { InvoiceSearch, invoicesAsked } from '../api/search-invoices.ts';
import { PaymentSearch, paymentsAsked } from '../api/search-payments.ts';
import { RefundSearch, refundsAsked } from '../api/search-refunds.ts';
import { idList } from '../searches.store.ts';
import { shopsIn } from './domain/export.ts';
import { readInvoicesToExport, readPaymentsToExport, readRefundsToExport } from './rows.store.ts';
import type { ExportSource, ExportSources } from './source.ts';

const ofPage = ['fromTime', 'toTime', 'limit', 'continuationToken'] as const;

const PaymentFilters = Type.Omit(PaymentSearch, ofPage);
const InvoiceFilters = Type.Omit(InvoiceSearch, ofPage);
const RefundFilters = Type.Omit(RefundSearch, [...ofPage, 'offset']);

type Filters = Static<typeof PaymentFilters> &
  Static<typeof InvoiceFilters> &
  Static<typeof RefundFilters> & { readonly limit: number };
type Asked = Parameters<ExportSource['page']>[1];
type After = Parameters<ExportSource['page']>[2];

function placeOf({ partyId, terms, limit }: Asked, after: After) {
  const [before_invoice = '', before_payment = '', before_refund = ''] = after?.ids ?? [];
  const place = { party_id: partyId, shop_ids: idList(shopsIn(terms)), created_from: terms.from, limit };
  return { ...place, before_at: after?.createdAt ?? terms.to, before_invoice, before_payment, before_refund };
}

/** They were checked when the export was ordered. */
const filtersOf = ({ terms, limit }: Asked) => ({ ...terms.filters, limit }) as Filters;

const payments: ExportSource = {
  isOfShop: true,
  filters: PaymentFilters,
  columns: {
    shopID: 'fact',
    invoiceID: 'fact',
    paymentID: 'fact',
    externalID: 'text',
    status: 'fact',
    flow: 'fact',
    amount: 'amount',
    attempt: 'fact',
    customerID: 'fact',
    payerEmail: 'text',
    payerIP: 'text',
    payerFingerprint: 'text',
    first6: 'fact',
    last4: 'fact',
    bankCardPaymentSystem: 'text',
    rrn: 'text',
    approvalCode: 'text',
    declineClass: 'fact',
    error: 'text',
    bankCode: 'text',
  },
  async page(db, asked, after) {
    const filters = paymentsAsked(filtersOf(asked));
    const found = await db.run(readPaymentsToExport, { ...filters, ...placeOf(asked, after) });
    const end = found.at(-1);
    return {
      last: end && { createdAt: end.created_at, ids: [end.invoice_id, end.payment_id] },
      rows: found.map((row) => ({
        createdAt: row.created_at,
        currency: row.currency,
        values: {
          shopID: row.shop_id,
          invoiceID: row.invoice_id,
          paymentID: row.payment_id,
          externalID: row.external_id,
          status: row.public_status,
          flow: row.flow,
          amount: row.amount_minor,
          attempt: row.attempt,
          customerID: row.customer_id,
          payerEmail: row.email,
          payerIP: row.ip,
          payerFingerprint: row.fingerprint,
          first6: row.first6,
          last4: row.last4,
          bankCardPaymentSystem: row.payment_system,
          rrn: row.rrn,
          approvalCode: row.approval_code,
          declineClass: row.decline_class,
          error: row.failure,
          bankCode: row.bank_code,
        },
      })),
    };
  },
};

const refunds: ExportSource = {
  isOfShop: true,
  filters: RefundFilters,
  columns: {
    shopID: 'fact',
    invoiceID: 'fact',
    paymentID: 'fact',
    refundID: 'fact',
    externalID: 'text',
    status: 'fact',
    amount: 'amount',
    rrn: 'text',
  },
  async page(db, asked, after) {
    const filters = refundsAsked(filtersOf(asked));
    const found = await db.run(readRefundsToExport, { ...filters, ...placeOf(asked, after), skip: 0 });
    const end = found.at(-1);
    return {
      last: end && { createdAt: end.created_at, ids: [end.invoice_id, end.payment_id, end.refund_id] },
      rows: found.map((row) => ({
        createdAt: row.created_at,
        currency: row.currency,
        values: {
          shopID: row.shop_id,
          invoiceID: row.invoice_id,
          paymentID: row.payment_id,
          refundID: row.refund_id,
          externalID: row.external_id,
          status: row.status,
          amount: row.amount_minor,
          rrn: row.rrn,
        },
      })),
    };
  },
};

const invoices: ExportSource = {
  isOfShop: true,
  filters: InvoiceFilters,
  columns: {
    shopID: 'fact',
    invoiceID: 'fact',
    externalID: 'text',
    status: 'fact',
    amount: 'amount',
    dueDate: 'fact',
    product: 'text',
    description: 'text',
  },
  async page(db, asked, after) {
    const filters = invoicesAsked(filtersOf(asked));
    const found = await db.run(readInvoicesToExport, { ...filters, ...placeOf(asked, after) });
    const end = found.at(-1);
    return {
      last: end && { createdAt: end.created_at, ids: [end.invoice_id] },
      rows: found.map((row) => ({
        createdAt: row.created_at,
        currency: row.currency,
        values: {
          shopID: row.shop_id,
          invoiceID: row.invoice_id,
          externalID: row.external_id,
          status: row.status,
          amount: row.amount_minor,
          dueDate: row.due_date,
          product: row.product,
          description: row.description,
        },
      })),
    };
  },
};

export const shopSources = { payments, refunds, invoices } satisfies Partial<ExportSources>;
