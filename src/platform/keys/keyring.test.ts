import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
import { waitMs } from '../../../tools/tests/waits.ts';
import { systemClock } from '../../clock.ts';
import type { Database } from '../database/database.ts';
import { openKeyring } from './keyring.ts';
import { decrypt, encrypt, localMasterKey } from './master-key.ts';

let db: TestDatabase;
const masterKey = localMasterKey(randomBytes(32));
const ring = () => openKeyring(db.database, masterKey, systemClock);

beforeAll(async () => void (db = await createTestDatabase()));
afterAll(() => db.drop());
afterEach(() => void vi.restoreAllMocks());

test('two nodes that start together on an empty database have the same keys', async () => {
  const [one, two] = await Promise.all([ring(), ring()]);
  expect(one.newest('access_token').secret).toEqual(two.newest('access_token').secret);
  expect(one.newest('access_token').secret).not.toEqual(one.newest('idempotency').secret);
  one.stop();
  two.stop();
});

test('a key that another node created is found on first use', async () => {
  const [one, two] = await Promise.all([ring(), ring()]);
  const keyVersion = await one.rotate('access_token');
  // The table is read at most once a second, or each made-up key version would cost a read.
  let found = await two.find('access_token', keyVersion);
  for (const deadline = Date.now() + waitMs; !found && Date.now() < deadline;) {
    found = await two.find('access_token', keyVersion);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(found?.secret).toEqual(one.newest('access_token').secret);
  expect(await two.find('access_token', 999)).toBeUndefined();
  one.stop();
  two.stop();
});

test('a wrong master key is refused with what to do', async () => {
  const other = localMasterKey(randomBytes(32));
  await expect(openKeyring(db.database, other, systemClock)).rejects.toThrow(
    /Start the program with the master key/,
  );
});

test('the stored form of a key is not the key', async () => {
  const one = await ring();
  const { rows } = await db.database.withClient((client) =>
    client.query<{ wrapped: Buffer }>('select wrapped from data_key'),
  );
  for (const { wrapped } of rows)
    expect(wrapped.toString('hex')).not.toContain(one.newest('access_token').secret.toString('hex'));
  one.stop();
});

test('a ciphertext decrypts only with its key and its context', () => {
  const key = randomBytes(32);
  const ciphertext = encrypt(key, Buffer.from('text'), 'context');
  expect(decrypt(key, ciphertext, 'context').toString()).toBe('text');
  expect(() => decrypt(key, ciphertext, 'another')).toThrow();
  expect(() => decrypt(randomBytes(32), ciphertext, 'context')).toThrow();
  for (let place = 0; place < ciphertext.length; place++) {
    const changed = Buffer.from(ciphertext);
    changed[place]! ^= 1;
    expect(() => decrypt(key, changed, 'context'), `byte ${place}`).toThrow();
  }
  expect(() => decrypt(key, ciphertext.subarray(0, 20), 'context')).toThrow();
});

/** A keyring whose reads are counted, on a monotonic clock that stands still until it is moved. */
async function countedRing() {
  let monotonicMs = 1_000_000;
  vi.spyOn(performance, 'now').mockImplementation(() => monotonicMs);
  let reads = 0;
  const run: Database['run'] = (statement, parameters) => {
    reads++;
    return db.database.run(statement, parameters);
  };
  const counted = await openKeyring({ run }, masterKey, systemClock);
  reads = 0;
  return { ring: counted, reads: () => reads, pass: (ms: number) => void (monotonicMs += ms) };
}

test('a hundred unknown key versions within a second cost one read', async () => {
  const { ring: one, reads, pass } = await countedRing();
  pass(1_001);
  for (let number = 0; number < 100; number++) {
    expect(await one.find('access_token', 1_000 + number)).toBeUndefined();
    pass(10);
  }
  expect(reads()).toBe(1);
  one.stop();
});

test('a hundred concurrent unknown key versions cost one read', async () => {
  const { ring: one, reads, pass } = await countedRing();
  pass(1_001);
  const asked = Array.from({ length: 100 }, (_, number) => one.find('access_token', 1_000 + number));
  expect(new Set(await Promise.all(asked))).toEqual(new Set([undefined]));
  expect(reads()).toBe(1);
  one.stop();
});
