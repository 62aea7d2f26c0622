// The vault in SQL: one statement writes a card, its security code and its external ID. Reading a security code deletes it, so that two
// concurrent readers cannot both get it.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { readStatement } from '../../platform/database/batches/read-statement.ts';
import { findByExternalId } from '../../platform/database/external-id.ts';
import { manyRows } from '../../platform/database/many-rows.ts';
import { list, oneOf, text } from '../../platform/database/codec.ts';
import {
  columnList,
  parameterList,
  statement,
  stored,
  type Values,
} from '../../platform/database/statement.ts';
import { detailsOf } from '../domain/card.ts';
import {
  retentionReasonText,
  retainedCardParameters,
  type RetentionReason,
} from '../domain/retention-reason.ts';
import type { BrowserFacts } from '../../acquiring/domain/payer-facts.ts';
import { sessionOf, tokenOf, type PaymentResource, type Purpose } from '../domain/payment-resource.ts';
import { browserFacts, enteredWith, paymentSystem } from './codec.ts';
import { defined } from '../../defined.ts';
import type { EncryptedCode } from './security-codes.ts';

const columns = {
  card_id: 'text',
  party_id: 'text',
  session_id: 'text',
  made_for_kind: stored('text?', oneOf('invoice', 'customer')),
  made_for_id: 'text?',
  purpose: stored('text', oneOf('payment', 'payout')),
  valid_until: 'timestamptz',
  payment_system: stored('text', paymentSystem),
  mask: 'text',
  client_info: stored('json', enteredWith),
  fingerprint: 'bytea',
  fingerprint_key_version: 'int4',
  match_hash: 'bytea',
} as const;

const allColumns = {
  ...columns,
  stored_at: 'timestamptz',
  external_id: 'text?',
  ciphertext: 'bytea',
  key_version: 'int4',
} as const;

export type CardRow = Values<typeof columns>;
export type StoredCardRow = Values<typeof allColumns>;

/** The operation of the external IDs of cards. */
const operation = 'createPaymentResource';

const codeParameters = {
  half_hour: 'int4?',
  wrapped_key: 'bytea?',
  code_ciphertext: 'bytea?',
  expires_at: 'timestamptz?',
} as const;

/** A code is kept only under a key that still exists: a node may remember one that was lost in a database crash. */
const insertCard = statement({
  name: 'insert_card',
  parameters: { ...allColumns, ...codeParameters },
  row: { has_code: 'bool' },
  text: `
    with made as (
      insert into card (${columnList(allColumns)})
      select ${parameterList(allColumns)}
      where claim_external_id(:party_id, 'createPaymentResource', :external_id, :card_id, :match_hash)
      returning card_id
    ), code as (
      insert into security_code (session_id, card_id, half_hour, ciphertext, expires_at)
      select :session_id, :card_id, :half_hour, :code_ciphertext, :expires_at from made, security_code_key as key
      where key.half_hour = :half_hour and key.wrapped = :wrapped_key
      returning session_id
    )
    select exists (select from code) as has_code from made`,
});

const retainedColumns = {
  ...allColumns,
  is_retained: 'bool',
  retained_for: 'json',
  wake_at: 'timestamptz',
} as const;

/** Cards of bindings that the same transaction writes. */
const insertRetained = statement({
  name: 'insert_retained_cards',
  parameters: { cards: manyRows(retainedColumns) },
  row: {},
  text: `insert into card (${columnList(retainedColumns)})
         select ${columnList(retainedColumns)} from json_populate_recordset(null::card, :cards)`,
});

/** For a card that still exists. */
const insertCodeAlone = statement({
  name: 'insert_security_code',
  parameters: { session_id: 'text', card_id: 'text', ...codeParameters },
  row: { session_id: 'text' },
  text: `insert into security_code (session_id, card_id, half_hour, ciphertext, expires_at)
         select :session_id, :card_id, :half_hour, :code_ciphertext, :expires_at from card, security_code_key as key
         where card.card_id = :card_id and key.half_hour = :half_hour and key.wrapped = :wrapped_key
         returning session_id`,
});

const readCard = readStatement({
  name: 'read_card_of_party',
  parameters: { card_id: 'text', party_id: 'text' },
  row: columns,
  text: `select ${columnList(columns)} from card where card_id = :card_id and party_id = :party_id`,
});

const keepCardAlone = statement({
  name: 'keep_card',
  parameters: { ...retainedCardParameters, party_id: 'text' },
  row: { card_id: 'text' },
  text: `update card
         set is_retained = true, wake_at = coalesce(wake_at, date_trunc('minute', valid_until) + interval '1 minute'),
             retained_for = (coalesce(retained_for::jsonb, '[]') || to_jsonb(:retained_for))::json
         where card_id = :retained_card and party_id = :party_id
         returning card_id`,
});

const encryptedColumns = {
  party_id: 'text',
  purpose: columns.purpose,
  retained_for: stored('json?', list(text)),
  ciphertext: 'bytea',
  key_version: 'int4',
} as const;

/** For a message that no secret waits for, as for a charge without the payer. */
const readEncryptedCard = readStatement({
  name: 'read_encrypted_card',
  parameters: { card_id: 'text' },
  row: encryptedColumns,
  text: `select ${columnList(encryptedColumns)} from card where card_id = :card_id`,
});

/** Reads the encrypted card and what waits for its next message, and deletes that. One row for each secret, or one without any. */
const takeOut = statement({
  name: 'take_card_and_security_code',
  parameters: { card_id: 'text', session_id: 'text?', authentication_id: 'text?' },
  row: {
    ...encryptedColumns,
    browser: stored('json?', browserFacts),
    taken_id: 'text?',
    ...codeParameters,
  },
  text: `
    with code as (
      delete from security_code where session_id = :session_id and card_id = :card_id
      returning session_id, half_hour, ciphertext, expires_at
    ), authentication as (
      delete from security_code where session_id = :authentication_id and card_id = :card_id
      returning session_id, half_hour, ciphertext, expires_at
    ), taken as (select * from code union all select * from authentication)
    select party_id, purpose, retained_for, card.ciphertext, key_version,
           case when card.session_id = :session_id then client_info -> 'browser' end as browser,
           taken.session_id as taken_id, half_hour, wrapped as wrapped_key, taken.ciphertext as code_ciphertext, expires_at
    from card left join (taken join security_code_key using (half_hour)) on true
    where card_id = :card_id`,
});

/** Deletes cards with everything that depends on them. Their external IDs are free again. */
export const deleteCards = (which: string) => `
  with gone as (
    delete from card where ${which} returning card_id, party_id, session_id, external_id
  ), code as (
    delete from security_code using gone where security_code.session_id = gone.session_id
  ), freed as (
    delete from external_id using gone
    where external_id.party_id = gone.party_id and operation = '${operation}'
      and external_id.external_id = gone.external_id and entity_id = gone.card_id
  )
  select card_id from gone`;

/** Skips cards that another transaction is retaining. */
const deleteUnretained = statement({
  name: 'delete_unretained_cards',
  parameters: { before: 'timestamptz', limit: 'int4' },
  row: { card_id: 'text' },
  text: deleteCards(`card_id in (
      select card_id from card where not is_retained and stored_at < :before
      limit :limit for update skip locked
    )`),
});

/** False if the external ID is taken. */
export async function storeCard(
  db: Database,
  row: StoredCardRow,
  code: EncryptedCode | undefined,
): Promise<{ made: false } | { made: true; hasCode: boolean }> {
  const [made] = await db.run(insertCard, { ...row, ...codeColumns(code) });
  return made ? { made: true, hasCode: made.has_code } : { made: false };
}

export type RetainedCardRow = Values<typeof retainedColumns>;

export async function storeRetained(db: Database, cards: readonly RetainedCardRow[]): Promise<void> {
  await db.run(insertRetained, { cards });
}

/** False if the card is gone, or the key of the code. */
export async function storeCode(
  db: Database,
  owner: { sessionId: string; cardId: string },
  code: EncryptedCode,
): Promise<boolean> {
  const { sessionId: session_id, cardId: card_id } = owner;
  const rows = await db.run(insertCodeAlone, { session_id, card_id, ...codeColumns(code) });
  return rows.length > 0;
}

export async function findCard(
  db: Database,
  partyId: string,
  cardId: string,
): Promise<PaymentResource | undefined> {
  const [row] = await db.run(readCard, { card_id: cardId, party_id: partyId });
  return row && resourceFromRow(row);
}

export const findCardByExternalId = findByExternalId('card', operation, columns, resourceFromRow);

export async function markRetained(
  db: Database,
  partyId: string,
  cardId: string,
  reason: RetentionReason,
): Promise<boolean> {
  const kept = { retained_card: cardId, retained_for: retentionReasonText(reason) };
  const rows = await db.run(keepCardAlone, { ...kept, party_id: partyId });
  return rows.length > 0;
}

/** Names of what was stored for the next message with a card. */
export type Waiting = { readonly session?: string; readonly authentication?: string };

export type TakenOut = {
  readonly partyId: string;
  readonly purpose: Purpose;
  readonly retainedFor: readonly string[];
  readonly ciphertext: Buffer;
  readonly keyVersion: number;
  readonly code?: EncryptedCode;
  readonly authentication?: EncryptedCode;
  /** Of the session in which the card was entered. */
  readonly browser?: BrowserFacts;
};

export async function takeCardOut(
  db: Database,
  cardId: string,
  { session, authentication }: Waiting = {},
): Promise<TakenOut | undefined> {
  const names = { session_id: session ?? null, authentication_id: authentication ?? null };
  const mayHaveSecrets = (session ?? authentication) !== undefined;
  const rows = mayHaveSecrets ? await db.run(takeOut, { card_id: cardId, ...names }) : [];
  const [row] = mayHaveSecrets ? rows : await db.run(readEncryptedCard, { card_id: cardId });
  if (!row) return undefined;
  const secretOf = (name: string | undefined) => {
    const taken = rows.find(({ taken_id }) => taken_id !== null && taken_id === name);
    return taken && codeOf(taken);
  };
  return {
    partyId: row.party_id,
    purpose: row.purpose,
    retainedFor: row.retained_for ?? [],
    ciphertext: row.ciphertext,
    keyVersion: row.key_version,
    ...defined({
      code: secretOf(session),
      authentication: secretOf(authentication),
      browser: rows[0]?.browser,
    }),
  };
}

function codeOf(row: Values<typeof codeParameters>): EncryptedCode | undefined {
  const {
    half_hour: halfHour,
    wrapped_key: wrappedKey,
    code_ciphertext: ciphertext,
    expires_at: expiresAt,
  } = row;
  const isWhole = halfHour !== null && wrappedKey && ciphertext && expiresAt;
  return isWhole ? { halfHour, wrappedKey, ciphertext, expiresAt } : undefined;
}

const maxRemoved = 1_000;

export async function removeUnretained(db: Database, before: Instant): Promise<number> {
  for (let removed = 0; ;) {
    const rows = await db.run(deleteUnretained, { before, limit: maxRemoved });
    removed += rows.length;
    if (rows.length < maxRemoved) return removed;
  }
}

function codeColumns(code: EncryptedCode | undefined): Values<typeof codeParameters> {
  return {
    half_hour: code?.halfHour ?? null,
    wrapped_key: code?.wrappedKey ?? null,
    code_ciphertext: code?.ciphertext ?? null,
    expires_at: code?.expiresAt ?? null,
  };
}

export function resourceFromRow(row: CardRow): PaymentResource {
  const { made_for_kind: kind, made_for_id: id } = row;
  const { browser: _browser, countedAs = row.client_info.ip, ...clientInfo } = row.client_info;
  return {
    purpose: row.purpose,
    token: tokenOf(row.card_id, row.purpose),
    session: sessionOf(row.session_id),
    partyId: row.party_id,
    ...(kind === null || id === null ? {} : { madeFor: { kind, id } }),
    card: detailsOf(row.mask, row.payment_system),
    clientInfo,
    countedAs,
    validUntil: row.valid_until,
    fingerprint: { keyVersion: row.fingerprint_key_version, hash: row.fingerprint },
    cardMatchHash: row.match_hash,
  };
}
