import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database/test-database.ts';
import { testClock, type TestClock } from '../../test/support/service/test-service.ts';
import { laterBy } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Caller } from '../caller.ts';
import { randomIds } from '../ids.ts';
import { openKeyring, type Keyring } from '../platform/keys/keyring.ts';
import { localMasterKey } from '../platform/keys/master-key.ts';
import { cardMatchHash, numberHash } from './card-hash.ts';
import { cardIdOf } from './domain/payment-resource.ts';
import { removeRetained } from './store/retained-cards.ts';
import type { NewCard } from './tokenise.ts';
import { openVault, type Vault } from './vault.ts';
import { defined } from '../defined.ts';

const minute = 60_000;
const masterKey = localMasterKey(randomBytes(32));
const number = '4242424242424242';
const given: NewCard = {
  partyId: 'P',
  card: { number, expiry: '2030-12', holder: 'LEXA SVOTIN' },
  securityCode: '737',
  clientInfo: { fingerprint: 'a browser', ip: '192.0.2.1' },
};
const caller: Caller = { kind: 'apiKey', keyId: 'K', partyId: 'P', scopes: [] };

const invoice = { kind: 'invoice', id: 'I' } as const;

let db: TestDatabase;
let keyring: Keyring;
let clock: TestClock;
let vault: Vault;

beforeAll(async () => {
  db = await createTestDatabase();
  keyring = await openKeyring(db.database, masterKey, testClock());
});
afterAll(async () => {
  keyring.stop();
  await db.drop();
});
beforeEach(async () => {
  await sql('truncate card, security_code, security_code_key, external_id');
  clock = testClock();
  vault = node();
});

/** A vault on the same database, with its own memory. */
function node(): Vault {
  return openVault({ db: db.database, keyring, masterKey, clock, ids: randomIds });
}

async function sql<Row = Record<string, any>>(text: string, values: unknown[] = []): Promise<Row[]> {
  const { rows } = await db.database.withClient((client) => client.query(text, values));
  return rows as Row[];
}

async function tokenise(different: Partial<NewCard> = {}, on: Database = db.database, by = vault) {
  const made = await by.cards.tokenise(on, { ...given, ...different }, clock.now());
  if (!made) throw new Error('its external ID is taken');
  return made;
}

const use = (token: string, session?: string) =>
  vault.cards.use(db.database, caller, { token, ...defined({ session }) }, clock.now(), invoice);
const codesLeft = async () => (await sql('select session_id from security_code')).length;

describe('hashes of a card', () => {
  const key = Buffer.from('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 'hex');

  test('of the number match the published vector', () => {
    expect(numberHash(key, number).toString('hex')).toBe(
      '97296957bcfec359860fbb5d3f3881eec62b43b6783f3978d2eeecbe7cb70a36',
    );
  });

  test('differ if the number or the expiry differs', () => {
    const hashes = [
      cardMatchHash(key, { number, expiry: '2030-12' }),
      cardMatchHash(key, { number, expiry: '2030-11' }),
      cardMatchHash(key, { number: '5555555555554444', expiry: '2030-12' }),
    ].map((hash) => hash.toString('hex'));
    expect(new Set(hashes).size).toBe(3);
  });

  test('are equal for the same card of any merchant, while ciphertexts differ', async () => {
    const [one, two] = [await tokenise(), await tokenise({ partyId: 'Q' })];
    expect(one.fingerprint).toEqual(two.fingerprint);
    expect(one.fingerprint).toEqual(vault.cards.fingerprint(number));
    expect(one.cardMatchHash).toEqual(two.cardMatchHash);
    expect(one.token).not.toBe(two.token);
    const ciphertext = await sql<{ ciphertext: Buffer }>('select ciphertext from card');
    expect(ciphertext[0]!.ciphertext).not.toEqual(ciphertext[1]!.ciphertext);
  });
});

describe('a card', () => {
  test('is returned as it was stored, on any node', async () => {
    const { token } = await tokenise();
    expect(await vault.detokenise({ token })).toEqual(given.card);
    expect(await node().detokenise({ token })).toEqual(given.card);
  });

  test('shows only its mask and its network', async () => {
    const made = await tokenise();
    expect(made.card).toEqual({
      bin: '424242',
      lastDigits: '4242',
      mask: '424242******4242',
      paymentSystem: 'visa',
    });
    expect(JSON.stringify(made)).not.toContain(number);
    expect(made.token).toMatch(/^v1\.[0-9A-Za-z]{23}$/);
    expect(made.session).toMatch(/^s1\.[0-9A-Za-z]{23}$/);
  });

  test.each([
    [
      'another record',
      `ciphertext = (select ciphertext from card as other where other.card_id <> card.card_id limit 1)`,
    ],
    ['another party', `party_id = 'Q'`],
    ['another byte', `ciphertext = set_byte(ciphertext, 40, get_byte(ciphertext, 40) # 1)`],
  ])('changed into that of %s cannot be decrypted', async (_what, change) => {
    const { token } = await tokenise();
    await tokenise();
    await sql(`update card set ${change} where card_id = $1`, [token.slice(3)]);
    await expect(vault.detokenise({ token })).rejects.toThrow();
  });

  test('under a missing key cannot be decrypted, and the error contains no token', async () => {
    const { token, session } = await tokenise();
    await sql('update card set key_version = 99');
    const failed = vault.detokenise({ token, session });
    await expect(failed).rejects.toThrow('Version 99 of the data key "card" is missing');
    await expect(vault.detokenise({ token: 'v1.' + 'a'.repeat(23) })).rejects.toThrow(
      /^The card is not in the vault/,
    );
    await expect(vault.detokenise({ token: number })).rejects.not.toThrow(number);
  });
});

describe('a security code', () => {
  test('is returned once, with its own session', async () => {
    const { token, session } = await tokenise();
    const other = await tokenise();
    expect(await vault.detokenise({ token, session: other.session })).toEqual(given.card);
    const first = await vault.detokenise({ token, session });
    expect(first).toEqual({ ...given.card, securityCode: '737', returnCode: expect.any(Function) });
    expect(await vault.detokenise({ token, session })).toEqual(given.card);
    expect(await vault.detokenise({ token: other.token, session: other.session })).toHaveProperty(
      'securityCode',
    );
    expect(await codesLeft()).toBe(0);
  });

  test('is returned to one of ten concurrent calls on two nodes', async () => {
    const card = await tokenise();
    const nodes = [vault, node()];
    const revealed = await Promise.all(
      Array.from({ length: 10 }, (_, each) => nodes[each % 2]!.detokenise(card)),
    );
    expect(revealed.filter(({ securityCode }) => securityCode !== undefined)).toHaveLength(1);
  });

  test('is taken out with the value of an authentication in one statement, and both are returned', async () => {
    const card = await tokenise();
    const authentication = await vault.cards.keepAuthentication(db.database, 'P', card.token, 'a value');
    const asked: string[] = [];
    const counting = {
      ...db.database,
      run: ((statement, values) => {
        asked.push(statement.name);
        return db.database.run(statement, values);
      }) as Database['run'],
    };
    const own = openVault({ db: counting, keyring, masterKey, clock, ids: randomIds });
    const both = { securityCode: '737', authenticationValue: 'a value' };
    const taken = await own.detokenise({ ...card, authentication });
    expect(taken).toMatchObject(both);
    expect(asked.filter((name) => name.startsWith('take_'))).toHaveLength(1);
    expect(await codesLeft()).toBe(0);
    await taken.returnCode?.();
    expect(await vault.detokenise({ token: card.token, authentication })).not.toHaveProperty('securityCode');
    expect(await vault.detokenise(card)).toMatchObject({ securityCode: '737' });
  });

  test('that was returned by the caller is available again, once, for the rest of its time', async () => {
    const card = await tokenise();
    const taken = await vault.detokenise(card);
    expect(await codesLeft(), 'while it may be on its way it is stored nowhere').toBe(0);
    await taken.returnCode?.();
    expect(await node().detokenise(card)).toHaveProperty('securityCode', '737');
    await taken.returnCode?.();
    expect(await vault.detokenise(card), 'returned a second time by the first caller').toEqual(given.card);

    const late = await tokenise();
    clock.advance(15 * minute - 1);
    const lateTaken = await vault.detokenise(late);
    await lateTaken.returnCode?.();
    clock.advance(1);
    expect(await vault.detokenise(late)).toEqual(given.card);
  });

  test('is not stored again when it has expired, or its card or key is gone', async () => {
    const taken = async () => {
      const card = await tokenise();
      return { token: card.token, ...(await vault.detokenise(card)) };
    };
    const forgotten = await taken();
    await forget(forgotten.token);
    await forgotten.returnCode?.();
    expect(await codesLeft()).toBe(0);

    const slow = await taken();
    clock.advance(15 * minute);
    await slow.returnCode?.();
    expect(await codesLeft()).toBe(0);

    const keyless = await taken();
    await sql('truncate security_code_key');
    await keyless.returnCode?.();
    expect(await codesLeft()).toBe(0);
  });

  test('is stored again automatically when its card cannot be decrypted', async () => {
    const card = await tokenise();
    const [row] = await sql('select ciphertext from card where card_id = $1', [card.token.slice(3)]);
    await sql('update card set ciphertext = $1', [randomBytes(80)]);
    await expect(vault.detokenise(card)).rejects.toThrow();
    await sql('update card set ciphertext = $1', [row?.['ciphertext']]);
    expect(await vault.detokenise(card)).toHaveProperty('securityCode', '737');
  });

  test('is absent if none was given', async () => {
    const { securityCode: _, ...without } = given;
    const made = await vault.cards.tokenise(db.database, without, clock.now());
    expect(await vault.detokenise(made!)).toEqual(given.card);
    expect(await sql('select * from security_code_key')).toHaveLength(0);
  });

  test('is available for 15 minutes and purged after that', async () => {
    const [early, late] = [await tokenise(), await tokenise()];
    clock.advance(15 * minute - 1);
    expect(await vault.detokenise(early)).toHaveProperty('securityCode');
    clock.advance(1);
    await vault.purge();
    expect(await codesLeft()).toBe(0);
    expect(await vault.detokenise(late)).toEqual(given.card);
  });

  test('that has expired is not returned, also before it is purged', async () => {
    const card = await tokenise();
    clock.advance(15 * minute);
    expect(await codesLeft()).toBe(1);
    expect(await vault.detokenise(card)).toEqual(given.card);
  });

  test('of another record cannot be decrypted', async () => {
    const [one, two] = [await tokenise(), await tokenise()];
    await sql(
      `update security_code set ciphertext = (select ciphertext from security_code where session_id = $1) where session_id = $2`,
      [one.session.slice(3), two.session.slice(3)],
    );
    await expect(vault.detokenise(two)).rejects.toThrow();
  });

  test('is stored in tables outside the write-ahead log and backups', async () => {
    const tables = await sql<{ relname: string; relpersistence: string }>(
      `select relname, relpersistence from pg_class where relkind = 'r' and relname like 'security_code%' order by 1`,
    );
    expect(tables).toEqual([
      { relname: 'security_code', relpersistence: 'u' },
      { relname: 'security_code_key', relpersistence: 'u' },
    ]);
  });
});

describe('the key of security codes', () => {
  const keys = () => sql<{ half_hour: number }>('select half_hour from security_code_key order by 1');

  test('is the same on all nodes, changes every half hour, and is deleted after the next', async () => {
    await Promise.all([vault, node(), node()].map((by) => tokenise({}, db.database, by)));
    expect(await keys()).toHaveLength(1);
    clock.advance(30 * minute);
    const late = await tokenise();
    await vault.purge();
    expect(await keys()).toHaveLength(2);
    clock.advance(30 * minute - 1);
    await vault.purge();
    expect(await keys()).toHaveLength(1);
    expect(await vault.detokenise(late)).toEqual(given.card);
    clock.advance(30 * minute);
    await vault.purge();
    expect(await keys()).toHaveLength(0);
  });

  test('decrypts what was encrypted right before the change, on a node that never had it', async () => {
    const nextHalfHour = Math.ceil(Date.parse(clock.now()) / (30 * minute)) * 30 * minute;
    clock.set(nextHalfHour - 1);
    const card = await tokenise();
    clock.advance(14 * minute);
    await tokenise();
    await vault.purge();
    expect(await node().detokenise(card)).toHaveProperty('securityCode', '737');
  });

  test('is created again after a database crash, also by a node that has it in memory', async () => {
    const [one, two] = [vault, node()];
    await tokenise({}, db.database, one);
    await sql('truncate security_code, security_code_key');
    const byTwo = await tokenise({}, db.database, two);
    expect(await one.detokenise(byTwo)).toHaveProperty('securityCode', '737');
    const byOne = await tokenise({}, db.database, one);
    expect(await keys()).toHaveLength(1);
    expect(await two.detokenise(byOne)).toHaveProperty('securityCode', '737');
  });

  test('is created again when another node deletes it during its creation', async () => {
    let isDeleted = false;
    const stalled: Database = {
      ...db.database,
      async run(statement, parameters) {
        const rows = await db.database.run(statement, parameters);
        if (statement.name !== 'insert_security_code_key' || isDeleted) return rows;
        isDeleted = true;
        await sql('delete from security_code_key');
        return rows;
      },
    };
    const card = await tokenise({}, stalled);
    expect(isDeleted).toBe(true);
    expect(await node().detokenise(card)).toHaveProperty('securityCode', '737');
  });

  test('from a transaction that was rolled back is not used', async () => {
    const failed = db.database.transaction(async (tx) => {
      await tokenise({}, tx);
      throw new Error('changed my mind');
    });
    await expect(failed).rejects.toThrow('changed my mind');
    expect(await keys()).toHaveLength(0);
    const card = await tokenise();
    expect(await node().detokenise(card)).toHaveProperty('securityCode', '737');
  });

  test('is stored wrapped', async () => {
    await tokenise();
    const [row] = await sql<{ half_hour: number; wrapped: Buffer }>('select * from security_code_key');
    const key = await masterKey.unwrap(row!.wrapped, `security_code.${row!.half_hour}`);
    expect(key).toHaveLength(32);
    expect(row!.wrapped.includes(key)).toBe(false);
  });
});

describe('an unused card', () => {
  const exists = async (token: string) =>
    (await sql('select 1 from card where card_id = $1', [token.slice(3)])).length === 1;

  test('is refused after an hour on the party’s clock, retained or not', async () => {
    const kept = await tokenise();
    await vault.cards.keep(db.database, 'P', kept.token, ['payment', 'I', '1']);
    const { token } = await tokenise();
    clock.advance(60 * minute - 1);
    expect((await use(token)).ok).toBe(true);
    clock.advance(1);
    for (const expired of [kept.token, token]) {
      expect(await use(expired)).toMatchObject({ refusal: { code: 'invalidPaymentToolToken' } });
    }
  });

  test('is deleted after an hour of real time with its external ID, while a retained one stays', async () => {
    const kept = await tokenise({ externalId: 'kept' });
    const { token } = await tokenise({ externalId: 'unused' });
    expect(await vault.cards.keep(db.database, 'P', kept.token, ['payment', 'I', '1'])).toBe(true);
    clock.advance(60 * minute);
    await vault.purge();
    expect([await exists(kept.token), await exists(token)]).toEqual([true, true]);
    clock.advance(1);
    await vault.purge();
    expect([await exists(kept.token), await exists(token)]).toEqual([true, false]);
    expect(await vault.detokenise({ token: kept.token })).toEqual(given.card);
    expect(await sql('select external_id from external_id')).toEqual([{ external_id: 'kept' }]);
    expect(await vault.cards.keep(db.database, 'P', token, ['payment', 'I', '1'])).toBe(false);
  });

  test('is deleted after an hour of real time also where the party’s clock runs ahead', async () => {
    const nextYear = laterBy(clock.now(), 366 * 24 * 60 * minute);
    const made = await vault.cards.tokenise(db.database, given, nextYear);
    clock.advance(60 * minute + 1);
    await vault.purge();
    expect(await exists(made!.token)).toBe(false);
  });

  test('is purged in any number', async () => {
    await tokenise();
    await sql(`insert into card select 'a' || n || repeat('x', 20), party_id, session_id, made_for_kind, made_for_id,
        stored_at, valid_until, is_retained, payment_system, mask, client_info, external_id, ciphertext, key_version,
        fingerprint, fingerprint_key_version, match_hash from card, generate_series(1, 2100) as n`);
    await sql(`insert into security_code select 'a' || n || repeat('x', 20), card_id, half_hour, ciphertext, expires_at
        from security_code, generate_series(1, 2100) as n`);
    clock.advance(61 * minute);
    await vault.purge();
    expect(await sql('select 1 from card')).toHaveLength(0);
    expect(await codesLeft()).toBe(0);
  });

  test('is retained only if that comes before the purge', async () => {
    const { token } = await tokenise();
    clock.advance(61 * minute);
    await db.database.transaction(async (tx) => {
      expect(await vault.cards.keep(tx, 'P', token, ['payment', 'I', '1'])).toBe(true);
      await vault.purge();
    });
    await vault.purge();
    expect(await exists(token)).toBe(true);
  });

  test('of another party is not retained', async () => {
    const { token } = await tokenise();
    expect(await vault.cards.keep(db.database, 'Q', token, ['payment', 'I', '1'])).toBe(false);
  });
});

async function forget(token: string): Promise<void> {
  expect(await vault.cards.keep(db.database, 'P', token, ['payment', 'I', '1'])).toBe(true);
  await removeRetained(db.database, cardIdOf(token)!, ['payment/I/1']);
}

test('a purged card is gone with its security code and its external ID', async () => {
  const { token } = await tokenise({ externalId: 'name' });
  await forget(token);
  for (const table of ['card', 'security_code', 'external_id']) {
    expect(await sql(`select 1 from ${table}`), table).toHaveLength(0);
  }
  await expect(vault.detokenise({ token })).rejects.toThrow();
});

test('a taken external ID stores nothing, not even a security code', async () => {
  const first = await tokenise({ externalId: 'name' });
  expect(
    await vault.cards.tokenise(db.database, { ...given, externalId: 'name' }, clock.now()),
  ).toBeUndefined();
  expect(await codesLeft()).toBe(1);
  expect(await vault.cards.findByExternalId(db.database, 'P', 'name')).toEqual({
    value: first,
    fingerprint: first?.cardMatchHash,
  });
  expect(await vault.cards.findByExternalId(db.database, 'Q', 'name')).toBeUndefined();
});

test('a token finds its card for its own party, with its own session', async () => {
  const { token, session } = await tokenise();
  expect(await use(token, session)).toMatchObject({ ok: true, value: { token, session } });
  expect(await use(token, 's1.' + 'a'.repeat(23))).toMatchObject({
    refusal: { code: 'invalidPaymentSession' },
  });
  const stranger: Caller = { ...caller, partyId: 'Q' };
  expect(await vault.cards.use(db.database, stranger, { token }, clock.now(), invoice)).toMatchObject({
    refusal: { code: 'invalidPaymentToolToken' },
  });
});
