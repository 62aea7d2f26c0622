// Data keys by purpose and key version. The newest key version signs and seals; all of them verify and open, so a key is
// rotated by making the next one, and nothing that was issued before stops working.
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { Database } from '../database/database.ts';
import { statement } from '../database/statement.ts';
import { masterKeyBytes, type MasterKey } from './master-key.ts';

export const keyPurposes = [
  'api_key_hash',
  'access_token',
  'idempotency',
  'card',
  'card_fingerprint',
  'bank_secret',
  'consent_seal',
  'webhook_key',
] as const;
export type KeyPurpose = (typeof keyPurposes)[number];
export type DataKey = { readonly keyVersion: number; readonly secret: Buffer };

export type Keyring = {
  newest(purpose: KeyPurpose): DataKey;
  /** A key version this node has not seen yet was made by another one: the ring is then read again. */
  find(purpose: KeyPurpose, keyVersion: number): Promise<DataKey | undefined>;
  rotate(purpose: KeyPurpose): Promise<number>;
  stop(): void;
};

/** How long after a rotation elsewhere a node may go on signing with the key version before. */
const rereadEveryMs = 60_000;
/** A stranger's made-up key version must not make a node read the table for each request. */
const rereadAtMostEveryMs = 1_000;

const readKeys = statement({
  name: 'read_data_keys',
  parameters: {},
  row: { purpose: 'text', key_version: 'int4', wrapped: 'bytea', master_key_id: 'text' },
  text: 'select purpose, key_version, wrapped, master_key_id from data_key',
});

const insertKey = statement({
  name: 'insert_data_key',
  parameters: {
    purpose: 'text',
    key_version: 'int4',
    wrapped: 'bytea',
    master_key_id: 'text',
    created_at: 'timestamptz',
  },
  row: { key_version: 'int4' },
  text: `insert into data_key (purpose, key_version, wrapped, master_key_id, created_at)
         values (:purpose, :key_version, :wrapped, :master_key_id, :created_at)
         on conflict do nothing returning key_version`,
});

/** `db` is a connection nobody holds: a transaction may ask for a key in its middle. */
export async function openKeyring(
  db: Pick<Database, 'run'>,
  masterKey: MasterKey,
  clock: Clock,
): Promise<Keyring> {
  let keys = new Map<string, DataKey>();
  let newest = new Map<KeyPurpose, DataKey>();
  let readAtMs = -Infinity;
  /** Who asks while the table is being read waits for that. */
  let rereading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const rows = await db.run(readKeys, {});
    const freshKeys = new Map<string, DataKey>();
    const freshNewest = new Map<KeyPurpose, DataKey>();
    for (const row of rows) {
      const purpose = keyPurposes.find((known) => known === row.purpose);
      if (!purpose) continue; // made by a newer version of the program
      const name = nameOf(purpose, row.key_version);
      const key = keys.get(name) ?? { keyVersion: row.key_version, secret: await unwrap(row, name) };
      freshKeys.set(name, key);
      if (key.keyVersion > (freshNewest.get(purpose)?.keyVersion ?? 0)) freshNewest.set(purpose, key);
    }
    keys = freshKeys;
    newest = freshNewest;
    readAtMs = performance.now();
  }

  async function unwrap(row: { wrapped: Buffer; master_key_id: string }, name: string): Promise<Buffer> {
    if (row.master_key_id !== masterKey.id) {
      throw new Error(
        `data key ${name} was wrapped by master key ${row.master_key_id}, but this program was given ` +
          `${masterKey.id}: start it with the master key this database was made with`,
      );
    }
    return masterKey.unwrap(row.wrapped, name);
  }

  async function make(purpose: KeyPurpose, keyVersion: number): Promise<void> {
    const name = nameOf(purpose, keyVersion);
    const wrapped = await masterKey.wrap(randomBytes(masterKeyBytes), name);
    // Another node may be making the same key version; the first one stands and both read it.
    await db.run(insertKey, {
      purpose,
      key_version: keyVersion,
      wrapped,
      master_key_id: masterKey.id,
      created_at: clock.now(),
    });
  }

  function newestOf(purpose: KeyPurpose): DataKey {
    const key = newest.get(purpose);
    if (!key) throw new Error(`there is no data key for ${purpose}`);
    return key;
  }

  await read();
  const missing = keyPurposes.filter((purpose) => !newest.has(purpose));
  for (const purpose of missing) await make(purpose, 1);
  if (missing.length > 0) await read();

  const timer = setInterval(() => void read().catch(() => undefined), rereadEveryMs).unref();

  return {
    newest: newestOf,
    async find(purpose, keyVersion) {
      const name = nameOf(purpose, keyVersion);
      if (!keys.has(name) && performance.now() - readAtMs > rereadAtMostEveryMs) {
        await (rereading ??= read().finally(() => (rereading = undefined)));
      }
      return keys.get(name);
    },
    async rotate(purpose) {
      await read();
      await make(purpose, newestOf(purpose).keyVersion + 1);
      await read();
      return newestOf(purpose).keyVersion;
    },
    stop: () => clearInterval(timer),
  };
}

function nameOf(purpose: KeyPurpose, keyVersion: number): string {
  return `${purpose}.${keyVersion}`;
}
