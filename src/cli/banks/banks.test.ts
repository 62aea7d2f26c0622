// What the commands about banks and terminals print and refuse. test/process/commands/banks.test.ts runs them with a node.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openSimulatedBank, type SimulatedBank } from '../../sandbox/bank/simulated-bank.ts';
import { epochMsOf, laterBy, systemClock } from '../../clock.ts';
import { openAwayReport } from '../../acquiring/health/away-report.ts';
import { temporaryFolder } from '../../../test/support/database/test-cluster.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
import { holdCharges } from '../../acquiring/store/held-charges.ts';
import { listContradictions, listWaiting, resumeBank } from './bank-stops.ts';
import { addBank, changeBank, checkBank, listAllBanks, removeBank } from './banks.ts';
import { createParty, createShop, listAllParties, setParty } from '../merchants/merchants.ts';
import {
  countPausedTerminals,
  pauseTerminal,
  payoutTerminals,
  resumeTerminal,
  shopTerminals,
} from '../../acquiring/store/banks.ts';
import { moveTestClock } from '../../platform/jobs/job-claims.ts';
import type { Instant } from '../../clock.ts';
import { migrateDatabase } from '../migrate.ts';
import { addTerminal, listAllTerminals, removeTerminal, resumeCharges } from './terminals.ts';

const secret = 'a secret that only this bank has';
const { folder, remove } = temporaryFolder();
let bank: SimulatedBank;
let db: TestDatabase;
let printed: string[] = [];

beforeAll(async () => {
  // Each command listens for signals until its process ends, and here that is the process of all tests.
  process.setMaxListeners(0);
  bank = await openSimulatedBank({ clock: systemClock, secret, log: { warn: () => {} } });
});
afterAll(async () => {
  await bank.stop();
  await remove();
});
beforeEach(async () => {
  db = await createTestDatabase();
  vi.stubEnv('MANDATE_MODE', 'live');
  vi.stubEnv('DATABASE_URL', db.url);
  vi.stubEnv('MANDATE_MASTER_KEY', 'xIRmjtfwL9GGfTQrmVrYsTugHVIGYTJIdyaakdofOPk=');
  vi.stubEnv('BANK_SECRET', secret);
  vi.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line));
  await migrateDatabase();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  process.exitCode = undefined;
  if (printed.join('\n').includes(secret)) throw new Error('the secret was printed');
  printed = [];
  await db.drop();
});

const add = (id: string, url = bank.url) => addBank(id, { url });
const json = () => JSON.parse(printed.at(-1) ?? '');
function secretFile(text: string): string {
  const file = join(folder, 'secret');
  writeFileSync(file, text);
  return file;
}

describe('a bank', () => {
  test('can be added once and checked', async () => {
    await add('ONE', `${bank.url}/`);
    await checkBank('ONE', {});
    expect(printed.at(-2)).toContain('accepts the signature');
    await expect(add('ONE')).rejects.toThrow('mandate bank change');
    await listAllBanks({ json: true });
    const never = { awaySince: null, awayBecause: null };
    const createdAt = expect.any(String);
    expect(json()).toMatchObject([
      { bankId: 'ONE', url: bank.url, terminals: 0, createdAt, stoppedAt: null, ...never },
    ]);
  });

  test('has a list of updates that wait, the oldest first, and one of those that cannot be read', async () => {
    await listWaiting({});
    expect(printed.at(-1)).toBe('No update of a bank waits.');
    await db.database.withClient((client) =>
      client.query(`insert into exchange_note values
        ('ONE', 'update 1', 'i.1.a', 'holdEnded', '{}', 'waits', '2026-11-24T10:00:00Z'),
        ('ONE', 'update 2', 'i.2.a', 'holdEnded', '{}', 'waits', '2026-11-24T09:00:00Z'),
        ('ONE', 'update 3', '', 'unreadable', '{"why":"it does not match the protocol"}', 'contradiction', now());
        insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, digest, wire_keys, begun_at, state)
        values ('i', '1.a', 'ONE', 'T1', 'authorise', '', '{"id":"i.1.a","merchant":"M"}', now(), 'begun')`),
    );
    await listWaiting({ json: true });
    expect(json()).toMatchObject([
      { bankId: 'ONE', operationId: 'i.2.a', what: 'holdEnded', state: null },
      { operationId: 'i.1.a', notedAt: '2026-11-24T10:00:00.000000Z', state: 'begun' },
    ]);
    await listWaiting({});
    expect(printed.join('\n')).toMatch(
      /i\.2\.a +holdEnded +2026-11-24T09:00:00 +not in the exchange log\n.*i\.1\.a .* begun/,
    );
    await listContradictions({});
    expect(printed.join('\n')).toMatch(/unreadable .* it does not match the protocol/);
  });

  test('is shown as away while a node reports it', async () => {
    await add('ONE');
    const awayAt = async (seen: Instant) => {
      const away = [{ bankId: 'ONE', sinceMs: epochMsOf(since), because: 'silent' as const }];
      await openAwayReport({ db: db.database, clock: { now: () => seen }, away: () => away }).write();
      await listAllBanks({ json: true });
      const [one] = json();
      return [one.awaySince, one.awayBecause];
    };
    const now = systemClock.now();
    const since = laterBy(now, -3_600_000);
    expect(await awayAt(laterBy(now, -120_000))).toEqual([null, null]);
    expect(await awayAt(now)).toEqual([since, 'silent']);
    printed = [];
    await listAllBanks({});
    expect(printed.join('\n')).toMatch(`${since.slice(0, 19)} (silent)`);
    await checkBank('ONE', {});
    expect(printed.at(-1)).toMatch(`It is away since ${since.slice(0, 19)}Z (silent)`);
    await checkBank('ONE', { json: true });
    expect(json()).toMatchObject({ works: true, awaySince: since, awayBecause: 'silent' });
  });

  test('takes a new secret from a file, without its final newline', async () => {
    await add('ONE');
    await changeBank('ONE', { secretFile: secretFile('another secret that is long enough to be one\n') });
    await expect(checkBank('ONE', {})).rejects.toThrow('the bank has another secret');
    await changeBank('ONE', { secretFile: secretFile(`${secret}\r\n`) });
    await checkBank('ONE', { json: true });
    expect(json()).toMatchObject({ works: true });
    await expect(changeBank('ONE', { secretFile: secretFile('short') })).rejects.toThrow('Use at least 32');
    await expect(changeBank('ONE', { secretFile: join(folder, 'none') })).rejects.toThrow('ENOENT');
    await expect(changeBank('ONE', {})).rejects.toThrow('Nothing to change');
  });

  test('keeps its secret at a new address; the check fails if no program listens there', async () => {
    await add('ONE', 'http://127.0.0.1:1');
    await expect(checkBank('ONE', {})).rejects.toThrow('no program listens there');
    await checkBank('ONE', { json: true });
    expect(json()).toMatchObject({
      works: false,
      problem: 'ECONNREFUSED: no program listens there; check host and port',
    });
    const members = ['bankId', 'url', 'works', 'tookMs', 'awaySince', 'awayBecause', 'problem'];
    expect(Object.keys(json())).toEqual(members);
    expect(process.exitCode).toBe(1);
    vi.stubEnv('BANK_SECRET', 'a secret in the environment that is not used');
    await changeBank('ONE', { url: bank.url });
    await checkBank('ONE', {});
  });

  test('cannot be moved by writing to the database', async () => {
    await add('ONE', 'https://bank.example');
    await db.database.withClient((client) => client.query('update bank set url = $1', [bank.url]));
    await expect(checkBank('ONE', {})).rejects.toThrow(`was not encrypted for the address ${bank.url}`);
    await changeBank('ONE', { url: bank.url, newSecret: true });
    await checkBank('ONE', {});
  });

  test('is refused with an invalid ID, address or secret', async () => {
    await expect(add('A/B')).rejects.toThrow('"A/B" is not an ID of a bank');
    await expect(add('../..')).rejects.toThrow('"../.." is not an ID of a bank');
    await expect(add('4242424242424242')).rejects.toThrow('<bankID> must not contain a card number');
    await expect(add('A', 'bank.example')).rejects.toThrow('is not a valid bank address');
    await expect(add('A', 'http://bank.example')).rejects.toThrow('must use https');
    await expect(add('A', 'https://name:word@bank.example')).rejects.toThrow(
      'Remove the user name and the password',
    );
    await expect(checkBank('A', {})).rejects.toThrow('mandate bank list');
    await expect(changeBank('A', { url: bank.url })).rejects.toThrow('Bank A not found');
    vi.stubEnv('BANK_SECRET', '');
    await expect(add('A')).rejects.toThrow('--secret-file');
  });

  test('can be removed if no terminal has used it', async () => {
    await expect(removeBank('ONE')).rejects.toThrow('Bank ONE not found');
    await add('ONE');
    await removeBank('ONE');
    await listAllBanks({});
    expect(printed.at(-1)).toContain('No bank yet');
  });

  test('shows until when and why its charges are held, and gets them again after a resume', async () => {
    await add('A');
    await expect(resumeBank('A')).rejects.toThrow('No charges are held at bank A.');
    await expect(resumeBank('B')).rejects.toThrow('Bank B not found.');
    const hold = (until: string) =>
      db.database.run(holdCharges, {
        bank_id: 'A',
        held_until: null,
        now: systemClock.now(),
        until: until as Instant,
        because: 'vague',
      });
    expect(await hold('2999-01-01T00:00:00.000000Z')).toHaveLength(1);
    // A second node finds the same.
    expect(await hold('2999-02-01T00:00:00.000000Z')).toEqual([]);
    await listAllBanks({});
    expect(printed.at(-1)).toBe(
      'Bank A gets no charges of subscriptions until 2999-01-01T00:00:00Z (vague).',
    );
    await resumeBank('A');
    await listAllBanks({ json: true });
    expect(json()).toMatchObject([{ chargesHeldUntil: null, chargesHeldBecause: null }]);
  });
});

describe('a terminal', () => {
  const terminal = { party: 'P', shop: 'S', bank: 'A', merchant: 'M', descriptor: 'EXAMPLE', priority: '1' };

  beforeEach(async () => {
    await createParty({ name: 'Example Ltd', id: 'P' });
    const url = 'https://shop.example';
    await createShop({ party: 'P', name: 'S', id: 'S', currency: 'RUB', category: '1', url });
    await add('A');
    await add('B');
  });

  test('can be added, changed and listed', async () => {
    await addTerminal('T', terminal);
    await addTerminal('T', { ...terminal, priority: '7', merchant: 'M2' });
    await expect(addTerminal('4242424242424242', terminal)).rejects.toThrow('must not contain a card number');
    await listAllTerminals({ party: 'P', json: true });
    const one = {
      terminalId: 'T',
      shopId: 'S',
      payouts: false,
      bankId: 'A',
      merchantId: 'M2',
      descriptor: 'EXAMPLE',
      merchantFacts: null,
      priority: 7,
      retiredAt: null,
      pausedUntil: null,
      pausedBecause: null,
      currencies: null,
      sourceOfFunds: null,
      purposes: null,
      demands: null,
    };
    expect(json()).toEqual([one]);
  });

  test('keeps the facts of the merchant for its bank, until it is added without them', async () => {
    const facts = { mcc: '5734', name: 'EXAMPLE', city: 'MOSCOW', country: 'RUS', subMerchant: 'S-1' };
    const url = 'https://shop.example';
    await addTerminal('T', { ...terminal, ...facts, url });
    await listAllTerminals({ party: 'P', json: true });
    expect(json()).toMatchObject([{ terminalId: 'T', merchantFacts: { ...facts, url } }]);
    const { shop: _, ...ofParty } = terminal;
    await addTerminal('O', { ...ofParty, payouts: true, currencies: 'any', mcc: '6012' });
    const [payingOut] = await db.database.run(payoutTerminals.read, { party_id: 'P' });
    expect(payingOut?.merchant_facts).toEqual({ mcc: '6012' });
    await addTerminal('T', terminal);
    const [row] = await db.database.run(shopTerminals.read, { party_id: 'P', shop_id: 'S' });
    expect(row?.merchant_facts).toBeNull();
  });

  test.each([
    [{ mcc: '573' }, '--mcc is "573". Use 4 digits.'],
    [{ name: ' ' }, '--name is " ". Use 1 to 100 ASCII characters.'],
    [{ country: 'Russia' }, '--country is "Russia". Use an ISO 3166-1 alpha-3 code such as RUS.'],
    [{ url: 'shop.example' }, '--url is "shop.example". Use an address such as https://shop.example.'],
    [{ subMerchant: '4242424242424242' }, '--sub-merchant must not contain a card number.'],
  ])('is refused with the facts %j', async (facts, why) => {
    await expect(addTerminal('T', { ...terminal, ...facts })).rejects.toThrow(why);
  });

  test('shows until when and why it is paused, and takes charges again after a resume', async () => {
    await addTerminal('T', terminal);
    const named = { party: 'P', shop: 'S' };
    await expect(resumeCharges('T', named)).rejects.toThrow('is not paused');
    await db.database.run(pauseTerminal, {
      party_id: 'P',
      shop_id: 'S',
      terminal_id: 'T',
      until: '2999-01-01T00:00:00.000000Z' as Instant,
      because: 'visa 58 I.1.a',
    });
    await listAllTerminals({ party: 'P' });
    expect(printed.join('\n')).toContain(
      'no charges without the payer until 2999-01-01T00:00:00Z: visa 58 I.1.a',
    );
    await listAllTerminals({ party: 'P', json: true });
    expect(json()).toMatchObject([
      { pausedUntil: '2999-01-01T00:00:00.000000Z', pausedBecause: 'visa 58 I.1.a' },
    ]);
    await resumeCharges('T', named);
    await listAllTerminals({ party: 'P', json: true });
    expect(json()).toMatchObject([{ pausedUntil: null, pausedBecause: null }]);
  });

  test('is paused on the clock of its merchant', async () => {
    await addTerminal('T', terminal);
    const status = async (until: string) => {
      await db.database.run(resumeTerminal, { party_id: 'P', shop_id: 'S', terminal_id: 'T' });
      await db.database.run(pauseTerminal, {
        party_id: 'P',
        shop_id: 'S',
        terminal_id: 'T',
        until: until as Instant,
        because: 'visa 58 I.1.a',
      });
      await listAllTerminals({ party: 'P' });
      const { paused } = (await db.database.run(countPausedTerminals, { now: systemClock.now() }))[0]!;
      return [printed.at(-1)!.includes('no charges without the payer') ? 'paused' : 'in use', paused];
    };
    expect(await status('2500-01-01T00:00:00.000000Z')).toEqual(['paused', 1n]);
    // A test clock in 2600: what was paused until 2500 is in use, what is paused until 2700 is not.
    const offset_ms = BigInt(Date.parse('2600-01-01T00:00:00Z') - Date.now());
    await db.database.run(moveTestClock, { party_id: 'P', offset_ms });
    expect(await status('2500-01-01T00:00:00.000000Z')).toEqual(['in use', 0n]);
    expect(await status('2700-01-01T00:00:00.000000Z')).toEqual(['paused', 1n]);
    // Another merchant's clock changes nothing.
    await db.database.withClient((client) => client.query(`update test_clock set party_id = 'OTHER'`));
    expect(await status('2500-01-01T00:00:00.000000Z')).toEqual(['paused', 1n]);
  });

  test('cannot move to another bank, which does not know its payments', async () => {
    await addTerminal('T', terminal);
    await expect(addTerminal('T', { ...terminal, bank: 'B' })).rejects.toThrow('belongs to another bank');
  });

  test('for payouts can be added, changed, listed and removed, like one for a shop', async () => {
    const { shop: _, ...ofParty } = terminal;
    const payouts = { ...ofParty, payouts: true, currencies: 'any' } as const;
    await addTerminal('T', terminal);
    await addTerminal('T', { ...payouts, merchant: 'M2' });
    expect(printed.at(-1)).toContain('Party P pays out through bank A as M2');
    await expect(addTerminal('T', { ...payouts, bank: 'B' })).rejects.toThrow('belongs to another bank');
    await listAllBanks({ json: true });
    expect(json()).toMatchObject([{ bankId: 'A', terminals: 2 }, { bankId: 'B' }]);
    await removeTerminal('T', payouts);
    await listAllTerminals({ party: 'P', json: true });
    expect(json()).toEqual([
      expect.objectContaining({ shopId: 'S', terminalId: 'T' }),
      expect.objectContaining({
        shopId: null,
        payouts: true,
        terminalId: 'T',
        merchantId: 'M2',
        retiredAt: expect.any(String),
      }),
    ]);
    expect(json()[0].retiredAt).toBeNull();
    await addTerminal('T', payouts);
    await listAllTerminals({ party: 'P', json: true });
    expect(json()[1].retiredAt).toBeNull();
  });

  test('for payouts has currencies, demands, a source of funds and purposes', async () => {
    const { shop: _, ...ofParty } = terminal;
    const of = { currencies: 'RUB=60000000, JPY', demands: 'name,visa.address,visa.city', purposes: 'FD,PP' };
    await addTerminal('T', { ...ofParty, payouts: true, sourceOfFunds: '05', ...of });
    await listAllTerminals({ party: 'P', json: true });
    expect(json()).toEqual([
      expect.objectContaining({
        currencies: 'RUB=60000000,JPY',
        sourceOfFunds: '05',
        purposes: ['FD', 'PP'],
        demands: { '*': ['name'], visa: ['address', 'city'] },
      }),
    ]);
  });

  test('keeps its bank when removed, and is used again when added again', async () => {
    await addTerminal('T', terminal);
    await removeTerminal('T', terminal);
    await listAllTerminals({ party: 'P', json: true });
    expect(json()).toMatchObject([{ terminalId: 'T', retiredAt: expect.any(String) }]);
    await expect(removeBank('A')).rejects.toThrow('has 1 terminals, removed ones included');
    await addTerminal('T', terminal);
    await listAllTerminals({ party: 'P', json: true });
    expect(json()[0].retiredAt).toBeNull();
  });

  test('is refused with invalid options', async () => {
    const adding = (different: Partial<typeof terminal> & { payouts?: true }, id = 'T') =>
      addTerminal(id, { ...terminal, ...different });
    await expect(adding({ shop: 'X' })).rejects.toThrow('has no shop X');
    await expect(adding({ bank: 'X' })).rejects.toThrow('Bank X not found');
    await expect(adding({ priority: 'high' })).rejects.toThrow('--priority');
    await expect(adding({ descriptor: 'МАГАЗИН' })).rejects.toThrow('ASCII');
    await expect(adding({ merchant: 'M'.repeat(41) })).rejects.toThrow('--merchant');
    await expect(adding({}, ' ')).rejects.toThrow('<terminalID> is " "');
    await expect(removeTerminal('X', terminal)).rejects.toThrow('has no terminal X');
    await expect(removeTerminal('X', { party: 'P', payouts: true })).rejects.toThrow(
      'Party P has no payout terminal X',
    );
    await expect(adding({ payouts: true })).rejects.toThrow('Give either --shop or --payouts');
    await expect(removeTerminal('T', { party: 'P' })).rejects.toThrow('Give either --shop or --payouts');
    const { shop: _, ...ofParty } = terminal;
    const payouts = { ...ofParty, payouts: true } as const;
    await expect(addTerminal('T', { ...payouts, party: 'X', currencies: 'any' })).rejects.toThrow(
      'Party X not found',
    );
    await expect(addTerminal('T', payouts)).rejects.toThrow('--currencies is missing');
    for (const currencies of ['rub', 'RUB=', 'XXQ', 'RUB=1.5', ''])
      await expect(addTerminal('T', { ...payouts, currencies })).rejects.toThrow('--currencies has');
    for (const demands of ['surname', 'visa.', 'swift.name'])
      await expect(addTerminal('T', { ...payouts, currencies: 'any', demands })).rejects.toThrow(
        '--demands has',
      );
    await expect(addTerminal('T', { ...payouts, currencies: 'any', purposes: 'fd' })).rejects.toThrow(
      '--purposes has',
    );
    await expect(addTerminal('T', { ...terminal, currencies: 'any' })).rejects.toThrow(
      'are for --payouts only',
    );
  });
});

test('a merchant can be suspended and blocked, and each lifted', async () => {
  await createParty({ name: 'Example Ltd', id: 'P' });
  const state = async () => {
    await listAllParties({});
    return printed.at(-1);
  };
  await setParty('P', { is_suspended: true });
  expect(await state()).toMatch(/ suspended$/);
  await setParty('P', { is_blocked: true });
  expect(await state()).toMatch(/ blocked$/);
  await setParty('P', { is_blocked: false });
  expect(await state()).toMatch(/ suspended$/);
  await setParty('P', { is_suspended: false });
  expect(await state()).toMatch(/ trading$/);
  await expect(setParty('NONE', { is_blocked: true })).rejects.toThrow('Party NONE not found');
  await listAllParties({ json: true });
  expect(json()).toEqual([{ partyId: 'P', name: 'Example Ltd', status: 'trading' }]);
});
