// API keys: 256 random bits shown once, stored as a keyed hash. The checksum saves a query for a mistyped key and lets
// scanners recognise a key.
//   mandate_test_<id, 12 characters>_<secret, 43 characters><checksum, 6 characters>
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { laterBy, type Clock, type Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { ttlCache } from '../platform/database/ttl-cache.ts';
import type { Caller, RefusedToken } from '../caller.ts';
import { randomText } from '../ids.ts';
import { modeName } from '../livemode.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import { insertApiKey, listApiKeys, listKeyIds, readApiKey, revokeApiKey } from './store/api-keys.ts';

export type ApiKey = Awaited<ReturnType<typeof apiKeysOf>>[number];

export type ApiKeys = {
  /** The text of the new key, which is shown only once. */
  create(key: { partyId: string; name: string; scopes: readonly string[] }): Promise<string>;
  /** A new key with the same name and scopes. The old key works until the overlap ends. */
  rotate(keyId: string, overlapMs: number): Promise<string | undefined>;
  revoke(keyId: string): Promise<boolean>;
  list(partyId: string): Promise<ApiKey[]>;
  authenticate(text: string): Promise<Caller | RefusedToken | undefined>;
  /** Whether this key has worked on this node before. It reads nothing, so the key may be revoked since. */
  hasWorked(text: string): boolean;
  /** Whether there is a key of this ID, whatever its secret. The IDs are read once a second at most. */
  isNamed(text: string): Promise<boolean>;
};

const keyText = /^mandate_(test|live)_([0-9A-Za-z]{12})_([0-9A-Za-z]{43})([0-9a-f]{6})$/;
const maxAgeMs = 1_000;
const maxWorked = 10_000;

export function openApiKeys(options: {
  db: Database;
  /** The read-only pool, which no transaction holds connections of. */
  lookups: Pick<Database, 'run'>;
  keyring: Keyring;
  clock: Clock;
  livemode: boolean;
}): ApiKeys {
  const { db, keyring, clock, livemode } = options;
  const recentKeys = ttlCache({
    maxAgeMs,
    maxEntries: 10_000,
    load: async (keyId: string) => (await options.lookups.run(readApiKey, { key_id: keyId }))[0],
  });
  const namedKeys = ttlCache({
    maxAgeMs,
    maxEntries: 1,
    load: async () =>
      new Set((await options.lookups.run(listKeyIds, { livemode })).map(({ key_id }) => key_id)),
  });
  /**
   * The keys that worked on this node, oldest first, with the digest of their text. Until the row is read again, after 1 s at
   * most, the same text is not hashed again.
   */
  const worked = new Map<string, { readonly row: object; readonly digest: string }>();

  function hasWorkedNow(keyId: string, row: object, digest: string): void {
    worked.set(keyId, { row, digest });
    for (const oldest of worked.keys()) {
      if (worked.size <= maxWorked) return;
      worked.delete(oldest);
    }
  }

  async function create(
    key: { partyId: string; name: string; scopes: readonly string[] },
    on: Database = db,
  ): Promise<string> {
    const keyId = randomText(12);
    const secret = randomText(43);
    const hashKey = keyring.newest('api_key_hash');
    await on.run(insertApiKey, {
      key_id: keyId,
      party_id: key.partyId,
      name: key.name,
      livemode,
      scopes: key.scopes.join(' '),
      secret_hash: hashOf(secret, hashKey.secret),
      key_version: hashKey.keyVersion,
      created_at: clock.now(),
    });
    const text = `mandate_${modeName(livemode)}_${keyId}_${secret}`;
    return text + checksumOf(text);
  }

  return {
    create,

    rotate: (keyId, overlapMs) =>
      db.transaction(async (tx) => {
        const [old] = await tx.run(readApiKey, { key_id: keyId });
        const now = clock.now();
        if (!old || old.revoked_at !== null) return undefined;
        if (old.expires_at !== null && old.expires_at <= now) return undefined;
        const until = laterBy(now, overlapMs);
        await tx.run(revokeApiKey, { key_id: keyId, expires_at: until, revoked_at: null });
        return create({ partyId: old.party_id, name: old.name, scopes: old.scopes.split(' ') }, tx);
      }),

    async revoke(keyId) {
      const found = await endApiKey(db, keyId, clock.now());
      recentKeys.forget(keyId);
      return found;
    },

    list: (partyId) => apiKeysOf(db, partyId),

    hasWorked(text) {
      const keyId = keyText.exec(text)?.[2];
      return keyId !== undefined && worked.has(keyId);
    },

    async isNamed(text) {
      const keyId = keyText.exec(text)?.[2];
      return keyId !== undefined && (await namedKeys.get('all')).has(keyId);
    },

    async authenticate(text) {
      const [, keyMode, keyId, secret, checksum] = keyText.exec(text) ?? [];
      if (!keyMode || !keyId || !secret) return undefined;
      // A digest instead of the text: no secret is kept.
      const digest = hash('sha256', text, 'base64');
      const before = worked.get(keyId);
      const hasWorked = before?.digest === digest;
      if (!hasWorked && checksum !== checksumOf(text.slice(0, -6))) return undefined;
      const row = await recentKeys.get(keyId);
      if (!row || keyMode !== modeName(row.livemode)) return undefined;
      const isProved = hasWorked && before.row === row;
      if (!isProved) {
        const hashKey = await keyring.find('api_key_hash', row.key_version);
        if (!hashKey || !timingSafeEqual(hashOf(secret, hashKey.secret), row.secret_hash)) return undefined;
      }
      if (row.livemode !== livemode) return { kind: 'refused', why: 'otherMode' };
      if (row.revoked_at !== null) return { kind: 'refused', why: 'revoked' };
      if (row.expires_at !== null && row.expires_at <= clock.now())
        return { kind: 'refused', why: 'expired' };
      if (!isProved) hasWorkedNow(keyId, row, digest);
      return { kind: 'apiKey', keyId, partyId: row.party_id, scopes: row.scopes.split(' ') };
    },
  };
}

/** Keys of both modes, without their hashes, so that no data key is needed. */
export async function apiKeysOf(db: Pick<Database, 'run'>, partyId: string) {
  const rows = await db.run(listApiKeys, { party_id: partyId });
  return rows.map((row) => ({
    keyId: row.key_id,
    partyId: row.party_id,
    name: row.name,
    livemode: row.livemode,
    scopes: row.scopes.split(' '),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  }));
}

export async function endApiKey(db: Pick<Database, 'run'>, keyId: string, now: Instant): Promise<boolean> {
  const rows = await db.run(revokeApiKey, { key_id: keyId, expires_at: null, revoked_at: now });
  return rows.length > 0;
}

function hashOf(secret: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(secret).digest();
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0').slice(2);
}
