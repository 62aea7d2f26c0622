// The vault: the only module that sees card numbers. It returns tokens for cards, which cannot be listed, and only the bank adapter gets
// a number, with `detokenise` (docs/decisions/0011-card-vault.md).
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
  /** To be charged, by default. */
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
  /** Comes with a code. For a message of which no byte was sent: the code is stored again for the rest of its time. */
  readonly returnCode?: () => Promise<void>;
};

/** `expiry` is `2030-12`. */
export type Credential = { readonly numberHash: Buffer; readonly expiry: string };

/** What every module may use. Each method works on the connection it is given, inside a transaction or not. */
export type Cards = {
  /** `now` is the party's time. Undefined if the external ID is taken. */
  tokenise(db: Database, card: NewCard, now: Instant): Promise<PaymentResource | undefined>;
  findByExternalId(
    db: Database,
    partyId: string,
    externalId: string,
  ): Promise<FoundByExternalId<PaymentResource> | undefined>;
  /** The card of a token that a caller has sent, for a payment or a binding that begins now. */
  use(
    db: Database,
    caller: Caller,
    handles: { readonly token: string; readonly session?: string },
    now: Instant,
  ): Promise<Outcome<PaymentResource, 'invalidPaymentToolToken' | 'invalidPaymentSession'>>;
  /**
   * A card for payouts, by the token that the same party got for it, as long as the card exists. After `validUntil` the token only
   * tells which card a repeated request means.
   */
  findForPayout(db: Database, partyId: string, token: string): Promise<PaymentResource | undefined>;
  /**
   * Belongs in the transaction that creates what the card is retained for, unless `retainCard` does both in one statement. False if the
   * card was purged first; it never prolongs the token.
   */
  keep(db: Database, partyId: string, token: string, reason: RetentionReason): Promise<boolean>;
  has(db: Database, partyId: string, token: string): Promise<boolean>;
  /** An object no longer needs the card: checks now whether any other still does. */
  expedite(db: Database, token: string, now: Instant): Promise<void>;
  /** Under the newest key. */
  fingerprint(number: string): Fingerprint;
  /** What a recurring charge needs to know of the card. The hash is the same for every token of it. */
  credential(db: Database, partyId: string, token: string): Promise<Credential | undefined>;
  /** Under the first key, which all permanently stored hashes use. */
  cardMatchHash(card: { readonly number: string; readonly expiry?: string }): Promise<Buffer>;
};

export type Vault = {
  readonly cards: Cards;
  /**
   * The number, and the security code of the session. The code is deleted, so a message that is sent again has none, unless
   * `returnCode` has stored it again.
   */
  detokenise(card: { readonly token: string; readonly session?: string }): Promise<ClearCard>;
  /** Deletes cards that are not retained, expired security codes, and older keys. */
  purge(): Promise<void>;
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
    if (!key) throw new Error('Version 1 of the data key "card_fingerprint" is missing.');
    return key;
  }

  async function matchHashOf(card: { number: string; expiry?: string }): Promise<Buffer> {
    return cardMatchHash((await firstHashKey()).secret, card);
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

  async function tokenise(db: Database, given: NewCard, now: Instant): Promise<PaymentResource | undefined> {
    const { partyId, madeFor, card, securityCode } = given;
    const system = paymentSystemOf(card.number);
    if (!system) throw new Error('An unchecked card reached the vault.');
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
      match_hash: await matchHashOf(card),
    };
    const code = securityCode === undefined ? undefined : await codes.encrypt(db, owner, securityCode);
    const stored = await storeCard(db, row, code);
    if (!stored.made) return undefined;
    if (securityCode !== undefined && !stored.hasCode) {
      codes.distrustKeys();
      const again = await codes.encrypt(db, owner, securityCode);
      if (!(await storeCode(db, owner, again))) throw new Error('A security code could not be stored.');
    }
    return resourceFromRow(row);
  }

  async function opened(cardId: string, { partyId, ciphertext, keyVersion }: TakenOut): Promise<Card> {
    return decryptCard(await cardKey(keyVersion), { cardId, partyId }, ciphertext);
  }

  /** The code is deleted before it is used, so that a crash can only lose it. If it was not used it is stored again, once. */
  function codeReturn(owner: CodeOwner, code: EncryptedCode): () => Promise<void> {
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
      // A card that was stored for payouts has none, and cannot be charged.
      if (card.expiry === undefined) return undefined;
      return { numberHash: numberHash((await firstHashKey()).secret, card.number), expiry: card.expiry };
    },
    cardMatchHash: matchHashOf,
  };

  return {
    cards,
    async detokenise({ token, session }) {
      // No token in an error message: it stays valid for up to an hour.
      const cardId = cardIdOf(token);
      if (cardId === undefined) throw new Error('The token of a card is not valid.');
      const sessionId = session === undefined ? undefined : sessionIdOf(session);
      const taken = await takeCardOut(options.db, cardId, sessionId);
      if (!taken) throw new Error('The card is not in the vault.');
      const { partyId, code } = taken;
      const owner = sessionId === undefined ? undefined : { cardId, sessionId, partyId };
      const returnCode = owner && code ? codeReturn(owner, code) : undefined;
      const card = await opened(cardId, taken).catch(async (error: unknown) => {
        await returnCode?.();
        throw error;
      });
      const securityCode = owner && code ? await codes.decrypt(owner, code) : undefined;
      return { ...card, ...(securityCode === undefined || !returnCode ? {} : { securityCode, returnCode }) };
    },
    async purge() {
      await codes.purge(options.db);
      await removeUnretained(options.db, laterBy(clock.now(), -resourceLifetimeMs));
    },
  };
}
