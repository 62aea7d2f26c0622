// A card is used for what it was stored for, whatever an update makes of its row. Cards are of this version, or of 0.2.0.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database/test-database.ts';
import { testClock } from '../../test/support/service/test-service.ts';
import { insertOldKey, noDestinations, oldCiphertext } from '../../test/support/worlds/old-cards.ts';
import { systemClock } from '../clock.ts';
import { randomIds } from '../ids.ts';
import { openKeyring, type Keyring } from '../platform/keys/keyring.ts';
import { decrypt, localMasterKey } from '../platform/keys/master-key.ts';
import type { RetentionReason } from './domain/retention-reason.ts';
import { cardIdOf, tokenOf, type Purpose } from './domain/payment-resource.ts';
import { reencryptCards } from './reencrypt.ts';
import { openVault, type Vault } from './vault.ts';

const masterKey = localMasterKey(randomBytes(32));
const number = '4242424242424242';
const clientInfo = { fingerprint: 'f', ip: '192.0.2.1' };

let db: TestDatabase;
let keyring: Keyring;
let vault: Vault;
let oldSecret: Buffer | undefined;

async function open(isOld: boolean) {
  db = await createTestDatabase();
  oldSecret = isOld ? await insertOldKey(db.database, masterKey, 'card') : undefined;
  keyring = await openKeyring(db.database, masterKey, systemClock);
  vault = openVault({ db: db.database, keyring, masterKey, clock: testClock(), ids: randomIds });
}
async function close() {
  keyring.stop();
  await db.drop();
}
const sql = (text: string, values: unknown[] = []) =>
  db.database.withClient((client) => client.query<{ ciphertext: Buffer }>(text, values));

async function tokenise(purpose: Purpose, expiry: string | undefined = '2030-12'): Promise<string> {
  const card = { number, ...(expiry === '' ? {} : { expiry }) };
  const made = await vault.cards.tokenise(
    db.database,
    { partyId: 'P', purpose, card, clientInfo },
    testClock().now(),
  );
  return cardIdOf(made?.token ?? '') ?? '';
}
const detokenise = (cardId: string) => vault.detokenise({ token: tokenOf(cardId, 'payment') });
const makeChargeable = (cardId: string) =>
  sql(`update card set purpose = 'payment' where card_id = $1`, [cardId]);
const rotate = (...paidOutTo: string[]) =>
  reencryptCards({
    db: db.database,
    keyring,
    nodesLearnWithinMs: 0,
    paidOutTo: () => (paidOutTo.length > 0 ? Promise.resolve(new Set(paidOutTo)) : noDestinations()),
  });

describe('a card of this version', () => {
  beforeAll(() => open(false));
  afterAll(close);

  test('has its purpose authenticated: neither purpose becomes the other', async () => {
    const [payout, charged] = [await tokenise('payout'), await tokenise('payment')];
    await sql(`update card set purpose = case purpose when 'payout' then 'payment' else 'payout' end`);
    for (const cardId of [payout, charged]) {
      await expect(detokenise(cardId)).rejects.toThrow('unable to authenticate');
      const token = tokenOf(cardId, 'payment');
      await expect(vault.cards.credential(db.database, 'P', token)).rejects.toThrow('unable to authenticate');
    }
  });

  test('cannot be read as one of 0.2.0 by a change of its key', async () => {
    await sql(`update data_key set form = 1 where purpose = 'card'`);
    await expect(openKeyring(db.database, masterKey, systemClock)).rejects.toThrow('unable to authenticate');
    await sql(`update data_key set form = 2 where purpose = 'card'`);
  });
});

describe('in a database of version 0.2.0', () => {
  beforeEach(async () => {
    await open(true);
    return close;
  });

  /** As that version stored it, and kept it for the given objects. */
  async function oldCard(purpose: Purpose, reasons: RetentionReason[], expiry = '2030-12'): Promise<string> {
    const cardId = await tokenise(purpose, expiry);
    const card = { number, ...(expiry === '' ? {} : { expiry }) };
    const ciphertext = oldCiphertext(oldSecret!, { cardId, partyId: 'P' }, card);
    await sql('update card set ciphertext = $2 where card_id = $1', [cardId, ciphertext]);
    for (const reason of reasons) await vault.cards.keep(db.database, 'P', tokenOf(cardId, purpose), reason);
    return cardId;
  }

  test('a node of 0.2.0 reads new cards until the key is renewed', async () => {
    const cardId = await tokenise('payment');
    const { rows } = await sql('select ciphertext from card where card_id = $1', [cardId]);
    const context = JSON.stringify(['card', 1, cardId, 'P', 1]);
    const plain = JSON.parse(decrypt(oldSecret!, rows[0]!.ciphertext, context).toString());
    expect(plain).toMatchObject({ number, expiry: '2030-12' });
    await sql(`update card set purpose = 'payout'`);
    await expect(detokenise(cardId)).rejects.toThrow('stored for a payment, not a payout');
  });

  test.each<[string, Purpose, RetentionReason[], string]>([
    ['without an expiry', 'payout', [], ''],
    ['that a destination needs', 'payout', [['destination', 'D']], '2030-12'],
    [
      'that a payment needs too',
      'payout',
      [
        ['destination', 'D'],
        ['payment', 'I', '1'],
      ],
      '2030-12',
    ],
  ])('a card for payouts %s is never charged', async (_what, purpose, reasons, expiry) => {
    const cardId = await oldCard(purpose, reasons, expiry);
    expect((await vault.detokenise({ token: tokenOf(cardId, 'payout') })).number).toBe(number);
    await makeChargeable(cardId);
    await expect(detokenise(cardId)).rejects.toThrow('stored for a payout, not a payment');
    expect((await rotate()).unreadable).toEqual([cardId]);
    await expect(detokenise(cardId)).rejects.toThrow('stored for a payout, not a payment');
  });

  test('a renewal believes the destination that names a card, not its row', async () => {
    const cardId = await oldCard('payout', [['destination', 'D']]);
    await makeChargeable(cardId);
    await sql(`update card set retained_for = '["payment/I/1"]' where card_id = $1`, [cardId]);
    expect(await rotate(cardId)).toMatchObject({ done: 0, unreadable: [cardId] });
  });

  test('a card that a payment needs is charged, and its purpose authenticated from the renewal on', async () => {
    const cardId = await oldCard('payment', [['payment', 'I', '1']]);
    expect((await detokenise(cardId)).number).toBe(number);
    expect(await rotate()).toMatchObject({ keyVersion: 2, done: 1, unreadable: [] });
    expect(keyring.newest('card').form).toBe(2);
    expect((await detokenise(cardId)).number).toBe(number);
    await sql(`update card set purpose = 'payout'`);
    await expect(detokenise(cardId)).rejects.toThrow('unable to authenticate');
  });

  test('an interrupted run of 0.2.0 is completed, and then the key renewed', async () => {
    const cardId = await oldCard('payment', [['payment', 'I', '1']]);
    await insertOldKey(db.database, masterKey, 'card', 2);
    keyring.stop();
    keyring = await openKeyring(db.database, masterKey, systemClock);
    expect(await rotate()).toMatchObject({ keyVersion: 3, resumed: true, done: 2, unreadable: [] });
    expect(keyring.newest('card').form).toBe(2);
    expect((await detokenise(cardId)).number).toBe(number);
  });
});
