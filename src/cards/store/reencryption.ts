// Reads the cards under older keys in batches, and exchanges their ciphertext. It compares the old ciphertext, so a card that was
// deleted or re-encrypted in between is left alone.
import type { Database } from '../../platform/database/database.ts';
import { list, oneOf, text } from '../../platform/database/codec.ts';
import { statement, stored } from '../../platform/database/statement.ts';

const countOlder = statement({
  name: 'count_cards_under_older_keys',
  parameters: { key_version: 'int4' },
  row: { count: 'int8' },
  text: 'select count(*) as count from card where key_version < :key_version',
});

/** In the order of the index, so that each batch continues where the last one ended. */
const readOlder = statement({
  name: 'read_cards_under_older_keys',
  parameters: { key_version: 'int4', after_key_version: 'int4', after_card: 'text', limit: 'int4' },
  row: {
    card_id: 'text',
    party_id: 'text',
    purpose: stored('text', oneOf('payment', 'payout')),
    retained_for: stored('json?', list(text)),
    ciphertext: 'bytea',
    key_version: 'int4',
  },
  text: `select card_id, party_id, purpose, retained_for, ciphertext, key_version from card
         where key_version < :key_version and (key_version, card_id) > (:after_key_version, :after_card)
         order by key_version, card_id limit :limit`,
});

const exchange = statement({
  name: 'exchange_sealed_cards',
  parameters: { cards: 'json', key_version: 'int4' },
  row: { card_id: 'text' },
  text: `update card set ciphertext = decode(new ->> 'ciphertext', 'base64'), key_version = :key_version
         from json_array_elements(:cards) as new
         where card_id = new ->> 'id' and card.ciphertext = decode(new ->> 'was', 'base64')
         returning card_id`,
});

export type EncryptedCardRow = Awaited<ReturnType<typeof readUnderOlderKeys>>[number];

export type Cursor = { readonly keyVersion: number; readonly cardId: string };
export const beginning: Cursor = { keyVersion: 0, cardId: '' };

export async function countUnderOlderKeys(db: Database, keyVersion: number): Promise<number> {
  const [row] = await db.run(countOlder, { key_version: keyVersion });
  return Number(row?.count ?? 0);
}

export async function readUnderOlderKeys(db: Database, keyVersion: number, after: Cursor, limit: number) {
  const rows = await db.run(readOlder, {
    key_version: keyVersion,
    after_key_version: after.keyVersion,
    after_card: after.cardId,
    limit,
  });
  return rows.map((row) => ({
    cardId: row.card_id,
    partyId: row.party_id,
    purpose: row.purpose,
    retainedFor: row.retained_for ?? [],
    ciphertext: row.ciphertext,
    keyVersion: row.key_version,
  }));
}

/** Returns how many were exchanged. */
export async function swapCiphertext(
  db: Database,
  keyVersion: number,
  cards: readonly { cardId: string; was: Buffer; ciphertext: Buffer }[],
): Promise<number> {
  const rows = await db.run(exchange, {
    key_version: keyVersion,
    cards: cards.map(({ cardId, was, ciphertext }) => ({
      id: cardId,
      was: was.toString('base64'),
      ciphertext: ciphertext.toString('base64'),
    })),
  });
  return rows.length;
}
