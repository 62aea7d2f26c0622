// Cancels an export that is not ready: its file is not made, and its place is free for another.
import { laterBy, type Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { fileLifeMs, statusOf, type Export } from './domain/export.ts';
import { findExport, storeCancellation } from './exports.store.ts';

/** A repeat changes nothing. */
export async function cancelExport(
  db: Database,
  of: Pick<Export, 'partyId' | 'id'>,
  now: Instant,
): Promise<Outcome<Export, 'exportNotFound' | 'exportIsOver'>> {
  const cancelled = await storeCancellation(db, of, laterBy(now, fileLifeMs));
  if (cancelled) return accept(cancelled);
  const found = await findExport(db, of.partyId, of.id);
  if (!found) return refuse('exportNotFound');
  return statusOf(found) === 'cancelled' ? accept(found) : refuse('exportIsOver');
}
