// What happened to a series, line by line, by one of its payments or by its customer.
import { CustomerPath } from '../../customers/api/schema.ts';
import { PaymentPath } from '../../payments/api/schema.ts';
import type { Instant } from '../../clock.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept, refuse } from '../../refusal.ts';
import { readSeriesTimeline } from '../series-timeline.ts';
import { itemsBody, TimelineSchema, type TimelineDeps } from './item-schema.ts';

export const getRecurringTimeline = endpoint({
  operation: 'getRecurringTimeline',
  access: { scope: 'payments:read', maskedAs: 'invoiceNotFound' },
  method: 'GET',
  path: '/v2/processing/invoices/{invoiceID}/payments/{paymentID}/recurring/timeline',
  tag: 'Recurring',
  summary: 'Read what happened to the series of a payment',
  params: PaymentPath,
  status: 200,
  response: TimelineSchema,
  errors: ['invoiceNotFound', 'paymentNotFound', 'recurringNotFound'],
  handle: async ({ caller, params, now }, deps: TimelineDeps) => {
    const name = { partyId: caller.partyId, invoiceId: params.invoiceID, paymentId: params.paymentID };
    const found = await deps.timeline.seriesOfPayment(deps.db, name);
    return found.ok ? timelineOf(deps, found.value, now) : found;
  },
});

export const getCustomerRecurringTimeline = endpoint({
  operation: 'getCustomerRecurringTimeline',
  access: { scope: 'customers:read', alsoScope: 'payments:read', maskedAs: 'customerNotFound' },
  method: 'GET',
  path: '/v2/processing/customers/{customerID}/recurring/timeline',
  tag: 'Recurring',
  summary: 'Read what happened to the series of a customer',
  description: 'Of the active card, or else of the card that was saved last.',
  params: CustomerPath,
  status: 200,
  response: TimelineSchema,
  errors: ['customerNotFound', 'recurringNotFound'],
  handle: async ({ caller, params, now }, deps: TimelineDeps) => {
    const name = { partyId: caller.partyId, customerId: params.customerID };
    const found = await deps.timeline.seriesOfCustomer(deps.db, name);
    return found.ok ? timelineOf(deps, found.value, now) : found;
  },
});

async function timelineOf({ db, timeline, language }: TimelineDeps, seriesId: string, now: Instant) {
  const items = await readSeriesTimeline(timeline, db, seriesId, now);
  return items ? accept(itemsBody(items, language)) : refuse('recurringNotFound');
}
