// mandate wallet, payout and identity, while the service runs.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { laterBy } from '../../clock.ts';
import { startPayoutWorld, type PayoutWorld } from '../../../test/support/worlds/payout-world.ts';
import { commandLine } from '../../../test/support/processes/command-line.ts';
import { readPayoutTerms } from '../../payouts/store/payout-terms.ts';
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
  'a deposit comes from a bank account, or from a shop with enough money',
  { timeout: 120_000 },
  async () => {
    const before = await world.account();
    const deposit = (...from: string[]) =>
      run('wallet', 'deposit', world.wallet, '--amount', '5000', '--reference', from[0] ?? '', ...from);
    const made = await deposit('--from-bank', 'NOSTRO');
    expect(made).toMatchObject({ code: 0, errors: '' });
    expect(await world.account()).toEqual({ own: before.own + 5_000, available: before.available + 5_000 });
    const { body } = await world.get('/wallet/v0/deposits?limit=1&sourceID=NOSTRO');
    expect(body.result).toEqual([expect.objectContaining({ id: made.output.trim(), source: 'NOSTRO' })]);

    const poor = await deposit('--from-shop', 'TEST');
    expect(poor.code).toBe(1);
    expect(poor.errors).toContain('Shop TEST has less than 5000 RUB. No money was moved.');
    expect((await world.get('/wallet/v0/deposits?limit=9&sourceID=TEST')).body.result).toEqual([]);
  },
);

test('a deposit with a reference is not repeated', { timeout: 120_000 }, async () => {
  const before = await world.account();
  const deposit = (amount: string, from: string, reference: string, kind = '--from-bank') =>
    run('wallet', 'deposit', world.wallet, '--amount', amount, kind, from, '--reference', reference);
  const made = await deposit('700', 'NAMED', 'May 3, no. 17');
  expect(made).toMatchObject({ code: 0, errors: '' });
  const again = await deposit('700', 'NAMED', 'May 3, no. 17');
  expect(again).toMatchObject({ code: 0, output: made.output });
  expect(again.errors).toMatch(/ of 700 RUB from NAMED at .*\. It was not repeated\.\n$/);
  for (const [amount, from, kind] of [
    ['701', 'NAMED', '--from-bank'],
    ['700', 'NOSTRO', '--from-bank'],
    // A shop may have the ID of a bank account.
    ['700', 'NAMED', '--from-shop'],
  ] as const) {
    const other = await deposit(amount, from, 'May 3, no. 17', kind);
    expect(other).toMatchObject({ code: 1, output: '' });
    expect(other.errors).toMatch(/from NAMED at .* out of test:RUB:bank\.nostro:NAMED\. /);
    expect(other.errors).toContain('Yours is different, so no money was moved.');
  }
  expect((await world.account()).own).toBe(before.own + 700);

  const [one, two] = await Promise.all([deposit('50', 'NAMED', 'no. 18'), deposit('50', 'NAMED', 'no. 18')]);
  expect(one).toMatchObject({ code: 0, output: two.output });
  expect(one.output).not.toBe(made.output);
  expect((await world.account()).own).toBe(before.own + 750);
  expect((await world.get('/wallet/v0/deposits?limit=9&sourceID=NAMED')).body.result).toHaveLength(2);
  expect(await brokenInvariants(world.service.database)).toEqual([]);

  const unset = await deposit('50', 'NAMED', '');
  expect(unset).toMatchObject({ code: 1, errors: expect.stringContaining('--reference is empty') });
});

test(
  'a repeated deposit from a shop is recognised when the shop has nothing left',
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
    expect(again.errors).toContain('It was not repeated.');
    expect((await world.balance()).available).toBe(0);
    expect((await world.account()).own).toBe(before.own + available);
    expect(await brokenInvariants(world.service.database)).toEqual([]);
  },
);

test('limits and fees of a merchant can be set', { timeout: 120_000 }, async () => {
  const party = ['--party', world.merchant.partyId, '--currency', 'RUB'];
  const why = ['--reason', 'contract 7'];
  await run('payout', 'limits', 'set', ...party, '--level', 'anonymous', '--per-payout', '700', ...why);
  await run('payout', 'fee', ...party, '--fixed', '20');
  world.service.payouts.forget(world.merchant.partyId);
  const { id } = await world.destinationFor('4242424242424242');
  expect((await world.withdraw(701, id)).body.code).toBe('payoutLimitPerPayout');
  expect((await world.withdraw(700, id)).body.fee).toEqual({ amount: 20, currency: 'RUB' });
  await world.service.jobs.whenIdle();

  const stranger = ['--party', `${world.merchant.partyId}X`, '--currency', 'RUB'];
  const wrong = [
    await run('payout', 'limits', 'set', ...stranger, '--per-payout', '700', ...why),
    await run('payout', 'fee', ...stranger, '--fixed', '20'),
  ];
  for (const { code, errors } of wrong) {
    expect(errors).toContain(`Party ${world.merchant.partyId}X not found`);
    expect(code).toBe(1);
  }
});

describe('without a value', () => {
  const party = () => ['--party', world.merchant.partyId, '--currency', 'USD'];
  const limits = (...more: string[]) =>
    run('payout', 'limits', 'set', ...party(), '--level', 'partial', '--reason', 'contract 7', ...more);
  const stored = () => readPayoutTerms(world.service.database, world.merchant.partyId);
  const storedLimits = async () => (await stored()).limits.find(({ currency }) => currency === 'USD')?.limits;

  test('limits are kept, and only --none removes them', { timeout: 120_000 }, async () => {
    expect(await limits('--per-day', '900')).toMatchObject({ code: 0 });
    const refused = await limits();
    expect(refused).toMatchObject({ code: 1, output: '' });
    expect(refused.errors).toContain('No limit is given. Give at least one, or --none for no limits.');
    expect((await limits('--none', '--per-day', '5')).errors).toContain(
      '--none is given with a limit. Give either.',
    );
    expect(await storedLimits()).toEqual({ perDayMinor: 900n });
    expect(await limits('--none')).toMatchObject({ code: 0 });
    expect(await storedLimits()).toEqual({});
  });

  test('a row of limits says who set it and why, and can be removed', { timeout: 120_000 }, async () => {
    const more = ['--currency', 'KWD', '--network', 'visa', '--card-per-day', '5000', '--by', 'Ada'];
    const set = (...options: string[]) =>
      run('payout', 'limits', 'set', ...more, '--per-day', '90000', ...options);
    expect((await set('--reason', ' ')).errors).toContain('--reason is empty');
    expect(await set('--reason', 'message of 3 May')).toMatchObject({ code: 0, errors: '' });
    const listed = JSON.parse((await run('payout', 'limits', 'list', '--json')).output);
    expect(listed).toEqual([
      expect.objectContaining({
        party: '*',
        currency: 'KWD',
        network: 'visa',
        level: '*',
        perDay: 90_000,
        cardPerDay: 5_000,
        setBy: 'Ada',
        reason: 'message of 3 May',
      }),
    ]);
    expect((await run('payout', 'limits', 'list')).output).toMatch(
      /\* +KWD +visa +\* +day 90000, card day 5000 +\S+ +Ada +message of 3 May/,
    );
    const key = ['--currency', 'KWD', '--network', 'visa', '--reason', 'ended'];
    expect(await run('payout', 'limits', 'remove', ...key)).toMatchObject({ code: 0 });
    expect((await run('payout', 'limits', 'remove', ...key)).errors).toContain(
      'There is no such row for KWD',
    );
    const unknown = await run(
      'payout',
      'limits',
      'remove',
      '--currency',
      'KWD',
      '--network',
      'swift',
      '--reason',
      'x',
    );
    expect(unknown.errors).toContain('Unknown network "swift"');
  });

  test('a fee is kept', { timeout: 120_000 }, async () => {
    expect(await run('payout', 'fee', ...party(), '--fixed', '20')).toMatchObject({ code: 0 });
    const refused = await run('payout', 'fee', ...party());
    expect(refused).toMatchObject({ code: 1, output: '' });
    expect(refused.errors).toContain(
      'No fee is given. Give --basis-points or --fixed; --fixed 0 for no fee.',
    );
    expect((await stored()).fees.get('USD')).toEqual({ basisPoints: 0n, fixedMinor: 20n });
  });
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
const resolve = (
  id: string,
  as: string,
  { reason = 'the clearing file of 3 May', since = world.service.clock.now() } = {},
) => run('payout', 'resolve', id, '--as', as, '--since', since, '--reason', reason);
const statusOf = async (id: string) => (await world.get(`/wallet/v0/withdrawals/${id}`)).body.status;

test.each([
  ['succeeded', 'Succeeded'],
  ['failed', 'Failed'],
])('a withdrawal with an unknown outcome can be resolved as %s', { timeout: 120_000 }, async (as, status) => {
  const { id: destination } = await world.destinationFor('4242424242424242');
  world.bank.faults.order({ kind: 'reset-before-booking', next: 1, operationKind: 'payout' });
  const { id } = (await world.withdraw(600, destination)).body;
  await world.service.jobs.whenIdle();
  await getStuck(id);
  const before = await world.account();
  expect((await resolve(id, as, { reason: ' ' })).errors).toContain('--reason is empty');
  // It has become stuck again since the operator asked the bank.
  const before1s = laterBy(world.service.clock.now(), -1_000);
  expect((await resolve(id, as, { since: before1s })).errors).toContain(
    `Withdrawal ${id} has no stuck job since ${before1s}`,
  );
  expect(await statusOf(id)).toBe('Pending');
  const unsaid = await run('payout', 'resolve', id, '--as', 'failed', '--reason', 'message 17');
  expect(unsaid).toMatchObject({ code: 1, errors: expect.stringContaining('Give --since') });
  expect(await resolve(id, as)).toMatchObject({ code: 0, errors: '' });
  expect(await statusOf(id)).toBe(status);
  expect(await world.service.jobs.stuckJobs()).toEqual([]);
  expect((await resolve(id, as)).errors).toContain(`Withdrawal ${id} has no stuck job`);
  const after = await world.account();
  expect(after.available - before.available).toBe(as === 'failed' ? 620 : 0);
  expect(before.own - after.own).toBe(as === 'failed' ? 0 : 620);
  expect(await brokenInvariants(world.service.database)).toEqual([]);
});

test('a withdrawal that a node works on cannot be resolved', { timeout: 120_000 }, async () => {
  const { jobs, clock } = world.service;
  const { id: destination } = await world.destinationFor('4242424242424242');
  const before = await world.account();
  world.bank.faults.order({ kind: 'not-done', next: 1, operationKind: 'payout' });
  const { id } = (await world.withdraw(600, destination)).body;
  await jobs.whenIdle();
  const refused = { code: 1, errors: expect.stringContaining(`Withdrawal ${id} has no stuck job`) };
  expect(await resolve(id, 'failed')).toMatchObject(refused);
  // After a retry it is no longer stuck, and a node may send it.
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

test('a pending identification can be approved, and an identity blocked', { timeout: 120_000 }, async () => {
  // In live mode only an operator completes one.
  await world.service.database.withClient((client) =>
    client.query(
      `insert into identity_challenge (identity_id, challenge_id, type, proofs, status, created_at)
       values ($1, 'by-hand', 'esia', '[]', 'pending', now())`,
      [world.identity],
    ),
  );
  const approved = await run('identity', 'approve', world.identity);
  expect(approved).toMatchObject({ code: 0, output: `Identity ${world.identity} is partial.\n` });
  expect((await run('identity', 'block', world.identity)).code).toBe(0);
  const list = await run('identity', 'list', '--party', world.merchant.partyId);
  expect(list.output).toMatch(new RegExp(`${world.identity} +Keyn Fawkes +test +person +partial +blocked`));
  const json = await run('identity', 'list', '--party', world.merchant.partyId, '--json');
  expect(JSON.parse(json.output)).toEqual([
    {
      identityId: world.identity,
      name: 'Keyn Fawkes',
      provider: 'test',
      class: 'person',
      level: 'partial',
      status: 'blocked',
    },
  ]);
  const identity = (await world.get(`/wallet/v0/identities/${world.identity}`)).body;
  expect(identity).toMatchObject({ level: 'partial', isBlocked: true, effectiveChallenge: 'by-hand' });
});
