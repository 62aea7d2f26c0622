// Webhook event types of invoices, and an invoice in a webhook event.
import { filled } from '../platform/events/domain/topic.ts';
import { lineCostMinor, type CartLine, type Invoice, type InvoiceFact } from './domain/invoice.ts';

const eventTypeOf = {
  invoice_created: 'InvoiceCreated',
  invoice_paid: 'InvoicePaid',
  invoice_fulfilled: 'InvoiceFulfilled',
  invoice_cancelled: 'InvoiceCancelled',
} as const satisfies Record<InvoiceFact['type'], string>;

export const invoiceEventTypes = Object.values(eventTypeOf);

export function invoiceEventType(fact: InvoiceFact): (typeof invoiceEventTypes)[number] {
  return eventTypeOf[fact.type];
}

export function invoicePayload(invoice: Invoice): Record<string, unknown> {
  return filled({
    id: invoice.id,
    externalID: invoice.externalId,
    shopID: invoice.shopId,
    createdAt: invoice.createdAt,
    status: invoice.status,
    reason: 'reason' in invoice ? invoice.reason : undefined,
    dueDate: invoice.dueDate,
    amount: Number(invoice.amount.minor),
    currency: invoice.amount.currency,
    metadata: invoice.metadata ?? {},
    product: invoice.product,
    description: invoice.description,
    cart: invoice.cart?.map(cartLinePayload),
  });
}

export function cartLinePayload(line: CartLine): Record<string, unknown> {
  return filled({
    product: line.product,
    quantity: Number(line.quantity),
    price: Number(line.priceMinor),
    cost: Number(lineCostMinor(line)),
    taxMode: line.taxMode,
  });
}
