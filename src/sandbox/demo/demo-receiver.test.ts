// What the demo shop believes: notices signed by the service, sent just now, each once.
import { generateKeyPairSync, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { Hearing, isGenuine, type Delivered } from './demo-receiver.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ed25519 = generateKeyPairSync('ed25519');
const keys = {
  publicKey: rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  signingPublicKey: `whpk_${Buffer.from(ed25519.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64')}`,
};
const nowSeconds = 1_800_000_000;

function delivered(body: object, { id = 'evt_1', second = nowSeconds, more = '' } = {}): Delivered {
  const raw = Buffer.from(JSON.stringify(body));
  const digest = sign('sha256', raw, rsa.privateKey)
    .toString('base64')
    .replaceAll('+', '-')
    .replaceAll('/', '_');
  const signature = sign(null, Buffer.from(`${id}.${second}.${raw.toString()}`), ed25519.privateKey);
  return {
    raw,
    headers: {
      'content-signature': `alg=RS256; digest=${digest}`,
      'webhook-id': id,
      'webhook-timestamp': String(second),
      'webhook-signature': `${more}v1,nobody v1a,${signature.toString('base64')}`,
    },
  };
}

const told = { eventType: 'InvoicePaid', invoice: { id: 'I1' } };
const good = delivered(told);
const other = delivered({ ...told, eventType: 'InvoiceCancelled' });

test.each<[string, Delivered, boolean]>([
  ['as it was sent', good, true],
  ['with a signature of an older key before its own', delivered(told, { more: 'v1a,AAAA ' }), true],
  ['a little late', delivered(told, { second: nowSeconds - 300 }), true],
  ['with another body', { ...good, raw: other.raw }, false],
  ['too late', delivered(told, { second: nowSeconds - 301 }), false],
  ['from the future', delivered(told, { second: nowSeconds + 301 }), false],
  ['with another id', { ...good, headers: { ...good.headers, 'webhook-id': 'evt_2' } }, false],
  [
    'with another time',
    { ...good, headers: { ...good.headers, 'webhook-timestamp': `${nowSeconds + 1}` } },
    false,
  ],
  ['without a time', { ...good, headers: { ...good.headers, 'webhook-timestamp': undefined } }, false],
  [
    'with the signature of another body',
    { ...good, headers: { ...good.headers, 'content-signature': other.headers['content-signature'] } },
    false,
  ],
  ['without one signature', { ...good, headers: { ...good.headers, 'content-signature': undefined } }, false],
  ['without the other', { ...good, headers: { ...good.headers, 'webhook-signature': 'v1,nobody' } }, false],
  ['without any', { ...good, headers: {} }, false],
])('a notice %s', (_, notice, isRight) => {
  expect(isGenuine(notice, keys, nowSeconds)).toBe(isRight);
});

test('a notice that comes again is kept once, and one of somebody else’s order not at all', () => {
  const hearing = new Hearing(10);
  hearing.attend('I1');
  for (const notice of [
    good,
    good,
    delivered(told, { id: 'evt_2' }),
    delivered({ ...told, invoice: { id: 'I2' } }),
  ]) {
    hearing.keep('/notices', notice);
  }
  expect(hearing.after('I1', 0).map(({ headers }) => headers['webhook-id'])).toEqual(['evt_1', 'evt_2']);
  expect(hearing.after('I1', 1)).toHaveLength(1);
  expect([hearing.knows('I2'), hearing.after('I2', 0)]).toEqual([false, []]);
});

test('the oldest is forgotten when there are too many', () => {
  const hearing = new Hearing(2);
  for (const id of ['I1', 'I2', 'I3']) hearing.attend(id);
  expect(['I1', 'I2', 'I3'].map((id) => hearing.knows(id))).toEqual([false, true, true]);
});
