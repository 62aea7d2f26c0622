// Runs the job of a series: a stop of its card reaches its own log, and its advance notices become due.
import type { Cards } from '../cards/vault.ts';
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { isInForce } from '../retry-rules/domain/may-charge.ts';
import { nextAdvanceNotice } from './domain/advance-notices.ts';
import { readChargeHistory } from './store/attempts.ts';
import { lockSeries, reschedule, storeFacts } from './store/series.ts';

export async function runSeriesJob(
  { db, cards }: { readonly db: Database; readonly cards: Pick<Cards, 'expedite'> },
  seriesId: string,
  now: Instant,
): Promise<void> {
  await db.transaction(async (tx) => {
    const stored = await lockSeries(tx, seriesId);
    if (!stored) return;
    const { series } = stored;
    const cardStop = (await readChargeHistory(tx, seriesId, {}, now))?.history.cardStop;
    if (series.state.name === 'active' && cardStop && isInForce(cardStop, series)) {
      const { at: _, ...by } = cardStop;
      await storeFacts(tx, stored, [{ type: 'series_stopped', ...by, scope: 'series' }], now);
      await cards.expedite(tx, stored.handles.token, now);
      return;
    }
    const notice = nextAdvanceNotice(series);
    if (notice && notice.at <= now) await storeFacts(tx, stored, [{ type: 'notice_due', notice }], now);
    else await reschedule(tx, stored, notice?.at ?? null);
  });
}
