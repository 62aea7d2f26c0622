// Puts the timeline of a series together. What was posted for a charge is in the timeline of its payment.
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { inOrder, type TimelineItem } from './domain/item.ts';
import { bankLines } from './lines/bank-lines.ts';
import { emailLines, webhookLines } from './lines/record-lines.ts';
import { nextChargeLine } from './lines/rule-lines.ts';
import { seriesLines } from './lines/series-lines.ts';
import type { TimelineSources } from './port.ts';

/** Undefined if there is no such series. */
export async function readSeriesTimeline(
  sources: TimelineSources,
  db: Database,
  seriesId: string,
  now: Instant,
): Promise<TimelineItem[] | undefined> {
  const series = await sources.series(db, seriesId, now);
  if (!series) return undefined;
  const { found, facts } = series;
  const payments = facts.flatMap(({ fact }) => (fact.type === 'recurring_charge_started' ? [fact] : []));
  const { exchanges, emails } = await sources.charges(db, payments);
  const refusal = await sources.refusal(found.series);
  const since = facts.at(-1)?.at ?? found.series.consentedAt;
  return inOrder([
    ...seriesLines(series),
    ...bankLines(exchanges, now),
    ...emails.flatMap(emailLines),
    ...webhookLines(await sources.deliveries(db, seriesId, facts), facts),
    nextChargeLine(since, found, refusal),
  ]);
}
