// Security codes between tokenisation and authorisation: stored for 15 minutes, for one use, under a key that lives for at most an hour.
// The tables are unlogged, so without the key's row, which the master key wraps for every node, no copy can be read.
import { randomBytes } from 'node:crypto';
import { epochMsOf, laterBy, type Clock, type Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { decrypt, encrypt, masterKeyBytes, type MasterKey } from '../platform/keys/master-key.ts';
import {
  deleteExpiredCodes,
  deleteOldCodeKeys,
  insertCodeKey,
  readCodeKey,
  type EncryptedCode,
} from './store/security-codes.ts';

export type CodeOwner = { readonly sessionId: string; readonly cardId: string; readonly partyId: string };

export type SecurityCodes = {
  /** What the statement that stores the card writes with it. */
  encrypt(db: Database, owner: CodeOwner, code: string): Promise<EncryptedCode>;
  /** Undefined once it has expired. */
  decrypt(owner: CodeOwner, taken: EncryptedCode): Promise<string | undefined>;
  /** For when the row of a key in this node's memory turns out to be gone. */
  distrustKeys(): void;
  purge(db: Database): Promise<void>;
};

const codeLifetimeMs = 15 * 60_000;
const keyLifetimeMs = 30 * 60_000;
const maxPurged = 1_000;

type CodeKey = { readonly halfHour: number; readonly wrapped: Buffer; readonly secret: Buffer };

export function openSecurityCodes(masterKey: MasterKey, clock: Clock): SecurityCodes {
  let keys: CodeKey[] = [];

  async function unwrap(halfHour: number, wrapped: Buffer): Promise<CodeKey> {
    const known = keys.find((key) => key.halfHour === halfHour && key.wrapped.equals(wrapped));
    return known ?? { halfHour, wrapped, secret: await masterKey.unwrap(wrapped, keyContext(halfHour)) };
  }

  /** Uses the caller's connection: waiting here for another one could block the connection that is waited for. */
  async function keyOf(db: Database, halfHour: number): Promise<CodeKey> {
    const known = keys.find((key) => key.halfHour === halfHour);
    if (known) return known;
    let [row] = await db.run(readCodeKey, { half_hour: halfHour });
    if (!row) {
      const wrapped = await masterKey.wrap(randomBytes(masterKeyBytes), keyContext(halfHour));
      [row] = await db.run(insertCodeKey, { half_hour: halfHour, wrapped });
    }
    if (!row) throw new Error('The key of security codes was not created.');
    const key = await unwrap(halfHour, row.wrapped);
    // Its row may still vanish, with the transaction or in a database crash, so storing a code checks for it.
    keys.push(key);
    return key;
  }

  return {
    async encrypt(db, owner, code) {
      const now = clock.now();
      const { halfHour, wrapped, secret } = await keyOf(db, halfHourOf(now));
      const plain = Buffer.from(code);
      const ciphertext = encrypt(secret, plain, codeContext(owner, halfHour));
      plain.fill(0);
      return { halfHour, wrappedKey: wrapped, ciphertext, expiresAt: laterBy(now, codeLifetimeMs) };
    },

    async decrypt(owner, { halfHour, wrappedKey, ciphertext, expiresAt }) {
      if (expiresAt <= clock.now()) return undefined;
      const key = await unwrap(halfHour, wrappedKey);
      const plain = decrypt(key.secret, ciphertext, codeContext(owner, halfHour));
      const code = plain.toString();
      plain.fill(0);
      return code;
    },

    distrustKeys: () => void (keys = []),

    async purge(db) {
      const now = clock.now();
      const oldest = halfHourOf(now) - 1;
      for (const key of keys) if (key.halfHour < oldest) key.secret.fill(0);
      keys = keys.filter((key) => key.halfHour >= oldest);
      await db.run(deleteOldCodeKeys, { oldest });
      for (;;) {
        const rows = await db.run(deleteExpiredCodes, { now, limit: maxPurged });
        if (rows.length < maxPurged) return;
      }
    },
  };
}

function halfHourOf(instant: Instant): number {
  return Math.floor(epochMsOf(instant) / keyLifetimeMs);
}

function keyContext(halfHour: number): string {
  return `security_code.${halfHour}`;
}

function codeContext({ sessionId, cardId, partyId }: CodeOwner, halfHour: number): string {
  return JSON.stringify(['security_code', 1, sessionId, cardId, partyId, halfHour]);
}
