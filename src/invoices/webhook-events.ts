// Webhook event types of invoices, and an invoice in a webhook event.
import { filled, hasMembers } from '../platform/events/domain/topic.ts';
import { lineCostMinor, type CartLine, type Invoice, type InvoiceFact } from './domain/invoice.ts';

const noticeNames = {
  invoice_created: 'InvoiceCreated',
  invoice_paid: 'InvoicePaid',
  invoice_fulfilled: 'InvoiceFulfilled',
  invoice_cancelled: 'InvoiceCancelled',
} as const satisfies Record<InvoiceFact['type'], string>;

export const invoiceEventTypes = Object.values(noticeNames);

export function invoiceNoticeName(fact: InvoiceFact): (typeof invoiceEventTypes)[number] {
  return noticeNames[fact.type];
}

export function invoiceInNotice(invoice: Invoice): Record<string, unknown> {
  return filled({
    id: invoice.id,
    shopID: invoice.shopId,
    createdAt: invoice.createdAt,
    status: invoice.status,
    reason: 'reason' in invoice ? invoice.reason : undefined,
    dueDate: invoice.dueDate,
    amount: Number(invoice.amount.minor),
    currency: invoice.amount.currency,
    metadata: hasMembers(invoice.metadata) ? invoice.metadata : undefined,
    product: invoice.product,
    description: invoice.description,
    cart: invoice.cart?.map(lineInNotice),
  });
}

export function lineInNotice(line: CartLine): Record<string, unknown> {
  return filled({
    product: line.product,
    quantity: Number(line.quantity),
    price: Number(line.priceMinor),
    cost: Number(lineCostMinor(line)),
    taxMode: line.taxMode,
  });
}
