// Access tokens, with which a browser may act on one invoice or customer and nothing else. They are JSON Web Tokens with a fixed
// algorithm, HMAC-SHA-256, because only this service verifies them (docs/decisions/0006-access-tokens.md).
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Clock, epochMsOf } from '../../clock.ts';
import { randomText } from '../../ids.ts';
import type { RefusedToken, TokenSubject } from '../../caller.ts';
import type { Keyring } from './keyring.ts';
import { defined } from '../../defined.ts';

/** The token of a template is shorter: src/invoices/template-tokens.ts. */
const signedKinds = ['invoice', 'customer'] as const;
type SignedSubject = TokenSubject & { readonly kind: (typeof signedKinds)[number] };

export type AccessTokens = {
  issue(subject: SignedSubject): string;
  verify(token: string): Promise<SignedSubject | RefusedToken | undefined>;
};

/** Three days, as the contract says. */
const lifetimeSeconds = 259_200;
const maxTokenCharacters = 2_048;
const audience = 'mandate';

export function accessTokens(keyring: Keyring, clock: Clock): AccessTokens {
  return {
    issue(subject) {
      const key = keyring.newest('access_token');
      const issuedAt = Math.floor(epochMsOf(clock.now()) / 1000);
      const signed =
        encode({ alg: 'HS256', typ: `${subject.kind}+jwt`, kid: String(key.keyVersion) }) +
        '.' +
        encode({
          aud: audience,
          sub: subject.entityId,
          party: subject.partyId,
          ...defined({ for: subject.isFor }),
          iat: issuedAt,
          exp: issuedAt + lifetimeSeconds,
          jti: randomText(17),
        });
      return `${signed}.${signatureOf(signed, key.secret).toString('base64url')}`;
    },

    async verify(token) {
      if (token.length > maxTokenCharacters) return undefined;
      const [header64, claims64, signature64, ...more] = token.split('.');
      if (!header64 || !claims64 || !signature64 || more.length > 0) return undefined;
      const header = decode(header64);
      if (header?.['alg'] !== 'HS256' || typeof header['kid'] !== 'string') return undefined;
      const kind = signedKinds.find((known) => header['typ'] === `${known}+jwt`);
      if (!kind || !/^\d{1,9}$/.test(header['kid'])) return undefined;
      const key = await keyring.find('access_token', Number(header['kid']));
      if (!key) return undefined;
      const expected = Buffer.from(signatureOf(`${header64}.${claims64}`, key.secret).toString('base64url'));
      // Compared as text: decoding would ignore characters that mean nothing.
      const given = Buffer.from(signature64);
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
      return subjectOf(kind, decode(claims64), epochMsOf(clock.now()) / 1000);
    },
  };
}

function subjectOf(
  kind: SignedSubject['kind'],
  claims: Record<string, unknown> | undefined,
  nowSeconds: number,
): SignedSubject | RefusedToken | undefined {
  if (!claims || claims['aud'] !== audience) return undefined;
  const { sub, party, exp, for: isFor } = claims;
  if (typeof sub !== 'string' || typeof party !== 'string') return undefined;
  if (typeof exp !== 'number') return undefined;
  // A restriction that only a newer version knows must not widen what the token allows.
  if (isFor !== undefined && isFor !== 'checkout') return undefined;
  const subject: SignedSubject = { kind, entityId: sub, partyId: party, ...defined({ isFor }) };
  return nowSeconds < exp ? subject : { kind: 'refused', why: 'expired', subject };
}

function signatureOf(text: string, secret: Buffer): Buffer {
  return createHmac('sha256', secret).update(text).digest();
}

function encode(claims: object): string {
  return Buffer.from(JSON.stringify(claims)).toString('base64url');
}

function decode(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
