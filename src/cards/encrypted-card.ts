// A card as it lies in the vault: encrypted, and bound to its record, its party, its purpose and its key, so that nobody
// who can write to the database makes one merchant's card into another's.
import type { DataKey } from '../platform/keys/keyring.ts';
import { open, seal } from '../platform/keys/master-key.ts';
import type { Card } from './domain/card.ts';

export type CardOwner = { readonly cardId: string; readonly partyId: string };

const formVersion = 1;

export function encryptCard(key: DataKey, owner: CardOwner, card: Card): Buffer {
  return sealAndWipe(key, owner, Buffer.from(JSON.stringify(card)));
}

export function openCard(key: DataKey, owner: CardOwner, sealed: Buffer): Card {
  const plain = open(key.secret, sealed, contextOf(owner, key));
  const card = JSON.parse(plain.toString()) as Card;
  plain.fill(0);
  return card;
}

/** The same card under another key, without a look at it. */
export function resealCard(from: DataKey, to: DataKey, owner: CardOwner, sealed: Buffer): Buffer {
  return sealAndWipe(to, owner, open(from.secret, sealed, contextOf(owner, from)));
}

function sealAndWipe(key: DataKey, owner: CardOwner, plain: Buffer): Buffer {
  const sealed = seal(key.secret, plain, contextOf(owner, key));
  plain.fill(0);
  return sealed;
}

/** As JSON, because an operator may have put any visible character into a party's id. */
function contextOf({ cardId, partyId }: CardOwner, { generation }: DataKey): string {
  return JSON.stringify(['card', formVersion, cardId, partyId, generation]);
}
