// The jobs of retained cards: what each card is retained for, when its job runs next, and its deletion.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { list, text } from '../../platform/database/codec.ts';
import { statement, stored } from '../../platform/database/statement.ts';
import { deleteCards } from './cards.ts';

const readRetained = statement({
  name: 'read_retained_card',
  parameters: { card_id: 'text' },
  row: { retained_for: stored('json?', list(text)), valid_until: 'timestamptz' },
  text: 'select retained_for, valid_until from card where card_id = :card_id and is_retained',
});

/**
 * Does nothing if the job was expedited while it ran: then it runs again now. What the payer's browser reported belongs to the payment for
 * which the card was entered, and not to the card.
 */
const rescheduleCard = statement({
  name: 'reschedule_retained_card',
  parameters: { card_id: 'text', wake_at: 'timestamptz', is_used: 'bool' },
  row: {},
  text: `update card set wake_at = :wake_at, attempts = 0, stuck_at = null, stuck_reason = null,
           client_info = case when :is_used then (client_info::jsonb - 'browser')::json else client_info end
         where card_id = :card_id and attempts > 0`,
});

const expediteCard = statement({
  name: 'expedite_retained_card',
  parameters: { card_id: 'text', now: 'timestamptz' },
  row: {},
  text: `update card set wake_at = :now, attempts = 0 where card_id = :card_id and wake_at > :now`,
});

/** Does nothing if the card has been retained for something else since it was read. */
const deleteRetained = statement({
  name: 'delete_retained_card',
  parameters: { card_id: 'text', retained_for: 'json' },
  row: { card_id: 'text' },
  text: deleteCards('card_id = :card_id and retained_for::jsonb = (:retained_for)::jsonb'),
});

export async function findRetained(
  db: Database,
  cardId: string,
): Promise<{ retainedFor: readonly string[]; validUntil: Instant } | undefined> {
  const [row] = await db.run(readRetained, { card_id: cardId });
  return row && { retainedFor: row.retained_for ?? [], validUntil: row.valid_until };
}

/** `isUsed`: no new object can use its token any more. */
export async function reschedule(
  db: Database,
  cardId: string,
  { at, isUsed }: { readonly at: Instant; readonly isUsed: boolean },
): Promise<void> {
  await db.run(rescheduleCard, { card_id: cardId, wake_at: at, is_used: isUsed });
}

export async function expedite(db: Database, cardId: string, now: Instant): Promise<void> {
  await db.run(expediteCard, { card_id: cardId, now });
}

export async function removeRetained(
  db: Database,
  cardId: string,
  retainedFor: readonly string[],
): Promise<void> {
  await db.run(deleteRetained, { card_id: cardId, retained_for: retainedFor });
}
