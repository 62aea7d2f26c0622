// The engine's step of a kept card: everything it was kept for is asked whether it still needs the card. When nothing does, the
// card is deleted. Who needs a card and until when, the rooms say in one pure file each; here is what follows from it.
import { epochMsOf, instantAt, laterBy, type Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { retentionReasonFrom, type RetentionReason } from './domain/card-retention.ts';
import { findRetained, reschedule, removeRetained } from './store/retained-cards.ts';

/**
 * `no` is for good: nothing makes the thing need its card again. What is not there needs none. Until a moment, or `for good`:
 * whoever ends it before has the card looked at. Until `some event`: nobody says when that comes.
 */
export type RetentionNeed = 'no' | { readonly until: Instant | 'for good' | 'some event' };

export type CardNeeds = {
  readonly [Kind in RetentionReason[0]]: (
    db: Database,
    key: readonly string[],
    now: Instant,
  ) => Promise<RetentionNeed>;
};

/** What nobody says is noticed within this. */
const unsaidMs = 24 * 3_600_000;
/** What somebody should have said is, should he have forgotten, within this. */
const forgottenMs = 90 * unsaidMs;
/** Looks are taken at full minutes, so that a party's clock that moves over years finds many cards at one stop. */
const minuteMs = 60_000;

export async function runCardJob(
  db: Database,
  needs: CardNeeds,
  [cardId = '']: readonly string[],
  now: Instant,
): Promise<void> {
  const kept = await findRetained(db, cardId);
  if (!kept) return;
  const lookAt = (at: Instant) => reschedule(db, cardId, fullMinuteFrom(at));
  // Until then something new may be made with its token, or asked for again.
  if (now < kept.validUntil) return lookAt(kept.validUntil);
  const looks: Instant[] = [];
  for (const text of kept.retainedFor) {
    const [kind, ...key] = retentionReasonFrom(text);
    const need = await needs[kind](db, key, now);
    if (need !== 'no') looks.push(nextLook(need.until, now));
  }
  const [first] = looks.sort();
  if (first === undefined) await removeRetained(db, cardId, kept.retainedFor);
  else await lookAt(first);
}

function nextLook(until: Exclude<RetentionNeed, 'no'>['until'], now: Instant): Instant {
  if (until === 'some event') return laterBy(now, unsaidMs);
  const latest = laterBy(now, forgottenMs);
  return until === 'for good' || until > latest ? latest : until;
}

function fullMinuteFrom(at: Instant): Instant {
  if (at.endsWith(':00.000000Z')) return at;
  return instantAt((Math.floor(epochMsOf(at) / minuteMs) + 1) * minuteMs);
}
