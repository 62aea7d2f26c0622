// A card as the vault stores it: encrypted, and bound to its record, its party, its purpose and its key. Write access to the database
// makes no card another merchant's, and no card for payouts chargeable (docs/decisions/0038-bound-purposes.md).
import { object, oneOf, optional, text, type Codec } from '../platform/database/codec.ts';
import type { DataKey } from '../platform/keys/keyring.ts';
import { decrypt, encrypt } from '../platform/keys/master-key.ts';
import type { Card } from './domain/card.ts';
import { retentionReasonFrom } from './domain/retention-reason.ts';
import type { Purpose } from './domain/payment-resource.ts';

export type CardOwner = { readonly cardId: string; readonly partyId: string; readonly purpose: Purpose };

/** With what is known of a stored card: it proves the purpose of one that is not sealed with it. */
export type StoredOwner = CardOwner & {
  readonly retainedFor: readonly string[];
  /** Whether a destination names it, if that was looked up. */
  readonly isPaidOutTo?: boolean;
};

/** In a sandbox the number may stand in for another, whose keyed hash is kept. */
export type KeptCard = Card & { readonly enteredHash?: string };

/** Under a key of form 1 the purpose is encrypted with the card, where version 0.2.0 can read it too. Older cards have none. */
type Sealed = KeptCard & { readonly purpose?: Purpose };

const sealed: Codec<Sealed> = object({
  number: text,
  expiry: optional(text),
  holder: optional(text),
  enteredHash: optional(text),
  purpose: optional(oneOf('payment', 'payout')),
});

export function encryptCard(key: DataKey, owner: CardOwner, card: KeptCard): Buffer {
  const { purpose } = owner;
  const plain = Buffer.from(JSON.stringify(key.form === 1 ? { ...card, purpose } : card));
  const ciphertext = encrypt(key.secret, plain, contextOf(owner, key));
  plain.fill(0);
  return ciphertext;
}

export function decryptCard(key: DataKey, owner: StoredOwner, ciphertext: Buffer): KeptCard {
  const plain = decrypt(key.secret, ciphertext, contextOf(owner, key));
  const { purpose, ...card } = sealed.read(JSON.parse(plain.toString()));
  plain.fill(0);
  const proven = key.form === 1 ? (purpose ?? provenPurpose(card, owner)) : owner.purpose;
  if (proven !== owner.purpose)
    throw new Error(`The card was stored for a ${proven}, not a ${owner.purpose}.`);
  return card;
}

/** The same card under another key, and bound to its purpose if it was not. */
export function reencryptCard(from: DataKey, to: DataKey, owner: StoredOwner, ciphertext: Buffer): Buffer {
  return encryptCard(to, owner, decryptCard(from, owner, ciphertext));
}

/**
 * By what refers to the card, never by its row. One that nothing refers to was stored within the hour, and serves only the token that
 * was made for it.
 */
function provenPurpose({ expiry }: Card, { purpose, retainedFor, isPaidOutTo }: StoredOwner): Purpose {
  const kinds = retainedFor.map((text) => retentionReasonFrom(text)[0]);
  // A card without an expiry cannot be charged.
  if (expiry === undefined || isPaidOutTo || kinds.includes('destination')) return 'payout';
  return kinds.length > 0 ? 'payment' : purpose;
}

/** As JSON, because a party's ID may contain any visible character. */
function contextOf({ cardId, partyId, purpose }: CardOwner, { keyVersion, form }: DataKey): string {
  const bound = form === 1 ? [cardId, partyId] : [cardId, partyId, purpose];
  return JSON.stringify(['card', form, ...bound, keyVersion]);
}
