// Which keys hash requests and encrypt responses: those of version 0.2.0 until they are renewed, and one for each use after that.
import { createHmac, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
import { insertOldKey } from '../../../test/support/worlds/old-cards.ts';
import { systemClock } from '../../clock.ts';
import { openKeyring, type Keyring } from '../keys/keyring.ts';
import { decrypt, localMasterKey } from '../keys/master-key.ts';
import { idempotency, type Idempotency } from './idempotency.ts';

const masterKey = localMasterKey(randomBytes(32));
const lines = 'POST /things {"amount":1}';

let db: TestDatabase;
let oldSecret: Buffer;
let keyring: Keyring;
let answers: Idempotency;
beforeAll(async () => {
  db = await createTestDatabase();
  oldSecret = await insertOldKey(db.database, masterKey, 'idempotency');
  keyring = await openKeyring(db.database, masterKey, systemClock);
  answers = idempotency(db.database, keyring);
});
afterAll(async () => {
  keyring.stop();
  await db.drop();
});

function once(key: string, amount = 1) {
  const request = { ownerId: 'P', key, method: 'POST', path: '/things', body: { amount } };
  return answers.once({ ...request, now: systemClock.now() }, () =>
    Promise.resolve({ status: 201, body: lines }),
  );
}
async function stored(key: string) {
  const { rows } = await db.database.withClient((client) =>
    client.query<{ request_hash: Buffer; body_ciphertext: Buffer; key_version: number }>(
      'select request_hash, body_ciphertext, key_version from idempotency_key where idempotency_key = $1',
      [key],
    ),
  );
  return rows[0]!;
}
const hashWith = (secret: Buffer) =>
  createHmac('sha256', secret)
    .update(JSON.stringify(['POST', '/things', { amount: 1 }]))
    .digest();

test('until the key is renewed, a node of 0.2.0 recognises and answers a repeat', async () => {
  expect(await once('before')).toMatchObject({ kind: 'first' });
  const row = await stored('before');
  expect(row.request_hash).toEqual(hashWith(oldSecret));
  expect(decrypt(oldSecret, row.body_ciphertext, 'P|before').toString()).toBe(lines);
});

test('afterwards no secret serves two uses, and what was stored before is still answered', async () => {
  expect(await keyring.renew()).toEqual(['idempotency']);
  expect(await keyring.renew()).toEqual([]);
  expect(await once('before')).toEqual({ kind: 'replay', response: { status: 201, body: lines } });
  expect(await once('before', 2)).toEqual({ kind: 'other-request' });

  expect(await once('after')).toMatchObject({ kind: 'first' });
  expect(await once('after')).toEqual({ kind: 'replay', response: { status: 201, body: lines } });
  expect(await once('after', 2)).toEqual({ kind: 'other-request' });
  const row = await stored('after');
  const { secret, keyVersion } = keyring.newest('idempotency');
  expect(row.key_version).toBe(keyVersion);
  expect(row.request_hash).not.toEqual(hashWith(secret));
  expect(row.request_hash).not.toEqual(hashWith(oldSecret));
  expect(() => decrypt(secret, row.body_ciphertext, 'P|after')).toThrow();
  await keyring.rotate('idempotency');
  expect(await once('after')).toEqual({ kind: 'replay', response: { status: 201, body: lines } });
});
