// Puts cards and their security codes into the vault.
import { laterBy, type Clock, type Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Ids } from '../ids.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { CardKeys, Shown } from './card-keys.ts';
import type { Card } from './domain/card.ts';
import {
  cardIdOf,
  resourceLifetimeMs,
  type EnteredWith,
  type MadeFor,
  type PaymentResource,
  type Purpose,
} from './domain/payment-resource.ts';
import { encryptCard, type KeptCard } from './encrypted-card.ts';
import type { CodeOwner, SecurityCodes } from './security-codes.ts';
import { resourceFromRow, storeCard, storeCode } from './store/cards.ts';

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

/** `copied` is of the copy of a card: what is shown and compared of it. */
type Tokenise = (
  db: Database,
  card: NewCard,
  now: Instant,
  copied?: Shown,
) => Promise<PaymentResource | undefined>;

export function openTokenising(options: {
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly keys: CardKeys;
  readonly codes: SecurityCodes;
  readonly standIn?: (number: string) => string | undefined;
}): Tokenise {
  const { keyring, clock, ids, keys, codes } = options;

  const kept = (card: Card) => keptCard(options, card);

  return async (db, given, now, copied) => {
    const { partyId, madeFor, card, securityCode } = given;
    const shown = copied ?? (await keys.shownOf(card.number, card.expiry));
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
    if (securityCode !== undefined && !stored.hasCode) await keepCodeAgain(db, codes, owner, securityCode);
    return resourceFromRow(row);
  };
}

/** In a sandbox another number may be kept instead. */
export async function keptCard(
  { standIn, keys }: { readonly standIn?: (number: string) => string | undefined; readonly keys: CardKeys },
  card: Card,
): Promise<KeptCard> {
  const number = standIn?.(card.number);
  if (number === undefined) return card;
  return { ...card, number, enteredHash: (await keys.enteredHash(card)).toString('base64') };
}

/** Returns the name under which the value waits. */
export async function storeAuthentication(
  db: Database,
  { ids, codes }: { readonly ids: Ids; readonly codes: SecurityCodes },
  partyId: string,
  token: string,
  value: string,
): Promise<string> {
  const cardId = cardIdOf(token);
  if (cardId === undefined) throw new Error('The token of a card is not valid.');
  const owner = { cardId, sessionId: ids.next(), partyId };
  if (!(await storeCode(db, owner, await codes.encrypt(db, owner, value))))
    await keepCodeAgain(db, codes, owner, value);
  return owner.sessionId;
}

/** Stores it under a new key if the row of the key in this node's memory was gone. */
async function keepCodeAgain(
  db: Database,
  codes: SecurityCodes,
  owner: CodeOwner,
  code: string,
): Promise<void> {
  codes.distrustKeys();
  if (!(await storeCode(db, owner, await codes.encrypt(db, owner, code))))
    throw new Error('A security code could not be stored.');
}
