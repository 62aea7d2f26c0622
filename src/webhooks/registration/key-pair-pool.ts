// Creates key pairs for webhooks before a request takes a database connection, because that is slow.
// A pair that a refused request did not use goes to the next request.
import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { Busy } from '../../refusal.ts';

type Pair = { readonly publicKey: KeyObject; readonly privateKey: KeyObject };

/** The pairs of one key version: RSA for Content-Signature, Ed25519 for the Standard Webhooks headers. */
export type KeyPairs = { readonly rsa: Pair; readonly ed25519: Pair };

export type PooledKeyPairs = {
  /** Keeps the pairs: no other request gets them. */
  take(): KeyPairs;
};

export type KeyPairPool = {
  lend<T>(work: (pairs: PooledKeyPairs) => Promise<T>): Promise<T | Busy>;
};

const generate = promisify(generateKeyPair);

/** A few seconds of work. */
export const maxWaiting = 20;
const waitSeconds = 5;

/** One at a time: an RSA pair takes 0.1 s or more of a thread that database connections need too. */
export function openKeyPairs(make: () => Promise<KeyPairs>): KeyPairPool {
  const spare: KeyPairs[] = [];
  let before: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  async function next(): Promise<KeyPairs> {
    waiting += 1;
    const mine = before.then(() => spare.pop() ?? make()).finally(() => (waiting -= 1));
    before = mine.catch(() => undefined);
    return mine;
  }

  return {
    async lend(work) {
      if (waiting >= maxWaiting) return { kind: 'busy', waitSeconds };
      const pairs = await next();
      let isTaken = false;
      const take = () => {
        isTaken = true;
        return pairs;
      };
      try {
        return await work({ take });
      } finally {
        if (!isTaken) spare.push(pairs);
      }
    },
  };
}

/** The `prepare` step of an endpoint that creates keys. */
export function withKeyPairs<T>(
  { keyPairs }: { readonly keyPairs: KeyPairPool },
  work: (pairs: PooledKeyPairs) => Promise<T>,
): Promise<T | Busy> {
  return keyPairs.lend(work);
}

export async function makeKeyPairs(): Promise<KeyPairs> {
  const rsa = await generate('rsa', { modulusLength: 2048, publicExponent: 65_537 });
  return { rsa, ed25519: await generate('ed25519') };
}
