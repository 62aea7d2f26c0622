// The secret of a bank as it is stored: encrypted for the bank's address.
import type { Values } from '../platform/database/statement.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import { decrypt, encrypt } from '../platform/keys/master-key.ts';
import type { readBank } from './store/banks.ts';

export type BankSettings = {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  /** What it last said it can do, in its own words. */
  readonly abilities?: string;
};

export function encryptSecret(keyring: Keyring, { id, url, secret }: BankSettings) {
  const key = keyring.newest('bank_secret');
  const secret_ciphertext = encrypt(key.secret, Buffer.from(secret), secretContext({ id, url }));
  return { secret_ciphertext, key_version: key.keyVersion };
}

export async function decryptSecret(
  keyring: Keyring,
  id: string,
  { url, key_version, secret_ciphertext }: Values<typeof readBank.row>,
): Promise<string> {
  const key = await keyring.find('bank_secret', key_version);
  const remedy = `Set both again: mandate bank change ${id} --url … --new-secret.`;
  if (!key)
    throw new Error(
      `Version ${key_version} of the key that encrypts the secret of bank ${id} is missing. ${remedy}`,
    );
  try {
    return decrypt(key.secret, secret_ciphertext, secretContext({ id, url })).toString();
  } catch (error) {
    throw new Error(`The secret of bank ${id} was not encrypted for the address ${url}. ${remedy}`, {
      cause: error,
    });
  }
}

/** Binds the secret to the URL: changing the URL in the database alone cannot redirect card numbers. */
function secretContext({ id, url }: { id: string; url: string }): string {
  return JSON.stringify(['bank', id, url]);
}
