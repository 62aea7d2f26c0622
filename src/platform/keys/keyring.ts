// Data keys by purpose and key version: the newest version signs and encrypts, and all versions verify and decrypt. A rotation adds the
// next version, so nothing that was issued before stops working.
import { hkdfSync, randomBytes } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { Database } from '../database/database.ts';
import { refuseOlderPrograms } from '../database/connections/programs.ts';
import { oneOf } from '../database/codec.ts';
import { statement, stored } from '../database/statement.ts';
import { NotSetUp, type SetUp } from '../../not-set-up.ts';
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
/** A key of its own for each use of a secret (HKDF, RFC 5869), derived once for as long as the secret is in use. */
export function keyFor(secret: Buffer, use: string): Buffer {
  const known = derived.get(secret) ?? new Map<string, Buffer>();
  derived.set(secret, known);
  let key = known.get(use);
  if (!key) {
    key = Buffer.from(hkdfSync('sha256', secret, '', `mandate|${use}`, masterKeyBytes));
    known.set(use, key);
  }
  return key;
}

const derived = new WeakMap<Buffer, Map<string, Buffer>>();

/** What is under a key of form 2 is bound to its purpose, too; a node of version 0.2.0 cannot read it. */
export type KeyForm = 1 | 2;
const newestForms: Partial<Record<KeyPurpose, KeyForm>> = { card: 2, idempotency: 2 };

export type DataKey = { readonly keyVersion: number; readonly secret: Buffer; readonly form: KeyForm };

export type Keyring = {
  newest(purpose: KeyPurpose): DataKey;
  /** A key version this node does not know was created by another node, so the keyring is read again. */
  find(purpose: KeyPurpose, keyVersion: number): Promise<DataKey | undefined>;
  rotate(purpose: KeyPurpose): Promise<number>;
  /** Rotates the keys of an older form. Refuses while an older node needs them. */
  renew(): Promise<readonly KeyPurpose[]>;
  stop(): void;
};

/** How long after a rotation on another node this node may still sign with the previous key version. */
const rereadEveryMs = 60_000;
/** Made-up key versions must not make a node read the table for each request. */
const rereadAtMostEveryMs = 1_000;

const readKeys = statement({
  name: 'read_data_keys',
  parameters: {},
  row: {
    purpose: 'text',
    key_version: 'int4',
    wrapped: 'bytea',
    master_key_id: 'text',
    form: stored('int4', oneOf(1, 2)),
  },
  text: 'select purpose, key_version, wrapped, master_key_id, form from data_key',
});

export const insertKey = statement({
  name: 'insert_data_key',
  parameters: {
    purpose: 'text',
    key_version: 'int4',
    wrapped: 'bytea',
    master_key_id: 'text',
    created_at: 'timestamptz',
    form: 'int4',
  },
  row: { key_version: 'int4' },
  text: `insert into data_key (purpose, key_version, wrapped, master_key_id, created_at, form)
         values (:purpose, :key_version, :wrapped, :master_key_id, :created_at, :form)
         on conflict do nothing returning key_version`,
});

/** `db` must not share its connections with transactions: a transaction may need a key in its middle. */
export async function openKeyring(
  db: Pick<Database, 'run'>,
  masterKey: MasterKey,
  clock: Clock,
  { mayCreate }: SetUp = { mayCreate: true },
): Promise<Keyring> {
  let keys = new Map<string, DataKey>();
  let newest = new Map<KeyPurpose, DataKey>();
  let readAtMs = -Infinity;
  /** Calls that arrive while the table is being read wait for that read. */
  let rereading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const rows = await db.run(readKeys, {});
    const freshKeys = new Map<string, DataKey>();
    const freshNewest = new Map<KeyPurpose, DataKey>();
    for (const row of rows) {
      const purpose = keyPurposes.find((known) => known === row.purpose);
      if (!purpose) continue; // created by a newer version of the program
      const name = nameOf(purpose, row.key_version);
      const { key_version: keyVersion, form } = row;
      const key = keys.get(name) ?? { keyVersion, form, secret: await unwrap(row, contextOf(name, form)) };
      freshKeys.set(name, key);
      if (key.keyVersion > (freshNewest.get(purpose)?.keyVersion ?? 0)) freshNewest.set(purpose, key);
    }
    keys = freshKeys;
    newest = freshNewest;
    readAtMs = performance.now();
  }

  async function unwrap(row: { wrapped: Buffer; master_key_id: string }, context: string): Promise<Buffer> {
    if (row.master_key_id !== masterKey.id) {
      throw new NotSetUp(
        `Data key ${context} was wrapped by master key ${row.master_key_id}, but the master key in use is ` +
          `${masterKey.id}. Start the program with the master key that this database was created with.`,
      );
    }
    return masterKey.unwrap(row.wrapped, context);
  }

  async function make(purpose: KeyPurpose, keyVersion: number): Promise<void> {
    const name = nameOf(purpose, keyVersion);
    const form = formOf(purpose);
    const wrapped = await masterKey.wrap(randomBytes(masterKeyBytes), contextOf(name, form));
    // Another node may be creating the same key version. The first one stands, and both nodes read it.
    await db.run(insertKey, {
      purpose,
      key_version: keyVersion,
      wrapped,
      master_key_id: masterKey.id,
      created_at: clock.now(),
      form,
    });
  }

  function newestOf(purpose: KeyPurpose): DataKey {
    const key = newest.get(purpose);
    if (!key) throw new Error(`No data key for ${purpose} exists.`);
    return key;
  }

  async function rotate(purpose: KeyPurpose): Promise<number> {
    await read();
    await make(purpose, newestOf(purpose).keyVersion + 1);
    await read();
    return newestOf(purpose).keyVersion;
  }

  await read();
  const missing = keyPurposes.filter((purpose) => !newest.has(purpose));
  // A command with the wrong master key would bind a new database to it.
  if (missing.length > 0 && !mayCreate)
    throw new NotSetUp(
      `The database has no keys for ${missing.join(', ')}. Start the service, or run "mandate migrate".`,
    );
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
    rotate,
    async renew() {
      await refuseOlderPrograms(db);
      await read();
      const older = keyPurposes.filter((purpose) => newestOf(purpose).form < formOf(purpose));
      for (const purpose of older) await rotate(purpose);
      // One that starts from here on fails, because it cannot read the new keys.
      await refuseOlderPrograms(db);
      return older;
    },
    stop: () => clearInterval(timer),
  };
}

function formOf(purpose: KeyPurpose): KeyForm {
  return newestForms[purpose] ?? 1;
}

/** Authenticated with the key, so that its row cannot be changed to an older form. */
export function contextOf(name: string, form: KeyForm): string {
  return form === 1 ? name : `${name} form ${form}`;
}

function nameOf(purpose: KeyPurpose, keyVersion: number): string {
  return `${purpose}.${keyVersion}`;
}
