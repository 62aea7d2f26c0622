// The vault: the only module that sees card numbers. It returns tokens for cards, which cannot be listed, and only the bank adapter gets
// a number, with `detokenise` (docs/decisions/0011-card-vault.md).
import { laterBy, type Clock, type Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Database } from '../platform/database/database.ts';
import type { FoundByExternalId } from '../platform/database/external-id.ts';
import type { Caller } from '../caller.ts';
import type { Ids } from '../ids.ts';
import type { DataKey, Keyring } from '../platform/keys/keyring.ts';
import type { MasterKey } from '../platform/keys/master-key.ts';
import { refuse, type Outcome } from '../refusal.ts';
import { cardMatchHash, numberHash } from './card-hash.ts';
import { maskOf, paymentSystemOf, type Card } from './domain/card.ts';
import {
  cardIdOf,
  decideUse,
  resourceLifetimeMs,
  sessionIdOf,
  type EnteredWith,
  type Fingerprint,
  type MadeFor,
  type PaymentResource,
  type Purpose,
} from './domain/payment-resource.ts';
import type { RetentionReason } from './domain/card-retention.ts';
import { expedite } from './store/retained-cards.ts';
import { decryptCard, encryptCard, type KeptCard } from './encrypted-card.ts';
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
  type StoredCardRow,
  type TakenOut,
} from './store/cards.ts';

export type NewCard = {
  readonly partyId: string;
  /** To be charged, by default. */
  readonly purpose?: Purpose;
  readonly madeFor?: MadeFor;
  readonly card: Card;
  readonly securityCode?: string;
  readonly clientInfo: EnteredWith;
  readonly externalId?: string;
};

/** A card in the clear, on its way into a message to the bank. */
export type ClearCard = Card & {
  readonly securityCode?: string;
  /** Comes with either. For a message of which no byte was sent: they are stored again for the rest of their time. */
  readonly returnCode?: () => Promise<void>;
  /** Proves an authentication elsewhere, once. It is returned with the code. */
  readonly authenticationValue?: string;
};

/** `expiry` is `2030-12`. */
export type Credential = { readonly numberHash: Buffer; readonly expiry: string };

/** What every module may use. Each method works on the connection it is given, inside a transaction or not. */
export type Cards = {
  /** `now` is the party's time. Undefined if the external ID is taken. */
  tokenise(db: Database, card: NewCard, now: Instant): Promise<PaymentResource | undefined>;
  /**
   * Copies a stored card, with a token that no request can use, for a payer who is present again. Undefined if the card is gone or was
   * stored for payouts.
   */
  tokeniseAgain(
    db: Database,
    stored: Pick<NewCard, 'partyId' | 'madeFor' | 'securityCode' | 'clientInfo'> & { readonly token: string },
    now: Instant,
  ): Promise<PaymentResource | undefined>;
  /**
   * Stores the value of an authentication elsewhere for the next message with the card, as a security code is stored. Returns the name
   * under which `detokenise` takes it out.
   */
  keepAuthentication(db: Database, partyId: string, token: string, value: string): Promise<string>;
  findByExternalId(
    db: Database,
    partyId: string,
    externalId: string,
  ): Promise<FoundByExternalId<PaymentResource> | undefined>;
  /**
   * The card of a token that a caller has sent, for a payment or a binding that begins now of the object `chargedFor`. What was entered
   * for another object is worth nothing once that object has ended.
   */
  use(
    db: Database,
    caller: Caller,
    handles: { readonly token: string; readonly session?: string },
    now: Instant,
    chargedFor: MadeFor,
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
  /** Whether a card of this number may be stored. */
  takes(number: string): boolean;
  /** Under the newest key. */
  fingerprint(number: string): Fingerprint;
  /** What a recurring charge needs to know of the card. The hash is the same for every token of it. */
  credential(db: Database, partyId: string, token: string): Promise<Credential | undefined>;
  /** The same for every token of the number, whether or not it has an expiry. Undefined if the card does not exist. */
  numberHash(db: Database, partyId: string, token: string): Promise<Buffer | undefined>;
  /** Under the first key, which all permanently stored hashes use. */
  cardMatchHash(card: { readonly number: string; readonly expiry?: string }): Promise<Buffer>;
};

export type Vault = {
  readonly cards: Cards;
  /**
   * The number, the security code of the session, and the value of the authentication. Both are deleted, so a message that is sent again
   * has neither, unless `returnCode` has stored them again.
   */
  detokenise(card: {
    readonly token: string;
    readonly session?: string;
    readonly authentication?: string;
  }): Promise<ClearCard>;
  /** Deletes cards that are not retained, expired security codes, and older keys. */
  purge(): Promise<void>;
};

/** What a row says of its card, in the clear. */
type Shown = Pick<
  StoredCardRow,
  'payment_system' | 'mask' | 'fingerprint' | 'fingerprint_key_version' | 'match_hash'
>;

function shownBy({ card, fingerprint, cardMatchHash }: PaymentResource): Shown {
  return {
    payment_system: card.paymentSystem,
    mask: card.mask,
    fingerprint: fingerprint.hash,
    fingerprint_key_version: fingerprint.keyVersion,
    match_hash: cardMatchHash,
  };
}

const keyTries = 6;
const keyRetryMs = 250;

export type VaultOptions = {
  db: Database;
  keyring: Keyring;
  masterKey: MasterKey;
  clock: Clock;
  ids: Ids;
  /** Whether an invoice is over or a customer deleted. */
  hasEnded?: (db: Database, object: MadeFor) => Promise<boolean>;
  /** The number to keep instead of the entered one, if any. What is shown and compared is that of the entered one. */
  standIn?: (number: string) => string | undefined;
  /** Whether a number may be stored at all. */
  takes?: (number: string) => boolean;
};

export function openVault(options: VaultOptions): Vault {
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

  async function tokenise(
    db: Database,
    given: NewCard,
    now: Instant,
    /** Of the copy of a card: what is shown and compared of it. */
    copied?: Shown,
  ): Promise<PaymentResource | undefined> {
    const { partyId, madeFor, card, securityCode } = given;
    const shown = copied ?? (await shownOf(card.number, card.expiry));
    const purpose = given.purpose ?? 'payment';
    const owner = { cardId: ids.next(), sessionId: ids.next(), partyId, purpose };
    const key = keyring.newest('card');
    const row = {
      card_id: owner.cardId,
      party_id: partyId,
      session_id: owner.sessionId,
      made_for_kind: madeFor?.kind ?? null,
      made_for_id: madeFor?.id ?? null,
      purpose,
      stored_at: clock.now(),
      valid_until: copied ? now : laterBy(now, resourceLifetimeMs),
      ...shown,
      client_info: given.clientInfo,
      external_id: given.externalId ?? null,
      ciphertext: encryptCard(key, owner, copied ? card : await kept(card)),
      key_version: key.keyVersion,
    };
    const code = securityCode === undefined ? undefined : await codes.encrypt(db, owner, securityCode);
    const stored = await storeCard(db, row, code);
    if (!stored.made) return undefined;
    if (securityCode !== undefined && !stored.hasCode) await keepCodeAgain(db, owner, securityCode);
    return resourceFromRow(row);
  }

  /** The row of the key in this node's memory was gone. */
  async function keepCodeAgain(db: Database, owner: CodeOwner, code: string): Promise<void> {
    codes.distrustKeys();
    if (!(await storeCode(db, owner, await codes.encrypt(db, owner, code))))
      throw new Error('A security code could not be stored.');
  }

  async function shownOf(number: string, expiry?: string): Promise<Shown> {
    const system = paymentSystemOf(number);
    if (!system) throw new Error('An unchecked card reached the vault.');
    const { keyVersion, hash } = fingerprint(number);
    return {
      payment_system: system,
      mask: maskOf(number),
      fingerprint: hash,
      fingerprint_key_version: keyVersion,
      match_hash: await matchHashOf({ number, ...defined({ expiry }) }),
    };
  }

  async function kept(card: Card): Promise<KeptCard> {
    const number = options.standIn?.(card.number);
    if (number === undefined) return card;
    return { ...card, number, enteredHash: (await hashOf(card)).toString('base64') };
  }

  async function opened(cardId: string, { ciphertext, keyVersion, ...owner }: TakenOut): Promise<KeptCard> {
    return decryptCard(await cardKey(keyVersion), { cardId, ...owner }, ciphertext);
  }

  /** The code is deleted before it is used, so that a crash can only lose it. If it was not used it is stored again, once. */
  function secretOf(owner: CodeOwner | '' | undefined, code: EncryptedCode | '' | undefined) {
    if (!owner || !code) return undefined;
    let isBack = false;
    return {
      clear: () => codes.decrypt(owner, code),
      async giveBack() {
        if (isBack || code.expiresAt <= clock.now()) return;
        isBack = true;
        await storeCode(options.db, owner, code);
      },
    };
  }

  async function found(db: Database, partyId: string, token: string): Promise<PaymentResource | undefined> {
    const cardId = cardIdOf(token);
    return cardId === undefined ? undefined : findCard(db, partyId, cardId);
  }

  async function takenOut(db: Database, partyId: string, token: string): Promise<KeptCard | undefined> {
    const cardId = cardIdOf(token);
    const taken = cardId === undefined ? undefined : await takeCardOut(db, cardId, undefined);
    return cardId === undefined || taken?.partyId !== partyId ? undefined : opened(cardId, taken);
  }

  async function hashOf({ number, enteredHash }: KeptCard): Promise<Buffer> {
    if (enteredHash !== undefined) return Buffer.from(enteredHash, 'base64');
    return numberHash((await firstHashKey()).secret, number);
  }

  const cards: Cards = {
    tokenise: (db, card, now) => tokenise(db, card, now),
    async tokeniseAgain(db, { token, ...given }, now) {
      const card = await takenOut(db, given.partyId, token);
      if (card?.expiry === undefined) return undefined;
      const original = await found(db, given.partyId, token);
      if (!original) return undefined;
      // A number that stands in for another would show itself.
      const shown =
        card.enteredHash === undefined ? await shownOf(card.number, card.expiry) : shownBy(original);
      return tokenise(db, { ...given, card }, now, shown);
    },
    async keepAuthentication(db, partyId, token, value) {
      const cardId = cardIdOf(token);
      if (cardId === undefined) throw new Error('The token of a card is not valid.');
      const owner = { cardId, sessionId: ids.next(), partyId };
      if (!(await storeCode(db, owner, await codes.encrypt(db, owner, value))))
        await keepCodeAgain(db, owner, value);
      return owner.sessionId;
    },
    findByExternalId: findCardByExternalId,
    async use(db, caller, { token, session }, now, chargedFor) {
      const decided = decideUse(await found(db, caller.partyId, token), caller, session, now);
      const madeFor = decided.ok ? decided.value.madeFor : undefined;
      // The state of the object itself is checked where it is charged for.
      if (!madeFor || (madeFor.kind === chargedFor.kind && madeFor.id === chargedFor.id)) return decided;
      return (await options.hasEnded?.(db, madeFor)) === true ? refuse('invalidPaymentToolToken') : decided;
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
    takes: (number) => options.takes?.(number) ?? true,
    fingerprint,
    async credential(db, partyId, token) {
      const card = await takenOut(db, partyId, token);
      // A card that was stored for payouts has none, and cannot be charged.
      if (card?.expiry === undefined) return undefined;
      return { numberHash: await hashOf(card), expiry: card.expiry };
    },
    async numberHash(db, partyId, token) {
      const card = await takenOut(db, partyId, token);
      return card && hashOf(card);
    },
    cardMatchHash: matchHashOf,
  };

  return {
    cards,
    async detokenise({ token, session, authentication }) {
      // No token in an error message: it stays valid for up to an hour.
      const cardId = cardIdOf(token);
      if (cardId === undefined) throw new Error('The token of a card is not valid.');
      const sessionId = session === undefined ? undefined : sessionIdOf(session);
      const taken = await takeCardOut(options.db, cardId, sessionId);
      if (!taken) throw new Error('The card is not in the vault.');
      const { partyId, browser } = taken;
      const code = secretOf(sessionId && { cardId, sessionId, partyId }, taken.code);
      const proof = secretOf(
        authentication && { cardId, sessionId: authentication, partyId },
        authentication && (await takeCardOut(options.db, cardId, authentication))?.code,
      );
      const returnCode = async () => void (await Promise.all([code?.giveBack(), proof?.giveBack()]));
      const { enteredHash: _, ...card } = await opened(cardId, taken).catch(async (error: unknown) => {
        await returnCode();
        throw error;
      });
      const [securityCode, authenticationValue] = [await code?.clear(), await proof?.clear()];
      return {
        ...card,
        ...defined({ browser, securityCode, authenticationValue }),
        ...((securityCode ?? authenticationValue) === undefined ? {} : { returnCode }),
      };
    },
    async purge() {
      await codes.purge(options.db);
      await removeUnretained(options.db, laterBy(clock.now(), -resourceLifetimeMs));
    },
  };
}
