// One line of a timeline on the wire.
import { Type, type Static } from 'typebox';
import { Amount, CurrencyCode, DateTime } from '../../platform/http/schemas.ts';
import { DeclineClassSchema } from '../../recurring/api/schema.ts';
import type { Database } from '../../platform/database/database.ts';
import { itemKinds, type TimelineItem } from '../domain/item.ts';
import type { TimelineSources } from '../port.ts';

/** The parts of the service that a timeline uses. */
export type TimelineDeps = { readonly db: Database; readonly timeline: TimelineSources };

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

export const TimelineSchema = Type.Array(TimelineItemSchema);

export function itemBody({ amount, ...item }: TimelineItem): Static<typeof TimelineItemSchema> {
  return { ...item, ...(amount ? { amount: Number(amount.minor), currency: amount.currency } : {}) };
}
