// What an operator decides about payouts, through the real program beside a service that runs.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPayoutWorld, type PayoutWorld } from '../../../test/support/worlds/payout-world.ts';
import { commandLine } from '../../../test/support/processes/command-line.ts';
import { brokenInvariants } from '../../../test/support/database/ledger.ts';

let world: PayoutWorld;
beforeAll(async () => void (world = await startPayoutWorld()));
afterAll(() => world.close());

const run = (...args: string[]) =>
  commandLine(args, {
    DATABASE_URL: world.service.testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  });

test(
  'a deposit comes from a bank account, or from a shop that has the money',
  { timeout: 120_000 },
  async () => {
    const before = await world.account();
    const made = await run('wallet', 'deposit', world.wallet, '--amount', '5000', '--from-bank', 'NOSTRO');
    expect(made).toMatchObject({ code: 0, errors: '' });
    expect(await world.account()).toEqual({ own: before.own + 5_000, available: before.available + 5_000 });
    const { body } = await world.get('/wallet/v0/deposits?limit=1&sourceID=NOSTRO');
    expect(body.result).toEqual([expect.objectContaining({ id: made.output.trim(), source: 'NOSTRO' })]);

    const poor = await run('wallet', 'deposit', world.wallet, '--amount', '5000', '--from-shop', 'TEST');
    expect(poor.code).toBe(1);
    expect(poor.errors).toContain('nothing was done');
    expect((await world.get('/wallet/v0/deposits?limit=9&sourceID=TEST')).body.result).toEqual([]);
  },
);

test('a deposit with a name is made once, however often it is said', { timeout: 120_000 }, async () => {
  const before = await world.account();
  const say = (amount: string, from: string, name: string, kind = '--from-bank') =>
    run('wallet', 'deposit', world.wallet, '--amount', amount, kind, from, '--reference', name);
  const made = await say('700', 'NAMED', 'May 3, no. 17');
  expect(made).toMatchObject({ code: 0, errors: '' });
  const again = await say('700', 'NAMED', 'May 3, no. 17');
  expect(again).toMatchObject({ code: 0, output: made.output });
  expect(again.errors).toMatch(/ of 700 RUB from NAMED was already made at .*; nothing was done\n$/);
  for (const [amount, from, kind] of [
    ['701', 'NAMED', '--from-bank'],
    ['700', 'NOSTRO', '--from-bank'],
    // A shop may be named like a bank account.
    ['700', 'NAMED', '--from-shop'],
  ] as const) {
    const other = await say(amount, from, 'May 3, no. 17', kind);
    expect(other).toMatchObject({ code: 1, output: '' });
    expect(other.errors).toMatch(/was already made at .* out of test:RUB:bank\.nostro:NAMED, /);
    expect(other.errors).toContain('what you say is another; nothing was done');
  }
  expect((await world.account()).own).toBe(before.own + 700);

  const [one, two] = await Promise.all([say('50', 'NAMED', 'no. 18'), say('50', 'NAMED', 'no. 18')]);
  expect(one).toMatchObject({ code: 0, output: two.output });
  expect(one.output).not.toBe(made.output);
  expect((await world.account()).own).toBe(before.own + 750);
  expect((await world.get('/wallet/v0/deposits?limit=9&sourceID=NAMED')).body.result).toHaveLength(2);
  expect(await brokenInvariants(world.service.database)).toEqual([]);

  const unset = await say('50', 'NAMED', '');
  expect(unset).toMatchObject({ code: 1, errors: expect.stringContaining('not empty') });
});

test(
  'a deposit with a name from a shop is known again when the shop has nothing left',
  { timeout: 120_000 },
  async () => {
    await world.paid('4242424242424242');
    const { available } = await world.balance();
    expect(available).toBeGreaterThan(0);
    const before = await world.account();
    const all = ['--amount', String(available), '--from-shop', 'TEST', '--reference', 'the week of May 3'];
    const made = await run('wallet', 'deposit', world.wallet, ...all);
    expect(made).toMatchObject({ code: 0, errors: '' });
    const again = await run('wallet', 'deposit', world.wallet, ...all);
    expect(again).toMatchObject({ code: 0, output: made.output });
    expect(again.errors).toContain('was already made');
    expect((await world.balance()).available).toBe(0);
    expect((await world.account()).own).toBe(before.own + available);
    expect(await brokenInvariants(world.service.database)).toEqual([]);
  },
);

test('limits and fees are agreed with a merchant', { timeout: 120_000 }, async () => {
  const party = ['--party', world.merchant.partyId, '--currency', 'RUB'];
  await run('payout', 'limits', ...party, '--level', 'anonymous', '--per-payout', '700');
  await run('payout', 'fee', ...party, '--fixed', '20');
  world.service.payouts.forget(world.merchant.partyId);
  const { id } = await world.destinationFor('4242424242424242');
  expect((await world.withdraw(701, id)).body.code).toBe('payoutLimitPerPayout');
  expect((await world.withdraw(700, id)).body.fee).toEqual({ amount: 20, currency: 'RUB' });
  await world.service.jobs.whenIdle();

  const stranger = ['--party', `${world.merchant.partyId}X`, '--currency', 'RUB'];
  const wrong = [
    await run('payout', 'limits', ...stranger, '--level', 'anonymous', '--per-payout', '700'),
    await run('payout', 'fee', ...stranger, '--fixed', '20'),
  ];
  for (const { code, errors } of wrong) {
    expect(errors).toContain(`there is no party ${world.merchant.partyId}X`);
    expect(code).toBe(1);
  }
});

/** As the engine leaves one whose step has failed for the last time. */
async function getStuck(id: string): Promise<void> {
  await world.service.database.withClient((client) =>
    client.query(
      `update withdrawal set wake_at = null, attempts = 15, stuck_at = $2, stuck_reason = 'OutcomeUnknown: silence'
       where withdrawal_id = $1`,
      [id, world.service.clock.now()],
    ),
  );
}
const resolve = (id: string, as: string, reason = 'the clearing file of 3 May') =>
  run('payout', 'resolve', id, '--as', as, '--reason', reason);
const statusOf = async (id: string) => (await world.get(`/wallet/v0/withdrawals/${id}`)).body.status;

test.each([
  ['succeeded', 'Succeeded'],
  ['failed', 'Failed'],
])('a withdrawal whose outcome is unknown is resolved as %s', { timeout: 120_000 }, async (as, status) => {
  const { id: destination } = await world.destinationFor('4242424242424242');
  world.bank.faults.order({ kind: 'reset-before-booking', next: 1, operationKind: 'payout' });
  const { id } = (await world.withdraw(600, destination)).body;
  await world.service.jobs.whenIdle();
  await getStuck(id);
  const before = await world.account();
  expect((await resolve(id, as, ' ')).errors).toContain('say why');
  expect(await resolve(id, as)).toMatchObject({ code: 0, errors: '' });
  expect(await statusOf(id)).toBe(status);
  expect(await world.service.jobs.stuckJobs()).toEqual([]);
  expect((await resolve(id, as)).errors).toContain(`withdrawal ${id} has no stuck job`);
  const after = await world.account();
  expect(after.available - before.available).toBe(as === 'failed' ? 620 : 0);
  expect(before.own - after.own).toBe(as === 'failed' ? 0 : 620);
  expect(await brokenInvariants(world.service.database)).toEqual([]);
});

test('a withdrawal that a node works on is not resolved', { timeout: 120_000 }, async () => {
  const { jobs, clock } = world.service;
  const { id: destination } = await world.destinationFor('4242424242424242');
  const before = await world.account();
  world.bank.faults.order({ kind: 'reset-before-booking', next: 1, operationKind: 'payout' });
  const { id } = (await world.withdraw(600, destination)).body;
  await jobs.whenIdle();
  const refused = { code: 1, errors: expect.stringContaining(`withdrawal ${id} has no stuck job`) };
  expect(await resolve(id, 'failed')).toMatchObject(refused);
  // Tried again by an operator, it is off the list and may be sent, whoever else asks at the bank meanwhile.
  await getStuck(id);
  world.bank.faults.order({ kind: 'error-before-booking', next: 1, operationKind: 'inquire' });
  expect(await jobs.retry('withdrawal', id)).toBe(true);
  jobs.wake();
  await jobs.whenIdle();
  expect(await resolve(id, 'failed')).toMatchObject(refused);
  clock.advance(1_000);
  jobs.wake();
  await jobs.whenIdle();
  expect(await statusOf(id)).toBe('Succeeded');
  expect((await world.account()).own).toBe(before.own - 620);
  expect((await world.book()).filter(({ operationId }) => operationId === `${id}.p`)).toHaveLength(1);
});

test('an identification under way is approved, an identity blocked', { timeout: 120_000 }, async () => {
  // As in live mode, where nobody but an operator completes one.
  await world.service.database.withClient((client) =>
    client.query(
      `insert into identity_challenge (identity_id, challenge_id, type, proofs, status, created_at)
       values ($1, 'by-hand', 'esia', '[]', 'pending', now())`,
      [world.identity],
    ),
  );
  const approved = await run('identity', 'approve', world.identity);
  expect(approved).toMatchObject({ code: 0, output: `${world.identity} is partial.\n` });
  expect((await run('identity', 'block', world.identity)).code).toBe(0);
  const list = await run('identity', 'list', '--party', world.merchant.partyId);
  expect(list.output).toMatch(new RegExp(`${world.identity} +Keyn Fawkes +test +person +partial +blocked`));
  const identity = (await world.get(`/wallet/v0/identities/${world.identity}`)).body;
  expect(identity).toMatchObject({ level: 'partial', isBlocked: true, effectiveChallenge: 'by-hand' });
});
