// API keys in SQL. Only the keyed hash of a secret is stored.
import { readStatement } from '../../platform/database/batches/read-statement.ts';
import { columnList, parameterList, statement } from '../../platform/database/statement.ts';

const madeColumns = {
  key_id: 'text',
  party_id: 'text',
  name: 'text',
  livemode: 'bool',
  scopes: 'text',
  created_at: 'timestamptz',
} as const;
const hashedColumns = { secret_hash: 'bytea', key_version: 'int4' } as const;
const describedColumns = { ...madeColumns, expires_at: 'timestamptz?', revoked_at: 'timestamptz?' } as const;

export const readApiKey = readStatement({
  name: 'read_api_key',
  parameters: { key_id: 'text' },
  row: { ...describedColumns, ...hashedColumns },
  text: `select ${columnList({ ...describedColumns, ...hashedColumns })} from api_key where key_id = :key_id`,
});

export const listApiKeys = statement({
  name: 'list_api_keys',
  parameters: { party_id: 'text' },
  row: describedColumns,
  text: `select ${columnList(describedColumns)} from api_key where party_id = :party_id order by created_at, key_id`,
});

/** Those that may work. */
export const listKeyIds = statement({
  name: 'list_key_ids',
  parameters: { livemode: 'bool' },
  row: { key_id: 'text' },
  text: 'select key_id from api_key where livemode = :livemode and revoked_at is null',
});

export const insertApiKey = statement({
  name: 'insert_api_key',
  parameters: { ...madeColumns, ...hashedColumns },
  row: {},
  text: `insert into api_key (${columnList({ ...madeColumns, ...hashedColumns })}) values (${parameterList({ ...madeColumns, ...hashedColumns })})`,
});

/** Immediately (revoked_at) or from a given time (expires_at, which is never postponed). */
export const revokeApiKey = statement({
  name: 'revoke_api_key',
  parameters: { key_id: 'text', expires_at: 'timestamptz?', revoked_at: 'timestamptz?' },
  row: { key_id: 'text' },
  text: `update api_key set revoked_at = coalesce(revoked_at, :revoked_at),
                            expires_at = least(expires_at, :expires_at)
         where key_id = :key_id returning key_id`,
});

/** Whether the database has modes at all. An empty database, or one of an older version, does not. */
export const readHasLivemode = statement({
  name: 'read_has_livemode',
  parameters: {},
  row: { has_livemode: 'bool' },
  text: `select count(*) = 2 as has_livemode from pg_attribute
         where attrelid in (to_regclass('api_key'), to_regclass('shop')) and attname = 'livemode' and not attisdropped`,
});

/** Whether the database is live, and its active sandbox keys, with one party that has some. */
export const readModes = statement({
  name: 'read_modes',
  parameters: { now: 'timestamptz' },
  row: { is_live: 'bool', test_keys: 'int8', party_id: 'text?' },
  text: `select exists (select from api_key where livemode) or exists (select from shop where livemode) as is_live,
                count(*) as test_keys, min(party_id) as party_id
         from api_key
         where not livemode and revoked_at is null and (expires_at is null or expires_at > :now)`,
});
