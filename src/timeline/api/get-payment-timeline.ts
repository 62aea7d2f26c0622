// What happened to a payment, line by line, for merchants and their support.
import { endpoint } from '../../platform/http/endpoint.ts';
import { PaymentPath } from '../../payments/api/schema.ts';
import { accept } from '../../refusal.ts';
import { readPaymentTimeline } from '../payment-timeline.ts';
import { itemsBody, TimelineSchema, type TimelineDeps } from './item-schema.ts';

export const getPaymentTimeline = endpoint({
  operation: 'getPaymentTimeline',
  access: { scope: 'payments:read', maskedAs: 'invoiceNotFound' },
  method: 'GET',
  path: '/v2/processing/invoices/{invoiceID}/payments/{paymentID}/timeline',
  tag: 'Payments',
  summary: 'Read what happened to a payment',
  params: PaymentPath,
  status: 200,
  response: TimelineSchema,
  errors: ['invoiceNotFound', 'paymentNotFound'],
  handle: async ({ caller, params, now }, { db, timeline, language }: TimelineDeps) => {
    const name = { partyId: caller.partyId, invoiceId: params.invoiceID, paymentId: params.paymentID };
    const found = await timeline.payment(db, name);
    if (!found.ok) return found;
    const { items } = await readPaymentTimeline(timeline, db, found.value.payment, now);
    return accept(itemsBody(items, language));
  },
});
