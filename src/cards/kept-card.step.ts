// The engine's step of a kept card: everything it was kept for is asked whether it still needs the card. When nothing does, the
// card is deleted. Who needs a card and until when, the rooms say in one pure file each; here is what follows from it.
import { laterBy, type Instant } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { keptForFrom, type KeptFor } from './kept-card.ts';
import { findKept, lookAgainAt, removeKept } from './kept-card.store.ts';

/** `no` is for good: nothing makes the thing need its card again. What is not there needs none. */
export type Need = 'no' | { readonly until: Instant | 'some event' };

export type CardNeeds = {
  readonly [Kind in KeptFor[0]]: (db: Database, key: readonly string[], now: Instant) => Promise<Need>;
};

/** Nobody has to remember to say that a card is not needed any more: it is noticed within this. */
const lookAgainMs = 24 * 3_600_000;

export async function stepKeptCard(
  db: Database,
  needs: CardNeeds,
  [cardId = '']: readonly string[],
  now: Instant,
): Promise<void> {
  const kept = await findKept(db, cardId);
  if (!kept) return;
  // Until then something new may be made with its token, or asked for again.
  if (now < kept.validUntil) return lookAgainAt(db, cardId, kept.validUntil);
  const latest = laterBy(now, lookAgainMs);
  const looks: Instant[] = [];
  for (const text of kept.keptFor) {
    const [kind, ...key] = keptForFrom(text);
    const need = await needs[kind](db, key, now);
    if (need !== 'no') looks.push(need.until === 'some event' || need.until > latest ? latest : need.until);
  }
  const [first] = looks.sort();
  if (first === undefined) await removeKept(db, cardId, kept.keptFor);
  else await lookAgainAt(db, cardId, first);
}
