// What a statement that refers to a card does with it: it keeps the card from being swept, if it is still there.
import type { Values } from '../database/statement.ts';
import { cardIdOf } from './payment-resource.ts';

/** Beside these the statement has `:party_id`. Without a row in `kept` it must change nothing. */
export const keptCard = {
  parameters: { card_id: 'text' },
  text: `
    kept as (
      update card set is_kept = true where card_id = :card_id and party_id = :party_id returning card_id
    )`,
} as const;

export type KeptCard = Values<typeof keptCard.parameters>;

export function keptCardOf(token: string): KeptCard {
  const cardId = cardIdOf(token);
  if (cardId === undefined) throw new Error('a card was to be kept by what is no token');
  return { card_id: cardId };
}
