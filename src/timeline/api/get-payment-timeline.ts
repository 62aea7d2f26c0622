// What happened to a payment, line by line, for merchants and their support.
import { Type, type Static } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { Amount, CurrencyCode, DateTime } from '../../platform/http/schemas.ts';
import type { Database } from '../../platform/database/database.ts';
import { PaymentPath } from '../../payments/api/schema.ts';
import { DeclineClassSchema } from '../../recurring/api/schema.ts';
import { accept } from '../../refusal.ts';
import { itemKinds, type TimelineItem } from '../domain/item.ts';
import type { TimelineSources } from '../port.ts';
import { readPaymentTimeline } from '../payment-timeline.ts';

const TimelineItemSchema = Type.Object(
  {
    at: DateTime,
    kind: Type.Enum([...itemKinds]),
    text: Type.String(),
    durationMs: Type.Optional(Type.Integer()),
    amount: Type.Optional(Amount),
    currency: Type.Optional(CurrencyCode),
    code: Type.Optional(Type.String()),
    declineClass: Type.Optional(DeclineClassSchema),
    id: Type.Optional(Type.String()),
  },
  { title: 'TimelineItem' },
);

export const getPaymentTimeline = endpoint({
  operation: 'getPaymentTimeline',
  access: { scope: 'payments:read', maskedAs: 'invoiceNotFound' },
  method: 'GET',
  path: '/v2/processing/invoices/{invoiceID}/payments/{paymentID}/timeline',
  tag: 'Payments',
  summary: 'Read what happened to a payment',
  params: PaymentPath,
  status: 200,
  response: Type.Array(TimelineItemSchema),
  errors: ['invoiceNotFound', 'paymentNotFound'],
  handle: async (
    { caller, params, now },
    { db, timeline }: { readonly db: Database; readonly timeline: TimelineSources },
  ) => {
    const name = { partyId: caller.partyId, invoiceId: params.invoiceID, paymentId: params.paymentID };
    const found = await timeline.payment(db, name);
    if (!found.ok) return found;
    const { items } = await readPaymentTimeline(timeline, db, found.value.payment, now);
    return accept(items.map(itemBody));
  },
});

export function itemBody({ amount, ...item }: TimelineItem): Static<typeof TimelineItemSchema> {
  return { ...item, ...(amount ? { amount: Number(amount.minor), currency: amount.currency } : {}) };
}
