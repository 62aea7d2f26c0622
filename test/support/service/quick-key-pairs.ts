// Webhook key pairs of an RSA size too small for real use. A pair of the program takes over 100 ms to create, and most tests do not
// depend on it.
import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { KeyPairs } from '../../../src/webhooks/registration/key-pair-pool.ts';

const generate = promisify(generateKeyPair);

export async function quickKeyPairs(): Promise<KeyPairs> {
  return {
    rsa: await generate('rsa', { modulusLength: 1024, publicExponent: 65_537 }),
    ed25519: await generate('ed25519'),
  };
}
