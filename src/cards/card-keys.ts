// What the keyring's keys make of a card: its hashes, and the card from its ciphertext.
import { defined } from '../defined.ts';
import type { DataKey, Keyring } from '../platform/keys/keyring.ts';
import { cardMatchHash, numberHash } from './card-hash.ts';
import { decryptCard, type KeptCard, type StoredOwner } from './encrypted-card.ts';
import { maskOf, paymentSystemOf } from './domain/card.ts';
import type { Fingerprint, PaymentResource } from './domain/payment-resource.ts';
import type { StoredCardRow } from './store/cards.ts';

/** What a row says of its card, in the clear. */
export type Shown = Pick<
  StoredCardRow,
  'payment_system' | 'mask' | 'fingerprint' | 'fingerprint_key_version' | 'match_hash'
>;

export type CardKeys = {
  /** Under the newest key. */
  fingerprint(number: string): Fingerprint;
  /** Under the first key, which all permanently stored hashes use. */
  matchHash(card: { readonly number: string; readonly expiry?: string }): Promise<Buffer>;
  /** Of the number that was entered. */
  enteredHash(card: KeptCard): Promise<Buffer>;
  shownOf(number: string, expiry?: string): Promise<Shown>;
  open(owner: StoredOwner, encrypted: { ciphertext: Buffer; keyVersion: number }): Promise<KeptCard>;
};

const keyTries = 6;
const keyRetryMs = 250;

export function openCardKeys(keyring: Keyring): CardKeys {
  async function firstHashKey(): Promise<DataKey> {
    const key = await keyring.find('card_fingerprint', 1);
    if (!key) throw new Error('Version 1 of the data key "card_fingerprint" is missing.');
    return key;
  }

  /** Another node may have created it a moment ago, and the keyring is reread at most once a second. */
  async function cardKey(keyVersion: number): Promise<DataKey> {
    for (let tries = 0; tries < keyTries; tries++) {
      const key = await keyring.find('card', keyVersion);
      if (key) return key;
      await new Promise((resolve) => setTimeout(resolve, keyRetryMs));
    }
    throw new Error(`Version ${keyVersion} of the data key "card" is missing.`);
  }

  function fingerprint(number: string): Fingerprint {
    const { keyVersion, secret } = keyring.newest('card_fingerprint');
    return { keyVersion, hash: numberHash(secret, number) };
  }

  async function matchHash(card: { number: string; expiry?: string }): Promise<Buffer> {
    return cardMatchHash((await firstHashKey()).secret, card);
  }

  return {
    fingerprint,
    matchHash,
    async enteredHash({ number, enteredHash }) {
      if (enteredHash !== undefined) return Buffer.from(enteredHash, 'base64');
      return numberHash((await firstHashKey()).secret, number);
    },
    async shownOf(number, expiry) {
      const system = paymentSystemOf(number);
      if (!system) throw new Error('An unchecked card reached the vault.');
      const { keyVersion, hash } = fingerprint(number);
      return {
        payment_system: system,
        mask: maskOf(number),
        fingerprint: hash,
        fingerprint_key_version: keyVersion,
        match_hash: await matchHash({ number, ...defined({ expiry }) }),
      };
    },
    async open(owner, { ciphertext, keyVersion }) {
      return decryptCard(await cardKey(keyVersion), owner, ciphertext);
    },
  };
}

export function shownBy({ card, fingerprint, cardMatchHash: match_hash }: PaymentResource): Shown {
  return {
    payment_system: card.paymentSystem,
    mask: card.mask,
    fingerprint: fingerprint.hash,
    fingerprint_key_version: fingerprint.keyVersion,
    match_hash,
  };
}
