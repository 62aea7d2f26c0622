import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { keyFor } from './keyring.ts';
import { openLinkSecrets } from './link-secrets.ts';

const seed = Buffer.from('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 'hex');
const key = { keyVersion: 1, form: 1, secret: seed } as const;
const links = openLinkSecrets({ newest: () => key, find: () => Promise.resolve(key) });
const withSeed = createHmac('sha256', seed).update('withdraw|S').digest('base64url');

test('a link is not signed with the seed of the seals', async () => {
  const secret = links.secretOf('withdraw', 'S');
  expect(await links.isSecret('withdraw', 'S', secret)).toBe(true);
  expect(secret).not.toContain(withSeed);
  expect(await links.isSecret('renew', 'S', secret)).toBe(false);
});

test('links of earlier versions, which were, stay valid', async () => {
  expect(await links.isSecret('withdraw', 'S', withSeed)).toBe(true);
  expect(await links.isSecret('withdraw', 'S', `1.${withSeed}`)).toBe(true);
  expect(await links.isSecret('withdraw', 'T', withSeed)).toBe(false);
});

test('each use of a secret has a key of its own', () => {
  const keys = [keyFor(seed, 'one'), keyFor(seed, 'two'), seed].map((each) => each.toString('hex'));
  expect(new Set(keys).size).toBe(3);
  expect(keyFor(seed, 'one')).toEqual(keyFor(seed, 'one'));
  expect(keyFor(seed, 'one')).toHaveLength(32);
});
