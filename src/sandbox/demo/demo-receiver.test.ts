// The demo shop accepts webhook events that are signed by the service and recent, each once.
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
      'webhook-signature': `${more}v1,AAAA v1a,${signature.toString('base64')}`,
    },
  };
}

const paid = { eventType: 'InvoicePaid', invoice: { id: 'I1' } };
const good = delivered(paid);
const other = delivered({ ...paid, eventType: 'InvoiceCancelled' });

test.each<[string, Delivered, boolean]>([
  ['as it was sent', good, true],
  ['with the signature of an older key first', delivered(paid, { more: 'v1a,AAAA ' }), true],
  ['a little late', delivered(paid, { second: nowSeconds - 300 }), true],
  ['with another body', { ...good, raw: other.raw }, false],
  ['too late', delivered(paid, { second: nowSeconds - 301 }), false],
  ['from the future', delivered(paid, { second: nowSeconds + 301 }), false],
  ['with another ID', { ...good, headers: { ...good.headers, 'webhook-id': 'evt_2' } }, false],
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
  ['without the other', { ...good, headers: { ...good.headers, 'webhook-signature': 'v1,AAAA' } }, false],
  ['without any', { ...good, headers: {} }, false],
])('a webhook event %s', (_, event, isRight) => {
  expect(isGenuine(event, keys, nowSeconds)).toBe(isRight);
});

test('a repeated webhook event is kept once, and one of another order is not kept', () => {
  const hearing = new Hearing(10);
  hearing.attend('I1');
  for (const event of [
    good,
    good,
    delivered(paid, { id: 'evt_2' }),
    delivered({ ...paid, invoice: { id: 'I2' } }),
  ]) {
    hearing.keep('/webhooks', event);
  }
  expect(hearing.after('I1', 0).map(({ headers }) => headers['webhook-id'])).toEqual(['evt_1', 'evt_2']);
  expect(hearing.after('I1', 1)).toHaveLength(1);
  expect([hearing.knows('I2'), hearing.after('I2', 0)]).toEqual([false, []]);
});

test('an event of a series is kept with the order or the customer that began it', () => {
  const hearing = new Hearing(10);
  const roots = [{ rootPayment: { invoiceID: 'I1' } }, { rootBinding: { customerID: 'C1' } }, {}];
  for (const id of ['I1', 'C1']) hearing.attend(id);
  for (const [at, root] of roots.entries())
    hearing.keep(
      '/webhooks',
      delivered({ eventType: 'ConsentWithdrawn', series: root }, { id: `evt_${at}` }),
    );
  expect(['I1', 'C1'].map((id) => hearing.after(id, 0).length)).toEqual([1, 1]);
});

test('an event of a subscription is kept with it', () => {
  const hearing = new Hearing(10);
  hearing.attend('S1');
  hearing.keep('/webhooks', delivered({ eventType: 'SubscriptionStarted', subscription: { id: 'S1' } }));
  expect(hearing.after('S1', 0)).toHaveLength(1);
});

test('the oldest orders are dropped above the limit', () => {
  const hearing = new Hearing(2);
  for (const id of ['I1', 'I2', 'I3']) hearing.attend(id);
  expect(['I1', 'I2', 'I3'].map((id) => hearing.knows(id))).toEqual([false, true, true]);
});
