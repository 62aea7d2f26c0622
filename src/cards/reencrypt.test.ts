import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database/test-database.ts';
import { testClock } from '../../test/support/service/test-service.ts';
import { systemClock } from '../clock.ts';
import { randomIds } from '../ids.ts';
import { openKeyring, type Keyring } from '../platform/keys/keyring.ts';
import { localMasterKey } from '../platform/keys/master-key.ts';
import { swapCiphertext } from './store/reencryption.ts';
import { reencryptCards, type Progress } from './reencrypt.ts';
import { openVault, type Vault } from './vault.ts';
import { noDestinations } from '../../test/support/worlds/old-cards.ts';

const masterKey = localMasterKey(randomBytes(32));
const card = { number: '5555555555554444', expiry: '2030-12' };

let db: TestDatabase;
let keyring: Keyring;
let vault: Vault;

beforeAll(async () => void (db = await createTestDatabase()));
afterAll(() => db.drop());
beforeEach(async () => {
  await sql('truncate card');
  keyring = await openKeyring(db.database, masterKey, systemClock);
  vault = openVault({ db: db.database, keyring, masterKey, clock: testClock(), ids: randomIds });
  return () => keyring.stop();
});

async function sql(text: string, values: unknown[] = []): Promise<any[]> {
  const { rows } = await db.database.withClient((client) => client.query(text, values));
  return rows;
}

async function tokenise(by: Vault = vault): Promise<string> {
  const clientInfo = { fingerprint: 'f', ip: '192.0.2.1' };
  const made = await by.cards.tokenise(db.database, { partyId: 'P', card, clientInfo }, testClock().now());
  return made!.token;
}

const tokens = (count: number) => Promise.all(Array.from({ length: count }, () => tokenise()));
const generations = async () =>
  (await sql('select distinct key_version as g from card order by 1')).map(({ g }) => g);

test('every card is under the new key afterwards and can be decrypted', async () => {
  const all = await tokens(601);
  const before = keyring.newest('card').keyVersion;
  const reports: Progress[] = [];
  const result = await reencryptCards({
    db: db.database,
    keyring,
    paidOutTo: noDestinations,
    nodesLearnWithinMs: 0,
    report: (progress) => reports.push(progress),
  });
  expect(result).toEqual({ keyVersion: before + 1, resumed: false, done: 601, unreadable: [] });
  expect(await generations()).toEqual([before + 1]);
  for (const token of all.slice(0, 50)) expect(await vault.detokenise({ token })).toEqual(card);
  const steps = reports.map(({ done, left }) => [done, left]).filter(([done]) => done! > 0);
  expect(steps.slice(0, 2)).toEqual([
    [500, 101],
    [601, 0],
  ]);
});

test('while a node of an older version runs, no key is made and no card changed', async () => {
  await tokens(2);
  const before = [await generations(), await sql('select purpose, key_version from data_key order by 1, 2')];
  const older = new pg.Client({ connectionString: db.url, application_name: 'mandate' });
  await older.connect();
  const rotating = reencryptCards({
    db: db.database,
    keyring,
    paidOutTo: noDestinations,
    nodesLearnWithinMs: 0,
  });
  await expect(rotating).rejects.toThrow('Stop or upgrade every node of that version');
  await older.end();
  const after = [await generations(), await sql('select purpose, key_version from data_key order by 1, 2')];
  expect(after).toEqual(before);
});

test('an interrupted run is completed by the next one without another key', async () => {
  await tokens(600);
  let batches = 0;
  const interrupted = reencryptCards({
    db: db.database,
    keyring,
    paidOutTo: noDestinations,
    nodesLearnWithinMs: 0,
    report: ({ done }) => {
      if (done > 0 && ++batches === 1) throw new Error('killed');
    },
  });
  await expect(interrupted).rejects.toThrow('killed');
  const { keyVersion } = keyring.newest('card');
  expect(await generations()).toEqual([keyVersion - 1, keyVersion]);
  const result = await reencryptCards({
    db: db.database,
    keyring,
    paidOutTo: noDestinations,
    nodesLearnWithinMs: 0,
  });
  expect(result).toEqual({ keyVersion, resumed: true, done: 100, unreadable: [] });
  expect(await generations()).toEqual([keyVersion]);
});

test('a run waits for nodes without the new key and re-encrypts what they wrote', async () => {
  const staleRing = await openKeyring(db.database, masterKey, systemClock);
  const stale = openVault({
    db: db.database,
    keyring: staleRing,
    masterKey,
    clock: testClock(),
    ids: randomIds,
  });
  await tokens(3);
  // The wait ends when the other node has written, however long that takes.
  let nowMs = performance.now();
  const now = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  onTestFinished(() => void now.mockRestore());
  let late: Promise<string> | undefined;
  const result = await reencryptCards({
    db: db.database,
    keyring,
    paidOutTo: noDestinations,
    nodesLearnWithinMs: 300,
    report: ({ done, left }) => {
      if (done === 3 && left === 0) late ??= tokenise(stale).finally(() => (nowMs += 300));
    },
  });
  now.mockRestore();
  expect(result.done).toBe(4);
  expect(await generations()).toEqual([keyring.newest('card').keyVersion]);
  expect(await stale.detokenise({ token: await late! })).toEqual(card);
  staleRing.stop();
});

test('a card that cannot be decrypted is reported, left as it is, and delays nothing', async () => {
  const [damaged, sound] = await tokens(2);
  await sql(`update card set ciphertext = set_byte(ciphertext, 20, 0) || '\\x00' where card_id = $1`, [
    damaged!.slice(3),
  ]);
  const first = await reencryptCards({
    db: db.database,
    keyring,
    paidOutTo: noDestinations,
    nodesLearnWithinMs: 0,
  });
  expect(first).toMatchObject({ done: 1, resumed: false, unreadable: [damaged!.slice(3)] });
  expect(await vault.detokenise({ token: sound! })).toEqual(card);
  const second = await reencryptCards({
    db: db.database,
    keyring,
    paidOutTo: noDestinations,
    nodesLearnWithinMs: 0,
  });
  expect(second).toMatchObject({ keyVersion: first.keyVersion + 1, done: 1, resumed: false });
});

test('a card that another run re-encrypted in between is left as it is', async () => {
  const [token] = await tokens(1);
  const [before] = await sql('select ciphertext, key_version from card');
  await reencryptCards({ db: db.database, keyring, paidOutTo: noDestinations, nodesLearnWithinMs: 0 });
  const [after] = await sql('select ciphertext from card');
  expect(after.ciphertext).not.toEqual(before.ciphertext);
  const late = [{ cardId: token!.slice(3), was: before.ciphertext as Buffer, ciphertext: Buffer.from('x') }];
  expect(await swapCiphertext(db.database, 1, late)).toBe(0);
  expect(await vault.detokenise({ token: token! })).toEqual(card);
});
