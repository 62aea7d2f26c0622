// mandate payout returned, mandate wallet reverse-deposit, and deposits of money that was put aside.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandLine } from '../../../test/support/processes/command-line.ts';
import { brokenInvariants } from '../../../test/support/database/ledger.ts';
import { setBlocked } from '../../../test/support/worlds/wallets-side.ts';
import { startPayoutWorld, type PayoutWorld } from '../../../test/support/worlds/payout-world.ts';

let world: PayoutWorld;
beforeAll(async () => void (world = await startPayoutWorld()));
afterAll(() => world.close());

const run = (...args: string[]) =>
  commandLine(args, {
    DATABASE_URL: world.service.testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  });

const read = async (id: string) => (await world.get(`/wallet/v0/withdrawals/${id}`)).body;

async function paid(amount: number, destination: string): Promise<string> {
  const { id } = (await world.withdraw(amount, destination)).body;
  await world.service.jobs.whenIdle();
  expect((await read(id)).status).toBe('Succeeded');
  return id;
}

const said = ['--code', 'account_closed', '--at', '2026-01-20T10:00:00Z', '--reason', 'message 17'];
const returned = (id: string, ...more: string[]) => run('payout', 'returned', id, ...said, ...more);

describe('mandate payout returned', () => {
  test('puts the money on the wallet, once, and keeps the status', { timeout: 120_000 }, async () => {
    const { id: destination } = await world.destinationFor('4242424242424242');
    const before = await world.account();
    const id = await paid(3_000, destination);
    expect(await returned(id)).toMatchObject({ code: 0, errors: '' });
    expect(await read(id)).toMatchObject({
      status: 'Succeeded',
      returned: {
        at: '2026-01-20T10:00:00.000000Z',
        code: 'account_closed',
        amount: { amount: 3_000, currency: 'RUB' },
      },
    });
    expect(await world.account()).toEqual(before);
    const again = await returned(id);
    expect(again).toMatchObject({ code: 0, output: expect.stringContaining('Recorded before') });
    const other = await returned(id, '--amount', '1');
    expect(other).toMatchObject({ code: 1, errors: expect.stringContaining('differs from what you say') });
    expect(await world.account()).toEqual(before);
    expect(await brokenInvariants(world.service.database)).toEqual([]);
  });

  test('refuses what cannot have come back', { timeout: 120_000 }, async () => {
    const { id: destination } = await world.destinationFor('4111110000000112');
    const { id } = (await world.withdraw(900, destination)).body;
    await world.service.jobs.whenIdle();
    expect((await returned(id)).errors).toContain('is failed, so no money can have come back');
    expect((await returned('none')).errors).toContain('Withdrawal none not found');
    const { id: good } = await world.destinationFor('4242424242424242');
    const paidOne = await paid(900, good);
    expect((await returned(paidOne, '--amount', '901')).errors).toContain('--amount is 901');
    expect((await returned(paidOne, '--amount', '0')).errors).toContain('--amount is 0');
    const wrong = await run(
      'payout',
      'returned',
      paidOne,
      '--code',
      'unknown',
      '--at',
      'May',
      '--reason',
      'x',
    );
    expect(wrong.errors).toContain('--at is "May"');
  });

  test('blocks a destination at its second return', { timeout: 120_000 }, async () => {
    const { id: destination } = await world.destinationFor('5555555555554444');
    const isBlocked = async () => (await world.get(`/wallet/v0/destinations/${destination}`)).body.isBlocked;
    const ids = [await paid(500, destination), await paid(600, destination)];
    await returned(ids[0]!);
    // The same one again is not a second one.
    await returned(ids[0]!);
    expect(await isBlocked()).toBe(false);
    await returned(ids[1]!);
    expect(await isBlocked()).toBe(true);
    expect((await world.withdraw(500, destination)).body.code).toBe('noSuchDestination');
  });

  test(
    'leaves a payout that the bank has not received to an operator, who resolves it as failed',
    { timeout: 120_000 },
    async () => {
      const { service, bank } = world;
      const { id: destination } = await world.destinationFor('2222990905257051');
      const ids = [await paid(500, destination), await paid(600, destination)];
      const before = await world.account();
      bank.faults.order({ kind: 'not-done', next: 1, operationKind: 'payout' });
      const { id } = (await world.withdraw(700, destination)).body;
      await service.jobs.whenIdle();
      for (const one of ids) await returned(one);
      const later = async (hours: number) => {
        for (let n = 0; n < hours; n++) {
          service.clock.advance(3_600_000);
          service.jobs.wake();
          await service.jobs.whenIdle();
        }
      };
      await later(27);
      const stuck = expect.objectContaining({
        id,
        reason: expect.stringContaining('destination is blocked'),
      });
      expect(await service.jobs.stuckJobs()).toEqual([stuck]);
      // A retry asks the bank and sends nothing: no unblocking lifts this block.
      await service.jobs.retry('withdrawal', id);
      await later(16);
      expect(await service.jobs.stuckJobs()).toEqual([stuck]);
      const since = (await service.jobs.stuckJobs())[0]?.since ?? '';
      const said = ['--since', since, '--reason', 'the bank lacks it'];
      const resolved = await run('payout', 'resolve', id, '--as', 'failed', ...said);
      expect(resolved).toMatchObject({ code: 0, errors: '' });
      expect((await read(id)).status).toBe('Failed');
      expect((await world.book()).filter(({ operationId }) => operationId === `${id}.p`)).toEqual([]);
      expect(await world.account()).toEqual({ own: before.own + 1_100, available: before.available + 1_100 });
      expect(await brokenInvariants(service.database)).toEqual([]);
    },
  );

  test(
    'puts money aside while the wallet is blocked, until it is deposited',
    { timeout: 120_000 },
    async () => {
      const { wallet, identity } = await world.openWallet(world.merchant);
      const { id: destination } = await world.destinationFor('2201382000000013');
      const body = { wallet, destination, body: { amount: 700, currency: 'RUB' } };
      const { id } = (await world.post('/wallet/v0/withdrawals', body)).body;
      await world.service.jobs.whenIdle();
      const before = await world.account(wallet);
      await setBlocked(world, identity, true);
      const aside = await returned(id);
      expect(aside).toMatchObject({ code: 0, output: expect.stringContaining('aside in recon.suspense') });
      expect((await read(id)).returned.amount.amount).toBe(700);
      expect(await world.account(wallet)).toEqual(before);
      expect(await brokenInvariants(world.service.database)).toEqual([]);
      await setBlocked(world, identity, false);
      const { rows } = await world.service.database.withClient((client) =>
        client.query(`select owner_id from ledger_account where code = 'recon.suspense'`),
      );
      const from = ['--from-suspense', rows[0].owner_id as string, '--reference', id];
      expect(await run('wallet', 'deposit', wallet, '--amount', '700', ...from)).toMatchObject({ code: 0 });
      const beyond = ['--amount', '1', '--from-suspense', rows[0].owner_id as string, '--reference', 'again'];
      expect(await run('wallet', 'deposit', wallet, ...beyond)).toMatchObject({
        code: 1,
        errors: expect.stringContaining('has less than 1 RUB'),
      });
      expect((await world.account(wallet)).own).toBe(before.own + 700);
      expect(await brokenInvariants(world.service.database)).toEqual([]);
    },
  );
});

describe('mandate wallet reverse-deposit', () => {
  const deposit = async (wallet: string, amount: number, reference: string) => {
    const from = ['--from-bank', 'NOSTRO', '--reference', reference];
    const made = await run('wallet', 'deposit', wallet, '--amount', String(amount), ...from);
    return made.output.trim();
  };
  const reverse = (id: string, reason = 'one zero too many') =>
    run('wallet', 'reverse-deposit', id, '--reason', reason);

  test('takes a deposit back once, with a reversing entry', { timeout: 120_000 }, async () => {
    const before = await world.account();
    const id = await deposit(world.wallet, 50_000, 'typed wrongly');
    expect((await world.account()).own).toBe(before.own + 50_000);
    expect((await reverse(id, ' ')).errors).toContain('--reason is empty');
    expect(await reverse(id)).toMatchObject({ code: 0, output: `Reversed deposit ${id}.\n` });
    expect(await reverse(id)).toMatchObject({ code: 0, output: `Deposit ${id} was reversed before.\n` });
    expect(await world.account()).toEqual(before);
    // Who repeats the deposit expects the money on the wallet.
    const from = ['--from-bank', 'NOSTRO', '--reference', 'typed wrongly'];
    expect(await run('wallet', 'deposit', world.wallet, '--amount', '50000', ...from)).toMatchObject({
      code: 1,
      errors: expect.stringContaining('and was reversed at'),
    });
    const listed = async (revertStatus: string) =>
      (await world.get(`/wallet/v0/deposits?limit=9&depositID=${id}&revertStatus=${revertStatus}`)).body
        .result;
    expect(await listed('Full')).toEqual([expect.objectContaining({ id, revertStatus: 'Full' })]);
    expect([await listed('None'), await listed('Partial')]).toEqual([[], []]);
    expect((await reverse('none')).errors).toContain('Deposit none not found');
    expect(await brokenInvariants(world.service.database)).toEqual([]);
  });

  test('refuses when the money is gone', { timeout: 120_000 }, async () => {
    const { wallet } = await world.openWallet(world.merchant, { provider: 'dpl', class: 'company' });
    const id = await deposit(wallet, 2_000, 'spent');
    const body = { sender: wallet, receiver: world.wallet, body: { amount: 1, currency: 'RUB' } };
    await world.post('/wallet/v0/w2w/transfers', body);
    const refused = await reverse(id);
    expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining(`less than deposit ${id}`) });
    expect((await world.account(wallet)).own).toBe(1_999);
    await deposit(wallet, 1, 'the rest');
    expect(await reverse(id)).toMatchObject({ code: 0 });
    expect((await world.account(wallet)).own).toBe(0);
  });

  test('of two at once takes the deposit back once', { timeout: 120_000 }, async () => {
    const before = await world.account();
    const id = await deposit(world.wallet, 4_000, 'twice at once');
    const both = await Promise.all([reverse(id), reverse(id)]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(await world.account()).toEqual(before);
  });

  test('a deposit needs a reference', { timeout: 120_000 }, async () => {
    const unnamed = await run('wallet', 'deposit', world.wallet, '--amount', '5', '--from-bank', 'NOSTRO');
    expect(unnamed).toMatchObject({ code: 1, errors: expect.stringContaining('--reference') });
  });
});
