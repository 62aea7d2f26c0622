// The key that wraps all data keys, and never encrypts data itself. In the sandbox it is a file in the data folder, created on the first
// start; in live mode the operator provides it.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '../../error-code.ts';
import { randomText } from '../../ids.ts';
import { NotSetUp, type SetUp } from '../../not-set-up.ts';
import { makeFolder } from '../make-folder.ts';

/** The port to the holder of the master key. An external key service would implement the same two methods. */
export type MasterKey = {
  readonly id: string;
  wrap(key: Buffer, context: string): Promise<Buffer>;
  unwrap(wrapped: Buffer, context: string): Promise<Buffer>;
};

export const masterKeyBytes = 32;

export function localMasterKey(key: Buffer): MasterKey {
  if (key.length !== masterKeyBytes)
    throw new Error(`The master key has ${key.length} bytes and needs ${masterKeyBytes}.`);
  return {
    // Names the key without revealing it, so that a wrong key can be distinguished from a damaged record.
    id: createHash('sha256').update('mandate master key id|').update(key).digest('hex').slice(0, 16),
    wrap: (data, context) => Promise.resolve(encrypt(key, data, context)),
    unwrap: (wrapped, context) => Promise.resolve(decrypt(key, wrapped, context)),
  };
}

export function parseMasterKey(text: string): Buffer | undefined {
  const key = Buffer.from(text.trim(), 'base64');
  return key.length === masterKeyBytes ? key : undefined;
}

/** Reads the sandbox's key file, or creates it. If several nodes start together, the first file wins. */
export function sandboxMasterKey(file: string, { mayCreate }: SetUp = { mayCreate: true }): Buffer {
  const existing = readKeyFile(file);
  if (existing) return existing;
  if (!mayCreate)
    throw new NotSetUp(
      `No master key in ${file}. Set MANDATE_DATA or MANDATE_MASTER_KEY as for the service. ` +
        'For a new database, start the service or run "mandate migrate".',
    );
  makeFolder(dirname(file));
  const mine = `${file}.${randomText(8)}`;
  writeFileSync(mine, randomBytes(masterKeyBytes).toString('base64') + '\n', { mode: 0o600 });
  try {
    linkSync(mine, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(mine, { force: true });
  }
  const made = readKeyFile(file);
  if (!made) throw new Error(`The key file ${file} vanished while it was being created.`);
  return made;
}

function readKeyFile(file: string): Buffer | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  const key = parseMasterKey(text);
  if (!key)
    throw new Error(
      `${file} does not hold a key of ${masterKeyBytes} bytes in base64. Restore the file from a backup.`,
    );
  return key;
}

/** AES-256-GCM: 12 bytes of nonce, 16 of tag, then the ciphertext. The context is authenticated with it. */
export function encrypt(key: Buffer, plain: Buffer, context: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 });
  cipher.setAAD(Buffer.from(context));
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
}

export function decrypt(key: Buffer, ciphertext: Buffer, context: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, ciphertext.subarray(0, 12), { authTagLength: 16 });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(ciphertext.subarray(12, 28));
  return Buffer.concat([decipher.update(ciphertext.subarray(28)), decipher.final()]);
}
