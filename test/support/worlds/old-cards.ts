// Cards and keys as a database of version 0.2.0 has them.
import { randomBytes } from 'node:crypto';
import type { Database } from '../../../src/platform/database/database.ts';
import { insertKey } from '../../../src/platform/keys/keyring.ts';
import { encrypt, type MasterKey } from '../../../src/platform/keys/master-key.ts';
import { systemClock } from '../../../src/clock.ts';

export const noDestinations = () => Promise.resolve(new Set<string>());

/** Before the keyring is opened for the first time. Returns the secret of the key. */
export async function insertOldKey(
  db: Pick<Database, 'run'>,
  masterKey: MasterKey,
  purpose: 'card' | 'idempotency',
  keyVersion = 1,
): Promise<Buffer> {
  const secret = randomBytes(32);
  await db.run(insertKey, {
    purpose,
    key_version: keyVersion,
    wrapped: await masterKey.wrap(secret, `${purpose}.${keyVersion}`),
    master_key_id: masterKey.id,
    created_at: systemClock.now(),
    form: 1,
  });
  return secret;
}

/** As version 0.2.0 encrypts a card. */
export function oldCiphertext(
  secret: Buffer,
  owner: { cardId: string; partyId: string },
  card: object,
): Buffer {
  const context = JSON.stringify(['card', 1, owner.cardId, owner.partyId, 1]);
  return encrypt(secret, Buffer.from(JSON.stringify(card)), context);
}
