// mandate shop refunds, top-up and reverse-top-up.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { brokenInvariants } from '../../../test/support/database/ledger.ts';
import { commandLine } from '../../../test/support/processes/command-line.ts';
import {
  startTestService,
  type Merchant,
  type TestService,
} from '../../../test/support/service/test-service.ts';

let service: TestService;
let merchant: Merchant;
beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
});
afterAll(() => service.close());

const mandate = (...args: string[]) =>
  commandLine(args, {
    DATABASE_URL: service.testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  });
const run = (command: string, ...args: string[]) =>
  mandate('shop', command, 'TEST', '--party', merchant.partyId, ...args);
const settings = async () => JSON.parse((await run('refunds', '--json')).output) as unknown;
const topUp = (amount: string, reference: string) =>
  run('top-up', '--amount', amount, '--from-bank', 'MAIN', '--reference', reference);

test(
  'settings of refunds are shown and changed; a limit and the overdraft belong together',
  { timeout: 120_000 },
  async () => {
    const none = { whenShort: 'refuse', overdraftLimit: 0, available: 0, waiting: 0, currency: 'RUB' };
    expect(await settings()).toEqual(none);
    expect((await run('refunds', '--when-short', 'overdraft')).errors).toContain(
      'Give --overdraft-limit as well',
    );
    expect((await run('refunds', '--overdraft-limit', '500')).errors).toContain('this shop has refuse');
    expect(await settings()).toEqual(none);
    const changed = await run('refunds', '--when-short', 'overdraft', '--overdraft-limit', '500');
    expect(changed.output).toContain('overdraft limit:  500 RUB');
    expect(await settings()).toEqual({ ...none, whenShort: 'overdraft', overdraftLimit: 500 });
    await run('refunds', '--when-short', 'wait');
    expect(await settings()).toEqual({ ...none, whenShort: 'wait' });
  },
);

test('a top-up is booked once for each reference', { timeout: 120_000 }, async () => {
  const first = await topUp('700', 'R1');
  expect(first.code).toBe(0);
  const again = await topUp('700', 'R1');
  expect([again.code, again.output]).toEqual([0, first.output]);
  expect(again.errors).toContain('It was not repeated');
  const other = await topUp('701', 'R1');
  expect([other.code, other.errors]).toEqual([1, expect.stringContaining('no money was booked')]);
  expect((await topUp('0', 'R2')).errors).toContain('--amount is 0');
  expect((await topUp('1', ' ')).errors).toContain('--reference is empty');
  expect(await settings()).toMatchObject({ available: 700 });
});

describe('mandate shop reverse-top-up', () => {
  const reverse = (id: string, reason = 'one zero too many') =>
    mandate('shop', 'reverse-top-up', id, '--reason', reason);
  const available = async () => ((await settings()) as { available: number }).available;

  test('takes a top-up back once, with a reversing entry', { timeout: 120_000 }, async () => {
    const before = await available();
    const id = (await topUp('50000', 'typed wrongly')).output.trim();
    expect(await available()).toBe(before + 50_000);
    expect((await reverse(id, ' ')).errors).toContain('--reason is empty');
    const two = await Promise.all([reverse(id), reverse(id)]);
    expect(two.map(({ code, output }) => [code, output]).sort()).toEqual([
      [0, `Reversed top-up ${id}.\n`],
      [0, `Top-up ${id} was reversed before.\n`],
    ]);
    expect(await available()).toBe(before);
    // Who repeats the top-up expects the money on the balance.
    expect(await topUp('50000', 'typed wrongly')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('and reversed at'),
    });
    expect((await reverse('none')).errors).toContain('Top-up none not found');
    const { rows } = await service.database.withClient((client) =>
      client.query('select facts from event where aggregate_id = $1 order by sequence', [id]),
    );
    expect(rows[1].facts).toEqual([{ type: 'top_up_reversed', reason: 'one zero too many' }]);
    expect(await brokenInvariants(service.database)).toEqual([]);
  });

  test('refuses when some of the money was used, overdraft or not', { timeout: 120_000 }, async () => {
    const before = await available();
    await run('refunds', '--when-short', 'overdraft', '--overdraft-limit', '99999999');
    const id = (await topUp('2000', 'used')).output.trim();
    const identity = { name: 'A', provider: 'dpl', class: 'company' };
    const post = async (path: string, body: unknown) =>
      (await service.call('POST', `/wallet/v0${path}`, { token: merchant.apiKey, body })).body.id as string;
    const wallet = await post('/wallets', {
      name: 'W',
      identity: await post('/identities', identity),
      currency: 'RUB',
    });
    const used = String(before + 1);
    const from = ['--from-shop', 'TEST', '--reference', 'used'];
    expect(await mandate('wallet', 'deposit', wallet, '--amount', used, ...from)).toMatchObject({ code: 0 });
    expect(await reverse(id)).toMatchObject({
      code: 1,
      errors: expect.stringContaining(`Shop TEST has 1999 RUB, less than the 2000 of top-up ${id}`),
    });
    expect(await available()).toBe(1_999);
    await topUp('1', 'the rest');
    expect(await reverse(id)).toMatchObject({ code: 0 });
    expect(await available()).toBe(0);
    expect(await brokenInvariants(service.database)).toEqual([]);
  });
});

test('a top-up cannot be deleted, nor changed in another way', async () => {
  const change = (text: string) => service.database.withClient((client) => client.query(text));
  for (const text of ['delete from shop_top_up', 'update shop_top_up set amount_minor = amount_minor + 1'])
    await expect(change(text)).rejects.toThrow(/shop_top_up/);
});
