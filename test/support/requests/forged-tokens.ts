// Access tokens as an attacker would make them. Another library than the service's own builds them, so a forgery passes only if both
// are wrong in the same way.
import { SignJWT, UnsecuredJWT } from 'jose';
import { epochMsOf } from '../../../src/clock.ts';
import type { TestService } from '../service/test-service.ts';

type Subject = { readonly invoiceId: string; readonly partyId: string };
type Header = { alg: string; typ?: string; kid?: string; crit?: string[] };

/** By what is wrong with each. All name an invoice of the party, and none may be accepted. */
export async function forgedTokens(service: TestService, subject: Subject): Promise<Record<string, string>> {
  const { secret } = service.keyring.newest('access_token');
  const nowSeconds = Math.floor(epochMsOf(service.clock.now()) / 1000);
  const claims = { aud: 'mandate', sub: subject.invoiceId, party: subject.partyId, iat: nowSeconds };
  const lasting = { ...claims, exp: nowSeconds + 3_600 };
  const header = { alg: 'HS256', typ: 'invoice+jwt', kid: '1' };

  const sign = (payload: Record<string, unknown>, more: Partial<Header> = {}, key: Uint8Array = secret) =>
    new SignJWT(payload).setProtectedHeader({ ...header, ...more }).sign(key);
  const valid = await sign(lasting);
  const [head = '', body = '', signature = ''] = valid.split('.');
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

  return {
    'signed with another key': await sign(lasting, {}, Buffer.alloc(32, 9)),
    'signed with the key for other purposes': await sign(
      lasting,
      {},
      service.keyring.newest('idempotency').secret,
    ),
    'signed with an empty key': await sign(lasting, {}, Buffer.alloc(1)),
    'of algorithm none': new UnsecuredJWT(lasting).encode(),
    'of algorithm none, with a signature': `${encoded({ ...header, alg: 'none' })}.${body}.${signature}`,
    'of algorithm none, without a signature': `${encoded({ ...header, alg: 'none' })}.${body}.`,
    'of algorithm HS512 with the right key': await sign(
      lasting,
      { alg: 'HS512' },
      Buffer.concat([secret, secret]),
    ),
    'said to be RS256': `${encoded({ ...header, alg: 'RS256' })}.${body}.${signature}`,
    'of an unknown key version': await sign(lasting, { kid: '999' }),
    'of key version zero': await sign(lasting, { kid: '0' }),
    'whose kid is a path': await sign(lasting, { kid: '../../../dev/null' }, Buffer.alloc(32)),
    'whose kid is SQL': await sign(lasting, { kid: "1' or '1'='1" }),
    'whose kid is a built-in property': await sign(lasting, { kid: 'constructor' }),
    'without a kid': await sign(lasting, { kid: undefined } as unknown as Partial<Header>),
    'of a kind that is not a token of the service': await sign(lasting, { typ: 'JWT' }),
    'of a template, whose token is none of these': await sign(lasting, { typ: 'invoice-template+jwt' }),
    'of an unknown kind': await sign(lasting, { typ: 'api-key+jwt' }),
    'for another audience': await sign({ ...lasting, aud: 'elsewhere' }),
    'without an audience': await sign({ ...lasting, aud: undefined }),
    'that never expires': await sign(claims),
    'whose expiry is text': await signText(JSON.stringify({ ...claims, exp: '9999999999' }), secret, head),
    'whose expiry is beyond any number': await signText(
      JSON.stringify(claims).replace('}', ',"exp":"1e999"}'),
      secret,
      head,
    ),
    'that expired a second ago': await sign({ ...claims, exp: nowSeconds - 1 }),
    'that expires this moment': await sign({ ...claims, exp: nowSeconds }),
    'without a subject': await sign({ ...lasting, sub: undefined }),
    'whose subject is a list': await signText(
      JSON.stringify({ ...lasting, sub: [subject.invoiceId] }),
      secret,
      head,
    ),
    'without a party': await sign({ ...lasting, party: undefined }),
    'with a changed body': `${head}.${encoded({ ...lasting, exp: nowSeconds + 9_999 })}.${signature}`,
    'without a signature': `${head}.${body}.`,
    'with half a signature': `${head}.${body}.${signature.slice(0, 21)}`,
    'with an additional part': `${valid}.${body}`,
    'with a missing part': `${head}.${signature}`,
    'with a body that is not JSON': await signText('no JSON', secret, head),
    'with a body that is null': await signText('null', secret, head),
    'of three thousand characters': await sign({ ...lasting, padding: 'x'.repeat(3_000) }),
  };
}

/** Signs what no library for honest tokens would sign. */
async function signText(text: string, secret: Uint8Array, head: string): Promise<string> {
  const signed = `${head}.${Buffer.from(text).toString('base64url')}`;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', secret, algorithm, false, ['sign']);
  const signature = await crypto.subtle.sign('HMAC', key, Buffer.from(signed));
  return `${signed}.${Buffer.from(signature).toString('base64url')}`;
}
