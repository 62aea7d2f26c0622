// The secrets in the addresses of payers' pages. They are signed with the newest key and not stored; each names its key version, so
// that older ones stay valid.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { keyFor, type Keyring } from './keyring.ts';

/** What a link is for. It is signed with the link, so that one cannot be used as the other. */
export type LinkPurpose = 'withdraw' | 'renew' | 'subscription' | 'act';

export type LinkSecrets = {
  secretOf(purpose: LinkPurpose, id: string): string;
  isSecret(purpose: LinkPurpose, id: string, secret: string): Promise<boolean>;
};

export function openLinkSecrets(keyring: Pick<Keyring, 'find' | 'newest'>): LinkSecrets {
  return {
    secretOf(purpose, id) {
      const { keyVersion, secret } = keyring.newest('consent_seal');
      return `${keyVersion}.${signed(linkKeyOf(secret), purpose, id)}`;
    },

    async isSecret(purpose, id, text) {
      const [, keyVersion, given] = /^(?:([1-9]\d{0,5})\.)?([\w-]+)$/.exec(text) ?? [];
      if (given === undefined) return false;
      // Links of the first version have no key version.
      const key = await keyring.find('consent_seal', Number(keyVersion ?? 1));
      if (!key) return false;
      // Links of earlier versions were signed with the seed that also seals consents.
      return [linkKeyOf(key.secret), key.secret].some((secret) => isSame(signed(secret, purpose, id), given));
    },
  };
}

/** The seed itself is the private key of the seals. */
function linkKeyOf(seed: Buffer): Buffer {
  return keyFor(seed, 'consent links');
}

function signed(secret: Buffer, purpose: LinkPurpose, id: string): string {
  return createHmac('sha256', secret).update(`${purpose}|${id}`).digest('base64url');
}

function isSame(right: string, given: string): boolean {
  const [one, other] = [Buffer.from(right), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
