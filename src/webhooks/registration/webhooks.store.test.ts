import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDeliveryWorld, type DeliveryWorld } from '../../../test/support/receivers/couriers.ts';
import { instantAt } from '../../clock.ts';
import { DatabaseUnavailable, type Database } from '../../platform/database/database.ts';
import { loadWebhook, storeNextKey } from './webhooks.store.ts';
import type { EncryptedKeys } from './webhook-keys.ts';

let world: DeliveryWorld;
beforeAll(async () => void (world = await startDeliveryWorld()));
afterAll(() => world.db.drop());

const key = (keyVersion: number): EncryptedKeys => ({
  keyVersion,
  publicKey: '',
  signingPublicKey: '',
  signsFrom: instantAt(0),
  ciphertext: Buffer.alloc(0),
  ciphertextKeyVersion: 1,
});
const generationsOf = async (webhookId: string) =>
  (await loadWebhook(world.db.database, webhookId))?.keys.map(({ keyVersion }) => keyVersion);

/** The database is away after that many statements. */
function reachableFor(statements: number): Pick<Database, 'run'> {
  let left = statements;
  return {
    run: (...asked) => {
      if (left-- === 0) throw new DatabaseUnavailable('away');
      return world.db.database.run(...asked);
    },
  };
}

test('the next key is kept, with those that had their day gone, or nobody is told that it is not', async () => {
  const { id } = await world.addWebhook('1', 'shop');
  const { database } = world.db;
  await expect(storeNextKey(reachableFor(0), id, key(2), 1)).rejects.toThrow('away');
  expect(await generationsOf(id)).toEqual([1]);
  expect(await storeNextKey(reachableFor(1), id, key(2), 1)).toBe(true);
  expect(await storeNextKey(reachableFor(1), id, key(3), 2)).toBe(true);
  expect(await generationsOf(id)).toEqual([2, 3]);
  // Somebody else has made that key version meanwhile: then nothing goes either.
  expect(await storeNextKey(database, id, key(3), 3)).toBe(false);
  expect(await generationsOf(id)).toEqual([2, 3]);
});
