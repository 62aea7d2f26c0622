// The vault: the only module that sees card numbers. It returns tokens for cards, which cannot be listed, and only the bank adapter gets
// a number, with `detokenise` (docs/decisions/0011-card-vault.md).
import { laterBy, type Clock, type Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Database } from '../platform/database/database.ts';
import type { FoundByExternalId } from '../platform/database/external-id.ts';
import type { Caller } from '../caller.ts';
import type { Ids } from '../ids.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { MasterKey } from '../platform/keys/master-key.ts';
import { refuse, type Outcome } from '../refusal.ts';
import { openCardKeys, shownBy, type CardKeys } from './card-keys.ts';
import { openCardImport, type CardImport } from './import-cards.ts';
import {
  cardIdOf,
  decideUse,
  resourceLifetimeMs,
  type Fingerprint,
  type MadeFor,
  type PaymentResource,
} from './domain/payment-resource.ts';
import type { RetentionReason } from './domain/retention-reason.ts';
import { openDetokenising, type Detokenise } from './detokenise.ts';
import { expedite } from './store/retained-cards.ts';
import type { KeptCard } from './encrypted-card.ts';
import { openSecurityCodes } from './security-codes.ts';
import {
  findCard,
  findCardByExternalId,
  markRetained,
  removeUnretained,
  takeCardOut,
} from './store/cards.ts';
import { openTokenising, storeAuthentication, type NewCard } from './tokenise.ts';

/** `expiry` is `2030-12`. */
export type Credential = { readonly numberHash: Buffer; readonly expiry: string };

/** What every module may use. Each method works on the connection it is given, inside a transaction or not. */
export type Cards = CardImport & {
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
  readonly detokenise: Detokenise;
  /** Deletes cards that are not retained, expired security codes, and older keys. */
  purge(): Promise<void>;
};

export type VaultOptions = {
  db: Database;
  keyring: Keyring;
  masterKey: MasterKey;
  clock: Clock;
  ids: Ids;
  /** Whether an invoice takes no more payments, or a customer is deleted. */
  hasEnded?: (db: Database, object: MadeFor) => Promise<boolean>;
  /** The number to keep instead of the entered one, if any. What is shown and compared is that of the entered one. */
  standIn?: (number: string) => string | undefined;
  /** Whether a number may be stored at all. */
  takes?: (number: string) => boolean;
};

export function openVault({
  db: ownDb,
  keyring,
  masterKey,
  clock,
  ids,
  standIn,
  ...options
}: VaultOptions): Vault {
  const codes = openSecurityCodes(masterKey, clock);
  const keys = openCardKeys(keyring);
  const tokenise = openTokenising({ keyring, clock, ids, keys, codes, ...defined({ standIn }) });

  const { found, takenOut } = cardsByToken(keys);

  const cards: Cards = {
    tokenise: (db, card, now) => tokenise(db, card, now),
    async tokeniseAgain(db, { token, ...given }, now) {
      const card = await takenOut(db, given.partyId, token);
      if (card?.expiry === undefined) return undefined;
      const original = await found(db, given.partyId, token);
      if (!original) return undefined;
      // A number that stands in for another would show itself.
      const isAsEntered = card.enteredHash === undefined;
      const shown = isAsEntered ? await keys.shownOf(card.number, card.expiry) : shownBy(original);
      return tokenise(db, { ...given, card }, now, shown);
    },
    ...openCardImport({ keyring, clock, ids, keys, ...defined({ standIn }) }),
    keepAuthentication: (db, ...what) => storeAuthentication(db, { ids, codes }, ...what),
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
    fingerprint: keys.fingerprint,
    async credential(db, partyId, token) {
      const card = await takenOut(db, partyId, token);
      // A card that was stored for payouts has none, and cannot be charged.
      if (card?.expiry === undefined) return undefined;
      return { numberHash: await keys.enteredHash(card), expiry: card.expiry };
    },
    async numberHash(db, partyId, token) {
      const card = await takenOut(db, partyId, token);
      return card && keys.enteredHash(card);
    },
    cardMatchHash: keys.matchHash,
  };

  return {
    cards,
    detokenise: openDetokenising({ db: ownDb, clock, keys, codes }),
    async purge() {
      await codes.purge(ownDb);
      await removeUnretained(ownDb, laterBy(clock.now(), -resourceLifetimeMs));
    },
  };
}

function cardsByToken(keys: Pick<CardKeys, 'open'>) {
  return {
    async found(db: Database, partyId: string, token: string): Promise<PaymentResource | undefined> {
      const cardId = cardIdOf(token);
      return cardId === undefined ? undefined : findCard(db, partyId, cardId);
    },
    async takenOut(db: Database, partyId: string, token: string): Promise<KeptCard | undefined> {
      const cardId = cardIdOf(token);
      const taken = cardId === undefined ? undefined : await takeCardOut(db, cardId);
      return cardId === undefined || taken?.partyId !== partyId
        ? undefined
        : keys.open({ cardId, ...taken }, taken);
    },
  };
}
