// A card as the vault stores it: encrypted, and bound to its record, its party, its purpose and its key. Write access to the database
// is therefore not enough to turn one merchant's card into another's.
import { object, optional, text, type Codec } from '../platform/database/codec.ts';
import type { DataKey } from '../platform/keys/keyring.ts';
import { decrypt, encrypt } from '../platform/keys/master-key.ts';
import type { Card } from './domain/card.ts';

export type CardOwner = { readonly cardId: string; readonly partyId: string };

const formVersion = 1;
const encrypted: Codec<Card> = object({ number: text, expiry: optional(text), holder: optional(text) });

export function encryptCard(key: DataKey, owner: CardOwner, card: Card): Buffer {
  return encryptAndWipe(key, owner, Buffer.from(JSON.stringify(card)));
}

export function decryptCard(key: DataKey, owner: CardOwner, ciphertext: Buffer): Card {
  const plain = decrypt(key.secret, ciphertext, contextOf(owner, key));
  const card: unknown = JSON.parse(plain.toString());
  plain.fill(0);
  return encrypted.read(card);
}

/** The same card under another key, without parsing it. */
export function reencryptCard(from: DataKey, to: DataKey, owner: CardOwner, ciphertext: Buffer): Buffer {
  return encryptAndWipe(to, owner, decrypt(from.secret, ciphertext, contextOf(owner, from)));
}

function encryptAndWipe(key: DataKey, owner: CardOwner, plain: Buffer): Buffer {
  const ciphertext = encrypt(key.secret, plain, contextOf(owner, key));
  plain.fill(0);
  return ciphertext;
}

/** As JSON, because a party's ID may contain any visible character. */
function contextOf({ cardId, partyId }: CardOwner, { keyVersion }: DataKey): string {
  return JSON.stringify(['card', formVersion, cardId, partyId, keyVersion]);
}
