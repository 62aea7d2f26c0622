// Seals consent bundles and signs revocation links with the newest key. Older ones stay valid: a bundle names its key, a
// link its key version.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Keyring } from '../platform/keys/keyring.ts';
import { publicKeyTextOf, seal, type Bundle } from './consent-bundle.ts';
import { revokeUrlOf } from './revoke-page.ts';

export type ConsentSeals = {
  seal(content: Parameters<typeof seal>[1]): Bundle;
  /** The secret is the last segment of the path. */
  revokeUrlOf(seriesId: string): string;
  isLink(seriesId: string, secret: string): Promise<boolean>;
};

type Keys = Pick<Keyring, 'find' | 'newest'>;

export function openConsentSeals(keyring: Keys, publicUrl: () => string): ConsentSeals {
  return {
    seal: (content) => seal(keyring.newest('consent_seal').secret, content),
    revokeUrlOf(seriesId) {
      const { keyVersion, secret } = keyring.newest('consent_seal');
      return revokeUrlOf(publicUrl(), seriesId, `${keyVersion}.${linkOf(secret, seriesId)}`);
    },
    async isLink(seriesId, text) {
      const [, keyVersion, given] = /^(?:([1-9]\d{0,5})\.)?([\w-]+)$/.exec(text) ?? [];
      if (given === undefined) return false;
      // Links of the first version have no key version.
      const key = await keyring.find('consent_seal', Number(keyVersion ?? 1));
      return key !== undefined && isSame(linkOf(key.secret, seriesId), given);
    },
  };
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

function linkOf(secret: Buffer, seriesId: string): string {
  return createHmac('sha256', secret).update(`withdraw|${seriesId}`).digest('base64url');
}

function isSame(right: string, given: string): boolean {
  const [one, other] = [Buffer.from(right), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
