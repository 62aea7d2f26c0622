// One line of a timeline on the wire.
import { Type, type Static } from 'typebox';
import { Amount, CurrencyCode, DateTime } from '../../platform/http/schemas.ts';
import { DeclineClassSchema } from '../../recurring/api/schema.ts';
import type { Database } from '../../platform/database/database.ts';
import { itemKinds, type TimelineItem } from '../domain/item.ts';
import type { Language } from '../domain/phrases.ts';
import { textIn } from '../domain/text.ts';
import type { TimelineSources } from '../port.ts';

/** The parts of the service that a timeline uses. */
export type TimelineDeps = {
  readonly db: Database;
  readonly timeline: TimelineSources;
  readonly language: Language;
};

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

export function itemsBody(
  items: readonly TimelineItem[],
  language: Language,
): Static<typeof TimelineItemSchema>[] {
  return items.map(({ amount, text, ...item }) => ({
    ...item,
    text: textIn(language, text),
    ...(amount ? { amount: Number(amount.minor), currency: amount.currency } : {}),
  }));
}
