// Webhooks and their keys in SQL.
import type { Database } from '../../platform/database/database.ts';
import { mapped, text } from '../../platform/database/codec.ts';
import {
  columnList,
  parameterList,
  statement,
  stored,
  type Values,
} from '../../platform/database/statement.ts';
import type { EncryptedKeys } from './webhook-keys.ts';
import { maxWebhooks, type Webhook } from '../domain/webhook.ts';
import { defined } from '../../defined.ts';

export type StoredWebhook = {
  readonly webhook: Webhook;
  /** The snapshot at creation. The webhook receives the events of later transactions. */
  readonly createdSnapshot: string;
  readonly keys: readonly EncryptedKeys[];
};

/** Names separated by spaces. */
const spaced = mapped(text, {
  read: (names): readonly string[] => names.split(' '),
  write: (names) => names.join(' '),
});

const columns = {
  webhook_id: 'text',
  party_id: 'text',
  topic: 'text',
  owner_id: 'text',
  wallet_id: 'text?',
  event_types: stored('text', spaced),
  url: 'text',
  created_at: 'timestamptz',
} as const;

const keyColumns = {
  key_version: 'int4',
  public_key: 'text',
  signing_public_key: 'text',
  ciphertext: 'bytea',
  ciphertext_key_version: 'int4',
  signs_from: 'timestamptz',
} as const;

/** A webhook of an earlier version has no snapshot and receives the events of transactions after its own. */
const readColumns = { ...columns, created_snapshot: 'text', ...keyColumns } as const;
const readColumnList = `${columnList(columns)},
  coalesce(created_snapshot, format('%1$s:%1$s:', written_in::text::numeric + 1)) as created_snapshot, ${columnList(keyColumns)}`;

const readWebhooksOfParties = statement({
  name: 'read_webhooks_of_parties',
  parameters: { party_ids: 'json' },
  row: readColumns,
  text: `select ${readColumnList} from webhook join webhook_key using (webhook_id)
         where party_id in (select json_array_elements_text(:party_ids)) order by created_at, webhook_id, key_version`,
});

const readWebhook = statement({
  name: 'read_webhook',
  parameters: { webhook_id: 'text' },
  row: readColumns,
  text: `select ${readColumnList} from webhook join webhook_key using (webhook_id)
         where webhook_id = :webhook_id order by key_version`,
});

/** Locked first, so that two parallel requests cannot both create the last allowed webhook. */
const lockParty = statement({
  name: 'lock_party_for_webhooks',
  parameters: { party_id: 'text' },
  row: { party_id: 'text' },
  text: 'select party_id from party where party_id = :party_id for no key update',
});

/** Inserts nothing when the owner has reached the limit. */
const insertWebhook = statement({
  name: 'insert_webhook',
  parameters: { ...columns, ...keyColumns, limit: 'int4' },
  row: { webhook_id: 'text' },
  text: `
    with made as (
      insert into webhook (${columnList(columns)})
      select ${parameterList(columns)}
      where (select count(*) from webhook where party_id = :party_id and owner_id = :owner_id) < :limit
      returning webhook_id
    ), keyed as (
      insert into webhook_key (webhook_id, ${columnList(keyColumns)})
      select webhook_id, ${parameterList(keyColumns)} from made
    )
    select webhook_id from made`,
});

const deleteWebhook = statement({
  name: 'delete_webhook',
  parameters: { webhook_id: 'text', party_id: 'text' },
  row: { webhook_id: 'text' },
  text: `
    with gone as (
      delete from webhook where webhook_id = :webhook_id and party_id = :party_id returning webhook_id
    ), keyless as (
      delete from webhook_key where webhook_id in (select webhook_id from gone)
    )
    select webhook_id from gone`,
});

/** One statement, so that a failure in between cannot leave a key whose secret no merchant has. */
const insertNextKey = statement({
  name: 'insert_next_webhook_key',
  parameters: { webhook_id: 'text', ...keyColumns, oldest_kept: 'int4' },
  row: { key_version: 'int4' },
  text: `
    with made as (
      insert into webhook_key (webhook_id, ${columnList(keyColumns)})
      select webhook_id, ${parameterList(keyColumns)} from webhook where webhook_id = :webhook_id
      on conflict do nothing returning key_version
    ), gone as (
      delete from webhook_key
      where webhook_id = :webhook_id and key_version < :oldest_kept and exists (select from made)
    )
    select key_version from made`,
});

/** False when the owner has reached the limit. */
export async function storeNewWebhook(db: Database, webhook: Webhook, key: EncryptedKeys): Promise<boolean> {
  const { partyId: party_id, owner } = webhook;
  return db.transaction(async (tx) => {
    await tx.run(lockParty, { party_id });
    const rows = await tx.run(insertWebhook, {
      webhook_id: webhook.id,
      party_id,
      topic: webhook.topic,
      owner_id: owner.id,
      wallet_id: owner.part ?? null,
      event_types: webhook.eventTypes,
      url: webhook.url,
      created_at: webhook.createdAt,
      ...keyRow(key),
      limit: maxWebhooks,
    });
    return rows.length > 0;
  });
}

export async function findWebhooks(db: Pick<Database, 'run'>, partyIds: string[]): Promise<StoredWebhook[]> {
  return storedFromRows(await db.run(readWebhooksOfParties, { party_ids: partyIds }));
}

export async function loadWebhook(
  db: Pick<Database, 'run'>,
  webhookId: string,
): Promise<StoredWebhook | undefined> {
  const [stored] = storedFromRows(await db.run(readWebhook, { webhook_id: webhookId }));
  return stored;
}

export async function findWebhook(
  db: Database,
  partyId: string,
  webhookId: string,
): Promise<StoredWebhook | undefined> {
  const stored = await loadWebhook(db, webhookId);
  return stored?.webhook.partyId === partyId ? stored : undefined;
}

export async function removeWebhook(db: Database, partyId: string, webhookId: string): Promise<boolean> {
  const rows = await db.run(deleteWebhook, { webhook_id: webhookId, party_id: partyId });
  return rows.length > 0;
}

/** False when another request has created that key version. Also deletes keys before `oldestKept`. */
export async function storeNextKey(
  db: Pick<Database, 'run'>,
  webhookId: string,
  key: EncryptedKeys,
  oldestKept: number,
): Promise<boolean> {
  const next = { webhook_id: webhookId, ...keyRow(key), oldest_kept: oldestKept };
  const rows = await db.run(insertNextKey, next);
  return rows.length > 0;
}

function keyRow(key: EncryptedKeys): Values<typeof keyColumns> {
  return {
    key_version: key.keyVersion,
    public_key: key.publicKey,
    signing_public_key: key.signingPublicKey,
    ciphertext: key.ciphertext,
    ciphertext_key_version: key.ciphertextKeyVersion,
    signs_from: key.signsFrom,
  };
}

function storedFromRows(rows: readonly Values<typeof readColumns>[]): StoredWebhook[] {
  const byId = new Map<string, Values<typeof readColumns>[]>();
  for (const row of rows) byId.set(row.webhook_id, [...(byId.get(row.webhook_id) ?? []), row]);
  return [...byId.values()].flatMap((ofOne) => {
    const [first] = ofOne;
    return first ? [{ ...storedFromRow(first), keys: ofOne.map(keyFromRow) }] : [];
  });
}

function storedFromRow(row: Values<typeof readColumns>): Omit<StoredWebhook, 'keys'> {
  return {
    createdSnapshot: row.created_snapshot,
    webhook: {
      id: row.webhook_id,
      partyId: row.party_id,
      topic: row.topic,
      owner: { id: row.owner_id, ...defined({ part: row.wallet_id }) },
      eventTypes: row.event_types,
      url: row.url,
      createdAt: row.created_at,
    },
  };
}

function keyFromRow(row: Values<typeof keyColumns>): EncryptedKeys {
  return {
    keyVersion: row.key_version,
    publicKey: row.public_key,
    signingPublicKey: row.signing_public_key,
    ciphertext: row.ciphertext,
    ciphertextKeyVersion: row.ciphertext_key_version,
    signsFrom: row.signs_from,
  };
}
