// Puts the timeline of a binding together.
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { inOrder, type TimelineItem } from './domain/item.ts';
import { bankLines } from './lines/bank-lines.ts';
import { bindingLines, nextBindingLine } from './lines/binding-lines.ts';
import { ledgerLines, webhookLines } from './lines/record-lines.ts';
import type { BoundCard, TimelineSources } from './port.ts';

export async function readBindingTimeline(
  sources: TimelineSources,
  db: Database,
  { binding, seriesId }: BoundCard,
  now: Instant,
): Promise<TimelineItem[]> {
  const { customerId, id } = binding;
  const facts = await sources.bindingFacts(db, binding);
  const refusal = await sources.refusal(binding);
  const failedAt = facts.findLast(({ fact }) => fact.type === 'binding_failed')?.at;
  return inOrder([
    ...bindingLines(facts, seriesId),
    ...bankLines(await sources.exchanges(db, customerId, `${customerId}.${id}.`), now),
    ...ledgerLines(await sources.transfers(db, customerId, `binding/${id}`)),
    ...webhookLines(await sources.deliveries(db, customerId, facts), facts),
    ...(failedAt === undefined ? [] : [nextBindingLine(failedAt, refusal)]),
  ]);
}
