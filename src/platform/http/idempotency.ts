// Idempotency-Key: a repeated request gets the first response, byte for byte, and does nothing. Key, effect and response are one
// transaction; schema errors and retryable responses leave the key free.
import { createHmac } from 'node:crypto';
import type { Instant } from '../../clock.ts';
import type { Database } from '../database/database.ts';
import { statement, type Values } from '../database/statement.ts';
import { decrypt, encrypt } from '../keys/master-key.ts';
import { keyFor, type DataKey, type Keyring } from '../keys/keyring.ts';

export type StoredResponse = {
  readonly status: number;
  readonly body: string;
  /** Of its header. Names of members are in it, and none of their values. */
  readonly warnings?: string | undefined;
};

/** A retryable response says that it is too early, that there is no capacity or that a token is wrong. It is not stored, so a repeat may succeed. */
export type EndpointResponse = StoredResponse & { readonly isRetryable?: true };

export type RepeatableRequest = {
  /** The owner of the key: the party, or the one entity of an access token. */
  readonly ownerId: string;
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly now: Instant;
};

export type IdempotentResult =
  | { readonly kind: 'first' | 'replay'; readonly response: StoredResponse }
  | { readonly kind: 'other-request' };

export type Idempotency = {
  once(
    request: RepeatableRequest,
    work: (tx: Database) => Promise<EndpointResponse>,
  ): Promise<IdempotentResult>;
  purgeExpired(before: Instant): Promise<number>;
};

export const idempotencyKeyPattern = /^[A-Za-z0-9._-]{1,64}$/;
export const idempotencyKeyLifetimeMs = 7 * 24 * 3_600_000;
const maxPurgedKeys = 1_000;

const claimKey = statement({
  name: 'claim_idempotency_key',
  parameters: { owner_id: 'text', idempotency_key: 'text', request_hash: 'bytea', created_at: 'timestamptz' },
  row: { owner_id: 'text' },
  // Waits while a transaction with the same key is open, and finds its row once that has committed.
  text: `insert into idempotency_key (owner_id, idempotency_key, request_hash, created_at)
         values (:owner_id, :idempotency_key, :request_hash, :created_at)
         on conflict do nothing returning owner_id`,
});

const readAnswer = statement({
  name: 'read_idempotent_answer',
  parameters: { owner_id: 'text', idempotency_key: 'text' },
  row: {
    request_hash: 'bytea',
    status: 'int4?',
    body_ciphertext: 'bytea?',
    key_version: 'int4?',
    warnings: 'text?',
  },
  text: `select request_hash, status, body_ciphertext, key_version, warnings from idempotency_key
         where owner_id = :owner_id and idempotency_key = :idempotency_key`,
});

const storeAnswer = statement({
  name: 'store_idempotent_answer',
  parameters: {
    owner_id: 'text',
    idempotency_key: 'text',
    status: 'int4',
    body_ciphertext: 'bytea',
    key_version: 'int4',
    warnings: 'text?',
  },
  row: {},
  text: `update idempotency_key
         set status = :status, body_ciphertext = :body_ciphertext, key_version = :key_version, warnings = :warnings
         where owner_id = :owner_id and idempotency_key = :idempotency_key`,
});

const forgetAnswers = statement({
  name: 'forget_idempotency_keys',
  parameters: { before: 'timestamptz', limit: 'int4' },
  row: { owner_id: 'text' },
  text: `delete from idempotency_key where (owner_id, idempotency_key) in
           (select owner_id, idempotency_key from idempotency_key where created_at < :before limit :limit)
         returning owner_id`,
});

/** Rolls back the claim of the key with everything else in the transaction. */
class RollBack extends Error {
  readonly response: StoredResponse;
  constructor(response: StoredResponse) {
    super('The transaction was rolled back: its response is retryable.');
    this.response = response;
  }
}

export function idempotency(db: Database, keyring: Keyring): Idempotency {
  return {
    async once(request, work) {
      const name = { owner_id: request.ownerId, idempotency_key: request.key };
      const context = `${request.ownerId}|${request.key}`;
      const newest = await keysOf(keyring, keyring.newest('idempotency'));
      const request_hash = hashOf(request, newest.ofHashes);

      const once = async (tx: Database): Promise<IdempotentResult> => {
        const earlier = await claim(tx, { ...name, request_hash, created_at: request.now });
        if (earlier) {
          const key = await keyring.find('idempotency', earlier.key_version ?? 0);
          if (!key || !earlier.body_ciphertext || earlier.status === null) {
            throw new Error(`The response stored for Idempotency-Key ${request.key} cannot be decrypted.`);
          }
          const { ofHashes, ofResponses } = await keysOf(keyring, key);
          if (!earlier.request_hash.equals(hashOf(request, ofHashes))) return { kind: 'other-request' };
          const body = decrypt(ofResponses, earlier.body_ciphertext, context).toString();
          const { status, warnings } = earlier;
          return { kind: 'replay', response: { status, body, warnings: warnings ?? undefined } };
        }
        const response = await work(tx);
        if (response.isRetryable) throw new RollBack(response);
        await tx.run(storeAnswer, {
          ...name,
          status: response.status,
          body_ciphertext: encrypt(newest.ofResponses, Buffer.from(response.body), context),
          key_version: newest.keyVersion,
          warnings: response.warnings ?? null,
        });
        return { kind: 'first', response };
      };
      return db.transaction(once).catch((error: unknown): IdempotentResult => {
        if (error instanceof RollBack) return { kind: 'first', response: error.response };
        throw error;
      });
    },

    async purgeExpired(before) {
      for (let purged = 0; ;) {
        const rows = await db.run(forgetAnswers, { before, limit: maxPurgedKeys });
        purged += rows.length;
        if (rows.length < maxPurgedKeys) return purged;
      }
    },
  };
}

/** Undefined if the key was free. A row that expires between the two statements leaves it free again. */
async function claim(tx: Database, row: Values<(typeof claimKey)['parameters']>) {
  for (;;) {
    const [claimed] = await tx.run(claimKey, row);
    if (claimed) return undefined;
    const [earlier] = await tx.run(readAnswer, row);
    if (earlier) return earlier;
  }
}

/** A key for each use. Under a key of form 1 responses are encrypted with the key itself, and all hashes are by version 1. */
async function keysOf(keyring: Pick<Keyring, 'find'>, { keyVersion, secret, form }: DataKey) {
  if (form === 2)
    return {
      keyVersion,
      ofHashes: keyFor(secret, 'idempotency hashes'),
      ofResponses: keyFor(secret, 'idempotency responses'),
    };
  const first = await keyring.find('idempotency', 1);
  if (!first) throw new Error('Version 1 of the data key "idempotency" is missing.');
  return { keyVersion, ofHashes: first.secret, ofResponses: secret };
}

/**
 * Keyed, so that a card number in a body cannot be found by trying, except with the master key, which decrypts the cards themselves.
 * The order of members does not matter.
 */
function hashOf(request: RepeatableRequest, key: Buffer): Buffer {
  const canonical = JSON.stringify([request.method, request.path, sorted(request.body)]);
  return createHmac('sha256', key).update(canonical).digest();
}

/** A copy without the given members, each named by its path. */
export function withoutMembers(body: unknown, paths: readonly string[]): unknown {
  return paths.reduce((rest, path) => without(rest, path.split('.')), body);
}

function without(value: unknown, [name = '', ...deeper]: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { [name]: member, ...others } = value as Record<string, unknown>;
  return deeper.length === 0 || member === undefined
    ? others
    : { ...others, [name]: without(member, deeper) };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}
