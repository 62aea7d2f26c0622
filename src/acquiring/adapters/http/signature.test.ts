import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isSigned, replayWindowSeconds, sign } from './signature.ts';

// Made with openssl: printf '<t>\nPUT\n<target>\n<body>' | openssl dgst -sha256 -hmac '<secret>'
const secret = 'this secret is for the vector alone';
const message = {
  method: 'PUT',
  target: '/mandate/operations/inv1.1.r',
  body: Buffer.from(
    '{"kind":"reverse","merchant":{"id":"M1","terminal":"T1","descriptor":"SHOP"},"originalOperationId":"inv1.1.a"}',
  ),
};
const seconds = 1_795_221_000;
const header = `t=${seconds},v1=ebf8d8b4e156f9a7279c990b1ba01b5c205fc013c063b51f0975454a91615462`;

test('a message has the same signature as from openssl', () => {
  expect(sign(secret, message, seconds)).toBe(header);
});

test('a message without a body has the same signature as from openssl', () => {
  const question = { method: 'GET', target: '/mandate/book?after=0&limit=100', body: Buffer.alloc(0) };
  const mac = 'de17c1826af8b0a6566b073cd69954c87f200ca800762a038c2765a3cb7690a5';
  expect(sign(secret, question, seconds)).toBe(`t=${seconds},v1=${mac}`);
});

test('the test vector is the one in docs/bank-protocol.md', () => {
  const document = readFileSync('docs/bank-protocol.md', 'utf8');
  for (const part of [secret, message.target, message.body.toString(), header])
    expect(document).toContain(part);
});

describe('a signature', () => {
  test.each([-replayWindowSeconds, -1, 0, 1, replayWindowSeconds])(
    'is accepted %i seconds later',
    (later) => {
      expect(isSigned(secret, message, header, seconds + later)).toBe(true);
    },
  );

  test.each([-replayWindowSeconds - 1, replayWindowSeconds + 1])('is refused %i seconds later', (later) => {
    expect(isSigned(secret, message, header, seconds + later)).toBe(false);
  });

  test.each<[string, string, Partial<typeof message>]>([
    ['of another secret', 'this secret is for the vector alone.', {}],
    ['of another method', secret, { method: 'POST' }],
    ['of another path', secret, { target: '/mandate/operations/inv1.2.r' }],
    ['of another query', secret, { target: '/mandate/operations/inv1.1.r?' }],
    ['of another body', secret, { body: Buffer.from(message.body.toString().replace('T1', 'T2')) }],
    ['with part of the path moved into the body', secret, { target: '/mandate', body: Buffer.from('x') }],
  ])('%s is refused', (_of, other, different) => {
    expect(isSigned(other, { ...message, ...different }, header, seconds)).toBe(false);
  });

  test.each([
    undefined,
    '',
    header.slice(0, -1),
    `${header}0`,
    header.replace('v1=e', 'v1=E'),
    header.replace('t=', 't= '),
    header.replace(',', ', '),
    `v1=${header.slice(-64)}`,
    header.replace(/t=\d+/, 't=NaN'),
    header.replace(/v1=.*/, 'v1='),
    header.replace(/^t=/, 't=0'),
  ])('written as %s is refused', (text) => expect(isSigned(secret, message, text, seconds)).toBe(false));
});
