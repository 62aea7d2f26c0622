// Key pairs for webhooks, of an RSA too small for earnest: one of the program's own takes a tenth of a second and more to make, and most
// tests that want a webhook care for nothing of it.
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
