// The continuation tokens of searches: signed, and bound to the party and to everything else that was searched for. They say after
// which row the next page begins, for a day.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { epochMsOf, isInstant, type Clock, type Instant } from '../clock.ts';
import { keyFor, type DataKey, type Keyring } from '../platform/keys/keyring.ts';

/** The last row of a page. */
export type LastRow = { readonly createdAt: Instant; readonly ids: readonly string[] };

/** What a token is for: the operation, the party, and all parameters but the size of the page. */
type Query = readonly unknown[];

export type PageTokens = {
  issue(query: Query, last: LastRow): string;
  /** Undefined if it is no token of this query, or too old. */
  verify(query: Query, token: string): Promise<LastRow | undefined>;
};

const lifetimeMs = 24 * 3_600_000;
const tokenText = /^(\d{1,9})\.([\w-]{1,400})\.([\w-]{43})$/;

export function openPageTokens(keyring: Pick<Keyring, 'newest' | 'find'>, clock: Clock): PageTokens {
  return {
    issue(query, { createdAt, ids }) {
      const key = keyring.newest('access_token');
      const content = [epochMsOf(clock.now()) + lifetimeMs, createdAt, ...ids];
      const encoded = Buffer.from(JSON.stringify(content)).toString('base64url');
      return `${key.keyVersion}.${encoded}.${proofOf(query, encoded, key)}`;
    },

    async verify(query, token) {
      const [, keyVersion, encoded, proof] = tokenText.exec(token) ?? [];
      if (encoded === undefined || proof === undefined) return undefined;
      const key = await keyring.find('access_token', Number(keyVersion));
      if (!key || !timingSafeEqual(Buffer.from(proof), Buffer.from(proofOf(query, encoded, key))))
        return undefined;
      const content = JSON.parse(Buffer.from(encoded, 'base64url').toString()) as [
        number,
        string,
        ...string[],
      ];
      const [validUntilMs, createdAt, ...ids] = content;
      if (validUntilMs <= epochMsOf(clock.now()) || !isInstant(createdAt)) return undefined;
      return { createdAt, ids };
    },
  };
}

/** Its own key, so that it is no signature of anything else. */
function proofOf(query: Query, encoded: string, { secret }: DataKey): string {
  return createHmac('sha256', keyFor(secret, 'page'))
    .update(JSON.stringify([encoded, ...query]))
    .digest('base64url');
}
