// API keys below the API: what is refused before anything is read, and how long a replaced key still works.
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database/test-database.ts';
import { testClock, type TestClock } from '../../test/support/service/test-service.ts';
import { laterBy } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { randomIds } from '../ids.ts';
import { openKeyring, type Keyring } from '../platform/keys/keyring.ts';
import { localMasterKey } from '../platform/keys/master-key.ts';
import { openApiKeys, type ApiKey, type ApiKeys } from './api-keys.ts';
import { insertParty } from './store/parties.ts';
import { livemodeOf, type ModeName } from '../livemode.ts';

const hourMs = 3_600_000;

let db: TestDatabase;
let keyring: Keyring;
let clock: TestClock;
let partyId: string;
let queries: number;

beforeAll(async () => {
  db = await createTestDatabase();
  keyring = await openKeyring(db.database, localMasterKey(randomBytes(32)), testClock());
});
afterAll(async () => {
  keyring.stop();
  await db.drop();
});
beforeEach(async () => {
  clock = testClock();
  queries = 0;
  partyId = randomIds.next();
  await db.database.run(insertParty, { party_id: partyId, name: 'Merchant', created_at: clock.now() });
});

function keysOf(mode: ModeName): ApiKeys {
  const run: Database['run'] = (statement, parameters) => {
    queries++;
    return db.database.run(statement, parameters);
  };
  return openApiKeys({ db: db.database, lookups: { run }, keyring, clock, livemode: livemodeOf(mode) });
}

const create = (keys: ApiKeys) => keys.create({ partyId, name: 'till', scopes: ['invoices:read'] });
const checksumOf = (text: string) => crc32(text).toString(16).padStart(8, '0').slice(2);
const keyIdOf = (text: string) => text.split('_')[2] ?? '';

/** As stored in the database, whatever is cached. */
async function stored(text: string): Promise<ApiKey | undefined> {
  const list = await keysOf('test').list(partyId);
  return list.find(({ keyId }) => keyId === keyIdOf(text));
}

describe('an API key', () => {
  test('authenticates its caller with one query', async () => {
    const keys = keysOf('test');
    const text = await create(keys);
    const caller = { kind: 'apiKey', keyId: keyIdOf(text), partyId, scopes: ['invoices:read'] };
    expect(await keys.authenticate(text)).toEqual(caller);
    expect(queries).toBe(1);
  });

  test('that has just worked is refused with another secret, and once it is revoked', async () => {
    const keys = keysOf('test');
    const text = await create(keys);
    expect(await keys.authenticate(text)).toBeDefined();
    expect(await keys.authenticate(text)).toBeDefined();
    expect(queries).toBe(1);
    const place = text.length - 7;
    const forged = text.slice(0, place) + (text[place] === 'a' ? 'b' : 'a');
    expect(await keys.authenticate(forged + checksumOf(forged))).toBeUndefined();
    await keys.revoke(keyIdOf(text));
    expect(await keys.authenticate(text)).toEqual({ kind: 'refused', why: 'revoked' });
    expect(await keys.authenticate(forged + checksumOf(forged))).toBeUndefined();
  });

  test('with a wrong checksum is refused before anything is read', async () => {
    const keys = keysOf('test');
    const text = await create(keys);
    const checksum = text.slice(-6);
    for (let place = 0; place < checksum.length; place++) {
      const digit = checksum[place] === '0' ? '1' : '0';
      const mistyped = checksum.slice(0, place) + digit + checksum.slice(place + 1);
      expect(await keys.authenticate(text.slice(0, -6) + mistyped), `digit ${place}`).toBeUndefined();
    }
    expect(queries).toBe(0);
  });

  test.each<[ModeName, ModeName]>([
    ['live', 'test'],
    ['test', 'live'],
  ])('for %s mode is refused in %s mode, even if its text is changed', async (made, asked) => {
    const text = await create(keysOf(made));
    expect(await keysOf(asked).authenticate(text)).toEqual({ kind: 'refused', why: 'otherMode' });
    const forged = `${text.slice(0, -7)}${text.at(-7) === 'a' ? 'b' : 'a'}`;
    expect(await keysOf(asked).authenticate(forged + checksumOf(forged))).toBeUndefined();
    const disguised = text.slice(0, -6).replace(`mandate_${made}_`, `mandate_${asked}_`);
    expect(await keysOf(asked).authenticate(disguised + checksumOf(disguised))).toBeUndefined();
    expect(await keysOf(made).authenticate(text)).toBeDefined();
  });
});

describe('rotating an API key', () => {
  test('returns a key with the same name and scopes, and the old key works until the overlap ends', async () => {
    const old = await create(keysOf('test'));
    const text = (await keysOf('test').rotate(keyIdOf(old), hourMs)) ?? '';
    expect(await stored(text)).toMatchObject({ name: 'till', scopes: ['invoices:read'], expiresAt: null });
    clock.advance(hourMs - 1);
    expect(await keysOf('test').authenticate(old)).toBeDefined();
    clock.advance(1);
    expect(await keysOf('test').authenticate(old)).toEqual({ kind: 'refused', why: 'expired' });
    expect(await keysOf('test').authenticate(text)).toBeDefined();
  });

  test('again with a longer overlap does not extend the old key', async () => {
    const old = await create(keysOf('test'));
    const end = laterBy(clock.now(), hourMs);
    await keysOf('test').rotate(keyIdOf(old), hourMs);
    expect(await keysOf('test').rotate(keyIdOf(old), 2 * hourMs)).toBeDefined();
    expect((await stored(old))?.expiresAt).toBe(end);
  });

  test('again with a shorter overlap ends the old key sooner', async () => {
    const old = await create(keysOf('test'));
    await keysOf('test').rotate(keyIdOf(old), 2 * hourMs);
    await keysOf('test').rotate(keyIdOf(old), hourMs);
    expect((await stored(old))?.expiresAt).toBe(laterBy(clock.now(), hourMs));
  });

  test('that is revoked returns no key and leaves it revoked', async () => {
    const old = await create(keysOf('test'));
    await keysOf('test').revoke(keyIdOf(old));
    const before = await keysOf('test').list(partyId);
    expect(await keysOf('test').rotate(keyIdOf(old), hourMs)).toBeUndefined();
    expect(await keysOf('test').list(partyId)).toEqual(before);
  });

  test('that has just expired returns no key', async () => {
    const old = await create(keysOf('test'));
    await keysOf('test').rotate(keyIdOf(old), hourMs);
    clock.advance(hourMs);
    const before = await keysOf('test').list(partyId);
    expect(await keysOf('test').rotate(keyIdOf(old), hourMs)).toBeUndefined();
    expect(await keysOf('test').list(partyId)).toEqual(before);
  });

  test('that does not exist returns no key', async () => {
    expect(await keysOf('test').rotate('unknownkey00', hourMs)).toBeUndefined();
    expect(await keysOf('test').list(partyId)).toEqual([]);
  });
});
