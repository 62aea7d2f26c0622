// Seals consent bundles with the newest key. Older ones stay valid, because a bundle names its key.
import type { Keyring } from '../platform/keys/keyring.ts';
import { publicKeyTextOf, seal, type Bundle } from './consent-bundle.ts';

export type ConsentSeals = {
  seal(content: Parameters<typeof seal>[1]): Bundle;
};

type Keys = Pick<Keyring, 'find' | 'newest'>;

export function openConsentSeals(keyring: Keys): ConsentSeals {
  return { seal: (content) => seal(keyring.newest('consent_seal').secret, content) };
}

/** All public keys that have ever sealed a bundle, newest last. */
export async function sealKeysOf(
  keyring: Keys,
): Promise<{ readonly keyVersion: number; readonly publicKey: string }[]> {
  const { keyVersion: newest } = keyring.newest('consent_seal');
  const keyVersions = Array.from({ length: newest }, (_, place) => place + 1);
  const keys = await Promise.all(keyVersions.map((each) => keyring.find('consent_seal', each)));
  return keys.flatMap((key) =>
    key ? [{ keyVersion: key.keyVersion, publicKey: publicKeyTextOf(key.secret) }] : [],
  );
}
