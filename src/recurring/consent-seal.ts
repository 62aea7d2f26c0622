// Seals consent bundles and signs revocation links with the newest key. Older ones stay valid: a bundle names its key, a
// link its key version.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { keyFor } from '../platform/keys/keyring.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import { publicKeyTextOf, seal, type Bundle } from './consent-bundle.ts';
import { revokeUrlOf } from './domain/revoke-link.ts';

export type ConsentSeals = {
  seal(content: Parameters<typeof seal>[1]): Bundle;
  /** The secret is the last segment of the path. */
  revokeUrlOf(seriesId: string): string;
  isLink(seriesId: string, secret: string): Promise<boolean>;
  /** The secret of a consent link's address. */
  consentLinkSecret(linkId: string): string;
  isConsentLink(linkId: string, secret: string): Promise<boolean>;
};

/** What a link is for. It is signed with the link, so that one cannot be used as the other. */
type Purpose = 'withdraw' | 'renew';

type Keys = Pick<Keyring, 'find' | 'newest'>;

export function openConsentSeals(keyring: Keys, publicUrl: () => string): ConsentSeals {
  function secretOf(purpose: Purpose, id: string): string {
    const { keyVersion, secret } = keyring.newest('consent_seal');
    return `${keyVersion}.${signed(linkKeyOf(secret), purpose, id)}`;
  }

  async function isSecret(purpose: Purpose, id: string, text: string): Promise<boolean> {
    const [, keyVersion, given] = /^(?:([1-9]\d{0,5})\.)?([\w-]+)$/.exec(text) ?? [];
    if (given === undefined) return false;
    // Links of the first version have no key version.
    const key = await keyring.find('consent_seal', Number(keyVersion ?? 1));
    if (!key) return false;
    // Links of earlier versions were signed with the seed that also seals consents.
    return [linkKeyOf(key.secret), key.secret].some((secret) => isSame(signed(secret, purpose, id), given));
  }

  return {
    seal: (content) => seal(keyring.newest('consent_seal').secret, content),
    revokeUrlOf: (seriesId) => revokeUrlOf(publicUrl(), seriesId, secretOf('withdraw', seriesId)),
    isLink: (seriesId, text) => isSecret('withdraw', seriesId, text),
    consentLinkSecret: (linkId) => secretOf('renew', linkId),
    isConsentLink: (linkId, text) => isSecret('renew', linkId, text),
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

/** The seed itself is the private key of the seals. */
function linkKeyOf(seed: Buffer): Buffer {
  return keyFor(seed, 'consent links');
}

function signed(secret: Buffer, purpose: Purpose, id: string): string {
  return createHmac('sha256', secret).update(`${purpose}|${id}`).digest('base64url');
}

function isSame(right: string, given: string): boolean {
  const [one, other] = [Buffer.from(right), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
