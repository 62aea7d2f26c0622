// Payouts under one fault each: no response, a malformed one, a late one, a broken connection; and concurrent payouts from one
// wallet. All faults together are in payout-campaign.test.ts.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { laterBy } from '../../../src/clock.ts';
import { findIdentity, storeIdentityFacts } from '../../../src/identities/store/identities.ts';
import { claimSend, doubtSends, giveBackSend } from '../../../src/payouts/store/sends.ts';
import { resolveWithdrawal } from '../../../src/payouts/resolve-withdrawal.ts';
import { findWithdrawal, reschedule, storeEnd } from '../../../src/payouts/store/withdrawals.ts';
import type { WithdrawalEnd } from '../../../src/payouts/domain/withdrawal.ts';
import { dueStatements } from '../../../src/platform/jobs/job-claims.ts';
import { brokenInvariants } from '../../support/database/ledger.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';
import { setTradingFlag } from '../../support/worlds/block-merchant.ts';
import { waylay, type FaultyBank } from '../../support/bank/faulty-bank.ts';

let world: PayoutWorld;
let wayward: FaultyBank;
let destination: string;
beforeAll(async () => {
  world = await startPayoutWorld();
  wayward = waylay(world.service.banks);
  destination = (await world.destinationFor('4242424242424242')).id;
});
afterAll(() => world.close());
beforeEach(() => world.bank.faults.clear());

/** Moves the clock and runs all jobs that are due. */
async function pass(ms: number): Promise<void> {
  world.service.clock.advance(ms);
  world.service.jobs.wake();
  await world.service.jobs.whenIdle();
}
const stuckReason = async (id: string) =>
  (await world.service.jobs.stuckJobs()).find((job) => job.id === id)?.reason;
const read = async (id: string) => (await world.get(`/wallet/v0/withdrawals/${id}`)).body;
async function paidOut(id: string): Promise<number> {
  return (await world.book()).filter(({ operationId }) => operationId === `${id}.p`).length;
}
async function newestSending(): Promise<{ id: string }> {
  const { rows } = await world.service.database.withClient((client) =>
    client.query(
      `select withdrawal_id as id from withdrawal where status = 'sending' and not is_unsent order by created_at desc limit 1`,
    ),
  );
  return rows[0];
}
const lacking = { as: 'failed', reason: 'the bank lacks it' } as const;
/** A job that fails is retried for about an hour. */
async function untilStuck(): Promise<void> {
  for (let minutes = 0; minutes < 90; minutes++) await pass(60_000);
}
async function asked(amount = 10_000): Promise<string> {
  const { body } = await world.withdraw(amount, destination);
  await world.service.jobs.whenIdle();
  return body.id;
}

describe('a payout without a valid response', () => {
  test.each([
    ['reset-after-booking', 1],
    ['error-after-booking', 1],
    ['garbage-after-booking', 1],
    ['foreign-answer-after-booking', 1],
    ['not-done', 0],
    ['too-many-requests', 0],
  ])('after %s is pending with its money reserved, then paid once', async (kind, bookedAtFirst) => {
    const before = await world.account();
    world.bank.faults.order({ kind, next: 1, operationKind: 'payout' });
    const id = await asked();
    expect(await read(id)).toMatchObject({ status: 'Pending' });
    expect(await paidOut(id)).toBe(bookedAtFirst);
    expect(await world.account()).toEqual({ own: before.own, available: before.available - 10_000 });
    await pass(1_000);
    expect(await read(id)).toMatchObject({ status: 'Succeeded' });
    expect(await paidOut(id)).toBe(1);
    expect(await world.account()).toEqual({ own: before.own - 10_000, available: before.available - 10_000 });
  });

  test.each(['reset-before-booking', 'error-before-booking'])(
    'after %s is never sent again, although the bank does not find it, until an operator ends it',
    async (kind) => {
      const { jobs, database, clock } = world.service;
      const before = await world.account();
      world.bank.faults.order({ kind, next: 1, operationKind: 'payout' });
      const sentBefore = wayward.sent.length;
      const id = await asked();
      await untilStuck();
      expect(await read(id)).toMatchObject({ status: 'Pending' });
      expect(await stuckReason(id)).toMatch(/^OutcomeUnknown: the bank does not find the payout/);
      for (const again of [() => jobs.retry('withdrawal', id), () => jobs.expedite('withdrawal', [id])]) {
        await again();
        await pass(1_000);
      }
      expect(wayward.sent.slice(sentBefore).map(({ operationId }) => operationId)).toEqual([`${id}.p`]);
      expect(await world.account()).toEqual({ own: before.own, available: before.available - 10_000 });
      await untilStuck();
      await resolveWithdrawal({ db: database, clock, livemode: false }, id, lacking);
      expect(await read(id)).toMatchObject({ status: 'Failed' });
      expect(await world.account()).toEqual(before);
    },
  );

  test('is sent again only as often as each send is proved to have done nothing', async () => {
    world.bank.faults.order({ kind: 'not-done', next: 3, operationKind: 'payout' });
    world.bank.faults.order({ kind: 'error-before-booking', next: 2, operationKind: 'inquire' });
    const sentBefore = wayward.sent.length;
    const id = await asked();
    for (let elapsedMs = 1_000; elapsedMs < 100_000; elapsedMs *= 2) await pass(elapsedMs);
    expect(await read(id)).toMatchObject({ status: 'Succeeded' });
    expect(wayward.sent.length - sentBefore).toBe(4);
    expect(await paidOut(id)).toBe(1);
  });

  test('is sent once the secret is right again, however many were refused, and each is paid once', async () => {
    const { banks, jobs, logged } = world.service;
    const { bankSecret: secret, bank } = world;
    await banks.putBank({ id: 'BANK', url: bank.url, secret: 'a secret that the bank does not know.' });
    const ids = [await asked(1_000), await asked(1_000), await asked(1_000)];
    expect(banks.away()).toMatchObject([{ bankId: 'BANK', because: 'refused' }]);
    for (let hours = 0; hours < 30; hours++) await pass(3_600_000);
    const stuck = async () => (await jobs.stuckJobs()).map(({ id }) => id);
    expect(await stuck()).toEqual(expect.arrayContaining(ids));
    const lines = logged.filter((line) => /refuse|bank away|rejected the signature/.test(line));
    expect(lines.filter((line) => line.includes('bank away'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('bank refused a request'))).toEqual([]);
    await banks.putBank({ id: 'BANK', url: bank.url, secret });
    await banks.probe();
    // It answers inquiries, and has yet to take a payout.
    expect(banks.away()).toMatchObject([{ because: 'refused' }]);
    expect(await jobs.retryAll('withdrawal')).toBe(ids.length);
    await pass(1_000);
    expect(banks.away()).toEqual([]);
    for (const id of ids) {
      expect(await read(id)).toMatchObject({ status: 'Succeeded' });
      expect(await paidOut(id)).toBe(1);
    }
  });

  test('is not sent again after a refused signature if an earlier send may have arrived', async () => {
    const { banks } = world.service;
    const { bankSecret: secret, bank } = world;
    world.bank.faults.order({ kind: 'reset-before-booking', next: 1, operationKind: 'payout' });
    const sentBefore = wayward.sent.length;
    const id = await asked();
    await banks.putBank({ id: 'BANK', url: bank.url, secret: 'a secret that the bank does not know.' });
    await pass(60_000);
    await banks.putBank({ id: 'BANK', url: bank.url, secret });
    await untilStuck();
    expect(await stuckReason(id)).toMatch(/the bank does not find the payout/);
    expect(wayward.sent.length - sentBefore).toBe(1);
    const deps = { db: world.service.database, clock: world.service.clock, livemode: false };
    await resolveWithdrawal(deps, id, lacking);
  });

  test('is not sent again once its bank no longer remembers the ID', async () => {
    const { banks } = world.service;
    world.bank.faults.order({ kind: 'not-done', next: 1, operationKind: 'payout' });
    const { bankOf } = banks;
    Object.assign(banks, {
      bankOf: async (terminal: never) => {
        const bank = await bankOf(terminal);
        return { ...bank, abilities: async () => ({ ...(await bank.abilities()), repeatableMs: 1_000 }) };
      },
    });
    const id = await asked();
    for (let hours = 0; hours < 27; hours++) await pass(3_600_000);
    Object.assign(banks, { bankOf });
    expect(await stuckReason(id)).toMatch(/no longer recognises a repeat/);
    expect(await paidOut(id)).toBe(0);
    const deps = { db: world.service.database, clock: world.service.clock, livemode: false };
    await resolveWithdrawal(deps, id, lacking);
  });

  test('is not sent again by a node that stands still until its bank no longer remembers the ID', async () => {
    const { banks, clock } = world.service;
    world.bank.faults.order({ kind: 'not-done', next: 1, operationKind: 'payout' });
    const { bankOf } = banks;
    const day = 24 * 3_600_000;
    Object.assign(banks, {
      bankOf: async (terminal: never) => {
        const bank = await bankOf(terminal);
        return { ...bank, abilities: async () => ({ ...(await bank.abilities()), repeatableMs: day }) };
      },
    });
    const id = await asked();
    const sentBefore = wayward.sent.length;
    wayward.meanwhile('payout', () => Promise.resolve(clock.advance(day)));
    await pass(1_000);
    expect(wayward.sent).toHaveLength(sentBefore + 1);
    await untilStuck();
    Object.assign(banks, { bankOf });
    expect(await stuckReason(id)).toMatch(/no longer recognises a repeat/);
    expect(wayward.sent).toHaveLength(sentBefore + 1);
    expect(await paidOut(id)).toBe(0);
    const deps = { db: world.service.database, clock, livemode: false };
    await resolveWithdrawal(deps, id, lacking);
  });

  test('is only asked about after a restore, although nothing of it was sent', async () => {
    const { database } = world.service;
    world.bank.faults.order({ kind: 'not-done', next: 1, operationKind: 'payout' });
    const id = await asked();
    expect(await doubtSends(database)).toBe(1);
    expect(await doubtSends(database)).toBe(0);
    await untilStuck();
    expect(await stuckReason(id)).toMatch(/the bank does not find the payout/);
    expect(await paidOut(id)).toBe(0);
    await resolveWithdrawal({ db: database, clock: world.service.clock, livemode: false }, id, lacking);
  });

  test('is claimed for one send at a time, by the number of the send, and not while it is stuck', async () => {
    const { database, clock } = world.service;
    world.bank.faults.order({ kind: 'not-done', next: 1, operationKind: 'payout' });
    const id = await asked();
    const stored = (await findWithdrawal(database, null, id))!;
    expect(stored).toMatchObject({ sends: 1, isUnsent: true });
    const setStuck = (at: string | null) =>
      database.withClient((client) =>
        client.query('update withdrawal set stuck_at = $2 where withdrawal_id = $1', [id, at]),
      );
    await setStuck(clock.now());
    expect(await claimSend(database, stored)).toBeUndefined();
    await setStuck(null);
    const [first, second] = await Promise.all([claimSend(database, stored), claimSend(database, stored)]);
    expect([first, second].filter(Boolean)).toEqual([{ ...stored, sends: 2, isUnsent: false }]);
    // What was heard about the send before neither frees nor ends it.
    const run = { leasedUntil: clock.now(), now: clock.now() };
    await giveBackSend(database, stored, run);
    const end = { type: 'withdrawal_failed', failure: ['authorization_failed', 'unknown'] } as const;
    expect(await storeEnd(database, stored, end, { livemode: false, now: clock.now() })).toBeUndefined();
    expect(await findWithdrawal(database, null, id)).toMatchObject({ sends: 2, isUnsent: false });
    await giveBackSend(database, { ...stored, sends: 2 }, run);
    await pass(1_000);
    expect(await read(id)).toMatchObject({ status: 'Succeeded' });
    expect(await paidOut(id)).toBe(1);
  });

  test('that becomes stuck while a slow node sends it is sent once that node knows that nothing was done', async () => {
    const busy = { outcome: 'notSent', why: 'busy', notDone: true } as const;
    let isWaited = false;
    wayward.meanwhile('payout', async () => {
      if (isWaited) return;
      isWaited = true;
      const { id } = await newestSending();
      wayward.happens('payout', busy);
      await world.service.database.withClient((client) =>
        client.query(
          `update withdrawal set wake_at = null, attempts = 15, stuck_at = $2, stuck_reason = 'OutcomeUnknown: it is not found'
           where withdrawal_id = $1`,
          [id, world.service.clock.now()],
        ),
      );
    });
    const id = await asked();
    expect(await stuckReason(id)).toBeUndefined();
    await pass(1_000);
    expect(await read(id)).toMatchObject({ status: 'Succeeded' });
    expect(await paidOut(id)).toBe(1);
  });

  test.each(['before', 'after'])(
    'that another node finds lost %s the sender has set its next time is due, because nothing was sent',
    async (when) => {
      const { database, clock } = world.service;
      world.bank.faults.order({ kind: 'not-done', next: 1, operationKind: 'payout' });
      const id = await asked();
      const claimed = (await claimSend(database, (await findWithdrawal(database, null, id))!))!;
      // The bank has called, so the other run has the number of attempts that the sender has.
      const [own, other] = [laterBy(clock.now(), 59_000), laterBy(clock.now(), 60_000)];
      await database.withClient((client) =>
        client.query('update withdrawal set attempts = 15, wake_at = $2 where withdrawal_id = $1', [
          id,
          other,
        ]),
      );
      await giveBackSend(database, claimed, { leasedUntil: own, now: clock.now() });
      const steps = [
        () => reschedule(database, claimed, clock.now()),
        () =>
          database.run(dueStatements('withdrawal', ['withdrawal_id']).markStuck, {
            key: [id],
            leased_until: other,
            attempts: 15,
            now: clock.now(),
            reason: 'OutcomeUnknown: it is not found',
          }),
      ];
      for (const step of when === 'after' ? steps : steps.reverse()) await step();
      expect(await stuckReason(id)).toBeUndefined();
      await pass(1_000);
      expect(await read(id)).toMatchObject({ status: 'Succeeded' });
      expect(await paidOut(id)).toBe(1);
    },
  );

  test('ends when the bank decides two minutes later', async () => {
    const id = await asked(199_915);
    for (let elapsedMs = 1_000; elapsedMs < 100_000; elapsedMs *= 2) {
      await pass(elapsedMs);
      expect(await read(id)).toMatchObject({ status: elapsedMs < 64_000 ? 'Pending' : 'Succeeded' });
    }
    expect(await paidOut(id)).toBe(1);
  });

  test('is stuck after a day, with its money still reserved', async () => {
    const before = await world.account();
    const id = await asked(199_916);
    for (let hours = 0; hours < 27; hours++) await pass(3_600_000);
    expect(await read(id)).toMatchObject({ status: 'Pending' });
    expect(await world.service.jobs.stuckJobs()).toEqual([
      expect.objectContaining({
        kind: 'withdrawal',
        id,
        reason: expect.stringMatching(/^OutcomeUnknown: .*pending/),
      }),
    ]);
    expect(await world.account()).toEqual({ own: before.own, available: before.available - 199_916 });
    expect(await paidOut(id)).toBe(0);
    // An operator’s retry queries the status. It does not send.
    expect(await world.service.jobs.retry('withdrawal', id)).toBe(true);
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
    expect(await read(id)).toMatchObject({ status: 'Pending' });
  });

  test('is queried before it is sent when another node takes it over', async () => {
    const { database, jobs, clock } = world.service;
    const { body } = await world.withdraw(10_000, destination);
    await jobs.whenIdle();
    // As if the first node had died after sending, before it stored the outcome.
    await database.withClient((client) =>
      client.query(
        `update withdrawal set status = 'sending', result = null, attempts = 1, wake_at = $2 where withdrawal_id = $1`,
        [body.id, clock.now()],
      ),
    );
    world.bank.faults.order({ kind: 'error-before-booking', next: 5, operationKind: 'payout' });
    jobs.wake();
    await jobs.whenIdle();
    // The query alone found the outcome. The ledger had the journal already and ignored the repeat.
    expect(world.bank.faults.list().faults).toHaveLength(1);
    expect(await read(body.id)).toMatchObject({ status: 'Succeeded' });
    expect(await paidOut(body.id)).toBe(1);
  });
});

describe('a payout that is blocked before it was sent', () => {
  const hour = 3_600_000;
  let identity: string;
  let theirs: string;
  beforeAll(async () => {
    ({ identity } = await world.openWallet(world.merchant));
    theirs = (await world.destinationFor('4242424242424242', world.merchant, identity)).id;
  });

  async function setBlocked(id: string, isBlocked: boolean): Promise<void> {
    const { database, clock } = world.service;
    const stored = (await findIdentity(database, null, id))!;
    const type = isBlocked ? 'identity_blocked' : 'identity_unblocked';
    expect(await storeIdentityFacts(database, stored, [{ type }], clock.now())).toBe(true);
  }
  /** Starts a payout whose first request meets the fault, then blocks the identity. */
  async function blockedAfter(kind: string, whose: string): Promise<string> {
    world.bank.faults.order({ kind, next: 1, operationKind: 'payout' });
    const { id } = (await world.withdraw(600, theirs)).body;
    await world.service.jobs.whenIdle();
    await setBlocked(whose, true);
    return id;
  }

  test.each([
    ['identity of its wallet', () => world.identity],
    ['identity of its destination', () => identity],
  ])('by the %s is not sent until it is unblocked', async (_, whose) => {
    const before = await world.account();
    const id = await blockedAfter('not-done', whose());
    for (let elapsedMs = 1_000; elapsedMs < hour; elapsedMs *= 2) await pass(elapsedMs);
    expect(await read(id)).toMatchObject({ status: 'Pending' });
    expect(await paidOut(id)).toBe(0);
    expect(await world.account()).toEqual({ own: before.own, available: before.available - 600 });
    await setBlocked(whose(), false);
    await pass(hour);
    expect(await read(id)).toMatchObject({ status: 'Succeeded' });
    expect(await paidOut(id)).toBe(1);
  });

  test('because the party is suspended is not sent until it is resumed', async () => {
    const { service, merchant } = world;
    const suspend = (isSuspended: boolean) =>
      setTradingFlag(service, merchant, { of: 'party', flag: 'is_suspended' }, isSuspended);
    world.bank.faults.order({ kind: 'not-done', next: 1, operationKind: 'payout' });
    const id = await asked(600);
    await suspend(true);
    for (const ms of [1_000, 2_000, 4_000]) await pass(ms);
    expect(await paidOut(id)).toBe(0);
    await suspend(false);
    await pass(8_000);
    expect(await read(id)).toMatchObject({ status: 'Succeeded' });
    expect(await paidOut(id)).toBe(1);
  });

  test('is stuck after a day, and an operator’s retry sends it once unblocked', async () => {
    const { jobs } = world.service;
    const id = await blockedAfter('not-done', identity);
    for (let hours = 0; hours < 27; hours++) await pass(hour);
    expect(await paidOut(id)).toBe(0);
    expect((await jobs.stuckJobs()).filter((work) => work.id === id)).toEqual([
      expect.objectContaining({
        reason: expect.stringContaining('the wallet or the destination is blocked'),
      }),
    ]);
    await setBlocked(identity, false);
    expect(await jobs.retry('withdrawal', id)).toBe(true);
    jobs.wake();
    await jobs.whenIdle();
    expect(await read(id)).toMatchObject({ status: 'Succeeded' });
    expect(await paidOut(id)).toBe(1);
  });

  test('succeeds if the bank had already paid', async () => {
    const id = await blockedAfter('reset-after-booking', identity);
    await pass(1_000);
    expect(await read(id)).toMatchObject({ status: 'Succeeded' });
    expect(await paidOut(id)).toBe(1);
    await setBlocked(identity, false);
  });
});

describe('a payout that is resolved while its request is in progress', () => {
  const ends: Record<'succeeded' | 'failed', WithdrawalEnd> = {
    succeeded: { type: 'withdrawal_succeeded', reference: 'operator', reason: 'the clearing file' },
    failed: { type: 'withdrawal_failed', failure: ['authorization_failed', 'unknown'], reason: 'a call' },
  };
  const declining = { outcome: 'declined', network: 'visa', code: '14' } as const;

  async function endedMeanwhile(as: keyof typeof ends): Promise<{ id: string; errors: string[] }> {
    const { database, clock, logged } = world.service;
    wayward.meanwhile('payout', async () => {
      const id = wayward.sent.at(-1)!.operationId.replace('.p', '');
      const stored = (await findWithdrawal(database, null, id))!;
      await storeEnd(database, stored, ends[as], { livemode: false, now: clock.now() });
    });
    const id = await asked(600);
    expect(await read(id)).toMatchObject({ status: as === 'succeeded' ? 'Succeeded' : 'Failed' });
    return { id, errors: logged.filter((line) => line.includes('"error"') && line.includes(id)) };
  }

  test('with the outcome of the bank logs no error', async () => {
    expect((await endedMeanwhile('succeeded')).errors).toEqual([]);
    wayward.happens('payout', declining);
    expect((await endedMeanwhile('failed')).errors).toEqual([]);
  });

  test.each([
    ['failed', 'succeeded', undefined],
    ['succeeded', 'failed', declining],
  ] as const)('as %s logs an error if it has %s at the bank', async (stored, fromBank, answer) => {
    if (answer) wayward.happens('payout', answer);
    const { id, errors } = await endedMeanwhile(stored);
    expect(errors.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ withdrawalId: id, operationId: `${id}.p`, stored, fromBank }),
    ]);
  });
});

test('a destination is checked until the bank has replied', async () => {
  world.bank.faults.order({ kind: 'reset-after-booking', next: 2, operationKind: 'verify' });
  const made = await world.destinationFor('5555555555554444');
  expect(made).toMatchObject({ status: 'Unauthorized' });
  expect(made).not.toHaveProperty('failure');
  await pass(1_000);
  await pass(2_000);
  expect((await world.get(`/wallet/v0/destinations/${made.id}`)).body.status).toBe('Authorized');
});

test('32 clients drain one wallet to exactly zero', async () => {
  const { wallet } = await world.openWallet(world.merchant, { provider: 'dpl', class: 'company' });
  const theirs = await world.destinationFor('4242424242424242', world.merchant, await identityOf(wallet));
  const total = 200 * 1_000;
  await world.post('/wallet/v0/test/deposits', { wallet, body: { amount: total, currency: 'RUB' } });
  const made: string[] = [];
  const client = async () => {
    for (;;) {
      const { body, status } = await world.withdraw(1_000, theirs.id, { wallet });
      expect(status).toBe(202);
      made.push(body.id);
      if ((await read(body.id)).status === 'Failed') return;
    }
  };
  await Promise.all(Array.from({ length: 32 }, client));
  await world.service.jobs.whenIdle();
  const ends = await Promise.all(made.map(read));
  const count = (status: string) => ends.filter((end) => end.status === status).length;
  expect({ succeeded: count('Succeeded'), failed: count('Failed') }).toEqual({ succeeded: 200, failed: 32 });
  expect(await world.account(wallet)).toEqual({ own: 0, available: 0 });
  const paid = (await world.book()).filter(({ operationId }) => made.includes(operationId.slice(0, -2)));
  expect(paid.reduce((sum, { amount }) => sum + amount, 0)).toBe(total);
  expect(await brokenInvariants(world.service.database)).toEqual([]);
});

async function identityOf(wallet: string): Promise<string> {
  return (await world.get(`/wallet/v0/wallets/${wallet}`)).body.identity;
}
