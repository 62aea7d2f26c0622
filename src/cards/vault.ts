// The vault: the only room that sees a card number. It takes cards in and hands out handles; what goes out again is the
// mask. A number comes out through `reveal` alone, which is handed to the bank's adapter and to nobody else. There is no
// way to list cards. Why it is made like this is in docs/decisions/0011-card-vault.md.
import { laterBy, type Clock, type Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { FoundByExternalId } from '../platform/database/external-id.ts';
import type { Caller } from '../caller.ts';
import type { Ids } from '../ids.ts';
import type { DataKey, Keyring } from '../platform/keys/keyring.ts';
import type { MasterKey } from '../platform/keys/master-key.ts';
import type { Outcome } from '../refusal.ts';
import { cardMatchHash, numberHash } from './card-hash.ts';
import { maskOf, paymentSystemOf, type Card } from './domain/card.ts';
import {
  cardIdOf,
  decideUse,
  resourceLifetimeMs,
  sessionIdOf,
  type ClientInfo,
  type Fingerprint,
  type MadeFor,
  type PaymentResource,
  type Purpose,
} from './domain/payment-resource.ts';
import type { RetentionReason } from './domain/card-retention.ts';
import { expedite } from './store/retained-cards.ts';
import { decryptCard, encryptCard } from './encrypted-card.ts';
import type { EncryptedCode } from './store/security-codes.ts';
import { openSecurityCodes, type CodeOwner } from './security-codes.ts';
import {
  findCard,
  findCardByExternalId,
  markRetained,
  removeUnretained,
  resourceFromRow,
  storeCard,
  storeCode,
  takeCardOut,
  type TakenOut,
} from './store/cards.ts';

export type NewCard = {
  readonly partyId: string;
  /** To be charged, where nothing is said. */
  readonly purpose?: Purpose;
  readonly madeFor?: MadeFor;
  readonly card: Card;
  readonly securityCode?: string;
  readonly clientInfo: ClientInfo;
  readonly externalId?: string;
};

/** A card in the clear, on its way into a message to the bank. */
export type ClearCard = Card & {
  readonly securityCode?: string;
  /** There with a code. For when certainly not a byte of the message has left: it waits again, for the rest of its time. */
  readonly returnCode?: () => Promise<void>;
};

/** `expiry` is `2030-12`. */
export type Credential = { readonly numberHash: Buffer; readonly expiry: string };

/** What every room may ask. Each verb works on the connection it is given, inside a transaction or not. */
export type Cards = {
  /** `now` is the party's. Undefined when the external id is taken. */
  tokenise(db: Database, card: NewCard, now: Instant): Promise<PaymentResource | undefined>;
  findByExternalId(
    db: Database,
    partyId: string,
    externalId: string,
  ): Promise<FoundByExternalId<PaymentResource> | undefined>;
  /** A handle a caller has sent, for a payment or a binding that begins now. */
  use(
    db: Database,
    caller: Caller,
    handles: { readonly token: string; readonly session?: string },
    now: Instant,
  ): Promise<Outcome<PaymentResource, 'invalidPaymentToolToken' | 'invalidPaymentSession'>>;
  /**
   * A card to be paid out to, by the token the same party had for it, as long as the card is there. After `validUntil` the token
   * still says which card a repeated request is about, and is good for nothing else.
   */
  findForPayout(db: Database, partyId: string, token: string): Promise<PaymentResource | undefined>;
  /**
   * Belongs into the transaction that makes what it is kept for, where that is not one statement with `retainCard`. False when
   * the sweep was quicker: then the token has expired. Whatever the answer, the token itself is accepted no longer than before.
   */
  keep(db: Database, partyId: string, token: string, reason: RetentionReason): Promise<boolean>;
  has(db: Database, partyId: string, token: string): Promise<boolean>;
  /** Something that needed it needs it no longer: whether anything still does is looked at now. */
  expedite(db: Database, token: string, now: Instant): Promise<void>;
  /** Under the newest key. */
  fingerprint(number: string): Fingerprint;
  /** What must be known of a card that is charged again without its payer. The hash is the same for every token of it. */
  credential(db: Database, partyId: string, token: string): Promise<Credential | undefined>;
  /** Under the first key, which the hashes that are kept for ever were made with. */
  cardMatchHash(card: { readonly number: string; readonly expiry?: string }): Promise<Buffer>;
};

export type Vault = {
  readonly cards: Cards;
  /**
   * The number, and the security code that waits under the session, which is taken out by this and never comes again unless
   * it is given back: a message that is sent a second time goes without it.
   */
  reveal(card: { readonly token: string; readonly session?: string }): Promise<ClearCard>;
  /** Deletes cards nobody has kept, security codes whose time is over, and keys that are older still. */
  sweep(): Promise<void>;
};

const keyTries = 6;
const keyRetryMs = 250;

export function openVault(options: {
  db: Database;
  keyring: Keyring;
  masterKey: MasterKey;
  clock: Clock;
  ids: Ids;
}): Vault {
  const { keyring, clock, ids } = options;
  const codes = openSecurityCodes(options.masterKey, clock);

  function fingerprint(number: string): Fingerprint {
    const { keyVersion, secret } = keyring.newest('card_fingerprint');
    return { keyVersion, hash: numberHash(secret, number) };
  }

  async function firstHashKey(): Promise<DataKey> {
    const key = await keyring.find('card_fingerprint', 1);
    if (!key) throw new Error('the first key of card fingerprints is missing');
    return key;
  }

  async function identityHashOf(card: { number: string; expiry?: string }): Promise<Buffer> {
    return cardMatchHash((await firstHashKey()).secret, card);
  }

  /** Another node may have made it a moment ago, and the ring is read again once a second at most. */
  async function cardKey(keyVersion: number): Promise<DataKey> {
    for (let tries = 0; tries < keyTries; tries++) {
      const key = await keyring.find('card', keyVersion);
      if (key) return key;
      await new Promise((resolve) => setTimeout(resolve, keyRetryMs));
    }
    throw new Error(`there is no data key with key version ${keyVersion} for a card`);
  }

  async function tokenise(db: Database, given: NewCard, now: Instant): Promise<PaymentResource | undefined> {
    const { partyId, madeFor, card, securityCode } = given;
    const system = paymentSystemOf(card.number);
    if (!system) throw new Error('a card that was not checked came to the vault');
    const owner = { cardId: ids.next(), sessionId: ids.next(), partyId };
    const key = keyring.newest('card');
    const { keyVersion, hash } = fingerprint(card.number);
    const row = {
      card_id: owner.cardId,
      party_id: partyId,
      session_id: owner.sessionId,
      made_for_kind: madeFor?.kind ?? null,
      made_for_id: madeFor?.id ?? null,
      purpose: given.purpose ?? 'payment',
      stored_at: clock.now(),
      valid_until: laterBy(now, resourceLifetimeMs),
      payment_system: system,
      mask: maskOf(card.number),
      client_info: given.clientInfo,
      external_id: given.externalId ?? null,
      ciphertext: encryptCard(key, owner, card),
      key_version: key.keyVersion,
      fingerprint: hash,
      fingerprint_key_version: keyVersion,
      match_hash: await identityHashOf(card),
    };
    const code = securityCode === undefined ? undefined : await codes.encrypt(db, owner, securityCode);
    const stored = await storeCard(db, row, code);
    if (!stored.made) return undefined;
    if (securityCode !== undefined && !stored.hasCode) {
      codes.distrustKeys();
      const again = await codes.encrypt(db, owner, securityCode);
      if (!(await storeCode(db, owner, again))) throw new Error('a security code could not be stored');
    }
    return resourceFromRow(row);
  }

  async function opened(cardId: string, { partyId, ciphertext, keyVersion }: TakenOut): Promise<Card> {
    return decryptCard(await cardKey(keyVersion), { cardId, partyId }, ciphertext);
  }

  /** Taken out before it is used, so that a crash loses it at worst; put back once, by whoever knows that it was not. */
  function givingBack(owner: CodeOwner, code: EncryptedCode): () => Promise<void> {
    let isBack = false;
    return async () => {
      if (isBack || code.expiresAt <= clock.now()) return;
      isBack = true;
      await storeCode(options.db, owner, code);
    };
  }

  async function found(db: Database, partyId: string, token: string): Promise<PaymentResource | undefined> {
    const cardId = cardIdOf(token);
    return cardId === undefined ? undefined : findCard(db, partyId, cardId);
  }

  const cards: Cards = {
    tokenise,
    findByExternalId: findCardByExternalId,
    async use(db, caller, { token, session }, now) {
      return decideUse(await found(db, caller.partyId, token), caller, session, now);
    },
    async findForPayout(db, partyId, token) {
      const resource = await found(db, partyId, token);
      return resource?.token === token && resource.purpose === 'payout' ? resource : undefined;
    },
    async keep(db, partyId, token, reason) {
      const cardId = cardIdOf(token);
      return cardId !== undefined && markRetained(db, partyId, cardId, reason);
    },
    has: async (db, partyId, token) => (await found(db, partyId, token)) !== undefined,
    async expedite(db, token, now) {
      const cardId = cardIdOf(token);
      if (cardId !== undefined) await expedite(db, cardId, now);
    },
    fingerprint,
    async credential(db, partyId, token) {
      const cardId = cardIdOf(token);
      const taken = cardId === undefined ? undefined : await takeCardOut(db, cardId, undefined);
      if (cardId === undefined || taken?.partyId !== partyId) return undefined;
      const card = await opened(cardId, taken);
      // A card that was stored to be paid out to has none, and cannot be charged.
      if (card.expiry === undefined) return undefined;
      return { numberHash: numberHash((await firstHashKey()).secret, card.number), expiry: card.expiry };
    },
    cardMatchHash: identityHashOf,
  };

  return {
    cards,
    async reveal({ token, session }) {
      // No handle in the words of an error: until its hour is over it is good for something.
      const cardId = cardIdOf(token);
      if (cardId === undefined) throw new Error('a card was asked for by what is no token');
      const sessionId = session === undefined ? undefined : sessionIdOf(session);
      const taken = await takeCardOut(options.db, cardId, sessionId);
      if (!taken) throw new Error('the card asked for is not in the vault');
      const { partyId, code } = taken;
      const owner = sessionId === undefined ? undefined : { cardId, sessionId, partyId };
      const returnCode = owner && code ? givingBack(owner, code) : undefined;
      const card = await opened(cardId, taken).catch(async (error: unknown) => {
        await returnCode?.();
        throw error;
      });
      const securityCode = owner && code ? await codes.decrypt(owner, code) : undefined;
      return { ...card, ...(securityCode === undefined || !returnCode ? {} : { securityCode, returnCode }) };
    },
    async sweep() {
      await codes.sweep(options.db);
      await removeUnretained(options.db, laterBy(clock.now(), -resourceLifetimeMs));
    },
  };
}
