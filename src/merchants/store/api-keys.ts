// API keys in SQL. The secret never comes here, only its keyed hash.
import { statement } from '../../platform/database/statement.ts';

const described = {
  key_id: 'text',
  party_id: 'text',
  name: 'text',
  realm: 'text',
  scopes: 'text',
  created_at: 'timestamptz',
  expires_at: 'timestamptz?',
  revoked_at: 'timestamptz?',
} as const;
const describedList = Object.keys(described).join(', ');

export const readApiKey = statement({
  name: 'read_api_key',
  parameters: { key_id: 'text' },
  row: { ...described, secret_hash: 'bytea', hash_generation: 'int4' },
  text: `select ${describedList}, secret_hash, hash_generation from api_key where key_id = :key_id`,
});

export const listApiKeys = statement({
  name: 'list_api_keys',
  parameters: { party_id: 'text' },
  row: described,
  text: `select ${describedList} from api_key where party_id = :party_id order by created_at, key_id`,
});

export const insertApiKey = statement({
  name: 'insert_api_key',
  parameters: {
    key_id: 'text',
    party_id: 'text',
    name: 'text',
    realm: 'text',
    scopes: 'text',
    secret_hash: 'bytea',
    hash_generation: 'int4',
    created_at: 'timestamptz',
  },
  row: {},
  text: `insert into api_key (key_id, party_id, name, realm, scopes, secret_hash, hash_generation, created_at)
         values (:key_id, :party_id, :name, :realm, :scopes, :secret_hash, :hash_generation, :created_at)`,
});

/** At once (revoked_at) or from a time on (expires_at, which is never moved to later). */
export const revokeApiKey = statement({
  name: 'revoke_api_key',
  parameters: { key_id: 'text', expires_at: 'timestamptz?', revoked_at: 'timestamptz?' },
  row: { key_id: 'text' },
  text: `update api_key set revoked_at = coalesce(revoked_at, :revoked_at),
                            expires_at = least(expires_at, :expires_at)
         where key_id = :key_id returning key_id`,
});

/** Whether there is anything to be asked for its realm: not in a database where nothing was ever migrated. */
export const readHasRealms = statement({
  name: 'read_has_realms',
  parameters: {},
  row: { has_realms: 'bool' },
  text: `select to_regclass('api_key') is not null and to_regclass('shop') is not null as has_realms`,
});

/** Which mode a database is for: whether it is a live one, and the sandbox keys that work there, with a party that has one. */
export const readRealms = statement({
  name: 'read_realms',
  parameters: { now: 'timestamptz' },
  row: { is_live: 'bool', test_keys: 'int8', party_id: 'text?' },
  text: `select exists (select from api_key where realm = 'live') or exists (select from shop where realm = 'live') as is_live,
                count(*) as test_keys, min(party_id) as party_id
         from api_key
         where realm = 'test' and revoked_at is null and (expires_at is null or expires_at > :now)`,
});
