// The job of a retained card: checks whether anything it was retained for still needs the card, and deletes the card if nothing does.
// Each module decides, in one pure file, which of its objects need a card and until when.
import { epochMsOf, instantAt, laterBy, type Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { retentionReasonFrom, type RetentionReason } from './domain/retention-reason.ts';
import { findRetained, reschedule, removeRetained } from './store/retained-cards.ts';

/**
 * `no` is final, also for an object that does not exist. An earlier end of a need with an instant, or a permanent one, expedites the
 * card's job; nothing reports the end of an `unknown` one.
 */
export type RetentionNeed = 'no' | { readonly until: Instant | 'permanently' | 'unknown' };

/** With `isLocked`, what was found does not change until the transaction ends. */
type Look = { readonly now: Instant; readonly isLocked: boolean };

export type CardNeeds = {
  readonly [Kind in RetentionReason[0]]: (
    db: Database,
    key: readonly string[],
    look: Look,
  ) => Promise<RetentionNeed>;
};

/** How soon the end of an unknown need is found. */
const unknownMs = 24 * 3_600_000;
/** How soon the end of another need is found if its report is missing. */
const unreportedMs = 90 * unknownMs;
/** Jobs run at full minutes, so that a party's clock that moves over years finds many cards at one stop. */
const minuteMs = 60_000;

export async function runCardJob(
  db: Database,
  needs: CardNeeds,
  [cardId = '']: readonly string[],
  now: Instant,
): Promise<void> {
  const kept = await findRetained(db, cardId);
  if (!kept) return;
  // Until then the token may be used for a new object, or in a repeated request.
  const isUsed = now >= kept.validUntil;
  const runAgainAt = (at: Instant) => reschedule(db, cardId, { at: fullMinuteFrom(at), isUsed });
  if (!isUsed) return runAgainAt(kept.validUntil);
  const first = await firstCheck(db, needs, kept.retainedFor, { now, isLocked: false });
  if (first !== undefined) return runAgainAt(first);
  // The payer may be agreeing again with this card, so nothing is deleted before the locks are held.
  const needed = await db.transaction(async (tx) => {
    const again = await firstCheck(tx, needs, kept.retainedFor, { now, isLocked: true });
    if (again === undefined) await removeRetained(tx, cardId, kept.retainedFor);
    return again;
  });
  if (needed !== undefined) await runAgainAt(needed);
}

/** Undefined if nothing needs the card. */
async function firstCheck(
  db: Database,
  needs: CardNeeds,
  retainedFor: readonly string[],
  look: Look,
): Promise<Instant | undefined> {
  const checks: Instant[] = [];
  for (const text of retainedFor) {
    const [kind, ...key] = retentionReasonFrom(text);
    const need = await needs[kind](db, key, look);
    if (need !== 'no') checks.push(nextCheck(need.until, look.now));
  }
  return checks.sort()[0];
}

function nextCheck(until: Exclude<RetentionNeed, 'no'>['until'], now: Instant): Instant {
  if (until === 'unknown') return laterBy(now, unknownMs);
  const latest = laterBy(now, unreportedMs);
  return until === 'permanently' || until > latest ? latest : until;
}

function fullMinuteFrom(at: Instant): Instant {
  if (at.endsWith(':00.000000Z')) return at;
  return instantAt((Math.floor(epochMsOf(at) / minuteMs) + 1) * minuteMs);
}
