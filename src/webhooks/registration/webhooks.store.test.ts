import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDeliveryWorld, type DeliveryWorld } from '../../../test/support/receivers/delivery-workers.ts';
import { instantAt } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { DatabaseUnavailable } from '../../platform/database/connections/unavailable.ts';
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

/** The database becomes unavailable after that many statements. */
function reachableFor(statements: number): Pick<Database, 'run'> {
  let left = statements;
  return {
    run: (...asked) => {
      if (left-- === 0) throw new DatabaseUnavailable('away');
      return world.db.database.run(...asked);
    },
  };
}

test('the next key is stored and retired keys are deleted, or the caller gets an error', async () => {
  const { id } = await world.addWebhook('1', 'shop');
  const { database } = world.db;
  await expect(storeNextKey(reachableFor(0), id, key(2), 1)).rejects.toThrow('away');
  expect(await generationsOf(id)).toEqual([1]);
  expect(await storeNextKey(reachableFor(1), id, key(2), 1)).toBe(true);
  expect(await storeNextKey(reachableFor(1), id, key(3), 2)).toBe(true);
  expect(await generationsOf(id)).toEqual([2, 3]);
  // Another request has created that key version, so nothing is deleted either.
  expect(await storeNextKey(database, id, key(3), 3)).toBe(false);
  expect(await generationsOf(id)).toEqual([2, 3]);
});
