import { describe, expect, test } from 'vitest';
import {
  makeKeyPairs,
  openKeyPairs,
  maxWaiting,
  type KeyPairs,
  type PooledKeyPairs,
} from './key-pair-pool.ts';

/** Creates each pair when the test says so. */
function slowMaker() {
  const begun: ((error?: Error) => void)[] = [];
  const make = () =>
    new Promise<KeyPairs>((resolve, reject) => {
      const pairs = { number: begun.length } as unknown as KeyPairs;
      begun.push((error) => (error ? reject(error) : resolve(pairs)));
    });
  return { begun, make };
}

const take = (pairs: PooledKeyPairs) => Promise.resolve(pairs.take());
const leave = () => Promise.resolve('refused');

describe('key pairs', () => {
  test('have the documented types and sizes', async () => {
    const { rsa, ed25519 } = await makeKeyPairs();
    expect(rsa.privateKey.asymmetricKeyType).toBe('rsa');
    expect(rsa.privateKey.asymmetricKeyDetails).toEqual({ modulusLength: 2_048, publicExponent: 65_537n });
    expect(ed25519.privateKey.asymmetricKeyType).toBe('ed25519');
  });

  test('are created one at a time, a new one for each request that takes it', async () => {
    const { begun, make } = slowMaker();
    const { lend } = openKeyPairs(make);
    const lent = [lend(take), lend(take)];
    await expect.poll(() => begun.length).toBe(1);
    begun[0]?.();
    expect(await lent[0]).toEqual({ number: 0 });
    await expect.poll(() => begun.length).toBe(2);
    begun[1]?.();
    expect(await lent[1]).toEqual({ number: 1 });
  });

  test('that were not taken go to the next request, after a refusal or a failure', async () => {
    const { begun, make } = slowMaker();
    const { lend } = openKeyPairs(make);
    const first = lend(leave);
    await expect.poll(() => begun.length).toBe(1);
    begun[0]?.();
    expect(await first).toBe('refused');
    await expect(lend(() => Promise.reject(new Error('no database')))).rejects.toThrow('no database');
    expect(await lend(take)).toEqual({ number: 0 });
    expect(begun).toHaveLength(1);
  });

  test('that were taken go to no other request, even after a failure', async () => {
    const { begun, make } = slowMaker();
    const { lend } = openKeyPairs(make);
    const first = lend((pairs) => {
      pairs.take();
      return Promise.reject(new Error('no database'));
    });
    await expect.poll(() => begun.length).toBe(1);
    begun[0]?.();
    await expect(first).rejects.toThrow('no database');
    const second = lend(take);
    await expect.poll(() => begun.length).toBe(2);
    begun[1]?.();
    expect(await second).toEqual({ number: 1 });
  });

  test('have a limited number of waiting requests, and refuse further ones as busy', async () => {
    const { lend } = openKeyPairs(() => Promise.resolve({} as KeyPairs));
    const waiting = Array.from({ length: maxWaiting }, () => lend(leave));
    expect(await lend(leave)).toEqual({ kind: 'busy', waitSeconds: 5 });
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['refused']));
    expect(await lend(leave)).toBe('refused');
  });

  test('that could not be created do not block the next request', async () => {
    const { begun, make } = slowMaker();
    const { lend } = openKeyPairs(make);
    const lent = [lend(take), lend(take)];
    await expect.poll(() => begun.length).toBe(1);
    begun[0]?.(new Error('no entropy'));
    await expect(lent[0]).rejects.toThrow('no entropy');
    await expect.poll(() => begun.length).toBe(2);
    begun[1]?.();
    expect(await lent[1]).toEqual({ number: 1 });
  });
});
