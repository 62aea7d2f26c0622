import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto';
import * as jose from 'jose';
import { describe, expect, test } from 'vitest';
import { testClock } from '../../../test/support/service/test-service.ts';
import { accessTokens } from './access-token.ts';
import type { DataKey, Keyring } from './keyring.ts';

const subject = { kind: 'invoice', entityId: 'invoice-1', partyId: 'party-1' } as const;
const day = 24 * 3_600_000;

function setUp() {
  const clock = testClock();
  const keys: DataKey[] = [{ keyVersion: 1, form: 1, secret: randomBytes(32) }];
  const newest = () => keys.at(-1)!;
  const keyring: Keyring = {
    newest,
    find: (_purpose, keyVersion) => Promise.resolve(keys.find((key) => key.keyVersion === keyVersion)),
    rotate: () =>
      Promise.resolve(keys.push({ keyVersion: keys.length + 1, form: 1, secret: randomBytes(32) })),
    renew: () => Promise.resolve([]),
    stop: () => {},
  };
  return { clock, keyring, newest, tokens: accessTokens(keyring, clock) };
}

/** A token from the reference library, so that a refused token is right except for one thing. */
async function forge(options: {
  header?: Record<string, unknown>;
  claims?: Record<string, unknown>;
  secret: Uint8Array;
}): Promise<string> {
  return new jose.SignJWT({
    aud: 'mandate',
    sub: 'invoice-1',
    party: 'party-1',
    exp: 4_000_000_000,
    ...options.claims,
  })
    .setProtectedHeader({ alg: 'HS256', typ: 'invoice+jwt', kid: '1', ...options.header })
    .sign(options.secret);
}

describe('an access token', () => {
  test('is a JSON Web Token that the reference library verifies', async () => {
    const { clock, newest, tokens } = setUp();
    const { payload, protectedHeader } = await jose.jwtVerify(tokens.issue(subject), newest().secret, {
      audience: 'mandate',
      typ: 'invoice+jwt',
      algorithms: ['HS256'],
      currentDate: new Date(clock.now()),
    });
    expect(protectedHeader.kid).toBe('1');
    expect(payload).toMatchObject({ sub: 'invoice-1', party: 'party-1' });
    expect(payload.exp! - payload.iat!).toBe(259_200);
  });

  test('from the reference library is accepted', async () => {
    const { newest, tokens } = setUp();
    expect(await tokens.verify(await forge({ secret: newest().secret }))).toEqual(subject);
  });

  test('may be limited to a page, and is refused with an unknown limit', async () => {
    const { newest, tokens } = setUp();
    const narrowed = { ...subject, isFor: 'checkout' } as const;
    expect(await tokens.verify(tokens.issue(narrowed))).toEqual(narrowed);
    const forPrinting = await forge({ secret: newest().secret, claims: { for: 'printing' } });
    expect(await tokens.verify(forPrinting)).toBeUndefined();
  });

  test('is valid for three days and not a second longer', async () => {
    const { clock, tokens } = setUp();
    const token = tokens.issue(subject);
    clock.advance(3 * day - 1_000);
    expect(await tokens.verify(token)).toEqual(subject);
    clock.advance(1_000);
    expect(await tokens.verify(token)).toEqual({ kind: 'refused', why: 'expired', subject });
  });

  test('survives a rotation of the signing key, and new ones are signed with the new key', async () => {
    const { keyring, tokens } = setUp();
    const before = tokens.issue(subject);
    await keyring.rotate('access_token');
    const after = tokens.issue(subject);
    expect(jose.decodeProtectedHeader(after).kid).toBe('2');
    expect(await tokens.verify(before)).toEqual(subject);
    expect(await tokens.verify(after)).toEqual(subject);
  });

  test('is refused when any one of its characters is changed', async () => {
    const { tokens } = setUp();
    const token = tokens.issue(subject);
    for (let place = 0; place < token.length; place++) {
      const other = token[place] === 'A' ? 'B' : 'A';
      const changed = token.slice(0, place) + other + token.slice(place + 1);
      expect(await tokens.verify(changed), `character ${place}`).toBeUndefined();
    }
  });

  test('is refused with anything after it', async () => {
    const { tokens } = setUp();
    const token = tokens.issue(subject);
    for (const more of ['!', '=', 'A', '.']) expect(await tokens.verify(token + more), more).toBeUndefined();
  });

  test.each([
    ['another secret', () => ({ form: 1, secret: randomBytes(32) })],
    ['another audience', (secret: Buffer) => ({ secret, claims: { aud: 'other' } })],
    ['a list of audiences', (secret: Buffer) => ({ secret, claims: { aud: ['mandate', 'other'] } })],
    ['no expiry', (secret: Buffer) => ({ secret, claims: { exp: undefined } })],
    ['no subject', (secret: Buffer) => ({ secret, claims: { sub: undefined } })],
    ['an unknown type', (secret: Buffer) => ({ secret, header: { typ: 'JWT' } })],
    ['an unknown key', (secret: Buffer) => ({ secret, header: { kid: '2' } })],
    ['a key id that is a path', (secret: Buffer) => ({ secret, header: { kid: '../1' } })],
    ['another algorithm of the same family', (secret: Buffer) => ({ secret, header: { alg: 'HS512' } })],
  ])('with %s is refused', async (_what, options) => {
    const { newest, tokens } = setUp();
    expect(await tokens.verify(await forge(options(newest().secret)))).toBeUndefined();
  });

  test('without a signature, or signed with a public key, is refused', async () => {
    const { tokens } = setUp();
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = part({ aud: 'mandate', sub: 'invoice-1', party: 'party-1', exp: 4_000_000_000 });
    expect(
      await tokens.verify(`${part({ alg: 'none', typ: 'invoice+jwt', kid: '1' })}.${claims}.`),
    ).toBeUndefined();

    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const signed = `${part({ alg: 'HS256', typ: 'invoice+jwt', kid: '1' })}.${claims}`;
    const secret = publicKey.export({ type: 'spki', format: 'pem' });
    const signature = createHmac('sha256', secret).update(signed).digest('base64url');
    expect(await tokens.verify(`${signed}.${signature}`)).toBeUndefined();
  });

  test.each([
    '',
    '.',
    '../..',
    'a.b',
    'a.b.c',
    'a.b.c.d',
    'null.null.null',
    'bnVsbA.bnVsbA.bnVsbA',
    'x'.repeat(3_000),
  ])('is not %j', async (text) => expect(await setUp().tokens.verify(text)).toBeUndefined());
});
