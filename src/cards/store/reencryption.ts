// The cards under older keys, in batches, and their exchange. A card that somebody deletes or seals anew in between is left
// alone: the old text is compared.
import type { Database } from '../../platform/database/database.ts';
import { statement } from '../../platform/database/statement.ts';

const countOlder = statement({
  name: 'count_cards_under_older_keys',
  parameters: { generation: 'int4' },
  row: { count: 'int8' },
  text: 'select count(*) as count from card where seal_generation < :generation',
});

/** In the order of the index, so that each batch goes on where the last one ended. */
const readOlder = statement({
  name: 'read_cards_under_older_keys',
  parameters: { generation: 'int4', after_generation: 'int4', after_card: 'text', most: 'int4' },
  row: { card_id: 'text', party_id: 'text', sealed: 'bytea', seal_generation: 'int4' },
  text: `select card_id, party_id, sealed, seal_generation from card
         where seal_generation < :generation and (seal_generation, card_id) > (:after_generation, :after_card)
         order by seal_generation, card_id limit :most`,
});

const exchange = statement({
  name: 'exchange_sealed_cards',
  parameters: { cards: 'json', generation: 'int4' },
  row: { card_id: 'text' },
  text: `update card set sealed = decode(new ->> 'sealed', 'base64'), seal_generation = :generation
         from json_array_elements(:cards) as new
         where card_id = new ->> 'id' and card.sealed = decode(new ->> 'was', 'base64')
         returning card_id`,
});

export type SealedCardRow = {
  readonly cardId: string;
  readonly partyId: string;
  readonly sealed: Buffer;
  readonly generation: number;
};

export type Place = { readonly generation: number; readonly cardId: string };
export const beginning: Place = { generation: 0, cardId: '' };

export async function countUnderOlderKeys(db: Database, generation: number): Promise<number> {
  const [row] = await db.run(countOlder, { generation });
  return Number(row?.count ?? 0);
}

export async function readUnderOlderKeys(
  db: Database,
  generation: number,
  after: Place,
  most: number,
): Promise<SealedCardRow[]> {
  const rows = await db.run(readOlder, {
    generation,
    after_generation: after.generation,
    after_card: after.cardId,
    most,
  });
  return rows.map((row) => ({
    cardId: row.card_id,
    partyId: row.party_id,
    sealed: row.sealed,
    generation: row.seal_generation,
  }));
}

/** Answers how many were exchanged. */
export async function swapCiphertext(
  db: Database,
  generation: number,
  cards: readonly { cardId: string; was: Buffer; sealed: Buffer }[],
): Promise<number> {
  const rows = await db.run(exchange, {
    generation,
    cards: cards.map(({ cardId, was, sealed }) => ({
      id: cardId,
      was: was.toString('base64'),
      sealed: sealed.toString('base64'),
    })),
  });
  return rows.length;
}
