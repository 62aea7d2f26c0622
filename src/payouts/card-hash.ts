// The hash under which a card's turnover is counted, over all wallets and destinations.
import type { Cards } from '../cards/vault.ts';
import type { Database } from '../platform/database/database.ts';
import type { Destination } from './domain/destination.ts';

/** Destinations from before have none: their card is read from the vault. */
export async function cardHashOf(
  { db, cards }: { readonly db: Database; readonly cards: Pick<Cards, 'numberHash'> },
  { cardHash, partyId, cardToken }: Destination,
): Promise<Buffer> {
  const hash = cardHash ?? (await cards.numberHash(db, partyId, cardToken));
  if (!hash) throw new Error('the card of a destination is not in the vault');
  return hash;
}
