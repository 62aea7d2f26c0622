// Encrypts a webhook's keys for the database and decrypts them to sign. Each key version has an RSA pair for
// Content-Signature, and an Ed25519 pair and a shared secret for the Standard Webhooks headers.
import { createPrivateKey, randomBytes, type KeyObject } from 'node:crypto';
import { object, text } from '../../platform/database/codec.ts';
import type { Keyring } from '../../platform/keys/keyring.ts';
import { decrypt, encrypt } from '../../platform/keys/master-key.ts';
import type { KeyPairs } from './key-pair-pool.ts';
import type { SigningKeys } from '../delivery/signature.ts';
import type { PublishedKey } from '../domain/webhook.ts';

export type EncryptedKeys = PublishedKey & {
  readonly ciphertext: Buffer;
  readonly ciphertextKeyVersion: number;
};

const secretBytes = 32;
const privateKeys = object<Record<'rsa' | 'ed25519' | 'secret', string>>({
  rsa: text,
  ed25519: text,
  secret: text,
});

/** The shared secret is only in the response; it is never shown again. */
export function encryptKeys(
  keyring: Keyring,
  webhookId: string,
  { rsa, ed25519 }: KeyPairs,
  { keyVersion, signsFrom }: Pick<PublishedKey, 'keyVersion' | 'signsFrom'>,
): { keys: EncryptedKeys; sharedSecret: string } {
  const secret = randomBytes(secretBytes);
  const plain = JSON.stringify({
    rsa: derOf(rsa.privateKey),
    ed25519: derOf(ed25519.privateKey),
    secret: secret.toString('base64'),
  });
  const encryptionKey = keyring.newest('webhook_key');
  return {
    sharedSecret: `whsec_${secret.toString('base64')}`,
    keys: {
      keyVersion,
      signsFrom,
      publicKey: rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      signingPublicKey: signingPublicKeyOf(ed25519.publicKey),
      ciphertext: encrypt(encryptionKey.secret, Buffer.from(plain), contextOf(webhookId, keyVersion)),
      ciphertextKeyVersion: encryptionKey.keyVersion,
    },
  };
}

export async function decryptKeys(
  keyring: Keyring,
  webhookId: string,
  keys: EncryptedKeys,
): Promise<SigningKeys> {
  const key = await keyring.find('webhook_key', keys.ciphertextKeyVersion);
  if (!key)
    throw new Error(
      `version ${keys.ciphertextKeyVersion} of the key that encrypts the keys of webhook ${webhookId} is missing`,
    );
  const plain = decrypt(key.secret, keys.ciphertext, contextOf(webhookId, keys.keyVersion)).toString();
  const { rsa, ed25519, secret } = privateKeys.read(JSON.parse(plain));
  return { rsa: fromDer(rsa), ed25519: fromDer(ed25519), secret: Buffer.from(secret, 'base64') };
}

function contextOf(webhookId: string, keyVersion: number): string {
  return `webhook ${webhookId} ${keyVersion}`;
}

function derOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'der' }).toString('base64');
}

function fromDer(text: string): KeyObject {
  return createPrivateKey({ key: Buffer.from(text, 'base64'), type: 'pkcs8', format: 'der' });
}

/** The published form: the last 32 bytes of the SPKI encoding. */
export function signingPublicKeyOf(ed25519: KeyObject): string {
  return `whpk_${ed25519.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')}`;
}
