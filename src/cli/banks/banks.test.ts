// What an operator is told when he sets up banks and terminals, command by command and in this process. That it works from the
// command line, with a node that runs, is in test/process/commands/banks.test.ts.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openSimulatedBank, type SimulatedBank } from '../../sandbox/bank/simulated-bank.ts';
import { systemClock } from '../../clock.ts';
import { temporaryFolder } from '../../../test/support/database/test-cluster.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
import { addBank, changeBank, checkBank, listAllBanks, removeBank } from './banks.ts';
import { createParty, createShop, listAllParties, setParty } from '../merchants/merchants.ts';
import { addTerminal, listAllTerminals, removeTerminal } from './terminals.ts';

const secret = 'a secret of this bank that nobody else has';
const { folder, remove } = temporaryFolder();
let bank: SimulatedBank;
let db: TestDatabase;
let printed: string[] = [];

beforeAll(async () => {
  // Each command listens for signals as long as its process lives, which here is this one, and that of other tests after these.
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
  vi.stubEnv('MANDATE_MASTER_KEY', Buffer.alloc(32, 9).toString('base64'));
  vi.stubEnv('BANK_SECRET', secret);
  vi.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  process.exitCode = undefined;
  if (printed.join('\n').includes(secret)) throw new Error('the secret was shown');
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
  test('that is added answers, and is there only once', async () => {
    await add('ONE', `${bank.url}/`);
    await checkBank('ONE', {});
    expect(printed.at(-2)).toContain('accepts our signature');
    await expect(add('ONE')).rejects.toThrow('mandate bank change');
    await listAllBanks({ json: true });
    expect(json()).toEqual([{ bankId: 'ONE', url: bank.url, terminals: 0, createdAt: expect.any(String) }]);
  });

  test('gets a new secret from a file, without the end of its line', async () => {
    await add('ONE');
    await changeBank('ONE', { secretFile: secretFile('another secret that is long enough to be one\n') });
    await expect(checkBank('ONE', {})).rejects.toThrow('the secret is not the one the bank has');
    await changeBank('ONE', { secretFile: secretFile(`${secret}\r\n`) });
    await checkBank('ONE', { json: true });
    expect(json()).toMatchObject({ works: true });
    await expect(changeBank('ONE', { secretFile: secretFile('short') })).rejects.toThrow('Use at least 32');
    await expect(changeBank('ONE', { secretFile: join(folder, 'none') })).rejects.toThrow('ENOENT');
    await expect(changeBank('ONE', {})).rejects.toThrow('nothing to change');
  });

  test('at another address keeps its secret; where nobody listens the check says so and fails', async () => {
    await add('ONE', 'http://127.0.0.1:1');
    await expect(checkBank('ONE', {})).rejects.toThrow('nobody listens there');
    await checkBank('ONE', { json: true });
    expect(json()).toMatchObject({ works: false, problem: 'ECONNREFUSED: nobody listens there' });
    expect(process.exitCode).toBe(1);
    vi.stubEnv('BANK_SECRET', 'what is in the environment is not asked for');
    await changeBank('ONE', { url: bank.url });
    await checkBank('ONE', {});
  });

  test('cannot be moved by whoever can write to the database alone', async () => {
    await add('ONE', 'https://bank.example');
    await db.database.withClient((client) => client.query('update bank set url = $1', [bank.url]));
    await expect(checkBank('ONE', {})).rejects.toThrow(`was not encrypted for the address ${bank.url}`);
    await changeBank('ONE', { url: bank.url, newSecret: true });
    await checkBank('ONE', {});
  });

  test('that cannot be right is refused', async () => {
    await expect(add('A/B')).rejects.toThrow('the id of a bank');
    await expect(add('../..')).rejects.toThrow('the id of a bank');
    await expect(add('A', 'bank.example')).rejects.toThrow('is not a valid bank address');
    await expect(add('A', 'http://bank.example')).rejects.toThrow('must use https');
    await expect(add('A', 'https://name:word@bank.example')).rejects.toThrow(
      'Remove the user name and the password',
    );
    await expect(checkBank('A', {})).rejects.toThrow('mandate bank list');
    await expect(changeBank('A', { url: bank.url })).rejects.toThrow('there is no bank A');
    vi.stubEnv('BANK_SECRET', '');
    await expect(add('A')).rejects.toThrow('--secret-file');
  });

  test('is removed while no terminal was ever its own', async () => {
    await expect(removeBank('ONE')).rejects.toThrow('there is no bank ONE');
    await add('ONE');
    await removeBank('ONE');
    await listAllBanks({});
    expect(printed.at(-1)).toContain('no bank yet');
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

  test('is added, changed and listed', async () => {
    await addTerminal('T', terminal);
    await addTerminal('T', { ...terminal, priority: '7', merchant: 'M2' });
    await listAllTerminals({ party: 'P', json: true });
    const one = {
      shopId: 'S',
      terminalId: 'T',
      bankId: 'A',
      merchantId: 'M2',
      descriptor: 'EXAMPLE',
      priority: 7,
    };
    expect(json()).toEqual([one]);
  });

  test('never goes to another bank, which would not know what was paid', async () => {
    await addTerminal('T', terminal);
    await expect(addTerminal('T', { ...terminal, bank: 'B' })).rejects.toThrow('with another bank');
  });

  test('for payouts is added, changed, listed and removed beside those of shops', async () => {
    const { shop: _, ...ofParty } = terminal;
    const payouts = { ...ofParty, payouts: true } as const;
    await addTerminal('T', terminal);
    await addTerminal('T', { ...payouts, merchant: 'M2' });
    expect(printed.at(-1)).toContain('P pays out through A as M2');
    await expect(addTerminal('T', { ...payouts, bank: 'B' })).rejects.toThrow('with another bank');
    await listAllBanks({ json: true });
    expect(json()).toMatchObject([{ bankId: 'A', terminals: 2 }, { bankId: 'B' }]);
    await removeTerminal('T', payouts);
    await listAllTerminals({ party: 'P', json: true });
    expect(json()).toEqual([
      expect.objectContaining({ shopId: 'S', terminalId: 'T' }),
      expect.objectContaining({
        payouts: true,
        terminalId: 'T',
        merchantId: 'M2',
        retiredAt: expect.any(String),
      }),
    ]);
    expect(json()[0]).not.toHaveProperty('retiredAt');
    await addTerminal('T', payouts);
    await listAllTerminals({ party: 'P', json: true });
    expect(json()[1]).not.toHaveProperty('retiredAt');
  });

  test('that was removed keeps its bank, and comes back when it is added again', async () => {
    await addTerminal('T', terminal);
    await removeTerminal('T', terminal);
    await listAllTerminals({ party: 'P', json: true });
    expect(json()).toMatchObject([{ terminalId: 'T', retiredAt: expect.any(String) }]);
    await expect(removeBank('A')).rejects.toThrow('retired ones counted');
    await addTerminal('T', terminal);
    await listAllTerminals({ party: 'P', json: true });
    expect(json()[0]).not.toHaveProperty('retiredAt');
  });

  test('that cannot be right is refused', async () => {
    const adding = (different: Partial<typeof terminal> & { payouts?: true }, id = 'T') =>
      addTerminal(id, { ...terminal, ...different });
    await expect(adding({ shop: 'X' })).rejects.toThrow('has no shop X');
    await expect(adding({ bank: 'X' })).rejects.toThrow('there is no bank X');
    await expect(adding({ priority: 'high' })).rejects.toThrow('--priority');
    await expect(adding({ descriptor: 'МАГАЗИН' })).rejects.toThrow('ASCII');
    await expect(adding({ merchant: 'M'.repeat(41) })).rejects.toThrow('--merchant');
    await expect(adding({}, ' ')).rejects.toThrow('the id of a terminal');
    await expect(removeTerminal('X', terminal)).rejects.toThrow('has no terminal X');
    await expect(removeTerminal('X', { party: 'P', payouts: true })).rejects.toThrow('no terminal X');
    await expect(adding({ payouts: true })).rejects.toThrow('say what it is for');
    await expect(removeTerminal('T', { party: 'P' })).rejects.toThrow('say what it is for');
    const { shop: _, ...ofParty } = terminal;
    await expect(addTerminal('T', { ...ofParty, party: 'X', payouts: true })).rejects.toThrow('no party X');
  });
});

test('a merchant is suspended and goes on, is blocked and goes on', async () => {
  await createParty({ name: 'Example Ltd', id: 'P' });
  const state = async () => {
    await listAllParties();
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
  await expect(setParty('NOBODY', { is_blocked: true })).rejects.toThrow('there is no party NOBODY');
});
