// What a series needs of its card in the vault: the expiry, and a key that is equal for all tokens of the number.
import { createHash } from 'node:crypto';
import type { Cards } from '../cards/vault.ts';
import type { Database } from '../platform/database/database.ts';

type Card = { readonly partyId: string; readonly livemode: boolean; readonly token: string };
type Credential = { readonly key: Buffer; readonly expiry: string };

export async function credentialOf(
  cards: Pick<Cards, 'credential'>,
  tx: Database,
  { partyId, livemode, token }: Card,
): Promise<Credential | undefined> {
  const credential = await cards.credential(tx, partyId, token);
  return credential && { key: cardKey(credential.numberHash, partyId, livemode), expiry: credential.expiry };
}

export async function mustHaveCredential(
  cards: Pick<Cards, 'credential'>,
  tx: Database,
  card: Card,
): Promise<Credential> {
  const credential = await credentialOf(cards, tx, card);
  if (!credential) throw new Error('The card to charge is not in the vault.');
  return credential;
}

/** All sandbox parties use the same test cards, so each party's card counts as its own. */
export function cardKey(numberHash: Buffer, partyId: string, livemode: boolean): Buffer {
  const scope = livemode ? '' : partyId;
  return createHash('sha256').update(numberHash).update(scope).digest();
}
