// Signatures against published test vectors: those of Standard Webhooks, and one that many implementations share.
import { createPrivateKey, generateKeyPairSync, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import { contentIsSigned, standardIsSigned } from '../../../test/support/receivers/receiver.ts';
import { contentSignature, standardSignatures } from './signature.ts';

const body = Buffer.from(
  '{"eventID":1,"occuredAt":"2024-01-01T00:00:00Z","topic":"InvoicesTopic","eventType":"InvoiceCreated"}',
);
const publicKey = `-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA4+y/qGkdPLHNK6hljVIz
9YYiSet4m5OoBehWkgRhjtG2V7QAxs8Q7kLdOtVqK63C4jeGx3d8FzI8mlVpCKEV
0YPYE/Ft1VkJAzNf1pFfSuKIn/HHAwcZWVGTYwc9xRP01PI/E5Y6fHhC8Rvoam4E
9VnC488CLT1XvTam2Nqr/E2RXsLGTUbRKM/s+50rBFoVa5v7Qs1S+v6VWMqoa69v
v3ZjwMqeW4p3Sf8Vr85K2tTH1vVJVUqMJbqCw1G/XBTx4eCXwJ0ZIF4zmkCGnttC
TcSzXBT5ynXreZv4vzGfHtlsMFMPOhyhhDlY/7P9g+POa0sLog2Su7hFBU7Zu2rg
AQIDAQAB
-----END PUBLIC KEY-----
`;
const header =
  'alg=RS256; digest=HlxuFJDzq0HRsnKcp2HyKidcyfl0fsPSlXb2pd3aplCH9Kvhv48lW9Mj6JOGFDIcpbteH_ppnNvjfsP2GkoANTCWoJfluRZyby' +
  'Lucf8Wn7rtyUg0q9QP0-O0i1bY3VIYCkhPfwcHRVpnsqLY8OgysjKzMa-ZsSPqZ5ocy24FZOK9TQ3pCHUwrs5CaGLqMjwG5bJ3ixOMAD5Uo36eSTXAV' +
  '-Vi1j8LfqECoBHPHVF-sv5c17M9OFAlo5w2ryrBaWcrmvzKWjK9o_Zp725MfWVfGlQHdr-e075r7lQH1sM5TWNTu73Yuextwu833pbzElA6n0fLMZEJ' +
  'Mp6ws7SfjHIEgQ==';

test('the verification used in tests accepts the published vector and rejects others', () => {
  const headers = { 'content-signature': header };
  expect(contentIsSigned({ headers, raw: body }, publicKey)).toBe(true);
  for (const raw of [
    Buffer.concat([body, Buffer.from('\n')]),
    Buffer.from(body.toString().replace('1', '2')),
  ])
    expect(contentIsSigned({ headers, raw }, publicKey)).toBe(false);
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const otherKey = other.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  expect(contentIsSigned({ headers, raw: body }, otherKey)).toBe(false);
});

test('Content-Signature is RSA over the bytes, in padded base64url', async () => {
  const { privateKey, publicKey: own } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  for (let number = 0; number < 20; number++) {
    const raw = Buffer.from(`{"number":${number}}`);
    const made = await contentSignature(raw, privateKey);
    expect(made).toMatch(/^alg=RS256; digest=[A-Za-z0-9_-]{342}==$/);
    const pem = own.export({ type: 'spki', format: 'pem' }).toString();
    expect(contentIsSigned({ headers: { 'content-signature': made }, raw }, pem)).toBe(true);
    const digest = made.slice('alg=RS256; digest='.length);
    expect(verify('RSA-SHA256', raw, own, Buffer.from(digest, 'base64url'))).toBe(true);
  }
});

/** Builds the key from the 64 bytes of seed and public key. */
function keysOf(secret: Buffer, seed: Buffer) {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  return { secret, ed25519: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) };
}

test.each([
  [
    'A',
    keysOf(Buffer.from([...Array(32).keys()]), Buffer.from([...Array(32).keys()])),
    { id: 'evt_0000000001', second: 1_700_000_000, body },
    'v1,eJDCaHiym4qkIHeHV1umISyXsSG8q3ZDb+D5T5KnVzI= ' +
      'v1a,DcInv60hwB9BFgQV955ZYjnmcSD7Myk2BCxXxYsgIE5qkEAgitWeEVpv8qH/GglhufpKzFT1gxPbsnyX9yEuAA==',
  ],
  [
    'B',
    keysOf(
      Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64'),
      Buffer.from(
        '6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==',
        'base64',
      ).subarray(0, 32),
    ),
    { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', second: 1_614_265_330, body: Buffer.from('{"test": 2432232314}') },
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= ' +
      'v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==',
  ],
])('webhook-signature equals vector %s', (_, keys, message, expected) => {
  expect(standardSignatures(message, [keys])).toBe(expected);
});

test('webhook-signature has a signature of each key, and any one is enough', () => {
  const pairs = [1, 2].map((byte) => keysOf(Buffer.alloc(32, byte), Buffer.alloc(32, byte)));
  const message = { id: 'evt_1', second: 1_700_000_000, body };
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': '1700000000',
    'webhook-signature': standardSignatures(message, pairs),
  };
  expect(headers['webhook-signature'].split(' ').map((part) => part.split(',')[0])).toEqual([
    'v1',
    'v1',
    'v1a',
    'v1a',
  ]);
  for (const { secret } of pairs) {
    const key = `whsec_${secret.toString('base64')}`;
    expect(standardIsSigned({ headers, raw: body }, key, 1_700_000_299)).toBe(true);
    expect(standardIsSigned({ headers, raw: body }, key, 1_700_000_301)).toBe(false);
    expect(standardIsSigned({ headers, raw: Buffer.from('{}') }, key, 1_700_000_000)).toBe(false);
  }
  const stranger = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
  expect(standardIsSigned({ headers, raw: body }, stranger, 1_700_000_000)).toBe(false);
});
